// Package ledger is the protected resource: a table in PostgreSQL that takes writes of the newest term only.
package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lib/pq"
)

// ErrStaleToken says that a newer leader has written. This one's term is over, whatever it believes.
var ErrStaleToken = errors.New("stale token")

// Ledger is a connection to it.
type Ledger struct{ db *sql.DB }

// Open connects to the database that DATABASE_URL names.
func Open() (*Ledger, error) {
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	return &Ledger{db}, err
}

// Write writes once. The transaction lasts no longer than remaining, for which the leader may act yet; 0 where nobody knows.
func (l *Ledger) Write(ctx context.Context, token int64, holder string, remaining time.Duration) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	limit := sql.NullInt32{Int32: int32(max(1, remaining.Milliseconds())), Valid: remaining > 0}
	// The check and the write are one transaction.
	if _, err := tx.ExecContext(ctx, "SELECT tenure.fence('ledger', $1, $2, $3)", token, holder, limit); err != nil {
		return refused(err)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO payment (token, holder) VALUES ($1, $2)", token, holder); err != nil {
		return err
	}
	return tx.Commit()
}

func refused(err error) error {
	var said *pq.Error
	if errors.As(err, &said) && said.Code == "TN409" {
		return fmt.Errorf("%w: %s", ErrStaleToken, said.Message)
	}
	return err
}
