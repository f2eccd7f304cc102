import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MissingToolError } from '../../deploy/local/index.js';
import { findCommand } from '../../deploy/local/process.js';
import type { Dashboard } from '../../test/dashboards/dashboards.js';
import type { PlottedPanel, Span } from './ask.js';

const WIDTH = 920;
/** As draw.mjs has them. */
const ROW = 25;
const HEADER = 44;

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

/** A page that draws itself, with everything in it. */
function page(dashboard: Dashboard, panels: readonly PlottedPanel[], span: Span, subtitle: string): string {
  const { start, end, step } = span;
  const given = JSON.stringify({ title: dashboard.title, subtitle, width: WIDTH, start, end, step, panels });
  const plot = createRequire(import.meta.url).resolve('@observablehq/plot');
  // Which brings it along.
  const d3 = createRequire(plot).resolve('d3');
  const files = [join(d3, '../../dist/d3.min.js'), join(plot, '../../dist/plot.umd.min.js')];
  const scripts = files.map((file) => readFileSync(file, 'utf8'));
  const draw = readFileSync(new URL('draw.mjs', import.meta.url), 'utf8');
  const all = [...scripts, `const given = ${given.replaceAll('<', '\\u003c')};\n${draw}`];
  const body = all.map((script) => `<script>${script.replaceAll('</script', '<\\/script')}</script>`).join('\n');
  return `<!doctype html><meta charset="utf-8"><body style="margin:0;font-family:sans-serif;color:#223">${body}`;
}

/** Draws a dashboard into a PNG file. */
export async function picture(
  dashboard: Dashboard,
  panels: readonly PlottedPanel[],
  span: Span,
  { subtitle, directory, file }: { readonly subtitle: string; readonly directory: string; readonly file: string },
): Promise<void> {
  const chromium = findCommand('chromium') ?? findCommand('chromium-browser') ?? findCommand('google-chrome');
  if (chromium === undefined)
    throw new MissingToolError('no chromium found: install it (Debian: apt-get install chromium)');
  const html = join(directory, `${dashboard.uid}.html`);
  writeFileSync(html, page(dashboard, panels, span, subtitle));
  const height = HEADER + ROW * Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h));
  const args = [
    `--user-data-dir=${join(directory, 'browser')}`,
    `--window-size=${WIDTH},${height}`,
    `--screenshot=${file}`,
  ];
  await promisify(execFile)(chromium, [...FLAGS, ...args, `file://${html}`], { timeout: 90_000 });
}
