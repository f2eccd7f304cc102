// A worker for the tests that kill and freeze it: leads term after term, and says on standard output what it does.
//
// Its argument is JSON: url, election, id, and optionally bearer, drainMs (how long its work takes to stop) and views (it
// looks at the election first, and ends when that is refused). A line "resign" on standard input ends the work, "close" the
// candidacy; the end of it ends the process.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	tenure "tenure/clients/go"
)

var options struct {
	URL, Election, ID, Bearer string
	DrainMs                   int
	Views                     bool
}

var (
	resigned atomic.Bool
	writing  sync.Mutex
	errClose = errors.New("closed")
)

type fields map[string]any

func monotonicMs() float64 {
	var moment syscall.Timespec
	const clockMonotonic = 1
	if _, _, failed := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&moment)), 0); failed != 0 {
		panic(failed)
	}
	return float64(moment.Nano()) / 1e6
}

func say(event string, at float64, more fields) {
	writing.Lock()
	defer writing.Unlock()
	line := fields{"event": event, "at": at}
	for key, value := range more {
		line[key] = value
	}
	data, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(data))
}

func work(ctx context.Context, term *tenure.Term) error {
	token := strconv.FormatInt(term.Token, 10)
	say("term", monotonicMs(), fields{"token": token, "term": term.Number, "previous": term.Previous})
	go func() {
		<-ctx.Done()
		var over *tenure.TermOverError
		if errors.As(context.Cause(ctx), &over) && over.Reason != "released" || errors.Is(context.Cause(ctx), errClose) {
			say("cancelled", monotonicMs(), fields{"token": token, "reason": context.Cause(ctx).Error()})
		}
	}()
	for !resigned.Load() {
		// Taken before the check: what is paused between the two must not pass for an act.
		at := monotonicMs()
		switch err := term.Check(); {
		case err == nil:
			say("act", at, fields{"token": token, "remainingMs": float64(term.Remaining()) / 1e6})
		case errors.Is(err, tenure.ErrTermOver):
			say("over", monotonicMs(), fields{"token": token, "reason": err.Error()})
			time.Sleep(time.Duration(options.DrainMs) * time.Millisecond)
			say("stopped", monotonicMs(), fields{"token": token})
			return err
		default:
			say("suspect", at, fields{"token": token})
		}
		time.Sleep(25 * time.Millisecond)
	}
	return nil
}

func main() {
	if err := json.Unmarshal([]byte(os.Args[1]), &options); err != nil {
		panic(err)
	}
	client, err := tenure.New(tenure.Options{
		URL: options.URL, ID: options.ID, BearerToken: options.Bearer, Metadata: map[string]any{"speaks": "Go"},
	})
	if err != nil {
		panic(err)
	}
	ctx, closeIt := context.WithCancelCause(context.Background())
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			switch lines.Text() {
			case "resign":
				resigned.Store(true)
			case "close":
				closeIt(errClose)
			}
		}
		os.Exit(0)
	}()
	say("ready", monotonicMs(), nil)
	if options.Views {
		var view json.RawMessage
		if view, err = client.View(ctx, options.Election); err == nil {
			say("viewed", monotonicMs(), fields{"view": view})
		}
	}
	if err == nil {
		err = client.Lead(ctx, options.Election, work)
	}
	var refused *tenure.SidecarError
	switch {
	case err == nil:
		say("left", monotonicMs(), fields{"how": "resigned"})
	case errors.Is(err, errClose):
		say("left", monotonicMs(), fields{"how": "closed"})
	case errors.As(err, &refused):
		say("failed", monotonicMs(), fields{"code": refused.Code, "message": err.Error()})
	default:
		say("failed", monotonicMs(), fields{"code": "", "message": err.Error()})
	}
}
