package tenure

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// ErrNotLeading says that the term can't be vouched for at this moment. Unless it is an ErrTermOver too, the term may come
// back: check again before the next step.
var ErrNotLeading = errors.New("not leading")

// ErrTermOver says that the term is over, for good. It is an ErrNotLeading as well. See TermOverError.
var ErrTermOver = fmt.Errorf("term over: %w", ErrNotLeading)

// TermOverError is an ErrTermOver that says why.
type TermOverError struct {
	Election string
	Number   int64
	Reason   string
}

func (e *TermOverError) Error() string {
	return fmt.Sprintf("term %d of %s is over: %s", e.Number, e.Election, e.Reason)
}

// Unwrap makes it an ErrTermOver.
func (e *TermOverError) Unwrap() error { return ErrTermOver }

// SidecarError is an answer of the sidecar that says no. Status and Code are its own, see its OpenAPI document.
type SidecarError struct {
	Status     int
	Code       string
	Detail     string
	RetryAfter time.Duration
}

func (e *SidecarError) Error() string {
	return fmt.Sprintf("the sidecar refused: %s (%d %s)", e.Detail, e.Status, e.Code)
}

// Retriable says whether the same request can succeed later.
func (e *SidecarError) Retriable() bool {
	return e.Status == http.StatusConflict || e.Status == http.StatusTooManyRequests || e.Status >= 500
}
