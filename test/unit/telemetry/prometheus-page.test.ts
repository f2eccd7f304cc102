import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { describe, expect, it } from 'vitest';
import { MetricsPage } from '../../support/metrics-page.js';
import { testProvider } from '../../support/telemetry-run.js';

function filled(series: number) {
  const run = testProvider();
  const meter = run.provider.getMeter('test');
  const counter = meter.createCounter('things', { description: 'Things', unit: '{thing}' });
  const histogram = meter.createHistogram('waits', { description: 'Waits', unit: 's' });
  for (let i = 0; i < series; i++) {
    counter.add(i, { name: `a "quoted"\n# name \\ ${i}` });
    histogram.record(i, { name: `${i}` });
  }
  return run;
}

describe('the page for Prometheus', () => {
  it('has, rendered in pieces, what the exporter renders at once', async () => {
    const { scrape, reader } = filled(950);
    const { text } = await scrape();
    const { resourceMetrics } = await reader.collect();
    const whole = new PrometheusSerializer('', false, undefined, false, true).serialize(resourceMetrics);
    const lines = (page: string) => page.split('\n').filter((line) => line !== '');
    expect(lines(text)).toEqual(lines(whole));
    expect(lines(text).filter((line) => line.startsWith('# HELP things_total'))).toHaveLength(1);
  });

  it('gives others a turn while it renders', async () => {
    const { scrape } = filled(6_000);
    let turns = 0;
    let going = true;
    const count = () => {
      turns += 1;
      if (going) setImmediate(count);
    };
    setImmediate(count);
    await scrape();
    going = false;
    expect(turns).toBeGreaterThan(8);
  });

  it('answers scrapes over HTTP, several at once, and survives one that goes away', async () => {
    const { page } = filled(2_000);
    const server = createServer(page.handler);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/metrics`;
    try {
      const leaver = request(url, (response) => response.once('data', () => response.destroy()));
      const left = new Promise((resolve) => leaver.once('close', resolve));
      leaver.on('error', () => {});
      leaver.end();
      const pages = await Promise.all([MetricsPage.scrape(url), MetricsPage.scrape(url), left]);
      for (const answer of pages.slice(0, 2) as MetricsPage[]) {
        expect(answer.all('things_total')).toHaveLength(2_000);
      }
      const head = await fetch(url, { method: 'HEAD' });
      expect(head.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    } finally {
      server.close();
    }
  });
});
