package tenure.client;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The part of the protocol that has no language: names and their order, tokens, records. See docs/protocol.md.
 *
 * <p>For those who stand in the queue by themselves, over their own ZooKeeper client. Candidates of the sidecar need none of it.
 * What can't be read is an IllegalArgumentException.
 */
public final class Protocol {
  /** The most that a candidate's data may weigh. */
  public static final int CANDIDATE_MAX_BYTES = 8192;

  private static final Pattern SEQUENCE = Pattern.compile("(?:(?<=-)-[0-9]{10}|[0-9]{10}|-[0-9]{9})\\z");
  private static final Pattern DECIMAL = Pattern.compile("[1-9][0-9]{0,18}");
  private static final Pattern FLOOR = Pattern.compile("0|[1-9][0-9]{0,18}");
  private static final Set<String> RESERVED =
      Set.of("", "queue", "term", "history", "sessions", ".", "..", "zookeeper");
  private static final Set<String> ENDS =
      Set.of("resigned", "paused", "transferred", "evicted", "died", "vanished");
  private static final long SAFE = (1L << 53) - 1;

  private Protocol() {}

  /** A candidate's number; empty where the name has none: such a node is no candidate. */
  public static OptionalLong sequence(String node) {
    Matcher found = SEQUENCE.matcher(node);
    return found.find() ? OptionalLong.of(Long.parseLong(found.group())) : OptionalLong.empty();
  }

  /** The candidates among the nodes, first come first. */
  public static List<String> inOrder(Collection<String> nodes) {
    // Java compares text by UTF-16 code units, as the protocol does.
    return nodes.stream()
        .filter(node -> sequence(node).isPresent())
        .sorted(Comparator.comparingLong((String node) -> sequence(node).getAsLong()).thenComparing(node -> node))
        .toList();
  }

  /** Reads a token: the decimal text of a number from 1 to 2^63 - 1. */
  public static long parseToken(Object text) {
    if (text instanceof String digits && DECIMAL.matcher(digits).matches()) {
      try {
        return Long.parseLong(digits);
      } catch (NumberFormatException error) {
        // Too long: no token either.
      }
    }
    throw new IllegalArgumentException(text + " is not a fencing token");
  }

  /** A candidate's token: the floor of the term record, and the transaction that created its node. */
  public static long token(long floor, long czxid) {
    if (floor < 0 || czxid < 0 || floor > Long.MAX_VALUE - czxid || floor + czxid < 1) {
      throw new IllegalArgumentException(floor + " + " + czxid + " is not a fencing token");
    }
    return floor + czxid;
  }

  /** Where the candidates of an election are, below root ({@code /tenure} as a rule) and the chroot. */
  public static String queuePath(String root, String election) {
    boolean forbidden = election.chars().anyMatch(Protocol::isForbidden) || election.length() > 256;
    for (String segment : election.split("/", -1)) forbidden |= RESERVED.contains(segment);
    if (forbidden) throw new IllegalArgumentException("\"" + election + "\" can't be the name of an election");
    return root + "/" + election + "/queue";
  }

  /** Where an election's term record is. */
  public static String termPath(String root, String election) {
    String queue = queuePath(root, election);
    return queue.substring(0, queue.length() - "queue".length()) + "term";
  }

  private static boolean isForbidden(int c) {
    return c <= 0x1f || (c >= 0x7f && c <= 0x9f) || (c >= 0xd800 && c <= 0xf8ff) || c >= 0xfff0;
  }

  /** A record as bytes, in the order of its keys. */
  public static byte[] encode(Map<String, ?> record) {
    return Json.bytes(record);
  }

  /** What a candidate's node holds; it must not be more than 8 KiB. */
  public static byte[] encodeCandidate(Map<String, ?> candidate) {
    byte[] data = Json.bytes(candidate);
    if (data.length <= CANDIDATE_MAX_BYTES) return data;
    throw new IllegalArgumentException(
        "id and metadata take " + data.length + " bytes of JSON, at most " + CANDIDATE_MAX_BYTES + " are allowed");
  }

