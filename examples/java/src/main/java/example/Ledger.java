package example;

import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.Properties;

/** The protected resource: a table in PostgreSQL that takes writes of the newest term only. */
final class Ledger {
  /** A newer leader has written. This one's term is over, whatever it believes. */
  static final class StaleToken extends Exception {
    private static final long serialVersionUID = 1;

    StaleToken(SQLException refusal) {
      super(refusal.getMessage(), refusal);
    }
  }

  private final Connection connection;

  /** Connects to the database that DATABASE_URL names: postgres://user:password@host:port/database. */
  Ledger() throws SQLException {
    URI url = URI.create(System.getenv("DATABASE_URL"));
    String[] user = url.getUserInfo().split(":", 2);
    Properties properties = new Properties();
    properties.setProperty("user", user[0]);
    if (user.length > 1) properties.setProperty("password", user[1]);
    String place = url.getHost() + ":" + url.getPort() + url.getPath();
    connection = DriverManager.getConnection("jdbc:postgresql://" + place, properties);
    connection.setAutoCommit(false);
  }

  /** Writes once. The transaction lasts no longer than {@code remaining}, for which the leader may act yet; null where nobody knows. */
  void write(long token, String holder, Duration remaining) throws SQLException, StaleToken {
    // The check and the write are one transaction.
    try (PreparedStatement fence = connection.prepareStatement("SELECT tenure.fence('ledger', ?, ?, ?)");
        PreparedStatement insert = connection.prepareStatement("INSERT INTO payment (token, holder) VALUES (?, ?)")) {
      fence.setLong(1, token);
      fence.setString(2, holder);
      if (remaining == null) fence.setNull(3, Types.INTEGER);
      else fence.setInt(3, (int) Math.max(1, remaining.toMillis()));
      fence.execute();
      insert.setLong(1, token);
      insert.setString(2, holder);
      insert.execute();
      connection.commit();
    } catch (SQLException error) {
      connection.rollback();
      if ("TN409".equals(error.getSQLState())) throw new StaleToken(error);
      throw error;
    }
  }

  /** {@code TOKEN HOLDER}: writes once with that token, or tells why that was refused. */
  public static void main(String[] args) throws SQLException {
    try {
      new Ledger().write(Long.parseLong(args[0]), args[1], null);
      System.out.println("wrote with token " + args[0]);
    } catch (StaleToken stale) {
      System.out.println("refused: " + stale.getMessage());
      System.exit(3);
    }
  }
}
