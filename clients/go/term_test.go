package tenure

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A term by its clock alone: nothing watches it here, as when the process was paused and nothing else has run yet.
func unwatched(deadline time.Duration) *Term {
	term := &Term{Election: "settlement", ID: "worker-1", Number: 7, Token: 4294967342, until: now() + deadline, vouched: true}
	term.ctx, term.cancel = context.WithCancelCause(context.Background())
	return term
}

func past() *Term {
	term := unwatched(time.Millisecond)
	for now() < term.until {
	}
	return term
}

func TestCheckFailsPastTheDeadline(t *testing.T) {
	term := past()
	err := term.Check()
	var over *TermOverError
	if !errors.Is(err, ErrTermOver) || !errors.Is(err, ErrNotLeading) || !errors.As(err, &over) || over.Reason != "deadline" {
		t.Fatal(err)
	}
	if term.ctx.Err() == nil || context.Cause(term.ctx) != error(over) {
		t.Fatal("its context isn't done")
	}
	if left := past().Remaining(); left != 0 {
		t.Fatal(left)
	}
}

func TestNothingRevivesATerm(t *testing.T) {
	term := past()
	term.extend(now() + time.Minute)
	if err := term.Check(); !errors.Is(err, ErrTermOver) {
		t.Fatal(err)
	}
}

func TestSuspectUntilALaterLicence(t *testing.T) {
	term := unwatched(time.Minute)
	if err := term.Check(); err != nil {
		t.Fatal(err)
	}
	term.suspend()
	if err := term.Check(); !errors.Is(err, ErrNotLeading) || errors.Is(err, ErrTermOver) || term.Remaining() != 0 {
		t.Fatal(err)
	}
	term.extend(now() + time.Minute)
	if err := term.Check(); err != nil || term.Remaining() < 59*time.Second {
		t.Fatal(err)
	}
}
