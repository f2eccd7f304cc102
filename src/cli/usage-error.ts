/** The command line is wrong: exit code 2. `hint` is a second line, such as what was probably meant. */
export class UsageError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.name = new.target.name;
    this.hint = hint;
  }
}

/** Ends the command with a code of its own and one line on standard error. */
export class CommandFailure extends Error {
  readonly exitCode: number;
  /** Stable, as those of `TenureError` are. */
  readonly code: string;

  constructor(exitCode: number, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.exitCode = exitCode;
    this.code = code;
  }
}
