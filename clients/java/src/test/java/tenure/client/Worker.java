package tenure.client;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A worker for the tests that kill and freeze it: leads term after term, and says on standard output what it does.
 *
 * <p>Its argument is JSON: url, election, id, and optionally bearer, drainMs (how long its work takes to stop) and views (it
 * looks at the election first, and ends when that is refused). A line "resign" on standard input ends the work, "close" the
 * candidacy; the end of it ends the process.
 */
final class Worker {
  private static final AtomicBoolean resigned = new AtomicBoolean();
  private static Map<String, Object> options;

  private Worker() {}

  public static void main(String[] args) throws Exception {
    options = Json.object(args[0].getBytes(StandardCharsets.UTF_8));
    Candidacy candidacy =
        Candidacy.of((String) options.get("election"))
            .id((String) options.get("id"))
            .url((String) options.get("url"))
            .bearer((String) options.get("bearer"))
            .metadata(Map.of("speaks", "Java"))
            .build();
    Threads.start("commands", () -> listen(candidacy));
    say("ready", monotonicMs(), Map.of());
    try {
      if (options.containsKey("views")) {
        Sidecar sidecar = new Sidecar((String) options.get("url"), null);
        say("viewed", monotonicMs(), Map.of("state", sidecar.view((String) options.get("election")).get("state")));
      }
      String how = candidacy.lead(Worker::work);
      say("left", monotonicMs(), Map.of("how", how));
    } catch (ClosedException error) {
      say("left", monotonicMs(), Map.of("how", error.code()));
    } catch (TenureException error) {
      say("failed", monotonicMs(), Map.of("code", error.code(), "message", error.getMessage()));
    }
  }

  private static String work(Term term) throws InterruptedException {
    String token = Long.toString(term.token());
    Map<String, Object> begun = new LinkedHashMap<>();
    begun.put("token", token);
    begun.put("term", term.number());
    begun.put("previous", term.previous());
    say("term", monotonicMs(), begun);
    term.cancelled()
        .thenAccept(
            reason -> {
              if (!reason.equals("released")) say("cancelled", monotonicMs(), Map.of("token", token, "reason", reason));
            });
    while (!resigned.get()) {
      // Taken before the check: what is paused between the two must not pass for an act.
      double at = monotonicMs();
      try {
        term.check();
        say("act", at, Map.of("token", token, "remainingMs", term.remaining().toNanos() / 1e6));
      } catch (TermOverException error) {
        say("over", monotonicMs(), Map.of("token", token, "reason", error.reason()));
        Thread.sleep(options.get("drainMs") instanceof Long drain ? drain : 0);
        say("stopped", monotonicMs(), Map.of("token", token));
        throw error;
      } catch (NotLeadingException error) {
        say("suspect", at, Map.of("token", token));
      }
      Thread.sleep(Duration.ofMillis(25).toMillis());
    }
    return "resigned";
  }

  private static void listen(Candidacy candidacy) {
    try (var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.equals("resign")) resigned.set(true);
        else if (line.equals("close")) candidacy.close();
      }
    } catch (java.io.IOException error) {
      // As the end.
    }
    Runtime.getRuntime().halt(0);
  }

  private static double monotonicMs() {
    return System.nanoTime() / 1e6;
  }

  private static synchronized void say(String event, double at, Map<String, ?> more) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("event", event);
    line.put("at", at);
    line.putAll(more);
    System.out.println(new String(Json.bytes(line), StandardCharsets.UTF_8));
  }
}