  /** A candidate's data as far as it can be read; null for what is foreign. Never trust it. */
  public static Map<String, Object> decodeCandidate(byte[] data) {
    Map<String, Object> value = Json.object(data);
    if (value == null || !(value.get("id") instanceof String id)) return null;
    Map<String, Object> metadata = Json.asObject(value.get("metadata"));
    Map<String, Object> candidate = new LinkedHashMap<>();
    candidate.put("v", 1L);
    candidate.put("id", id);
    candidate.put("host", value.get("host") instanceof String host ? host : "");
    candidate.put("pid", value.get("pid") instanceof Number pid ? pid : 0L);
    candidate.put("metadata", metadata == null ? Map.of() : metadata);
    candidate.put("joinedAt", value.get("joinedAt") instanceof String joinedAt ? joinedAt : "");
    return candidate;
  }

  /** The term record with all its fields, tokens as text; {@code term} is 0 while nobody has led. Don't write over what can't be read. */
  public static Map<String, Object> decodeRecord(byte[] data) {
    Map<String, Object> value = data.length == 0 ? Map.of("v", 1L, "term", 0L, "floor", "0") : Json.object(data);
    if (value == null) throw new IllegalArgumentException("the term record is not a JSON object");
    if (!(value.get("v") instanceof Number version) || version.doubleValue() != 1) {
      throw new IllegalArgumentException("the term record's version is " + value.get("v") + ", 1 is read here");
    }
    Map<String, Object> record = new LinkedHashMap<>();
    record.put("v", 1L);
    if (value.get("term") instanceof Number term && term.doubleValue() == 0) record.put("term", 0L);
    else record.putAll(term(value));
    if (!(value.get("floor") instanceof String floor) || !FLOOR.matcher(floor).matches()) {
      throw new IllegalArgumentException("the floor is " + value.get("floor"));
    }
    record.put("floor", floor);
    record.put("pause", texts(value.get("pause"), "by", "at", "reason"));
    record.put("transfer", texts(value.get("transfer"), "to", "by", "at", "reason", "deadline"));
    record.put("previous", value.get("previous") == null ? null : previous(Json.asObject(value.get("previous"))));
    return record;
  }

  private static Map<String, Object> term(Map<String, Object> value) {
    Map<String, Object> metadata = Json.asObject(value.get("metadata"));
    Map<String, Object> ended = texts(value.get("ended"), "at");
    if (ended != null) ended.put("how", end(Json.asObject(value.get("ended")), "how"));
    Map<String, Object> term = new LinkedHashMap<>();
    term.put("term", positive(value, "term"));
    term.put("token", Long.toString(parseToken(value.get("token"))));
    for (String key : List.of("node", "leaderId", "session")) term.put(key, text(value, key));
    term.put("leaseMs", positive(value, "leaseMs"));
    term.put("metadata", metadata == null ? Map.of() : metadata);
    term.put("electedAt", text(value, "electedAt"));
    term.put("ended", ended);
    return term;
  }

  private static Map<String, Object> previous(Map<String, Object> value) {
    if (value == null) throw new IllegalArgumentException("previous is not an object");
    Map<String, Object> previous = new LinkedHashMap<>();
    previous.put("term", positive(value, "term"));
    previous.put("token", Long.toString(parseToken(value.get("token"))));
    previous.put("leaderId", text(value, "leaderId"));
    previous.put("end", end(value, "end"));
    return previous;
  }

  private static long positive(Map<String, Object> value, String key) {
    if (value.get(key) instanceof Number number) {
      double found = number.doubleValue();
      if (found >= 1 && found <= SAFE && found == Math.rint(found)) return (long) found;
    }
    throw new IllegalArgumentException(key + " is " + value.get(key));
  }

  private static String text(Map<String, Object> value, String key) {
    if (value.get(key) instanceof String found) return found;
    throw new IllegalArgumentException(key + " is " + value.get(key));
  }

  private static String end(Map<String, Object> value, String key) {
    String found = text(value, key);
    if (!ENDS.contains(found)) throw new IllegalArgumentException(key + " is " + found);
    return found;
  }

  /** Null for null. */
  private static Map<String, Object> texts(Object value, String... keys) {
    if (value == null) return null;
    Map<String, Object> map = Json.asObject(value);
    if (map == null) throw new IllegalArgumentException("an object is expected");
    Map<String, Object> found = new LinkedHashMap<>();
    for (String key : keys) found.put(key, text(map, key));
    return found;
  }
}
