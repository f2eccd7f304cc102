import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findChromium, headless, page } from '../../dashboards/plot/browser.js';

/** One measurement of one contender: a dot at the median, a bar from the shortest to the longest. */
export interface Mark {
  readonly label: string;
  /** Milliseconds. */
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface Panel {
  readonly title: string;
  /** `log` leaves out what is 0 or less. */
  readonly scale: 'log' | 'linear';
  readonly marks: readonly Mark[];
}

const WIDTH = 900;

/** Draws the panels below one another: an SVG, and a PNG of the same for those who show no SVG. */
export async function chart(panels: readonly Panel[], subtitle: string, name: string): Promise<string[]> {
  const chromium = findChromium();
  const directory = mkdtempSync(join(tmpdir(), 'tenure-chart-'));
  const html = join(directory, 'chart.html');
  const draw = readFileSync(new URL('chart.mjs', import.meta.url), 'utf8');
  const run = (...args: string[]) =>
    promisify(execFile)(chromium, [...headless(directory), ...args, `file://${html}`], { timeout: 90_000 });
  try {
    writeFileSync(html, page({ panels, subtitle, width: WIDTH }, draw));
    const { stdout } = await run('--dump-dom');
    const svg = /<svg id="chart"[\s\S]*<\/svg>/.exec(stdout)?.[0];
    if (svg === undefined) throw new Error('the chart was not drawn');
    const files = [`${name}.svg`, `${name}.png`];
    writeFileSync(`${name}.svg`, `${svg}\n`);
    const height = Number(/height="(\d+)"/.exec(svg)?.[1]);
    await run(`--window-size=${WIDTH},${height}`, `--screenshot=${name}.png`);
    return files;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
