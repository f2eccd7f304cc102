package tenure.client;

/** The base of all errors here. */
public class TenureException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String code;
  private final boolean retriable;

  TenureException(String code, boolean retriable, String message, Throwable cause) {
    super(message, cause);
    this.code = code;
    this.retriable = retriable;
  }

  /** Stable, for programs. */
  public String code() {
    return code;
  }

  /** Whether the same call can succeed later. */
  public boolean retriable() {
    return retriable;
  }
}
