// A worker that stands in the same queue by itself, with go-zookeeper. It has no lease: only the fence keeps its late
// writes out.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"

	"tenure/clients/go/protocol"
	"tenure/examples/go/ledger"
)

const root = "/tenure"

func main() {
	if err := run(env("ELECTION", "settlement"), env("WORKER", "go")); err != nil {
		log.Fatal(err)
	}
}

func run(election, name string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	servers := strings.Split(env("ZK_SERVERS", "127.0.0.1:2181"), ",")
	conn, events, err := zk.Connect(servers, 4*time.Second, zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		return err
	}
	defer conn.Close() // The node goes with the session.
	go func() {
		for connected := false; ; {
			event, open := <-events
			if !open || (connected && event.Type == zk.EventSession && event.State != zk.StateHasSession) {
				stop()
				return
			}
			connected = connected || event.State == zk.StateHasSession
		}
	}()
	book, err := ledger.Open()
	if err != nil {
		return err
	}

	queue, err := protocol.QueuePath(root, election)
	if err != nil {
		return err
	}
	// Its nodes are named _c_<guid>-lock-<number>, which all libraries put in one order.
	lock := zk.NewLock(conn, queue, zk.WorldACL(zk.PermAll))
	if err := lock.LockWithData([]byte(name)); err != nil {
		return err
	}
	token, err := tokenOf(conn, election, queue)
	if err != nil {
		return err
	}
	fmt.Println(name, "leads: token", token)
	for ctx.Err() == nil {
		if err := book.Write(context.Background(), token, name, 0); errors.Is(err, ledger.ErrStaleToken) {
			fmt.Println(name, "was refused:", err)
			break
		} else if err != nil {
			return err
		}
		fmt.Println(name, "wrote with token", token)
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	fmt.Println(name, "has left")
	return nil
}

// tokenOf is the record's floor and the transaction that created our node.
func tokenOf(conn *zk.Conn, election, queue string) (int64, error) {
	path, err := protocol.TermPath(root, election)
	if err != nil {
		return 0, err
	}
	data, _, err := conn.Get(path)
	if err != nil && !errors.Is(err, zk.ErrNoNode) { // Without one nobody of Tenure has led here yet.
		return 0, err
	}
	record, err := protocol.DecodeRecord(data)
	if err != nil {
		return 0, err
	}
	nodes, _, err := conn.Children(queue)
	if err != nil {
		return 0, err
	}
	for _, node := range protocol.InOrder(nodes) {
		found, stat, err := conn.Exists(queue + "/" + node)
		if err != nil {
			return 0, err
		}
		if found && stat.EphemeralOwner == conn.SessionID() {
			return protocol.Token(record.Floor, stat.Czxid)
		}
	}
	return 0, errors.New("our node is gone")
}

func env(key, otherwise string) string {
	if value := os.Getenv(key); value != "" {
		return value
	}
	return otherwise
}
