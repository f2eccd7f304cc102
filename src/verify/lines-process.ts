import { FaultyLine } from './faulty-line.js';
import type { LineOrder, LineReport } from './lines.js';

const lines = new Map<number, FaultyLine>();

async function obey({ line: number, method, parameters }: LineOrder): Promise<unknown> {
  if (method === 'open') {
    const line = await FaultyLine.to(parameters[0] as { host: string; clientPort: number });
    lines.set(number, line);
    return line.address;
  }
  const line = lines.get(number) as unknown as Record<string, (...parameters: unknown[]) => unknown>;
  return line[method]?.(...parameters);
}

const report = (message: LineReport): void => {
  process.send?.(message);
};

process.on('message', (order: LineOrder) => {
  obey(order).then(
    (value) => report({ number: order.number, value }),
    (error: unknown) => report({ number: order.number, failure: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
