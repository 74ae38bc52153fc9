package ask

import (
	"errors"

	"crosstalk"
)

// ErrStopped says that the session takes no more asks because Stop was called.
var ErrStopped = errors.New("stopped")

// LimitError says that no more is asked because a limit that the user set was reached: a budget or the patience. What
// was answered until then is good, and the same command asks for the rest.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return e.Reason }

// ModelError says that a model cannot be asked, or not with these settings: its key is wrong, it rejects every
// request, its server is broken. Other models of the session are asked all the same.
type ModelError struct {
	Model crosstalk.Identity
	Err   error // what the server says
}

func (e *ModelError) Error() string { return e.Err.Error() }
func (e *ModelError) Unwrap() error { return e.Err }

// RefusedError says that a model refuses a parameter of the request, before it answered any request with these
// settings. Nothing was journalled; asks without the parameter may be answered. Asks with the same settings end with
// the same error, without being sent.
type RefusedError struct {
	Model crosstalk.Identity
	Param string // as the server names it: "temperature"
	Err   error  // what the server says
}

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// EmptyError says that the first answers to requests with some settings are all
// empty. Asks with other settings may be answered.
type EmptyError struct {
	N         int // answers
	Thought   int // of N: the model thought, as far as the answer shows
	Reasoning int // tokens that they spent on it, where the server counts them
	text      string
}

func (e *EmptyError) Error() string { return e.text }
