import { summary } from '../statistics.js';
import { type Injected, injectedTroubles } from './inject.js';
import type { Measured } from './measure.js';
import { type Choice, propose, type Question, type Trouble } from './proposal.js';
import { blockMaxima } from './silence.js';
import { fitTail } from './tail.js';

/** One trouble within a second counts once. */
const BLOCK_MS = 1_000;

export interface Asked {
  readonly acceptedEveryMs: number;
  /** The longest pause of the real workers, where it is known. */
  readonly workerPauseMs: number | undefined;
  readonly bounds: Question['bounds'];
}

/** What was found, in numbers; the samples themselves are left out. */
export interface Calibration {
  readonly measuredMs: number;
  readonly expired: boolean;
  readonly grantedMs: number;
  readonly writes: { readonly sent: number; readonly failed: number; readonly heldBack: number };
  readonly injected: Injected | null;
  readonly mustOutlast: readonly Trouble[];
  readonly choices: readonly Choice[];
  readonly proposal: Choice | null;
  /** False where nothing was extrapolated, as too little was measured. */
  readonly enough: boolean;
}

/** The pure part: from what was measured to what is proposed. */
export function calibration(measured: Measured, injected: Injected | null, asked: Asked): Calibration {
  const tail = fitTail(blockMaxima(measured.silences, BLOCK_MS));
  const roundTrips = measured.written.writes.map(({ sentAt, confirmedAt }) => confirmedAt - sentAt);
  const longest = measured.silences.reduce((most, { ms }) => Math.max(most, ms), 0);
  const mustOutlast: Trouble[] = [
    { what: 'the longest silence that was measured', ms: longest },
    ...(asked.workerPauseMs === undefined ? [] : [{ what: "the workers' longest pause", ms: asked.workerPauseMs }]),
    ...(injected === null ? [] : injectedTroubles(injected)),
  ];
  const { choices, best } = propose({
    tail,
    blockMs: BLOCK_MS,
    mustOutlast,
    acceptedEveryMs: asked.acceptedEveryMs,
    writeMs: summary(roundTrips)?.p99 ?? 0,
    bounds: asked.bounds,
  });
  const { writes, failed, heldBack } = measured.written;
  return {
    measuredMs: measured.forMs,
    expired: measured.expired,
    grantedMs: measured.grantedMs,
    writes: { sent: writes.length + failed, failed, heldBack },
    injected,
    mustOutlast,
    choices,
    proposal: best,
    enough: tail !== null,
  };
}

/** The distributions that are drawn, by name. */
export function distributions({
  written,
  silences,
  pauses,
}: Measured): { readonly name: string; readonly values: readonly number[] }[] {
  return [
    { name: 'write round trips', values: written.writes.map(({ sentAt, confirmedAt }) => confirmedAt - sentAt) },
    { name: 'silences (since the newest confirmed write was sent)', values: silences.map(({ ms }) => ms) },
    { name: 'event loop late by', values: pauses.loopMs },
    { name: 'garbage collections', values: pauses.gcMs },
    { name: 'waiting for a processor, in each 100 ms', values: pauses.schedulerMs ?? [] },
  ];
}
