package tenure.client;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One candidacy as the sidecar knows it, by its key. One thread asks and extends the deadline, one listens and cuts it short,
 * one ends a stream that is silent.
 */
final class Standing {
  private static final long SECOND = 1_000_000_000;
  /** How often the sidecar is asked while this candidate waits, and how long an answer may take. */
  private static final long INTERVAL = 2 * SECOND;
  private static final long PATIENCE = 5 * SECOND;
  /** A stream without a sign of life for so long is opened again; a beat comes each second. */
  private static final long SILENCE = 5 * SECOND;
  /** While the sidecar doesn't answer, this long between two attempts. */
  private static final long AGAIN = SECOND / 5;
  /** The least that an answer may take, and how often is asked while a term is suspect. */
  private static final long BRIEF = SECOND / 2;

  private final Sidecar sidecar;
  private final String election;
  private final String id;
  private final String path;
  private final String events;
  private final String key;
  private final long drain;
  private final Runnable leave;

  /** Guards all that follows, and tells of each change. */
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private Term term;
  private long ended;
  private String state = "joining";
  private long version = -1;
  private long mayAct;
  private boolean wake;
  /** Whether the sidecar has forgotten this candidacy, and whether we have no use for it any more. */
  private boolean gone;
  private boolean closed;
  /** When this program gave it up; null where it has not. */
  private Long givenUp;
  private InputStream stream;
  private long heard;

  Standing(Sidecar sidecar, String election, String id, String key, Duration drain, Runnable leave) {
    String base = "/v1/elections/" + Sidecar.encode(election);
    this.sidecar = sidecar;
    this.election = election;
    this.id = id;
    this.path = base + "/candidacy?id=" + Sidecar.encode(id);
    this.events = base + "/events?id=" + Sidecar.encode(id);
    this.key = key;
    this.drain = drain.toNanos();
    this.leave = leave;
  }

  /** @param answer that of the request that made the candidacy */
  void start(Map<String, Object> answer, long sentAt) {
    lock.lock();
    try {
      learn(answer, sentAt);
    } finally {
      lock.unlock();
    }
    Threads.start("tenure-ask-" + id, this::ask);
    Threads.start("tenure-listen-" + id, this::listen);
    Threads.start("tenure-silence-" + id, this::endSilence);
  }

  /** The term, once there is one; null when the time is over (0: never), or the candidacy, or it was given up. */
  Term await(long nanos) throws InterruptedException {
    lock.lock();
    try {
      long left = nanos;
      while (term == null && !over() && givenUp == null) {
        if (nanos == 0) changed.await();
        else if (left <= 0) return null;
        else left = changed.awaitNanos(left);
      }
      return over() || givenUp != null ? null : term;
    } finally {
      lock.unlock();
    }
  }

