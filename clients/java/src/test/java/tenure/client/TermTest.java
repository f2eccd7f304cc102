package tenure.client;

import java.time.Duration;

/** A term by its clock alone: nothing watches it here, as when the process was paused and nothing else has run yet. */
final class TermTest {
  private TermTest() {}

  public static void main(String[] args) throws InterruptedException {
    expect(fails(past()) instanceof TermOverException over && over.reason().equals("deadline"), "the check fails");
    expect(past().isCancelled() && past().awaitCancelled(Duration.ZERO), "it is cancelled");
    expect(past().remaining().isZero(), "nothing remains");

    Term revived = past();
    revived.extend(Clock.now() + 60_000_000_000L);
    expect(fails(revived) instanceof TermOverException, "nothing revives it");

    Term suspect = term(60_000);
    expect(fails(suspect) == null, "it leads");
    suspect.suspend();
    expect(fails(suspect) != null && !(fails(suspect) instanceof TermOverException), "it is suspect");
    expect(suspect.remaining().isZero(), "nothing remains while it is");
    suspect.extend(Clock.now() + 60_000_000_000L);
    expect(fails(suspect) == null && suspect.remaining().toSeconds() >= 59, "it leads again");
    System.out.println("the term keeps its deadline");
  }

  private static Term term(long ms) {
    return new Term("settlement", "worker-1", 7, 4294967342L, null, Clock.now() + ms * 1_000_000, () -> {});
  }

  private static Term past() {
    Term term = term(1);
    for (long end = Clock.now() + 2_000_000; Clock.now() < end; ) Thread.onSpinWait();
    return term;
  }

  private static NotLeadingException fails(Term term) {
    try {
      term.check();
      return null;
    } catch (NotLeadingException error) {
      return error;
    }
  }

  private static void expect(boolean holds, String what) {
    if (!holds) throw new AssertionError("it doesn't hold that " + what);
  }
}
