import { InvalidOptionError } from '../errors.js';
import { FenceReleasedError } from './errors.js';
import { checkResource, type FencedTerm } from './guard.js';
import type { Transaction } from './postgres.js';
import { externalKey, fromJson, toJson } from './task-json.js';

/** What a task in steps works with. */
export interface TaskSteps<C> {
  /** The task's key, unique within the resource. */
  readonly key: string;
  /** The term under which it runs. */
  readonly term: FencedTerm;
  /** How often the task has begun, this time included. */
  readonly attempt: number;
  /** What `save()` kept last, in this attempt or an earlier one. */
  readonly progress: unknown;
  /** The names of the steps that are done. */
  readonly done: readonly string[];

  /**
   * Runs `work` unless an earlier attempt finished the step, and saves its result under the guard. At least once: if the leader dies
   * between the work and the saving, the successor runs it again. Pass `idempotencyKey` on to where the effect is: it is made of
   * the resource, the task's key and the step's name, each percent-encoded.
   */
  step<T>(name: string, work: (context: { idempotencyKey: string; signal: AbortSignal }) => T | Promise<T>): Promise<T>;

  /** As `step`, with `work` and the saving in one fenced transaction: what `work` writes in it takes effect exactly once. */
  transact<T>(name: string, work: (tx: Transaction<C>) => T | Promise<T>): Promise<T>;

  /** Keeps a JSON value under the guard, for the next attempt to go on from. */
  save(progress: unknown): Promise<void>;
}

/** One row of the store that belongs to a task; every method is one fenced transaction. */
export interface StepStore<C> {
  readonly resource: string;
  /** Returns what is saved, without running `work`, where another attempt has saved the step meanwhile. */
  saveStep<T>(key: string, step: string, work: (tx: Transaction<C>) => T | Promise<T>): Promise<unknown>;
  saveProgress(key: string, progress: string | null): Promise<void>;
}

export class OpenTask<C> implements TaskSteps<C> {
  readonly key: string;
  readonly term: FencedTerm;
  readonly attempt: number;
  progress: unknown;
  readonly #saved: Map<string, unknown>;
  readonly #begun = new Set<string>();
  readonly #store: StepStore<C>;
  #open = true;

  constructor(
    store: StepStore<C>,
    term: FencedTerm,
    key: string,
    attempt: number,
    progress: unknown,
    saved: Map<string, unknown>,
  ) {
    this.#store = store;
    this.term = term;
    this.key = key;
    this.attempt = attempt;
    this.progress = progress;
    this.#saved = saved;
  }

  get done(): readonly string[] {
    return [...this.#saved.keys()];
  }

  async step<T>(
    name: string,
    work: (context: { idempotencyKey: string; signal: AbortSignal }) => T | Promise<T>,
  ): Promise<T> {
    if (this.#isDone(name)) return this.#saved.get(name) as T;
    this.term.assert();
    const idempotencyKey = externalKey(this.#store.resource, this.key, name);
    const result = await work({ idempotencyKey, signal: this.term.signal });
    return await this.#finish(name, () => result);
  }

  async transact<T>(name: string, work: (tx: Transaction<C>) => T | Promise<T>): Promise<T> {
    if (this.#isDone(name)) return this.#saved.get(name) as T;
    return await this.#finish(name, work);
  }

  async save(progress: unknown): Promise<void> {
    this.#assertOpen();
    const json = toJson(progress);
    await this.#store.saveProgress(this.key, json);
    this.progress = fromJson(json);
  }

  /** From now on nothing more can be saved: the work has settled. */
  close(): void {
    this.#open = false;
  }

  #assertOpen(): void {
    if (this.#open) return;
    throw new FenceReleasedError(`the work of the task ${JSON.stringify(this.key)} has ended: is an await missing?`);
  }

  async #finish<T>(name: string, work: (tx: Transaction<C>) => T | Promise<T>): Promise<T> {
    // Asked again: a step's own work may have outlived the task's.
    this.#assertOpen();
    const result = await this.#store.saveStep(this.key, name, work);
    this.#saved.set(name, result);
    return result as T;
  }

  /** A name twice in one attempt would silently skip the second piece of work. */
  #isDone(name: string): boolean {
    this.#assertOpen();
    checkResource(name);
    if (this.#begun.has(name)) {
      throw new InvalidOptionError(
        'step',
        `the step ${JSON.stringify(name)} came twice in one attempt: each needs its own name`,
      );
    }
    this.#begun.add(name);
    return this.#saved.has(name);
  }
}
