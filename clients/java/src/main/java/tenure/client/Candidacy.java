package tenure.client;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One candidate for one election, through the sidecar. It stands in the queue while {@link #lead} is under way, or from
 * {@link #campaign} on until its term is closed.
 *
 * <p>A term is held by a deadline that counts from when this process sent its last confirmed request. Nothing that arrives
 * late can lengthen it, and {@link Term#check} compares the clock itself.
 */
public final class Candidacy implements AutoCloseable {
  /** What is done in a term. */
  @FunctionalInterface
  public interface Work<T> {
    T run(Term term) throws Exception;
  }

  private static final Logger LOG = System.getLogger("tenure.client");

  private final Sidecar sidecar;
  private final String election;
  private final String id;
  private final Duration drain;
  private final Map<String, Object> wish = new LinkedHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private Standing standing;
  private boolean closed;

  private Candidacy(Builder builder) {
    sidecar = new Sidecar(builder.url, builder.bearer);
    election = builder.election;
    id = builder.id == null ? newId() : builder.id;
    drain = builder.drain;
    wish.put("hold", "stream");
    wish.put("metadata", builder.metadata);
    wish.put("drainTimeoutMs", drain.toMillis());
  }

  /** Begins with a candidate of this election, and default options. */
  public static Builder of(String election) {
    return new Builder(election);
  }

  /** The options of a candidate. */
  public static final class Builder {
    private final String election;
    private String url = System.getenv().getOrDefault("TENURE_URL", "http://127.0.0.1:2182");
    private String bearer;
    private String id;
    private Map<String, ?> metadata = Map.of();
    private Duration drain = Duration.ofSeconds(30);

    private Builder(String election) {
      this.election = election;
    }

    /**
     * {@code http://host:port} or {@code https://host:port}. Default: what the environment says in TENURE_URL, else {@code
     * http://127.0.0.1:2182}.
     */
    public Builder url(String value) {
      url = value;
      return this;
    }

    /** The bearer token, where the sidecar isn't on loopback. */
    public Builder bearer(String value) {
      bearer = value;
      return this;
    }

    /**
     * What this candidate is called in views and logs. Default {@code hostname:pid:random}. Of two with one id at one sidecar
     * the second waits until the first has gone.
     */
    public Builder id(String value) {
      id = value;
      return this;
    }

    /** Shown to observers, never interpreted: maps, lists, text, numbers, booleans. */
    public Builder metadata(Map<String, ?> value) {
      metadata = value;
      return this;
    }

    /** How long the work may take to stop when the leadership is given up or taken away in order. */
    public Builder drainTimeout(Duration value) {
      drain = value;
      return this;
    }

    public Candidacy build() {
      return new Candidacy(this);
    }
  }

  public String id() {
    return id;
  }

  /**
   * Term after term: calls the work in each, and joins again when the term was lost, for ever.
   *
   * <p>Returns what the work returns by itself, after leaving. An exception of the work ends it too, but for a
   * NotLeadingException of a term that is over.
   *
   * @throws ClosedException after {@link #close}
   * @throws SidecarException when the sidecar refuses the candidacy for good; one that doesn't answer is waited for
   */
  public <T> T lead(Work<T> work) throws Exception {
    try {
      while (true) {
        Term term = next(0);
        try {
          T value = work.run(term);
          if (!term.isCancelled()) return value;
        } catch (NotLeadingException error) {
          if (!term.isCancelled()) throw error;
        }
        settle();
      }
    } finally {
      leave();
    }
  }

  /** One term, to be closed. Waits in the queue for as long as it takes. */
  public Term campaign() throws InterruptedException {
    try {
      return campaign(Duration.ZERO);
    } catch (TimeoutException error) {
      throw new IllegalStateException(error);
    }
  }

  /** One term, to be closed. @param timeout zero: for ever */
  public Term campaign(Duration timeout) throws InterruptedException, TimeoutException {
    boolean won = false;
    try {
      Term term = next(timeout.toNanos());
      if (term == null) throw new TimeoutException(id + " does not lead " + election + " within " + timeout);
      won = true;
      return term;
    } finally {
      if (!won) leave();
    }
  }

  /** Ends what goes on: the term is cancelled, and when the work has stopped, the candidate leaves. Does not wait for that. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
      if (standing != null) standing.giveUp();
    } finally {
      lock.unlock();
    }
  }

  /** @return the next term that isn't over already; null when the time is over */
  private Term next(long nanos) throws InterruptedException {
    long end = Clock.now() + nanos;
    while (true) {
      Standing stand = stand(nanos == 0 ? Long.MAX_VALUE : end);
      if (stand == null) return null;
      Term term = stand.await(nanos == 0 ? 0 : Math.max(1, end - Clock.now()));
      if (term != null) {
        if (!term.isCancelled()) return term;
        settle(); // It ended before anybody could take it up.
      } else if (isClosed()) {
        throw new ClosedException("the candidacy of " + id + " was closed");
      } else if (nanos != 0 && Clock.now() >= end) {
        return null;
      } else {
        leave();
      }
    }
  }

  /** The candidacy, made where there is none, however long that takes. */
  private Standing stand(long end) throws InterruptedException {
    String path = "/v1/elections/" + Sidecar.encode(election) + "/candidacy?id=" + Sidecar.encode(id);
    boolean warned = false;
    for (double delay = 0.1; ; delay = Math.min(2 * delay, 2)) {
      lock.lock();
      try {
        if (closed) throw new ClosedException("the candidacy of " + id + " was closed");
        if (standing != null) return standing;
      } finally {
        lock.unlock();
      }
      double pause = delay;
      long sentAt = Clock.now();
      try {
        Map<String, Object> answer = sidecar.ask("PUT", path, null, wish, Duration.ofSeconds(5));
        Standing made = new Standing(sidecar, election, id, String.valueOf(answer.get("key")), drain, this::leave);
        made.start(answer, sentAt);
        lock.lock();
        try {
          standing = made;
          if (closed) made.giveUp();
          return made;
        } finally {
          lock.unlock();
        }
      } catch (SidecarException error) {
        if (!error.retriable()) throw error;
        pause = Math.min(Math.max(pause, error.retryAfterSeconds()), 5);
        if (!warned) {
          warned = true;
          LOG.log(Level.WARNING, "{0}: {1} is not in the queue yet, and goes on trying: {2}", election, id, error.getMessage());
        }
      }
      if (Clock.now() + (long) (pause * 1e9) >= end) return null;
      lock.lock();
      try {
        if (!closed) changed.await((long) (pause * 1000), TimeUnit.MILLISECONDS);
      } finally {
        lock.unlock();
      }
    }
  }

  private boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  private void settle() {
    Standing stand = current();
    if (stand != null && !stand.settle()) leave();
  }

  private Standing current() {
    lock.lock();
    try {
      return standing;
    } finally {
      lock.unlock();
    }
  }

  private void leave() {
    Standing stand;
    lock.lock();
    try {
      stand = standing;
      standing = null;
    } finally {
      lock.unlock();
    }
    if (stand != null) stand.leave();
  }

  private static String newId() {
    byte[] random = new byte[4];
    new SecureRandom().nextBytes(random);
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException error) {
      host = "unknown";
    }
    return host + ":" + ProcessHandle.current().pid() + ":" + HexFormat.of().formatHex(random);
  }
}
