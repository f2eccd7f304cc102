// Candidates by etcd's concurrency package, as its documentation has them: a session, an election on it, Campaign, Resign, and
// the session's Done, which tells that the leadership can't be relied upon any more.
//
//	etcd candidate SERVERS PATH ID TIMEOUT_MS [leader]
//	etcd crowd SERVERS PATH COUNT TIMEOUT_MS one|many
//	etcd raw SERVERS COUNT
//
// With `leader` the session's context is one of WithRequireLeader. The lines are those of test/interop/README.md; those of a crowd
// are in ../README.md.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"tenure/test/interop/line"
)

func dial(servers string) *clientv3.Client {
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   strings.Split(servers, ","),
		DialTimeout: 20 * time.Second,
		Logger:      zap.NewNop(),
	})
	if err != nil {
		line.Fail(err)
	}
	return client
}

// open grants a lease of whole seconds, as etcd counts them, and keeps it alive.
func open(client *clientv3.Client, timeoutMs int, more ...concurrency.SessionOption) *concurrency.Session {
	options := append(more, concurrency.WithTTL((timeoutMs+999)/1000))
	session, err := concurrency.NewSession(client, options...)
	if err != nil {
		line.Fail(err)
	}
	return session
}

// candidate is one contestant, who leads at most once at a time.
type candidate struct {
	session *concurrency.Session
	path    string
	id      string

	mutex    sync.Mutex
	leading  bool
	election *concurrency.Election
}

func (c *candidate) campaign() {
	election := concurrency.NewElection(c.session, c.path)
	if err := election.Campaign(context.Background(), c.id); err != nil {
		line.Fail(err)
	}
	at := line.Now()
	c.mutex.Lock()
	c.leading = true
	c.election = election
	c.mutex.Unlock()
	line.Say("led", map[string]any{"at": at, "id": c.id, "token": strconv.FormatInt(election.Rev(), 10)})
	<-c.session.Done()
	c.lost("the session is done")
}

func (c *candidate) lost(why string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.leading {
		return false
	}
	c.leading = false
	line.Say("lost", map[string]any{"at": line.Now(), "id": c.id, "why": why})
	return true
}

func (c *candidate) leave() bool {
	if !c.lost("resigned") {
		return false
	}
	if err := c.election.Resign(context.Background()); err != nil {
		line.Fail(err)
	}
	return true
}

// Those of one queue, each with a session of its own, or one in each of many queues, on one session.
func crowd(servers, path string, count, timeoutMs int, mode string) []*candidate {
	candidates := make([]*candidate, count)
	if mode == "many" {
		session := open(dial(servers), timeoutMs)
		for i := range candidates {
			candidates[i] = &candidate{session: session, path: fmt.Sprintf("%s/%d", path, i), id: strconv.Itoa(i)}
		}
		return candidates
	}
	for i := range candidates {
		candidates[i] = &candidate{session: open(dial(servers), timeoutMs), path: path, id: strconv.Itoa(i)}
	}
	return candidates
}

// raw times writes, and the news of them on another connection.
func raw(servers string, count int) {
	writer, watcher := dial(servers), dial(servers)
	line.Say("ready", nil)
	news := watcher.Watch(context.Background(), "/raw", clientv3.WithCreatedNotify())
	<-news
	for range count {
		begin := line.Now()
		var writtenAt, toldAt float64
		var both sync.WaitGroup
		both.Add(2)
		go func() {
			defer both.Done()
			if _, err := writer.Put(context.Background(), "/raw", "a value"); err != nil {
				line.Fail(err)
			}
			writtenAt = line.Now()
		}()
		go func() {
			defer both.Done()
			<-news
			toldAt = line.Now()
		}()
		both.Wait()
		line.Say("raw", map[string]any{"write": writtenAt - begin, "notification": toldAt - begin})
	}
}

func main() {
	servers := os.Args[2]
	if os.Args[1] == "raw" {
		raw(servers, line.Number(os.Args[3]))
		return
	}
	path, timeoutMs := os.Args[3], line.Number(os.Args[5])
	var candidates []*candidate
	if os.Args[1] == "crowd" {
		candidates = crowd(servers, path, line.Number(os.Args[4]), timeoutMs, os.Args[6])
	} else {
		var more []concurrency.SessionOption
		if len(os.Args) > 6 && os.Args[6] == "leader" {
			more = append(more, concurrency.WithContext(clientv3.WithRequireLeader(context.Background())))
		}
		candidates = []*candidate{{session: open(dial(servers), timeoutMs, more...), path: path, id: os.Args[4]}}
	}
	line.Say("ready", nil)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		for _, each := range candidates {
			if lines.Text() == "join" {
				go each.campaign()
			} else if lines.Text() == "leave" && each.leave() {
				break
			}
		}
	}
	for _, each := range candidates {
		each.session.Close()
	}
}
