import { electionPaths } from '../election/names.js';
import type { Session } from '../election/port.js';
import type { Seat } from './arena.js';
import { type Around, type Begun, type Fault, onVictim, T } from './fault.js';
import { OPERATION } from './faulty-line.js';
import { sleep } from './monotonic.js';

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
  /**
   * Its server takes it back, and answers nothing else, as one that is cut off from the quorum may; meanwhile somebody deletes its
   * candidate. Whoever takes a reconnect for a renewal leads on.
   */
  handshakes_only: onLines(async ({ field, random, victim }) => {
    const who = victim.worker?.who;
    await each(victim, (line) => line.answerHandshakesOnly());
    let over = false;
    const drop = async (): Promise<void> => {
      while (!over) {
        await each(victim, (line) => line.drop());
        await sleep(random.between(100, T(field) / 4));
      }
    };
    const done = drop();
    await field.byHand((session) => removeCandidate(session, electionPaths(field.root, field.election).queue, who));
    const end = async () => {
      over = true;
      await done;
      await mended(victim)();
    };
    return { on: [victim], ms: random.between(1.5 * T(field), 3 * T(field)), end };
  }),
  refuse_connections: onLines(async ({ field, random, victim }) => {
    await each(victim, (line) => line.refuse());
    return { on: [victim], ms: random.between(200, 2 * T(field)), end: mended(victim) };
  }),
  lose_reply: onLines(({ field, random, victim }) => {
    const operation = random.pick([OPERATION.create, OPERATION.write, OPERATION.remove, OPERATION.transaction]);
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

async function removeCandidate(session: Session, queue: string, who: string | undefined): Promise<void> {
  await session.sync('/');
  for (const node of (await session.children(queue))?.names ?? []) {
    const found = await session.read(`${queue}/${node}`);
    if (found !== null && Buffer.from(found.data).includes(`"${who}"`)) await session.remove(`${queue}/${node}`);
  }
}
