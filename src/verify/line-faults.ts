import type { Seat } from './arena.js';
import { type Around, type Begun, type Fault, onVictim, T } from './fault.js';
import { OPERATION } from './faulty-line.js';

const onLines = (act: (around: Around & { victim: Seat }) => Begun | Promise<Begun>): Fault =>
  onVictim((around) => (around.victim.lines.length === 0 ? undefined : act(around)));

const mended = (seat: Seat) => () => each(seat, (line) => line.mend());

/** What is done to packets and connections between a worker and its servers; only to workers that have lines. */
export const LINE_FAULTS = {
  delay_replies: onLines(async ({ field, random, victim }) => {
    const delayMs = Math.round(random.between(20, T(field) / 2));
    await each(victim, (line) => line.delayReplies(delayMs));
    const ms = random.between(500, 2 * T(field));
    return { on: [victim], ms, detail: `${victim.name} ${delayMs} ms`, end: mended(victim) };
  }),
  stall_requests: onLines(async ({ field, random, victim }) => {
    await each(victim, (line) => line.stall('requests'));
    return { on: [victim], ms: random.between(200, 2 * T(field)), end: mended(victim) };
  }),
  stall_replies: onLines(async ({ field, random, victim }) => {
    await each(victim, (line) => line.stall('replies'));
    return { on: [victim], ms: random.between(200, 2 * T(field)), end: mended(victim) };
  }),
  refuse_connections: onLines(async ({ field, random, victim }) => {
    await each(victim, (line) => line.refuse());
    return { on: [victim], ms: random.between(200, 2 * T(field)), end: mended(victim) };
  }),
  lose_reply: onLines(({ field, random, victim }) => {
    const operation = random.pick([OPERATION.create, OPERATION.write, OPERATION.remove]);
    // Right after the commit: the server has done it, and the client can't know.
    for (const line of victim.lines) void line.loseReply(operation, field.election);
    return { on: [victim], detail: `${victim.name}, operation ${operation}` };
  }),
  drop_connections: onLines(async ({ victim }) => {
    await each(victim, (line) => line.drop());
    return { on: [victim] };
  }),
} satisfies Readonly<Record<string, Fault>>;

async function each(seat: Seat, act: (line: Seat['lines'][number]) => Promise<void>): Promise<void> {
  await Promise.all(seat.lines.map(act));
}
