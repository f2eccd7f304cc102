// A candidate by go-zookeeper's own lock; README.md beside this folder has the protocol.
//
//	interop SERVERS PATH ID SESSION_TIMEOUT_MS
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/go-zookeeper/zk"
)

// now is CLOCK_MONOTONIC in milliseconds: Go's own reading of it starts anew in each process.
func now() float64 {
	var ts syscall.Timespec
	const clockMonotonic = 1
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		panic(errno)
	}
	return float64(ts.Sec)*1e3 + float64(ts.Nsec)/1e6
}

var saying sync.Mutex

func say(event string, fields map[string]any) {
	line := map[string]any{"event": event}
	for key, value := range fields {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	saying.Lock()
	defer saying.Unlock()
	fmt.Println(string(text))
}

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
		fail(err)
	}
	at := now()
	c.mutex.Lock()
	c.leading = true
	c.over = make(chan struct{})
	over := c.over
	c.mutex.Unlock()
	say("led", map[string]any{"at": at, "token": c.token()})
	if c.conn.State() != zk.StateHasSession {
		c.lost(c.conn.State().String())
	}
	<-over
	if err := lock.Unlock(); err != nil {
		fail(err)
	}
}

// fail ends the process: a lock that failed may have left its znode behind, which goes with the session.
func fail(err error) {
	say("failed", map[string]any{"error": err.Error()})
	os.Exit(1)
}

func (c *candidate) lost(why string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.leading {
		return false
	}
	c.leading = false
	say("lost", map[string]any{"at": now(), "why": why})
	close(c.over)
	return true
}

func main() {
	servers, path, id, timeoutMs := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	timeout, err := strconv.Atoi(timeoutMs)
	if err != nil {
		fail(err)
	}
	conn, events, err := zk.Connect(strings.Split(servers, ","), time.Duration(timeout)*time.Millisecond,
		zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		fail(err)
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
	say("ready", nil)
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
