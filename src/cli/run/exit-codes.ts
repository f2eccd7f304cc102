/** Codes of our own, beside the command's: as high as those of `timeout` and `docker run`, where few commands have theirs. */
export const RUN_EXIT = {
  /** `--no-wait` or `--wait-timeout`: somebody else leads. */
  conflict: 122,
  /** The command was ended because the leadership was lost, or taken away. */
  lost: 123,
  /** Tenure itself failed. */
  failed: 125,
  /** As shells tell of a command that can't be started. */
  notExecutable: 126,
  notFound: 127,
} as const;
