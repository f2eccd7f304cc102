import { ForeignQueueError, TransferRefusedError, UnknownElectionError } from '../errors.js';
import { type Addressee, addressee, namesOf } from './addressee.js';
import { type Change, changeRecord } from './change-record.js';
import { duration } from './checks.js';
import type { Chronicle } from './chronicle.js';
import type { Contest } from './contest.js';
import {
  checkFloor,
  checkOrder,
  evicted,
  floorRaised,
  type Order,
  paused,
  resumption,
  TRANSFER_REACH,
  transferring,
} from './control.js';
import { type ControlChange, decodeHistory, entriesOf, type HistoryEntry, withEntries } from './history.js';
import type { Host } from './host.js';
import { isKind } from './nodes.js';
import { Observation } from './observation.js';
import { untilAnswered } from './persistence.js';
import type { Membership, Session } from './port.js';
import { readRecord } from './reading.js';
import type { Pause, TermRecord, Transfer } from './record.js';
import { orAborted } from './waiting.js';

/** Who was evicted. */
export interface Evicted {
  /** Its node's name, which is gone. */
  readonly node: string;
  /** As it called itself. */
  readonly id: string;
  /** It led; its successor is patient. */
  readonly led: boolean;
}

/** How long a transfer stands where nobody says otherwise, in milliseconds. */
const TRANSFER_MS = 60_000;

/** How long an operator waits for what was done to be written down, in milliseconds. */
const TELLING_MS = 5_000;

/** What operators do to one election: each changes the record by compare-and-set, and is written into the history. */
export class Controls {
  readonly #host: Host;
  readonly #membership: Membership;
  readonly #chronicle: Chronicle;
  readonly #contest: Contest;

  constructor(host: Host, membership: Membership, chronicle: Chronicle, contest: Contest) {
    this.#host = host;
    this.#membership = membership;
    this.#chronicle = chronicle;
    this.#contest = contest;
  }

  async pause(given: Order, signal: AbortSignal): Promise<Pause> {
    const order = checkOrder('pause', given);
    await this.#known(signal);
    if (this.#contest.foreign) {
      this.#host.logger.warn(
        { election: this.#contest.election, queue: this.#contest.paths.queue },
        'the pause binds candidates of Tenure alone: those of other libraries in this queue go on',
      );
    }
    const at = this.#now();
    await this.#change(
      { edit: (record) => paused(record, order, at, this.#contest.election), made: ({ pause }) => pause?.at === at },
      { change: 'pause', at, ...order },
      signal,
    );
    return { by: order.by, at, reason: order.reason };
  }

  async resume(given: Order, signal: AbortSignal): Promise<void> {
    const order = checkOrder('resume', given);
    await this.#known(signal);
    const change = resumption(this.#contest.election);
    await this.#change(change, { change: 'resume', at: this.#now(), ...order }, signal);
  }

  async transfer(
    given: Order & { readonly to: string; readonly deadlineMs?: number | undefined },
    signal: AbortSignal,
  ): Promise<Transfer> {
    const order = checkOrder('transfer', given);
    const lastsMs = duration('deadlineMs', given.deadlineMs, TRANSFER_MS, 1);
    this.#refuseForeign('transfer');
    const session = await this.#known(signal);
    const target = await this.#find(session, 'to', given.to, signal);
    const { election } = this.#contest;
    refuseFarOrForeign(target, election);
    const wall = this.#host.clock.wall();
    const at = new Date(wall).toISOString();
    const transfer: Transfer = {
      to: target.node,
      by: order.by,
      at,
      reason: order.reason,
      deadline: new Date(wall + lastsMs).toISOString(),
    };
    await this.#change(
      {
        edit: (record) => transferring(record, transfer, election),
        made: (record) => record.transfer?.at === at || record.latest?.node === target.node,
      },
      { change: 'transfer', at, ...order, to: target.node },
      signal,
    );
    return transfer;
  }

  async evict(given: Order & { readonly node: string }, signal: AbortSignal): Promise<Evicted> {
    const order = checkOrder('evict', given);
    const session = await this.#known(signal);
    const { node, id } = await this.#find(session, 'node', given.node, signal);
    const at = this.#now();
    let led = false;
    const mark = async () => {
      const { before, after } = await this.#edit(
        { edit: (record) => evicted(record, node, at), made: ({ latest }) => latest?.ended?.at === at },
        signal,
      );
      led ||= before !== after || after.latest?.ended?.at === at;
    };
    // Marked first: from its own node's deletion alone nobody could tell an eviction from an accident.
    await mark();
    await this.#remove(`${this.#contest.paths.queue}/${node}`, signal);
    // It may have claimed in between.
    await mark();
    await this.#tell({ change: 'evict', at, ...order, to: node });
    return { node, id, led };
  }

