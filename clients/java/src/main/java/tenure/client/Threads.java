package tenure.client;

/** Threads that never keep a program from ending. */
final class Threads {
  private Threads() {}

  static void start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** An executor that waits for nobody. */
  static void now(Runnable work) {
    start("tenure-signal", work);
  }
}
