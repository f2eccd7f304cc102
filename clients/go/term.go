package tenure

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A timer sleeps through a suspension of the machine. So none sleeps longer than this.
const longestNap = 500 * time.Millisecond

// Previous is the term before this one, as the record tells it.
type Previous struct {
	Term     int64  `json:"term"`
	Token    int64  `json:"token,string"`
	LeaderID string `json:"leaderId"`
	End      string `json:"end"`
}

// Term is one leadership. Token and Number never change; the rest is asked anew each time.
type Term struct {
	Election string
	// ID is the candidate's.
	ID string
	// Number is 1, 2, 3, … per election.
	Number int64
	// Token is the fencing token: send it with every write.
	Token int64
	// Previous is nil in an election's first term.
	Previous *Previous

	ctx    context.Context
	cancel context.CancelCauseFunc

	mutex sync.Mutex
	// The deadline of the newest licence. When it passes, the term is over.
	until time.Duration
	// Whether the sidecar vouches for the term at present. Without that nothing may be done, but the term can come back.
	vouched bool
	over    *TermOverError
	// When the caller gave it up; 0 where that isn't why it is over.
	givenUp time.Duration
}

func newTerm(parent context.Context, election, id string, news answer, until time.Duration) *Term {
	term := &Term{
		Election: election, ID: id, Number: *news.Term, Token: int64(*news.Token), Previous: news.Previous,
		until: until, vouched: true,
	}
	term.ctx, term.cancel = context.WithCancelCause(parent)
	go term.watch()
	return term
}

// Check is to be called right before each effect. It compares the clock itself, so a process that was paused learns of it
// before it does anything else. The error is an ErrNotLeading, and an ErrTermOver when the term is over.
func (t *Term) Check() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.expire()
	if t.over != nil {
		return t.over
	}
	if !t.vouched {
		return fmt.Errorf("term %d of %s is suspect, the sidecar can't vouch for it now: %w", t.Number, t.Election, ErrNotLeading)
	}
	return nil
}

// Remaining is for how long this process may act yet, if nothing else comes in; 0 when it may not act.
func (t *Term) Remaining() time.Duration {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.expire()
	if t.over != nil || !t.vouched {
		return 0
	}
	return t.until - now()
}

// extend takes a newer licence. A term that is over stays over.
func (t *Term) extend(until time.Duration) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.expire()
	if t.over == nil {
		t.until, t.vouched = until, true
	}
}

// suspend forbids everything until a later licence; without one the term ends at the deadline that was given.
func (t *Term) suspend() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.vouched = false
}

func (t *Term) end(reason string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.endLocked(reason)
}

func (t *Term) endLocked(reason string) {
	if t.over == nil {
		t.over = &TermOverError{t.Election, t.Number, reason}
		t.cancel(t.over)
	}
}

// giveUp is for the end of the caller's context, which has told the work already.
func (t *Term) giveUp() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.over == nil {
		t.givenUp = now()
		t.endLocked(context.Cause(t.ctx).Error())
	}
}

// idle says whether the term is over in a way that leaves nothing to be waited for: not while the work may take so long to
// stop after it was given up.
func (t *Term) idle(drain time.Duration) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.expire()
	return t.over != nil && (t.givenUp == 0 || now()-t.givenUp >= drain)
}

func (t *Term) expire() {
	if t.over == nil && now() >= t.until {
		t.endLocked("deadline")
	}
}

func (t *Term) isOver() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.expire()
	return t.over != nil
}

func (t *Term) watch() {
	for {
		t.mutex.Lock()
		t.expire()
		left := t.until - now()
		over := t.over != nil
		t.mutex.Unlock()
		if over {
			return
		}
		select {
		case <-t.ctx.Done():
			t.giveUp()
			return
		case <-time.After(min(left, longestNap)):
		}
	}
}
