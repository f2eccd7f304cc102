import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startEnsemble } from '../../deploy/local/index.js';
import { SidecarProcess } from '../integration/agent/sidecar-process.js';
import { needs, output } from '../support/tools.js';
import { blocks, project } from './markdown.js';

const path = 'docs/sidecar.md';
const page = { path, text: readFileSync(join(project, path), 'utf8') };

describe('docs/sidecar.md', () => {
  it('shows commands that work when they are pasted, one after the other', async (context) => {
    needs(context, 'curl', 'jq');
    const shell = blocks(page).filter(({ language, comment }) => language === 'sh' && comment === 'run');
    expect(shell.length).toBeGreaterThan(3);
    const directory = mkdtempSync(join(tmpdir(), 'tenure-docs-'));
    await using ensemble = await startEnsemble({ size: 1, tickTime: 500, fsync: false });
    await using sidecar = await SidecarProcess.start(ensemble.connectString);
    await sidecar.ready();
    try {
      const script = `export SIDECAR=${sidecar.url}\n${shell.map(({ code }) => code).join('\n')}`;
      const said = await output('bash', ['-euo', 'pipefail', '-c', script], directory);
      // In the order of the page: a term, a refresh, a view, nobody leads, a pause and its end, a hold and its end.
      expect(said).toMatch(/"term": 1[\s\S]*"state": "leading"[\s\S]*"version"[\s\S]*503/);
      expect(said).toMatch(
        /"paused":\{"by":"ada"[\s\S]*"paused":null[\s\S]*"change": "resume"[\s\S]*"held":"this host is drained"[\s\S]*"held":null/,
      );
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('names every code of a problem', () => {
    const source = readdirSync(join(project, 'src/agent'))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(project, 'src/agent', file), 'utf8'))
      .join('\n');
    const codes = [...source.matchAll(/(?:new Problem\(\s*\d+,|unavailable\()\s*'([a-z_]+)'/g)].map(
      ([, code = '']) => code,
    );
    const shown = new Set(codes.filter((code) => code !== 'internal' && code !== 'refused'));
    expect(shown.size).toBeGreaterThan(15);
    for (const code of shown) expect(page.text).toContain(`\`${code}\``);
  });

  it('names no route that there is not', () => {
    const document = JSON.parse(readFileSync(join(project, 'src/agent/openapi.json'), 'utf8'));
    const routes = [
      ...page.text.matchAll(/`(?:GET|POST|PUT|DELETE)? ?(\/v1\/[^`?]*|\/(?:healthz|readyz|metrics|openapi\.json)?)`/g),
    ];
    expect(routes.length).toBeGreaterThan(5);
    for (const [, route = ''] of routes) expect(Object.keys(document.paths), route).toContain(route);
  });
});
