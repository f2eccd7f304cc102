// write TOKEN HOLDER writes once with that token, or tells why that was refused.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"

	"tenure/examples/go/ledger"
)

func main() {
	token, err := strconv.ParseInt(os.Args[1], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	book, err := ledger.Open()
	if err != nil {
		log.Fatal(err)
	}
	switch err := book.Write(context.Background(), token, os.Args[2], 0); {
	case err == nil:
		fmt.Println("wrote with token", token)
	case errors.Is(err, ledger.ErrStaleToken):
		fmt.Println("refused:", err)
		os.Exit(3)
	default:
		log.Fatal(err)
	}
}
