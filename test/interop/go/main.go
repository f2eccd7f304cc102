// A candidate by go-zookeeper's own lock; README.md beside this folder has the protocol.
//
//	interop SERVERS PATH ID SESSION_TIMEOUT_MS
package main

import (
	"bufio"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"tenure/test/interop/line"
)

type candidate struct {
	conn *zk.Conn
	path string
	id   string

	mutex   sync.Mutex
	leading bool
	over    chan struct{}
}

func (c *candidate) token() string {
	children, _, err := c.conn.Children(c.path)
	if err != nil {
		return ""
	}
	for _, child := range children {
		if exists, stat, err := c.conn.Exists(c.path + "/" + child); err == nil && exists && stat.EphemeralOwner == c.conn.SessionID() {
			return strconv.FormatInt(stat.Czxid, 10)
		}
	}
	return ""
}

func (c *candidate) campaign() {
	lock := zk.NewLock(c.conn, c.path, zk.WorldACL(zk.PermAll))
	if err := lock.LockWithData([]byte(c.id)); err != nil {
		line.Fail(err)
	}
	at := line.Now()
	c.mutex.Lock()
	c.leading = true
	c.over = make(chan struct{})
	over := c.over
	c.mutex.Unlock()
	line.Say("led", map[string]any{"at": at, "token": c.token()})
	if c.conn.State() != zk.StateHasSession {
		c.lost(c.conn.State().String())
	}
	<-over
	if err := lock.Unlock(); err != nil {
		line.Fail(err)
	}
}

func (c *candidate) lost(why string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.leading {
		return false
	}
	c.leading = false
	line.Say("lost", map[string]any{"at": line.Now(), "why": why})
	close(c.over)
	return true
}

func main() {
	servers, path, id, timeout := os.Args[1], os.Args[2], os.Args[3], line.Number(os.Args[4])
	conn, events, err := zk.Connect(strings.Split(servers, ","), time.Duration(timeout)*time.Millisecond,
		zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		line.Fail(err)
	}
	c := &candidate{conn: conn, path: path, id: id}
	connected := make(chan struct{})
	go func() {
		for event := range events {
			if event.Type != zk.EventSession {
				continue
			}
			if event.State == zk.StateHasSession {
				select {
				case <-connected:
				default:
					close(connected)
				}
			} else {
				c.lost(event.State.String())
			}
		}
	}()
	<-connected
	line.Say("ready", nil)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch lines.Text() {
		case "join":
			go c.campaign()
		case "leave":
			// A lock that waits can't be given up but with its session.
			if !c.lost("resigned") {
				conn.Close()
			}
		}
	}
	conn.Close()
}
