import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { project } from './markdown.js';

const path = 'docs/sidecar.md';
const page = { path, text: readFileSync(join(project, path), 'utf8') };

describe('docs/sidecar.md', () => {
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
