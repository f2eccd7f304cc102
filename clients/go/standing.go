package tenure

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// How often the sidecar is asked while this candidate waits, and how long an answer may take.
	interval = 2 * time.Second
	patience = 5 * time.Second
	// A stream without a sign of life for so long is opened again; a beat comes each second.
	silence = 5 * time.Second
	// While the sidecar doesn't answer, this long between two attempts.
	again = 200 * time.Millisecond
	// The least that an answer may take, and how often is asked while a term is suspect.
	brief = 500 * time.Millisecond
)

// standing is one candidacy as the sidecar knows it, by its key. One goroutine asks and extends the deadline, one listens
// and cuts it short.
type standing struct {
	sidecar      *sidecar
	election, id string
	path, stream string
	key          string

	// How long the work may take to stop.
	drain time.Duration
	// Of the caller of Lead: the terms' contexts descend from it.
	parent context.Context
	// Done when the sidecar has forgotten this candidacy, or we have no use for it any more.
	ctx   context.Context
	close context.CancelFunc
	wake  chan struct{}
	begun chan *Term

	mutex   sync.Mutex
	term    *Term
	ended   int64
	state   string
	version int64
	mayAct  time.Duration
	gone    bool
}

func newStanding(parent context.Context, s *sidecar, election, id, key string, drain time.Duration) *standing {
	path := "/v1/elections/" + url.PathEscape(election)
	query := "?id=" + url.QueryEscape(id)
	made := &standing{
		sidecar: s, election: election, id: id, path: path + "/candidacy" + query, stream: path + "/events" + query, key: key,
		drain: drain, parent: parent, wake: make(chan struct{}, 1), begun: make(chan *Term, 1), state: "joining", version: -1,
	}
	// Not ended by the caller's context: the candidacy is kept until the work has stopped.
	made.ctx, made.close = context.WithCancel(context.WithoutCancel(parent))
	return made
}

func (s *standing) start(first answer, sentAt time.Duration) {
	s.mutex.Lock()
	s.learn(first, &sentAt)
	s.mutex.Unlock()
	go s.ask()
	go s.listen()
}

// settle says that the work of the term has stopped. It is false when the sidecar takes the term for running: then leave.
func (s *standing) settle() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.term != nil {
		s.term.end("released")
		s.ended, s.term = s.term.Token, nil
	}
	if s.ctx.Err() != nil || !ending(s.state) {
		return false
	}
	s.wakeUp()
	return true
}

// leave ends the candidacy here and at the sidecar, which needs its confirmation only to be quick.
func (s *standing) leave() {
	settled := s.settle()
	s.close()
	// The caller's context may be done: this is the last thing that is owed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.parent), patience)
	defer cancel()
	for {
		s.mutex.Lock()
		gone := s.gone
		s.mutex.Unlock()
		if gone {
			return
		}
		var err error
		if settled {
			if err = s.sidecar.ask(ctx, time.Second, http.MethodPut, s.path, s.key, map[string]bool{"settled": true}, nil); err == nil {
				settled = false
			}
		}
		if !settled {
			err = s.sidecar.ask(ctx, time.Second, http.MethodDelete, s.path, s.key, nil, nil)
		}
		var refused *SidecarError
		if err == nil || (errors.As(err, &refused) && (!refused.Retriable() || refused.Status == http.StatusConflict)) {
			return
		}
		select {
		case <-ctx.Done():
			return // It will notice by itself.
		case <-time.After(again):
		}
	}
}

func (s *standing) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *standing) ask() {
	pause := time.Duration(0)
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
		case <-time.After(pause):
		}
		s.mutex.Lock()
		term, state, mayAct := s.term, s.state, s.mayAct
		s.mutex.Unlock()
		// The term ended here while the sidecar takes it for running: asking would lengthen what nobody uses.
		if term != nil && term.idle(s.drain) && !ending(state) {
			pause = interval
			continue
		}
		limit := patience
		if term != nil {
			limit = max(brief, min(mayAct/2, patience))
		}
		// Nobody works here: the sidecar may go on.
		body := map[string]bool{}
		if term == nil && ending(state) {
			body["settled"] = true
		}
		var news answer
		sentAt := now()
		err := s.sidecar.ask(s.ctx, limit, http.MethodPut, s.path, s.key, body, &news)
		var refused *SidecarError
		switch {
		case err == nil:
			s.mutex.Lock()
			if s.ctx.Err() == nil {
				pause = s.learn(news, &sentAt)
			}
			s.mutex.Unlock()
		case errors.As(err, &refused):
			if refused.Status == 400 || refused.Status == 404 || refused.Status == 409 {
				s.lose()
				return
			}
			pause = min(max(refused.RetryAfter, again), interval)
		default:
			pause = again
		}
	}
}

func (s *standing) listen() {
	for s.ctx.Err() == nil {
		_ = s.sidecar.events(s.ctx, silence, s.stream, s.key, s.hear) // However it ended: it is opened again.
		s.wakeUp()
		select {
		case <-s.ctx.Done():
		case <-time.After(again):
		}
	}
}

func (s *standing) hear(name string, data []byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch name {
	case "candidacy":
		var news answer
		if json.Unmarshal(data, &news) == nil {
			s.learn(news, nil)
		}
	case "end":
		s.cut("the sidecar ended the candidacy")
		s.wakeUp()
	}
}

// learn takes news, and says in how long to ask again. sentAt is when the request was sent that the news answer; nil for
// an event, which never lengthens anything.
func (s *standing) learn(news answer, sentAt *time.Duration) time.Duration {
	if news.Version < s.version {
		return again // Overtaken by what came on the other connection.
	}
	fresh := news.Version > s.version
	s.version, s.state = news.Version, news.State
	leading := news.Leading && news.Term != nil && news.Token != nil
	held := s.term != nil && news.holds(s.term)
	switch {
	case !leading:
		s.mayAct = 0
		if held && (s.state == "leading" || s.state == "suspect") {
			s.term.suspend()
		} else if news.Reason != nil {
			s.cut(*news.Reason)
		} else {
			s.cut(s.state)
		}
	case s.term != nil && !held:
		s.cut("another term has begun")
	case sentAt != nil:
		s.mayAct = time.Duration(news.MayActMs * float64(time.Millisecond))
		if held {
			s.term.extend(*sentAt + s.mayAct)
		} else if int64(*news.Token) != s.ended {
			s.term = newTerm(s.parent, s.election, s.id, news, *sentAt+s.mayAct)
			s.begun <- s.term
		}
	}
	if sentAt == nil && fresh {
		s.wakeUp()
	}
	switch {
	case s.mayAct > 0:
		return s.mayAct / 3
	case s.term != nil && !s.term.isOver():
		return brief
	}
	return interval
}

func (s *standing) cut(reason string) {
	if s.term != nil {
		s.term.end(reason)
	}
}

func (s *standing) lose() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.cut("the sidecar knows this candidacy no more")
	s.gone = true
	s.close()
}

// ending says whether a term has ended at the sidecar, which waits until the work has stopped.
func ending(state string) bool { return state == "draining" || state == "lost" }
