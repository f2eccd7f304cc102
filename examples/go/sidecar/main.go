// A worker that leads by the sidecar, and writes with the token of its term until it is told to stop.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	tenure "tenure/clients/go"
	"tenure/examples/go/ledger"
)

func main() {
	election := os.Getenv("ELECTION")
	if election == "" {
		election = "settlement"
	}
	client, err := tenure.New(tenure.Options{ID: os.Getenv("WORKER")})
	if err != nil {
		log.Fatal(err)
	}
	book, err := ledger.Open()
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	// ctx of the work is done when the term is over, for whatever reason; then the client joins the queue again.
	err = client.Lead(ctx, election, func(ctx context.Context, term *tenure.Term) error {
		fmt.Println(term.ID, "leads: token", term.Token)
		for {
			if err := term.Check(); err != nil {
				return err
			}
			switch err := book.Write(ctx, term.Token, term.ID, term.Remaining()); {
			case err == nil:
				fmt.Println(term.ID, "wrote with token", term.Token)
			case errors.Is(err, ledger.ErrStaleToken):
				fmt.Println(term.ID, "was refused:", err)
			default:
				return err
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	if !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
	fmt.Println("has left")
}