  async floor(signal: AbortSignal): Promise<bigint> {
    return (await this.#read(await this.#known(signal), signal)).floor;
  }

  async raiseFloor(given: Order & { readonly to: bigint }, signal: AbortSignal): Promise<bigint> {
    const order = checkOrder('raiseFloor', given);
    const to = checkFloor(given.to);
    this.#refuseForeign('raiseFloor');
    // An election that nobody knows yet is one, too: after an ensemble was rebuilt there may be nothing at all.
    await this.#change(
      {
        edit: (record) => floorRaised(record, to, this.#contest.election),
        made: ({ floor }) => floor >= to,
      },
      { change: 'raise_floor', at: this.#now(), ...order, to: String(to) },
      signal,
    );
    return to;
  }

  async history(signal: AbortSignal): Promise<HistoryEntry[]> {
    const session = await this.#known(signal);
    const path = this.#contest.paths.history;
    const [found, record] = await orAborted(
      Promise.all([untilAnswered(this.#host, session, () => session.read(path)), this.#read(session, signal)]),
      signal,
    );
    const written = found === null ? [] : (decodeHistory(found.data) ?? []);
    return withEntries(written, entriesOf(record));
  }

  /** A session that is up to date, and the election exists. */
  async #known(signal: AbortSignal): Promise<Session> {
    const { session } = await this.#membership.attach(signal);
    const { paths, election } = this.#contest;
    const ask = <T>(operation: () => Promise<T>) =>
      orAborted(untilAnswered(this.#host, session, operation, signal), signal);
    await ask(() => session.sync('/'));
    const found = await ask(() => Promise.all([session.stat(paths.queue), session.stat(paths.term)]));
    if (found.every((stat) => stat === null)) {
      throw new UnknownElectionError(
        `there is no election ${JSON.stringify(election)}: neither ${paths.queue} nor ${paths.term} exists. ` +
          'Check the name, the root and the chroot',
      );
    }
    return session;
  }

  async #find(session: Session, option: string, wanted: unknown, signal: AbortSignal): Promise<Addressee> {
    const { paths, election } = this.#contest;
    const name = namesOf(option, wanted);
    const view = await orAborted(new Observation(this.#host, session, election, paths).read(false), signal);
    return addressee(view, name);
  }

  async #read(session: Session, signal: AbortSignal): Promise<TermRecord> {
    const reading = readRecord(this.#host, session, this.#contest.paths.term, false);
    return (await orAborted(reading, signal)).record;
  }

  #edit(change: Change, signal: AbortSignal) {
    const changing = changeRecord(this.#host, this.#membership, this.#contest.paths, change, signal);
    return orAborted(changing, signal);
  }

  async #change(change: Change, entry: Omit<ControlChange, 'kind'>, signal: AbortSignal): Promise<void> {
    await this.#edit(change, signal);
    await this.#tell(entry);
  }

  /** The change is made: that it can't be written down doesn't undo it. */
  async #tell(entry: Omit<ControlChange, 'kind'>): Promise<void> {
    this.#host.logger.info({ election: this.#contest.election, ...entry }, 'an operator changed the election');
    await this.#chronicle.write(this.#contest.paths, [{ kind: 'control', ...entry }], TELLING_MS);
  }

  async #remove(path: string, signal: AbortSignal): Promise<void> {
    const { session } = await this.#membership.attach(signal);
    try {
      await orAborted(
        untilAnswered(this.#host, session, () => session.remove(path), signal),
        signal,
      );
    } catch (error) {
      if (!isKind(error, 'no_node')) throw error;
    }
  }

  #refuseForeign(what: string): void {
    if (!this.#contest.foreign) return;
    throw new ForeignQueueError(
      `${what}: the queue ${this.#contest.paths.queue} belongs to other libraries, whose candidates know neither floor ` +
        'nor transfer: stop or evict those that are in the way',
    );
  }

  #now(): string {
    return new Date(this.#host.clock.wall()).toISOString();
  }
}

/** All before the target have to step back, so they are to be few, and such as can. */
function refuseFarOrForeign({ id, node, place, leads, foreignAhead }: Addressee, election: string): void {
  const name = JSON.stringify(election);
  if (leads) throw new TransferRefusedError(`${node} (${id}) leads ${name} already`);
  if (place > TRANSFER_REACH) {
    throw new TransferRefusedError(
      `${node} (${id}) stands ${place} places back in ${name}, and all before it would have to step behind it: ` +
        `choose one of the first ${TRANSFER_REACH}`,
    );
  }
  if (foreignAhead !== null) {
    throw new TransferRefusedError(
      `${foreignAhead} stands in ${name} before ${node} (${id}), or is it, and is a candidate of another library: it knows no transfer. Evict it first`,
    );
  }
}
