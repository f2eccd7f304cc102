import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = resolve(import.meta.dirname, '../../../src');

/** What a module loads, directly or through its own: packages by name. Types are no loading, and `import()` is not yet. */
function loaded(entry: string): Set<string> {
  const packages = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, clause = '', from = ''] of text.matchAll(/^(?:import|export)\s+([^;]*?)\s*from\s+'([^']+)';/gm)) {
      if (clause.startsWith('type ') || isTypesOnly(clause)) continue;
      if (!from.startsWith('.')) packages.add(from);
      else visit(join(dirname(file), from.replace(/\.js$/, '.ts')));
    }
  };
  const file = join(SRC, entry);
  expect(existsSync(file)).toBe(true);
  visit(file);
  return packages;
}

function isTypesOnly(clause: string): boolean {
  const named = /^\{([^}]*)\}$/s.exec(clause)?.[1];
  return named?.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type ')) ?? false;
}

describe('the module alone', () => {
  const packages = loaded('index.ts');

  it("loads OpenTelemetry's API, and nothing else of it", () => {
    expect([...packages].filter((name) => name.startsWith('@opentelemetry/'))).toEqual(['@opentelemetry/api']);
  });

  it('loads no web server, no logger, no driver', () => {
    expect([...packages].filter((name) => /^(express|pino|zookeeper)/.test(name))).toEqual([]);
  });

  it('leaves the SDK to tenure/telemetry', () => {
    expect([...loaded('telemetry/index.ts')]).toEqual(
      expect.arrayContaining(['@opentelemetry/sdk-node', '@opentelemetry/exporter-prometheus', 'pino']),
    );
  });
});
