import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { MissingToolError } from '../../deploy/local/index.js';
import { findCommand } from '../../deploy/local/process.js';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--hide-scrollbars',
];

/** @throws {MissingToolError} */
export function findChromium(): string {
  const chromium = findCommand('chromium') ?? findCommand('chromium-browser') ?? findCommand('google-chrome');
  if (chromium === undefined)
    throw new MissingToolError('no chromium found: install it (Debian: apt-get install chromium)');
  return chromium;
}

/** What it is started with, its own files below that directory. */
export const headless = (directory: string): string[] => [...FLAGS, `--user-data-dir=${join(directory, 'browser')}`];

/** A page that draws itself by a script, which finds `Plot`, `d3` and what it is `given`; everything is in it. */
export function page(what: object, draw: string): string {
  const plot = createRequire(import.meta.url).resolve('@observablehq/plot');
  // Which brings it along.
  const d3 = createRequire(plot).resolve('d3');
  const files = [join(d3, '../../dist/d3.min.js'), join(plot, '../../dist/plot.umd.min.js')];
  const scripts = files.map((file) => readFileSync(file, 'utf8'));
  const given = JSON.stringify(what).replaceAll('<', '\\u003c');
  const all = [...scripts, `const given = ${given};\n${draw}`];
  const body = all.map((script) => `<script>${script.replaceAll('</script', '<\\/script')}</script>`).join('\n');
  return `<!doctype html><meta charset="utf-8"><body style="margin:0;font-family:sans-serif;color:#223">${body}`;
}
