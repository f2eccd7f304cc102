package tenure.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;

/** The vectors that the TypeScript code passes too. A program without a framework; its argument is the folder of the vectors. */
final class VectorsTest {
  private static Path folder;
  private static int checks;
  private static final List<String> failures = new ArrayList<>();

  private VectorsTest() {}

  public static void main(String[] args) throws IOException {
    folder = Path.of(args[0]);
    queue();
    tokens();
    records();
    candidates();
    elections();
    failures.forEach(System.err::println);
    System.out.println(checks + " checks, " + failures.size() + " failures");
    if (checks < 150 || !failures.isEmpty()) System.exit(1);
  }

  private static void queue() throws IOException {
    Map<String, Object> given = vectors("queue");
    for (Map<String, Object> one : objects(given, "sequence")) {
      OptionalLong found = Protocol.sequence((String) one.get("node"));
      same(one.get("node"), one.get("sequence"), found.isPresent() ? found.getAsLong() : null);
    }
    for (Map<String, Object> one : objects(given, "order")) {
      List<String> nodes = texts(one, "nodes");
      same(one.get("about"), texts(one, "ordered"), Protocol.inOrder(nodes));
      Collections.reverse(nodes);
      same(one.get("about"), texts(one, "ordered"), Protocol.inOrder(nodes));
    }
  }

  private static void tokens() throws IOException {
    Map<String, Object> given = vectors("token");
    for (String text : texts(given, "good")) same(text, text, Long.toString(Protocol.parseToken(text)));
    for (String text : texts(given, "bad")) refused(text, () -> Protocol.parseToken(text));
    for (Map<String, Object> one : objects(given, "sum")) {
      long floor = Long.parseLong((String) one.get("floor"));
      long czxid = Long.parseLong((String) one.get("czxid"));
      if (one.get("token") == null) refused(one, () -> Protocol.token(floor, czxid));
      else same(one, one.get("token"), Long.toString(Protocol.token(floor, czxid)));
    }
  }

  private static void records() throws IOException {
    Map<String, Object> given = vectors("record");
    for (Map<String, Object> one : objects(given, "good")) {
      byte[] written = Protocol.encode(Protocol.decodeRecord(bytes(one.get("text"))));
      same(one.get("about"), one.getOrDefault("normal", one.get("text")), new String(written, StandardCharsets.UTF_8));
    }
    for (Map<String, Object> one : objects(given, "bad")) {
      refused(one.get("about"), () -> Protocol.decodeRecord(bytes(one.get("text"))));
    }
    for (Map<String, Object> one : objects(given, "badHex")) {
      refused(one.get("about"), () -> Protocol.decodeRecord(HexFormat.of().parseHex((String) one.get("hex"))));
    }
  }

  private static void candidates() throws IOException {
    Map<String, Object> given = vectors("candidate");
    for (Map<String, Object> one : objects(given, "good")) {
      byte[] written = Protocol.encodeCandidate(Protocol.decodeCandidate(bytes(one.get("text"))));
      same(one.get("about"), one.getOrDefault("normal", one.get("text")), new String(written, StandardCharsets.UTF_8));
    }
    for (Map<String, Object> one : objects(given, "foreign")) {
      same(one.get("about"), null, Protocol.decodeCandidate(bytes(one.get("text"))));
    }
    for (Map<String, Object> one : objects(given, "foreignHex")) {
      same(one.get("about"), null, Protocol.decodeCandidate(HexFormat.of().parseHex((String) one.get("hex"))));
    }
    int tooLarge = ((Long) given.get("tooLarge")).intValue();
    Map<String, Object> candidate = Protocol.decodeCandidate(bytes(objects(given, "good").get(0).get("text")));
    candidate.put("id", "x".repeat(tooLarge));
    refused("too large", () -> Protocol.encodeCandidate(candidate));
    candidate.put("id", "x".repeat(tooLarge - 1));
    same("the largest", Protocol.CANDIDATE_MAX_BYTES, Protocol.encodeCandidate(candidate).length);
  }

  private static void elections() throws IOException {
    Map<String, Object> given = vectors("election");
    for (Map<String, Object> one : objects(given, "good")) {
      same(one.get("name"), one.get("queue"), Protocol.queuePath("/tenure", (String) one.get("name")));
    }
    List<String> bad = texts(given, "bad");
    int longest = ((Long) given.get("longest")).intValue();
    bad.add("x".repeat(longest + 1));
    for (String name : bad) refused(name, () -> Protocol.queuePath("/tenure", name));
    Protocol.queuePath("/tenure", "x".repeat(longest));
  }

  private static Map<String, Object> vectors(String name) throws IOException {
    return Objects.requireNonNull(Json.object(Files.readAllBytes(folder.resolve(name + ".json"))), name);
  }

  private static List<Map<String, Object>> objects(Map<String, Object> given, String key) {
    List<Map<String, Object>> found = new ArrayList<>();
    for (Object one : (List<?>) given.get(key)) found.add(Json.asObject(one));
    return found;
  }

  private static List<String> texts(Map<String, Object> given, String key) {
    List<String> found = new ArrayList<>();
    for (Object one : (List<?>) given.get(key)) found.add((String) one);
    return found;
  }

  private static byte[] bytes(Object text) {
    return ((String) text).getBytes(StandardCharsets.UTF_8);
  }

  private static void same(Object what, Object expected, Object found) {
    checks++;
    if (!Objects.equals(expected, found)) failures.add(what + ":\n  " + expected + "\n  " + found);
  }

  private static void refused(Object what, Runnable attempt) {
    checks++;
    try {
      attempt.run();
      failures.add(what + " is not refused");
    } catch (IllegalArgumentException error) {
      // As it should be.
    }
  }
}
