package tenure.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The clock that deadlines count by: never the wall clock, and on Linux one that counts suspension too. */
final class Clock {
  /** What the coarse clock of suspension may be off by. */
  private static final long COARSE = 50_000_000;

  private static final Path UPTIME = Path.of("/proc/uptime");
  private static final boolean COUNTS_SUSPENSION = Files.isReadable(UPTIME);
  private static final long AHEAD = COUNTS_SUSPENSION ? uptime() - System.nanoTime() : 0;

  private Clock() {}

  /** Nanoseconds since some moment in the past. */
  static long now() {
    // Read last: what is added must not make up for time that passes here.
    long suspended = COUNTS_SUSPENSION ? uptime() - System.nanoTime() - AHEAD : 0;
    return System.nanoTime() + (suspended > COARSE ? suspended : 0);
  }

  private static long uptime() {
    try {
      String text = Files.readString(UPTIME);
      return (long) (Double.parseDouble(text.substring(0, text.indexOf(' '))) * 1e9);
    } catch (IOException | RuntimeException error) {
      throw new IllegalStateException("/proc/uptime can't be read any more", error);
    }
  }
}
