package tenure.client;

/** The term is over, for good. */
public final class TermOverException extends NotLeadingException {
  private static final long serialVersionUID = 1;

  private final String reason;

  TermOverException(String message, String reason) {
    super("term_over", false, message);
    this.reason = reason;
  }

  /** Why. */
  public String reason() {
    return reason;
  }
}
