import { join } from 'node:path';
import type { Chronicle } from './chronicle.js';
import { Member } from './member.js';
import type { WorkerSettings } from './messages.js';

export const FLEET = ['worker-1', 'worker-2', 'worker-3'] as const;

/** The worker processes, by their names. */
export class Fleet {
  readonly #directory: string;
  readonly #chronicle: Chronicle;
  readonly #members = new Map<string, Member>();

  constructor(directory: string, chronicle: Chronicle) {
    this.#directory = directory;
    this.#chronicle = chronicle;
    for (const name of FLEET) this.launch(name);
  }

  get members(): readonly Member[] {
    return [...this.#members.values()];
  }

  member(name: string): Member {
    const member = this.#members.get(name);
    if (member === undefined) throw new Error(`there is no ${name}`);
    return member;
  }

  /** Starts the process, which waits for its settings. */
  launch(name: string): Member {
    const log = join(this.#directory, `${name}.log`);
    const member = new Member(name, log, (report) => this.#chronicle.add(name, report));
    this.#members.set(name, member);
    return member;
  }

  /** Lets a worker begin. */
  begin(member: Member, settings: Omit<WorkerSettings, 'name'>): void {
    member.tell({ do: 'start', settings: { ...settings, name: member.name } });
  }

  /** @throws when a worker has ended that nobody has ended */
  assertAlive(): void {
    for (const { name, running, dismissed, exit, logFile } of this.members) {
      if (!running && !dismissed) throw new Error(`${name} ended by itself (${exit}): see ${logFile}`);
    }
  }

  async kill(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
  }

  /** Stops all in good order. @returns how each ended */
  stop(): Promise<{ name: string; how: string }[]> {
    return Promise.all(this.members.map(async (member) => ({ name: member.name, how: await member.stop() })));
  }
}
