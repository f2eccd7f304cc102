// Package line is how the programs in Go say what happens: a line of JSON each, dated by the clock that all processes share.
package line

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

// Now is CLOCK_MONOTONIC in milliseconds: Go's own reading of it starts anew in each process.
func Now() float64 {
	var ts syscall.Timespec
	const clockMonotonic = 1
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		panic(errno)
	}
	return float64(ts.Sec)*1e3 + float64(ts.Nsec)/1e6
}

var saying sync.Mutex

// Say writes one line.
func Say(event string, fields map[string]any) {
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

// Fail says why, and ends the process; what it has left behind goes with its session.
func Fail(err error) {
	Say("failed", map[string]any{"error": err.Error()})
	os.Exit(1)
}

// Number is that of an argument.
func Number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		Fail(err)
	}
	return value
}
