package tenure.client;

/** The sidecar's answer says no, or there is none: then the status is 0 and the code {@code sidecar_unreachable}. */
public final class SidecarException extends TenureException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final double retryAfterSeconds;

  SidecarException(int status, String code, String detail, double retryAfterSeconds) {
    super(code, status == 409 || status == 429 || status >= 500, detail + " (" + status + " " + code + ")", null);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  SidecarException(String url, Throwable cause) {
    super("sidecar_unreachable", true, url + ": " + cause, cause);
    this.status = 0;
    this.retryAfterSeconds = 0;
  }

  /** The HTTP status; 0 where there was no answer. */
  public int status() {
    return status;
  }

  double retryAfterSeconds() {
    return retryAfterSeconds;
  }
}
