import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { alertsFolder } from './mixin.js';

const runbooks = join(alertsFolder, 'runbooks');
const dashboards = fileURLToPath(new URL('../../dashboards/out', import.meta.url));

const alerts = [
  ...new Set(
    [...readFileSync(join(alertsFolder, 'out/rules.yaml'), 'utf8').matchAll(/- alert: '(\w+)'/g)].map(
      ([, name]) => name as string,
    ),
  ),
].sort();
const pages = readdirSync(runbooks)
  .filter((name) => name !== 'README.md')
  .map((name) => name.replace(/\.md$/, ''))
  .sort();

interface Panel {
  readonly title?: string;
  readonly panels?: readonly Panel[];
}

/** The titles of a dashboard's panels. */
function titles(uid: string): string[] {
  const { panels } = JSON.parse(readFileSync(join(dashboards, `${uid}.json`), 'utf8')) as { panels: readonly Panel[] };
  return panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]).map(({ title = '' }) => title);
}

describe('runbooks', () => {
  it('are there for each alert, and for nothing else', () => {
    expect(alerts.length).toBeGreaterThan(10);
    expect(pages).toEqual(alerts);
  });

  it.each(pages)('%s: meaning, impact, first look, what to do', (name) => {
    const text = readFileSync(join(runbooks, `${name}.md`), 'utf8');
    expect([...text.matchAll(/^#+ .*$/gm)].map(([line]) => line)).toEqual([
      `# ${name}`,
      '## Meaning',
      '## Impact',
      '## First look',
      '## What to do',
    ]);
  });

  it.each(pages)('%s: looks at panels that exist', (name) => {
    const text = readFileSync(join(runbooks, `${name}.md`), 'utf8');
    const look = text.slice(text.indexOf('## First look'), text.indexOf('## What to do')).replace(/\s+/g, ' ');
    // Dashboard *Election*, panel *Queue*.
    const looks = [
      ...look.matchAll(/\*(Overview|Election|Ensemble|Fencing)\*, (?:panels? )((?:\*[^*]+\*(?:,| and)? ?)+)/g),
    ];
    expect(looks.length).toBeGreaterThan(0);
    for (const [, dashboard = '', panels = ''] of looks) {
      const there = titles(`tenure-${dashboard.toLowerCase()}`);
      for (const [, panel] of panels.matchAll(/\*([^*]+)\*/g)) expect(there, `${name}: ${dashboard}`).toContain(panel);
    }
  });

  it('are listed, each with what it says', () => {
    const index = readFileSync(join(runbooks, 'README.md'), 'utf8');
    expect([...index.matchAll(/\]\((\w+)\.md\)/g)].map(([, name]) => name).sort()).toEqual(pages);
  });
});
