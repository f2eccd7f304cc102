/**
 * Milliseconds by CLOCK_MONOTONIC, which all processes of one machine share: what two workers report can be put in order by it.
 */
export function moment(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
