import type { ElectionView } from '../../election/view.js';
import type { Election } from '../../index.js';
import { defineCommand } from '../command.js';
import { openTenure } from '../connection.js';
import type { Context } from '../context.js';
import { ORDER_OPTIONS, orderOf, QUEUE_OPTION, queueOf } from '../control-options.js';
import { showDuration } from '../duration.js';
import { EXIT } from '../exit-codes.js';
import { FENCE_URL_HELP, type Fence, openFence, raiseFence } from '../fences.js';
import { COMMON_OPTIONS, CONNECTION_OPTIONS } from '../options.js';
import { visible } from '../text.js';
import { untilSeen } from '../until-seen.js';

/** How long a leader may take before its fence is raised, where nobody says otherwise. */
const GUARD_AFTER_MS = 10_000;

export const pause = defineCommand({
  name: 'pause',
  summary: 'let nobody lead until it is resumed',
  description: [
    'The leader stops its work and joins the queue again, and nobody leads until tenure resume, whatever is restarted ' +
      'meanwhile. tenure run joins again with --restart on-failure or always only, and else ends with code 123.',
    "A leader that is frozen or cut off doesn't hear of it. Its lease ends by itself, but what it had begun may arrive " +
      'later. With --guard the fence of the resource is raised above its token as well, once it has ended its term or ' +
      'the time of --wait is over: then the resource refuses what comes too late.',
    'A leader that is healthy and still works when its fence is raised takes that for tokens that went backwards, and ' +
      'ends loudly. So let --wait be longer than its lease.',
  ],
  operands: [{ name: 'ELECTION', required: true, help: 'the name of an election' }],
  options: {
    ...ORDER_OPTIONS,
    guard: {
      kind: 'text',
      placeholder: 'URL',
      multiple: true,
      help: `Raise the fence of this resource, too: ${FENCE_URL_HELP}.`,
    },
    wait: {
      kind: 'duration',
      help: 'Wait for so long until nobody leads. Default: not at all, but with --guard 10 s.',
    },
    ...QUEUE_OPTION,
    ...CONNECTION_OPTIONS,
    ...COMMON_OPTIONS,
  },
  examples: [
    { what: 'Stop it', line: "tenure pause settlement --reason 'double bookings'" },
    { what: 'Stop it, and see it stop', line: "tenure pause settlement --reason 'double bookings' --wait 30s" },
    {
      what: 'Stop a leader that is frozen',
      line: "tenure pause settlement --reason 'a hangs' --guard postgres://ops@db/books#ledger",
    },
  ],
  exitCodes: {
    [EXIT.ok]: 'it is paused',
    [EXIT.failure]: 'it is paused already, or a fence could not be raised; the message says which',
    [EXIT.usage]: true,
    [EXIT.timeout]: 'it is paused, but somebody still leads after the time of --wait',
    [EXIT.unreachable]: true,
    [EXIT.denied]: true,
  },
  async run(context, { options, operands: [name = ''] }) {
    const order = orderOf(options);
    // Reached first: a fence that is misspelt is to be told before anybody is stopped.
    const fences: Fence[] = [];
    try {
      for (const url of options.guard) fences.push(await openFence(url));
      await using tenure = await openTenure(context, options);
      const election = tenure.election(name, queueOf(options));
      const paused = await election.pause({ ...order, signal: context.signal });
      const waitMs = options.wait ?? (fences.length > 0 ? GUARD_AFTER_MS : 0);
      const { view, ended } = await untilEnded(election, waitMs, context.signal);
      const raised = await raise(fences, view, `operator: ${order.by}`);
      const late = !ended && options.wait !== undefined;
      tell(context, { name, paused, view, waitMs, ended, raised });
      return late && fences.length === 0 ? EXIT.timeout : EXIT.ok;
    } finally {
      await Promise.all(fences.map((fence) => fence.close()));
    }
  },
});

/** Nobody can claim any more: whoever leads now is the last one. */
async function untilEnded(election: Election, waitMs: number, signal: AbortSignal) {
  const view = await election.current({ signal });
  if (view.leader === null || waitMs === 0) return { view, ended: view.leader === null };
  const after = await untilSeen(election, waitMs, signal, ({ leader }) => leader === null);
  return { view, ended: after !== null };
}

/** Above the last token: the next term's is higher still, as transactions are numbered one by one. */
async function raise(fences: readonly Fence[], view: ElectionView, holder: string) {
  const last = view.leader?.token ?? view.token;
  if (last === null) return [];
  const raised = [];
  for (const fence of fences) {
    const { token } = await raiseFence(fence, last + 1n, holder);
    raised.push({ url: fence.shown, resource: fence.resource, token });
  }
  return raised;
}

interface Told {
  readonly name: string;
  readonly paused: { by: string; at: string; reason: string };
  readonly view: ElectionView;
  readonly waitMs: number;
  readonly ended: boolean;
  readonly raised: readonly { url: string; resource: string; token: bigint }[];
}

function tell({ json, out, quiet }: Context, { name, paused, view, waitMs, ended, raised }: Told): void {
  if (json) {
    out.json({ election: name, paused, leader: ended ? null : view.leader, fences: raised });
    return;
  }
  if (quiet) return;
  out.line(`${visible(name)} is paused: nobody leads until tenure resume ${visible(name)}`);
  if (!ended && view.leader !== null) {
    const leader = visible(view.leader.id);
    out.line(
      waitMs === 0
        ? `${leader} has been asked to stop`
        : `${leader} has not ended its term within ${showDuration(waitMs)}: it may be frozen or cut off, or still be draining`,
    );
  }
  for (const { url, resource, token } of raised) {
    out.line(`${visible(resource)} at ${visible(url)} refuses every token below ${token}`);
  }
}
