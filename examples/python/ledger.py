"""The protected resource: a table in PostgreSQL that takes writes of the newest term only.

    python ledger.py TOKEN HOLDER      writes once with that token, or tells why that was refused
"""

import os
import sys

import psycopg


class StaleToken(Exception):
    """A newer leader has written. This one's term is over, whatever it believes."""


class Ledger:
    def __init__(self):
        self.connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)

    def write(self, token, holder, remaining=None):
        """remaining: seconds for which the leader may act yet; the transaction lasts no longer. None where nobody knows."""
        limit = None if remaining is None else max(1, round(remaining * 1000))
        try:
            with self.connection.transaction():
                # The check and the write are one transaction.
                self.connection.execute("SELECT tenure.fence('ledger', %s::bigint, %s, %s::int)", [token, holder, limit])
                self.connection.execute("INSERT INTO payment (token, holder) VALUES (%s, %s)", [token, holder])
        except psycopg.Error as error:
            if error.sqlstate == "TN409":
                raise StaleToken(error.diag.message_primary) from error
            raise


if __name__ == "__main__":
    try:
        Ledger().write(int(sys.argv[1]), sys.argv[2])
        print(f"wrote with token {sys.argv[1]}")
    except StaleToken as stale:
        print(f"refused: {stale}")
        sys.exit(3)
