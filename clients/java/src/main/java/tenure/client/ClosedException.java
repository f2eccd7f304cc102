package tenure.client;

/** The candidacy was closed by this program. */
public final class ClosedException extends TenureException {
  private static final long serialVersionUID = 1;

  ClosedException(String message) {
    super("closed", false, message, null);
  }
}
