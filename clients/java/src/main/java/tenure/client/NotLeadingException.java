package tenure.client;

/** The term can't be vouched for at this moment. It may come back: check again before the next step. */
public class NotLeadingException extends TenureException {
  private static final long serialVersionUID = 1;

  NotLeadingException(String message) {
    this("not_leading", true, message);
  }

  NotLeadingException(String code, boolean retriable, String message) {
    super(code, retriable, message, null);
  }
}
