// A crowd of go-zookeeper's locks in one process; ../README.md has the lines.
//
//	go SERVERS PATH COUNT SESSION_TIMEOUT_MS one|many
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"tenure/test/interop/line"
)

func open(servers string, timeoutMs int) *zk.Conn {
	conn, events, err := zk.Connect(strings.Split(servers, ","), time.Duration(timeoutMs)*time.Millisecond,
		zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		panic(err)
	}
	for event := range events {
		if event.State == zk.StateHasSession {
			break
		}
	}
	go func() {
		for range events {
		}
	}()
	return conn
}

func main() {
	servers, path, count, timeoutMs := os.Args[1], os.Args[2], line.Number(os.Args[3]), line.Number(os.Args[4])
	many := os.Args[5] == "many"
	locks := make([]*zk.Lock, count)
	conns := []*zk.Conn{}
	for i := range locks {
		queue := path
		if many {
			queue = fmt.Sprintf("%s/%d", path, i)
		}
		if len(conns) == 0 || !many {
			conns = append(conns, open(servers, timeoutMs))
		}
		locks[i] = zk.NewLock(conns[len(conns)-1], queue, zk.WorldACL(zk.PermAll))
	}
	leaders := make(chan int, count)
	line.Say("ready", nil)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if lines.Text() == "join" {
			for i, lock := range locks {
				go func() {
					if err := lock.Lock(); err != nil {
						line.Fail(err)
					}
					line.Say("led", map[string]any{"at": line.Now(), "id": strconv.Itoa(i)})
					leaders <- i
				}()
			}
		} else if lines.Text() == "leave" {
			leader := <-leaders
			line.Say("lost", map[string]any{"at": line.Now(), "id": strconv.Itoa(leader), "why": "resigned"})
			if err := locks[leader].Unlock(); err != nil {
				panic(err)
			}
		}
	}
	for _, conn := range conns {
		conn.Close()
	}
}
