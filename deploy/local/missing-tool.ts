/** A tool has to be installed first. The message is one line that says which. */
export class MissingToolError extends Error {
  override readonly name = 'MissingToolError';
}
