package tenure.client;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much JSON as the sidecar and the records need: objects keep their order, numbers are Long or Double. */
final class Json {
  private static final int DEEPEST = 200;

  private final String text;
  private int at;
  private int depth;

  private Json(String text) {
    this.text = text;
  }

  /** @return the object in these bytes of UTF-8, or null where there is none */
  static Map<String, Object> object(byte[] data) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data)).toString();
      Json json = new Json(text);
      Object value = json.value();
      json.space();
      return json.at == text.length() ? asObject(value) : null;
    } catch (CharacterCodingException | IllegalArgumentException | StringIndexOutOfBoundsException error) {
      return null;
    }
  }

  /** @return the value as an object, or null where it is none */
  @SuppressWarnings("unchecked")
  static Map<String, Object> asObject(Object value) {
    return value instanceof Map ? (Map<String, Object>) value : null;
  }

  static byte[] bytes(Object value) {
    StringBuilder out = new StringBuilder();
    write(value, out);
    return out.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static void write(Object value, StringBuilder out) {
    if (value instanceof Map<?, ?> map) {
      String comma = "{";
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        out.append(comma);
        quote((String) entry.getKey(), out);
        write(entry.getValue(), out.append(':'));
        comma = ",";
      }
      out.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof Iterable<?> list) {
      String comma = "[";
      for (Object one : list) {
        write(one, out.append(comma));
        comma = ",";
      }
      out.append(comma.equals("[") ? "[]" : "]");
    } else if (value instanceof CharSequence word) {
      quote(word, out);
    } else if (value == null || value instanceof Boolean || value instanceof Integer || value instanceof Long) {
      out.append(value);
    } else if (value instanceof Number number && Double.isFinite(number.doubleValue())) {
      double real = number.doubleValue();
      out.append(real == Math.rint(real) && Math.abs(real) < 1e15 ? String.valueOf((long) real) : String.valueOf(real));
    } else {
      throw new IllegalArgumentException(value + " can't be written as JSON");
    }
  }

  private static void quote(CharSequence word, StringBuilder out) {
    out.append('"');
    for (int i = 0; i < word.length(); i++) {
      char c = word.charAt(i);
      int known = "\"\\\b\f\n\r\t".indexOf(c);
      if (known >= 0) out.append('\\').append("\"\\bfnrt".charAt(known));
      else if (c < 0x20) out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    out.append('"');
  }

  private Object value() {
    space();
    if (++depth > DEEPEST) throw wrong();
    Object value =
        switch (text.charAt(at)) {
          case '{' -> object();
          case '[' -> list();
          case '"' -> string();
          case 't' -> word("true", Boolean.TRUE);
          case 'f' -> word("false", Boolean.FALSE);
          case 'n' -> word("null", null);
          default -> number();
        };
    depth--;
    return value;
  }

  private Map<String, Object> object() {
    Map<String, Object> map = new LinkedHashMap<>();
    at++;
    space();
    if (taken('}')) return map;
    do {
      space();
      String key = string();
      space();
      if (!taken(':')) throw wrong();
      map.put(key, value());
      space();
    } while (taken(','));
    if (!taken('}')) throw wrong();
    return map;
  }

  private List<Object> list() {
    List<Object> list = new ArrayList<>();
    at++;
    space();
    if (taken(']')) return list;
    do {
      list.add(value());
      space();
    } while (taken(','));
    if (!taken(']')) throw wrong();
    return list;
  }

  private String string() {
    if (!taken('"')) throw wrong();
    StringBuilder out = new StringBuilder();
    for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
      if (c < 0x20) throw wrong();
      if (c != '\\') {
        out.append(c);
        continue;
      }
      char escape = text.charAt(at++);
      int known = "\"\\/bfnrt".indexOf(escape);
      if (known >= 0) {
        out.append("\"\\/\b\f\n\r\t".charAt(known));
      } else if (escape == 'u') {
        String digits = text.substring(at, at + 4);
        if (!digits.matches("[0-9a-fA-F]{4}")) throw wrong();
        out.append((char) Integer.parseInt(digits, 16));
        at += 4;
      } else {
        throw wrong();
      }
    }
    return out.toString();
  }

  private Object word(String word, Object value) {
    if (!text.startsWith(word, at)) throw wrong();
    at += word.length();
    return value;
  }

  private Object number() {
    int start = at;
    while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) at++;
    String digits = text.substring(start, at);
    if (!digits.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) throw wrong();
    if (digits.matches("-?[0-9]{1,18}")) return Long.valueOf(digits);
    return Double.valueOf(digits);
  }

  private boolean taken(char c) {
    if (at >= text.length() || text.charAt(at) != c) return false;
    at++;
    return true;
  }

  private void space() {
    while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) at++;
  }

  private IllegalArgumentException wrong() {
    return new IllegalArgumentException("not JSON at " + at);
  }
}
