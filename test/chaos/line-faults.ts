import { OPERATION } from '../support/faulty-line.js';
import { sleep } from '../support/monotonic.js';
import type { Operator } from '../support/operator.js';
import { ELECTION, type Seat } from './field.js';
import { type Nemesis, onLines, T } from './nemesis.js';

/** What is done to single packets between a worker and its server; only to workers that have lines. */
export const LINE_FAULTS: Readonly<Record<string, Nemesis>> = {
  delay_replies: onLines(async ({ field, random, victim }) => {
    const ms = Math.round(random.between(20, 1_500));
    await each(victim, (line) => line.delayReplies(ms));
    const detail = `${victim.name} ${ms} ms`;
    return {
      on: [victim],
      ms: random.between(500, 2 * T(field)),
      detail,
      end: () => each(victim, (line) => line.mend()),
    };
  }),
  stall_requests: onLines(async ({ field, random, victim }) => {
    await each(victim, (line) => line.stall('requests'));
    return { on: [victim], ms: random.between(200, 2 * T(field)), end: () => each(victim, (line) => line.mend()) };
  }),
  stall_replies: onLines(async ({ field, random, victim }) => {
    await each(victim, (line) => line.stall('replies'));
    return { on: [victim], ms: random.between(200, 2 * T(field)), end: () => each(victim, (line) => line.mend()) };
  }),
  lose_reply: onLines(({ random, victim }) => {
    const operation = random.pick([OPERATION.create, OPERATION.write, OPERATION.remove]);
    // Right after the commit: the server has done it, and the client can't know.
    for (const line of victim.lines) void line.loseReply(operation, ELECTION);
    return { on: [victim], detail: `${victim.name}, operation ${operation}` };
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
    await field.operate((operator) => removeCandidate(operator, who), 3_000).catch(() => {});
    const end = async () => {
      over = true;
      await done;
      await each(victim, (line) => line.mend());
    };
    return { on: [victim], ms: random.between(1.5 * T(field), 3 * T(field)), end };
  }),
  drop_connections: onLines(async ({ victim }) => {
    await each(victim, (line) => line.drop());
    return { on: [victim] };
  }),
};

async function each(seat: Seat, act: (line: Seat['lines'][number]) => Promise<void>): Promise<void> {
  await Promise.all(seat.lines.map(act));
}

async function removeCandidate(operator: Operator, who: string | undefined): Promise<void> {
  for (const node of await operator.children(ELECTION)) {
    const path = `${operator.queuePath(ELECTION)}/${node}`;
    const found = await operator.session.read(path);
    if (found !== null && Buffer.from(found.data).includes(`"${who}"`)) await operator.remove(path);
  }
}
