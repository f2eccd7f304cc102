import type { MeterProvider } from '@opentelemetry/api';
import type { FencingObserver } from '../fencing/guard.js';
import { Instruments, type Observe } from './instrument-set.js';
import { DUPLICATE_OUTCOMES, FENCE_OUTCOMES, OTHER } from './instruments.js';
import { Labels } from './labels.js';

/** Options of {@link fencingMetrics}. */
export interface FencingMetricsOptions {
  /** Default: the provider that is registered when something is told. */
  readonly meterProvider?: MeterProvider;
  /** The resources with a label of their own. Default: the first 1,000 that are checked. */
  readonly resources?: readonly string[];
  /** The scheduled jobs with a label of their own. Default: the first 1,000. */
  readonly tasks?: readonly string[];
}

const MAX_LABELS = 1_000;

/**
 * An observer for guards, tasks and schedules that counts what they do: `observer: fencingMetrics()`. One for a process
 * is enough.
 */
export function fencingMetrics(options: FencingMetricsOptions = {}): FencingObserver {
  return new FencingMetrics(options);
}

class FencingMetrics implements FencingObserver {
  readonly #options: FencingMetricsOptions;
  readonly #resources: Labels;
  readonly #tasks: Labels;
  readonly #begun = new Set<string>();
  readonly #lastSuccess = new Map<string, number>();
  #instruments: Instruments | null = null;

  constructor(options: FencingMetricsOptions) {
    this.#options = options;
    this.#resources = new Labels(MAX_LABELS, options.resources);
    this.#tasks = new Labels(MAX_LABELS, options.tasks);
    this.#take();
  }

  check(resource: string, outcome: (typeof FENCE_OUTCOMES)[number]): void {
    const { set } = this.#take();
    const label = this.#resources.of(resource);
    this.#begin(label);
    set.fenceChecks.add(1, { resource: label, outcome });
  }

  duplicate(outcome: (typeof DUPLICATE_OUTCOMES)[number]): void {
    this.#take().set.tasksDuplicates.add(1, { outcome });
  }

  lastSuccess(job: string, atMs: number): void {
    this.#take();
    // Told out of order by two terms of one process, the later success stands.
    const label = this.#tasks.of(job);
    // One that succeeds would hide all others that are overdue.
    if (label === OTHER) return;
    this.#lastSuccess.set(label, Math.max(atMs, this.#lastSuccess.get(label) ?? 0));
  }

  /** The instruments of the present provider; what they must show from the start is there. */
  #take(): Instruments {
    const instruments = Instruments.of(this.#options.meterProvider);
    if (instruments === this.#instruments) return instruments;
    this.#instruments = instruments;
    this.#begun.clear();
    const { set } = instruments;
    for (const outcome of DUPLICATE_OUTCOMES) set.tasksDuplicates.add(0, { outcome });
    for (const resource of this.#options.resources ?? []) this.#begin(this.#resources.of(resource));
    const taskLastSuccess = (observe: Observe) => {
      for (const [task, atMs] of this.#lastSuccess) observe(atMs / 1000, { task });
    };
    instruments.read({ gauges: { taskLastSuccess } });
    return instruments;
  }

  /** All outcomes at 0, so that the first refusal is an increase. */
  #begin(resource: string): void {
    if (this.#begun.has(resource) || this.#instruments === null) return;
    this.#begun.add(resource);
    for (const outcome of FENCE_OUTCOMES) this.#instruments.set.fenceChecks.add(0, { resource, outcome });
  }
}