  /** Cancels the term. The candidacy is kept until its work has stopped and {@link #leave} is called. */
  void giveUp() {
    lock.lock();
    try {
      if (givenUp == null) givenUp = Clock.now();
      cut("closed");
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The work of the term has stopped. @return false when the sidecar takes the term for running: then leave */
  boolean settle() {
    lock.lock();
    try {
      if (term != null) {
        term.cancel("released");
        ended = term.token();
        term = null;
      }
      if (over() || !ending()) return false;
      wakeUp();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the candidacy here and at the sidecar, which needs its confirmation only to be quick. */
  void leave() {
    boolean settled = settle();
    close();
    boolean interrupted = false;
    for (long end = Clock.now() + PATIENCE; !isGone() && Clock.now() < end; ) {
      try {
        if (settled) sidecar.ask("PUT", path, key, Map.of("settled", true), Duration.ofSeconds(1));
        settled = false;
        sidecar.ask("DELETE", path, key, null, Duration.ofSeconds(1));
        break;
      } catch (InterruptedException error) {
        interrupted = true; // This is owed all the same, and it is short.
      } catch (SidecarException error) {
        if (!error.retriable() || error.status() == 409) break;
        interrupted |= Thread.interrupted();
        java.util.concurrent.locks.LockSupport.parkNanos(AGAIN);
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  private boolean isGone() {
    lock.lock();
    try {
      return gone;
    } finally {
      lock.unlock();
    }
  }

  private void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
      endStream();
    } finally {
      lock.unlock();
    }
  }

  private boolean over() {
    return gone || closed;
  }

  /** Whether the term has ended at the sidecar, which waits until the work has stopped. */
  private boolean ending() {
    return state.equals("draining") || state.equals("lost");
  }

  private void wakeUp() {
    wake = true;
    changed.signalAll();
  }

  private void ask() {
    long pause = 0;
    while (true) {
      boolean settled;
      long limit;
      lock.lock();
      try {
        for (long left = pause; left > 0 && !wake && !over(); ) left = changed.awaitNanos(left);
        wake = false;
        if (over()) return;
        boolean drains = givenUp != null && Clock.now() - givenUp < drain;
        if (term != null && term.isCancelled() && !ending() && !drains) {
          // The term ended here while the sidecar takes it for running: asking would lengthen what nobody uses.
          pause = INTERVAL;
          continue;
        }
        // Nobody works here: the sidecar may go on.
        settled = term == null && ending();
        limit = term == null ? PATIENCE : Math.max(BRIEF, Math.min(mayAct / 2, PATIENCE));
      } catch (InterruptedException error) {
        return;
      } finally {
        lock.unlock();
      }
      long sentAt = Clock.now();
      try {
        Map<String, Object> body = settled ? Map.of("settled", true) : Map.of();
        Map<String, Object> answer = sidecar.ask("PUT", path, key, body, Duration.ofNanos(limit));
        lock.lock();
        try {
          if (over()) return;
          pause = learn(answer, sentAt);
        } finally {
          lock.unlock();
        }
      } catch (InterruptedException error) {
        return;
      } catch (SidecarException error) {
        if (error.status() == 400 || error.status() == 404 || error.status() == 409) {
          lose();
          return;
        }
        pause = Math.min(Math.max((long) (error.retryAfterSeconds() * SECOND), AGAIN), INTERVAL);
      }
    }
  }

  private void listen() {
    while (true) {
      try {
        InputStream opened = sidecar.open(events, key, Duration.ofNanos(SILENCE));
        lock.lock();
        try {
          stream = opened;
          heard = Clock.now();
          if (over()) endStream();
        } finally {
          lock.unlock();
        }
        Sidecar.read(opened, this::alive, this::hear);
      } catch (SidecarException error) {
        // Opened again below; what it means is for the other thread to find out.
      } catch (InterruptedException error) {
        return;
      }
      lock.lock();
      try {
        stream = null;
        wakeUp();
        for (long left = AGAIN; left > 0 && !over(); ) left = changed.awaitNanos(left);
        if (over()) return;
      } catch (InterruptedException error) {
        return;
      } finally {
        lock.unlock();
      }
    }
  }

  private void endSilence() {
    lock.lock();
    try {
      while (!over()) {
        if (stream != null && Clock.now() - heard > SILENCE) endStream();
        changed.await(1, TimeUnit.SECONDS);
      }
    } catch (InterruptedException error) {
      // Nobody interrupts this thread; without it a silent stream lasts as long as its connection.
    } finally {
      lock.unlock();
    }
  }

  private void endStream() {
    try {
      if (stream != null) stream.close();
    } catch (IOException error) {
      // It has ended all the same.
    }
    stream = null;
  }

  private void alive() {
    lock.lock();
    heard = Clock.now();
    lock.unlock();
  }

  private void hear(String name, Map<String, Object> data) {
    lock.lock();
    try {
      if (name.equals("candidacy")) {
        learn(data, null);
      } else if (name.equals("end")) {
        cut("the sidecar ended the candidacy: " + data.get("reason"));
        wakeUp();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes news.
   *
   * @param sentAt when the request was sent that the news answer; null for an event, which never lengthens anything
   * @return in how long to ask again
   */
  private long learn(Map<String, Object> news, Long sentAt) {
    if (!(news.get("version") instanceof Long newest) || newest < version) {
      return AGAIN; // Overtaken by what came on the other connection.
    }
    boolean fresh = newest > version;
    version = newest;
    state = String.valueOf(news.get("state"));
    boolean held = term != null && number(news) == term.number() && token(news) == term.token();
    if (!Boolean.TRUE.equals(news.get("leading")) || token(news) == 0) {
      mayAct = 0;
      if (held && (state.equals("leading") || state.equals("suspect"))) term.suspend();
      else cut(news.get("reason") instanceof String reason ? reason : state);
    } else if (term != null && !held) {
      cut("another term has begun");
    } else if (sentAt != null) {
      mayAct = news.get("mayActMs") instanceof Number ms ? (long) (ms.doubleValue() * 1e6) : 0;
      if (held) {
        term.extend(sentAt + mayAct);
      } else if (token(news) != ended) {
        Map<String, Object> previous = Json.asObject(news.get("previous"));
        term = new Term(election, id, number(news), token(news), previous, sentAt + mayAct, leave).watched();
        changed.signalAll();
      }
    }
    if (sentAt == null && fresh) wakeUp();
    if (mayAct > 0) return mayAct / 3;
    return term == null || term.isCancelled() ? INTERVAL : BRIEF;
  }

  private static long number(Map<String, Object> news) {
    return news.get("term") instanceof Long number ? number : 0;
  }

  private static long token(Map<String, Object> news) {
    return news.get("token") instanceof String token ? Protocol.parseToken(token) : 0;
  }

  private void cut(String reason) {
    if (term != null) term.cancel(reason);
  }

  private void lose() {
    lock.lock();
    try {
      cut("the sidecar knows this candidacy no more");
      gone = true;
      changed.signalAll();
      endStream();
    } finally {
      lock.unlock();
    }
  }
}
