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

func say(format string, values ...any) {
	saying.Lock()
	defer saying.Unlock()
	fmt.Printf(format+"\n", values...)
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

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
	servers, path, count, timeoutMs := os.Args[1], os.Args[2], number(os.Args[3]), number(os.Args[4])
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
	say(`{"event":"ready"}`)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if lines.Text() == "join" {
			for i, lock := range locks {
				go func() {
					if err := lock.Lock(); err != nil {
						say(`{"event":"failed","error":%q}`, err.Error())
						os.Exit(1)
					}
					say(`{"event":"led","at":%f,"id":"%d"}`, now(), i)
					leaders <- i
				}()
			}
		} else if lines.Text() == "leave" {
			leader := <-leaders
			say(`{"event":"lost","at":%f,"id":"%d","why":"resigned"}`, now(), leader)
			if err := locks[leader].Unlock(); err != nil {
				panic(err)
			}
		}
	}
	for _, conn := range conns {
		conn.Close()
	}
}
