package tenure.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

/** The sidecar's HTTP, and nothing of elections. */
public final class Sidecar {
  private final String url;
  private final String bearer;
  // No redirect is followed: nobody else is meant to see the key and the bearer token.
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5)).build();

  /**
   * @param url {@code http://host:port} or {@code https://host:port}
   * @param bearer the bearer token, where the sidecar isn't on loopback; null for none
   */
  public Sidecar(String url, String bearer) {
    URI where = URI.create(url);
    if (where.getHost() == null || !("http".equals(where.getScheme()) || "https".equals(where.getScheme()))) {
      throw new IllegalArgumentException("url " + url + ": http://host:port or https://host:port is expected");
    }
    this.url = url.replaceAll("/+$", "");
    this.bearer = bearer;
  }

  /**
   * The election as it is seen now: for showing, never a licence to act.
   *
   * @throws SidecarException
   */
  public Map<String, Object> view(String election) throws InterruptedException {
    return ask("GET", "/v1/elections/" + encode(election), null, null, Duration.ofSeconds(5));
  }

  /** The name as one segment of a path. */
  static String encode(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** The body of an answer that says yes; empty where there is none. The time limit is for all of it. */
  Map<String, Object> ask(String method, String path, String key, Object body, Duration limit)
      throws InterruptedException {
    HttpRequest request =
        request(path, key, "application/json")
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(Json.bytes(body)))
            .header("Content-Type", "application/json")
            .build();
    CompletableFuture<HttpResponse<byte[]>> sent = http.sendAsync(request, BodyHandlers.ofByteArray());
    try {
      HttpResponse<byte[]> response = sent.get(limit.toNanos(), TimeUnit.NANOSECONDS);
      if (response.statusCode() >= 300) throw refusal(response, response.body());
      Map<String, Object> answer = Json.object(response.body());
      return answer == null ? Map.of() : answer;
    } catch (ExecutionException error) {
      throw new SidecarException(url, error.getCause());
    } catch (TimeoutException error) {
      throw new SidecarException(url, error);
    } finally {
      sent.cancel(true);
    }
  }

  /** Opens the stream of events. Closing the stream that is returned, from whatever thread, ends the reading. */
  InputStream open(String path, String key, Duration limit) throws InterruptedException {
    HttpRequest request = request(path, key, "text/event-stream").GET().build();
    CompletableFuture<HttpResponse<InputStream>> sent = http.sendAsync(request, BodyHandlers.ofInputStream());
    try {
      HttpResponse<InputStream> response = sent.get(limit.toNanos(), TimeUnit.NANOSECONDS);
      if (response.statusCode() == 200) return response.body();
      try (InputStream body = response.body()) {
        throw refusal(response, body.readNBytes(1 << 16));
      }
    } catch (ExecutionException error) {
      throw new SidecarException(url, error.getCause());
    } catch (TimeoutException | IOException error) {
      sent.cancel(true);
      throw new SidecarException(url, error);
    }
  }

  /** Reads events until the stream ends. */
  static void read(InputStream stream, Runnable alive, BiConsumer<String, Map<String, Object>> each) {
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
      String name = "message";
      StringBuilder data = new StringBuilder();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        alive.run();
        int colon = line.indexOf(':');
        String field = colon < 0 ? line : line.substring(0, colon);
        String value = colon < 0 ? "" : line.substring(colon + 1);
        if (value.startsWith(" ")) value = value.substring(1);
        if (field.equals("event")) name = value;
        else if (field.equals("data")) data.append(value).append('\n');
        else if (line.isEmpty()) {
          Map<String, Object> object = Json.object(data.toString().getBytes(StandardCharsets.UTF_8));
          if (object != null) each.accept(name, object);
          name = "message";
          data.setLength(0);
        }
      }
    } catch (IOException error) {
      // It has ended, one way or another: whoever reads opens it again.
    }
  }

  private HttpRequest.Builder request(String path, String key, String accept) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path)).header("Accept", accept);
    if (key != null) request.header("Candidacy-Key", key);
    if (bearer != null) request.header("Authorization", "Bearer " + bearer);
    return request;
  }

  private static SidecarException refusal(HttpResponse<?> response, byte[] body) {
    Map<String, Object> problem = Json.object(body);
    if (problem == null) problem = Map.of();
    Object code = problem.getOrDefault("code", "http_" + response.statusCode());
    Object detail = problem.getOrDefault("detail", problem.getOrDefault("title", "refused"));
    double seconds = response.headers().firstValue("Retry-After").map(Sidecar::seconds).orElse(0.0);
    return new SidecarException(response.statusCode(), String.valueOf(code), String.valueOf(detail), seconds);
  }

  private static double seconds(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException error) {
      return 0;
    }
  }
}
