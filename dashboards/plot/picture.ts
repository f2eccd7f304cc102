import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Dashboard } from '../../test/dashboards/dashboards.js';
import type { PlottedPanel, Span } from './ask.js';
import { findChromium, headless, page } from './browser.js';

const WIDTH = 920;
/** As draw.mjs has them. */
const ROW = 25;
const HEADER = 44;

/** Draws a dashboard into a PNG file. */
export async function picture(
  dashboard: Dashboard,
  panels: readonly PlottedPanel[],
  span: Span,
  { subtitle, directory, file }: { readonly subtitle: string; readonly directory: string; readonly file: string },
): Promise<void> {
  const chromium = findChromium();
  const { start, end, step } = span;
  const draw = readFileSync(new URL('draw.mjs', import.meta.url), 'utf8');
  const given = { title: dashboard.title, subtitle, width: WIDTH, start, end, step, panels };
  const html = join(directory, `${dashboard.uid}.html`);
  writeFileSync(html, page(given, draw));
  const height = HEADER + ROW * Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h));
  const args = [`--window-size=${WIDTH},${height}`, `--screenshot=${file}`];
  await promisify(execFile)(chromium, [...headless(directory), ...args, `file://${html}`], { timeout: 90_000 });
}
