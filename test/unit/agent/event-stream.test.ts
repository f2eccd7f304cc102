import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { EventStream } from '../../../src/agent/event-stream.js';

/** A response whose buffer is full when it is told to be. */
class Response extends EventEmitter {
  readonly req = { socket: Object.assign(new EventEmitter(), { destroyed: false }) };
  written = '';
  full = false;
  destroyed = false;
  writeHead(): this {
    return this;
  }
  write(text: string): boolean {
    this.written += text;
    return !this.full;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
  take(): string {
    const { written } = this;
    this.written = '';
    return written;
  }
}

afterEach(() => {
  vi.useRealTimers();
});

function open(stallMs = 1_000) {
  const response = new Response();
  let closed = 0;
  const stream = new EventStream(response as unknown as ServerResponse, stallMs, () => {
    closed += 1;
  });
  response.take();
  return { response, stream, closed: () => closed };
}

describe('a stream of events', () => {
  it('keeps the newest of each kind for one that is slow, and nothing else', () => {
    const { response, stream } = open();
    response.full = true;
    stream.send('view', '1', 'a-1');
    expect(response.take()).toBe('event: view\nid: a-1\ndata: 1\n\n');
    for (let i = 2; i < 1_000; i += 1) stream.send('view', String(i), `a-${i}`);
    stream.send('candidacy', 'c', 'a-999');
    stream.beat();
    expect(response.take()).toBe('');
    expect(stream.ready).toBe(false);
    response.full = false;
    response.emit('drain');
    expect(response.take()).toBe('event: view\nid: a-999\ndata: 999\n\nevent: candidacy\nid: a-999\ndata: c\n\n');
    stream.beat();
    expect(response.take()).toBe(': beat\n\n');
  });

  it('is dropped when its buffer stays full', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { response, stream, closed } = open(10_000);
    response.full = true;
    stream.send('view', '1');
    vi.advanceTimersByTime(9_999);
    stream.beat();
    expect(response.destroyed).toBe(false);
    vi.advanceTimersByTime(2);
    stream.beat();
    expect(response.destroyed).toBe(true);
    expect(closed()).toBe(1);
    stream.send('view', '2');
    expect(response.take()).not.toContain('data: 2');
  });
});
