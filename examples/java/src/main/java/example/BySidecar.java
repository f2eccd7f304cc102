package example;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import tenure.client.Candidacy;
import tenure.client.ClosedException;
import tenure.client.Term;

/** A worker that leads by the sidecar, and writes with the token of its term until it is told to stop. */
final class BySidecar {
  private BySidecar() {}

  public static void main(String[] args) throws Exception {
    Ledger ledger = new Ledger();
    Candidacy candidacy = Candidacy.of(env("ELECTION", "settlement")).id(System.getenv("WORKER")).build();
    // The program ends when this hook has: first the term is cancelled, then the candidate leaves.
    CountDownLatch left = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  candidacy.close();
                  await(left);
                }));
    try {
      // Called in each term; the candidate joins again when one is over, until it is closed.
      candidacy.lead(term -> work(term, ledger));
    } catch (ClosedException closed) {
      System.out.println(candidacy.id() + " has left");
    } finally {
      left.countDown();
    }
  }

  private static Void work(Term term, Ledger ledger) throws Exception {
    System.out.println(term.id() + " leads: token " + term.token());
    while (true) {
      term.check(); // throws when the term is over
      try {
        ledger.write(term.token(), term.id(), term.remaining());
        System.out.println(term.id() + " wrote with token " + term.token());
      } catch (Ledger.StaleToken stale) {
        System.out.println(term.id() + " was refused: " + stale.getMessage());
      }
      term.awaitCancelled(Duration.ofMillis(100));
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  static String env(String key, String otherwise) {
    String value = System.getenv(key);
    return value == null || value.isEmpty() ? otherwise : value;
  }
}
