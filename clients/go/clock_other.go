//go:build !linux

package tenure

import "time"

var started = time.Now()

// now is the time since some moment in the past, by a clock that nobody sets. It may stand still while the machine is suspended.
func now() time.Duration { return time.Since(started) }
