package crosstalk

import (
	"context"
	"iter"
	"time"
)

// A Batcher is a Model whose provider also takes many requests at once, answers
// them within a day or so, and charges less for it.
//
// A request is known in a batch by the text of its Key, which every API takes as an id: 64 hexadecimal digits.
// Every error is an *AskError, or ctx's if ctx was cancelled, but for an *UnclearError.
type Batcher interface {
	Model
	// Fits returns how many of the asks, from the first, one batch takes: 1 or more. All asks are for the same API.
	Fits(asks []BatchAsk) int
	// Submit submits a batch under a tag and returns the provider's id of it.
	// Submitting twice is paid twice: after an *UnclearError, use Find.
	Submit(ctx context.Context, tag string, asks []BatchAsk) (id string, err error)
	// Find returns the id of the batch that was submitted under a tag, not long before or after a time; "" if the
	// provider does not have it. It is not sure while a batch may be the one or not. known are the ids of others.
	Find(ctx context.Context, tag string, at time.Time, asks []BatchAsk, known func(id string) bool) (id string, sure bool,
		err error)
	// Poll returns how far a batch is.
	Poll(ctx context.Context, id string) (BatchState, error)
	// Results yields what came of the requests of a batch that has ended, in
	// any order. An error ends it, and what was yielded is good. Requests that
	// were not answered may be missing, and so may answers that are not there yet.
	Results(ctx context.Context, id string, requests map[Key]Request) iter.Seq2[BatchResult, error]
}

// BatchAsk is one request of a batch.
type BatchAsk struct {
	Key     Key
	Request Request
}

// BatchState is how far a batch is.
type BatchState struct {
	Ended bool // nothing more comes of it
	Done  int  // requests that are done, answered or not

	// Failed is how many requests of a batch that has ended were not answered, as the provider says: they failed,
	// expired or were cancelled. It has answers to all others, and was paid for them.
	Failed int

	// Problem is why the provider took the batch back as a whole, "" if it did not: no request was answered or paid
	// for. Full says that the provider has too many requests of the account at the moment.
	Problem string
	Full    bool
}

// BatchResult is the outcome of one request.
type BatchResult struct {
	Key    Key // zero: the result is of no request of the batch, or cannot be read
	Answer Answer
	Err    error // why the provider did not answer, or why the result cannot be read; nil: it is an answer
}

// UnclearError says that a batch may have been submitted or not.
type UnclearError struct{ Err error }

func (e *UnclearError) Error() string { return e.Err.Error() }
func (e *UnclearError) Unwrap() error { return e.Err }
