/** Milliseconds of CLOCK_MONOTONIC, which all processes of a machine share: what was noted in two of them can be compared. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
