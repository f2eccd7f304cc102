package tenure

import (
	"syscall"
	"time"
	"unsafe"
)

// CLOCK_BOOTTIME: unlike the monotonic clock of time.Now it counts while the machine is suspended.
const clockBoottime = 7

var started = time.Now()

// now is the time since some moment in the past, by a clock that nobody sets and that counts suspension.
func now() time.Duration {
	var moment syscall.Timespec
	if _, _, failed := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&moment)), 0); failed != 0 {
		// A sandbox that forbids it forbids it always: the two clocks are never mixed.
		return time.Since(started)
	}
	return time.Duration(moment.Nano())
}
