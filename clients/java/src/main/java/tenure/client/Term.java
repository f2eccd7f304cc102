package tenure.client;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** One leadership. Number and token never change; everything else is asked anew each time. Safe for concurrent use. */
public final class Term implements AutoCloseable {
  /** A timer sleeps through a suspension of the machine. So none sleeps longer than this. */
  private static final long LONGEST_NAP = 500_000_000;

  private final String election;
  private final String id;
  private final long number;
  private final long token;
  private final Map<String, Object> previous;
  private final Runnable leave;
  private final CompletableFuture<String> cancelled = new CompletableFuture<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  /** The deadline of the newest licence. When it passes, the term is over. */
  private long until;
  /** Whether the sidecar vouches for the term at present. Without that nothing may be done, but the term can come back. */
  private boolean vouched = true;
  private String reason;

  Term(String election, String id, long number, long token, Map<String, Object> previous, long until, Runnable leave) {
    this.election = election;
    this.id = id;
    this.number = number;
    this.token = token;
    this.previous = previous;
    this.until = until;
    this.leave = leave;
  }

  /** From now on it ends at its deadline by itself. */
  Term watched() {
    Threads.start("tenure-deadline-" + number, this::watch);
    return this;
  }

  public String election() {
    return election;
  }

  /** The candidate's id. */
  public String id() {
    return id;
  }

  /** 1, 2, 3, … per election. */
  public long number() {
    return number;
  }

  /** The fencing token: send it with every write. */
  public long token() {
    return token;
  }

  /** The term before this one, as the record tells it ({@code term, token, leaderId, end}), or null. */
  public Map<String, Object> previous() {
    return previous;
  }

  /**
   * To be called right before each effect. It compares the clock itself, so a process that was paused learns of it before it
   * does anything else.
   *
   * @throws TermOverException when the term is over
   * @throws NotLeadingException while the sidecar can't vouch for it
   */
  public void check() {
    lock.lock();
    try {
      expire();
      String name = "term " + number + " of " + election;
      if (reason != null) throw new TermOverException(name + " is over: " + reason, reason);
      if (!vouched) throw new NotLeadingException(name + " is suspect: the sidecar can't vouch for it now");
    } finally {
      lock.unlock();
    }
  }

  /** For how long this process may act yet, if nothing else comes in; zero when it may not act. */
  public Duration remaining() {
    lock.lock();
    try {
      expire();
      return reason != null || !vouched ? Duration.ZERO : Duration.ofNanos(until - Clock.now());
    } finally {
      lock.unlock();
    }
  }

  /** Whether it is over. It compares the clock itself. */
  public boolean isCancelled() {
    lock.lock();
    try {
      expire();
      return reason != null;
    } finally {
      lock.unlock();
    }
  }

  /** Completes when the term is over, at the latest at its deadline, with the reason. Stop the work then. */
  public CompletableFuture<String> cancelled() {
    return cancelled.copy();
  }

  /** Waits until the term is over, at most for so long. @return whether it is */
  public boolean awaitCancelled(Duration atMost) throws InterruptedException {
    long end = System.nanoTime() + atMost.toNanos();
    lock.lock();
    try {
      for (expire(); reason == null; expire()) {
        long left = end - System.nanoTime();
        if (left <= 0) return false;
        changed.await(Math.min(left, LONGEST_NAP), TimeUnit.NANOSECONDS);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The work has stopped: the leadership is given up, and the candidate leaves. */
  @Override
  public void close() {
    leave.run();
  }

  /** Takes a newer licence. A term that is over stays over. */
  void extend(long newUntil) {
    lock.lock();
    try {
      expire();
      if (reason != null) return;
      until = newUntil;
      vouched = true;
    } finally {
      lock.unlock();
    }
  }

  /** Nothing may be done until a later licence; without one the term ends at the deadline that was given. */
  void suspend() {
    lock.lock();
    try {
      vouched = false;
    } finally {
      lock.unlock();
    }
  }

  void cancel(String why) {
    lock.lock();
    try {
      if (reason != null) return;
      reason = why;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    // Whatever hangs on it runs elsewhere: here somebody may hold a lock.
    cancelled.completeAsync(() -> why, Threads::now);
  }

  private void expire() {
    if (reason == null && Clock.now() >= until) cancel("deadline");
  }

  private void watch() {
    lock.lock();
    try {
      for (expire(); reason == null; expire()) {
        changed.awaitNanos(Math.min(until - Clock.now(), LONGEST_NAP));
      }
    } catch (InterruptedException error) {
      cancel("interrupted");
    } finally {
      lock.unlock();
    }
  }
}
