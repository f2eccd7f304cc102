// Package tenure is leader election with fencing tokens, through Tenure's sidecar.
//
// A term is held by a deadline that counts from when this process sent its last confirmed request. Nothing that arrives late
// can lengthen it, and Term.Check compares the clock itself: a process that was paused sees that its term is over before it
// does anything else.
package tenure

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Options of a client.
type Options struct {
	// URL is http://host:port, https://host:port or unix:///path/of/socket. Default: what the environment says in TENURE_URL,
	// else http://127.0.0.1:2182.
	URL string
	// BearerToken is needed where the sidecar isn't on loopback.
	BearerToken string
	// ID is what the candidates are called in views and logs. Default: hostname:pid:random, another for each call of Lead.
	// Of two with one id at one sidecar the second waits until the first has gone.
	ID string
	// Metadata is shown to observers, never interpreted.
	Metadata map[string]any
	// DrainTimeout is how long the work may take to stop when the leadership is given up or taken away in order. Default 30 s.
	DrainTimeout time.Duration
}

// Client speaks to one sidecar. It is safe for concurrent use.
type Client struct {
	options Options
	sidecar *sidecar
}

// New makes a client. It does not connect yet.
func New(options Options) (*Client, error) {
	if options.URL == "" {
		options.URL = os.Getenv("TENURE_URL")
	}
	if options.URL == "" {
		options.URL = "http://127.0.0.1:2182"
	}
	if options.DrainTimeout == 0 {
		options.DrainTimeout = 30 * time.Second
	}
	s, err := newSidecar(options.URL, options.BearerToken)
	if err != nil {
		return nil, err
	}
	return &Client{options, s}, nil
}

// Lead stands in the queue of an election, and calls work in each term that it wins.
//
// The context given to work is done when the term is over, at the latest at its deadline; its cause says why. When the term
// was lost and work has returned, the candidate joins again, for ever. It ends when
//   - work returns by itself: the leadership is given up, and Lead returns what work returned;
//   - ctx is done: work is told through its own context, the leadership is given up once it has returned, and Lead returns
//     ctx's cause;
//   - work returns an error after the term was lost that isn't about that (ErrNotLeading, context.Canceled);
//   - the sidecar refuses the candidacy for good: a *SidecarError. A sidecar that doesn't answer is waited for, with a
//     warning to slog's default logger.
func (c *Client) Lead(ctx context.Context, election string, work func(ctx context.Context, term *Term) error) error {
	id := c.options.ID
	if id == "" {
		id = newID()
	}
	var stand *standing
	// Also when work panics.
	defer func() {
		if stand != nil {
			stand.leave()
		}
	}()
	for {
		if stand == nil {
			var err error
			if stand, err = c.join(ctx, election, id); err != nil {
				return err
			}
		}
		var term *Term
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-stand.ctx.Done():
			stand = nil
			continue
		case term = <-stand.begun:
		}
		var err error
		if !term.isOver() { // It may have ended before anybody could take it up.
			err = work(term.ctx, term)
		}
		if ctx.Err() != nil {
			if err == nil || aboutLoss(err) {
				err = context.Cause(ctx)
			}
			return err
		}
		if !term.isOver() || (err != nil && !aboutLoss(err)) {
			return err
		}
		if !stand.settle() {
			stand.leave()
			stand = nil
		}
	}
}

// View is the election as it is seen now, as JSON: for showing, never a licence to act.
func (c *Client) View(ctx context.Context, election string) (json.RawMessage, error) {
	var view json.RawMessage
	err := c.sidecar.ask(ctx, patience, http.MethodGet, "/v1/elections/"+url.PathEscape(election), "", nil, &view)
	return view, err
}

// join makes the candidacy, however long that takes.
func (c *Client) join(ctx context.Context, election, id string) (*standing, error) {
	path := "/v1/elections/" + url.PathEscape(election) + "/candidacy?id=" + url.QueryEscape(id)
	wish := map[string]any{"hold": "stream", "drainTimeoutMs": c.options.DrainTimeout.Milliseconds()}
	if c.options.Metadata != nil {
		wish["metadata"] = c.options.Metadata
	}
	warned := false
	for delay := 100 * time.Millisecond; ; delay = min(2*delay, interval) {
		var first answer
		sentAt := now()
		err := c.sidecar.ask(ctx, patience, http.MethodPut, path, "", wish, &first)
		if err == nil {
			made := newStanding(ctx, c.sidecar, election, id, first.Key, c.options.DrainTimeout)
			made.start(first, sentAt)
			return made, nil
		}
		pause := delay
		var refused *SidecarError
		if errors.As(err, &refused) {
			if !refused.Retriable() {
				return nil, refused
			}
			pause = min(max(pause, refused.RetryAfter), patience)
		}
		if !warned && ctx.Err() == nil {
			warned = true
			slog.Warn("tenure: not in the queue yet, and goes on trying", "election", election, "id", id, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

func aboutLoss(err error) bool {
	return errors.Is(err, ErrNotLeading) || errors.Is(err, context.Canceled)
}

func newID() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	random := make([]byte, 4)
	if _, err := rand.Read(random); err != nil {
		panic(fmt.Sprintf("no random numbers: %v", err)) // Never on a system that works.
	}
	return fmt.Sprintf("%s:%d:%s", host, os.Getpid(), hex.EncodeToString(random))
}
