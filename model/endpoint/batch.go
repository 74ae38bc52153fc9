package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"crosstalk"
)

// Fits is how many of the first asks a batch may have that takes at most most asks,
// and bytes in all, of which size is an ask's part. One ask always fits.
func Fits(asks []crosstalk.BatchAsk, most, bytes int, size func(crosstalk.BatchAsk) int) int {
	total := 0
	for i, a := range asks[:min(len(asks), most)] {
		if total += size(a); total > bytes && i > 0 {
			return i
		}
	}
	return min(len(asks), most)
}

// Results yields what the lines at a path of the API say, read with result, and the error that ends them.
func (e *Endpoint) Results(ctx context.Context, path string,
	result func([]byte) crosstalk.BatchResult) iter.Seq2[crosstalk.BatchResult, error] {
	return func(yield func(crosstalk.BatchResult, error) bool) {
		for line, err := range e.Lines(ctx, path) {
			if err != nil {
				yield(crosstalk.BatchResult{}, err)
				return
			}
			if !yield(result(line), nil) {
				return
			}
		}
	}
}

// NoResults yields an error alone.
func NoResults(err error) iter.Seq2[crosstalk.BatchResult, error] {
	return func(yield func(crosstalk.BatchResult, error) bool) { yield(crosstalk.BatchResult{}, err) }
}

// Unread is the error for a server's account of batches that cannot be read.
func (e *Endpoint) Unread(what string, cause error) error {
	return e.fault(crosstalk.Transient, 0, nil, "%s cannot be read: %v", what, cause)
}

// BatchResult reads a line with the result of a request of a batch into line, whose id is the request's key. read
// reads what line then has of the answer; an error of a request that was answered has a 2xx status.
func BatchResult(text []byte, line any, id *string, requests map[crosstalk.Key]crosstalk.Request,
	read func(crosstalk.Request) (crosstalk.Answer, error)) (r crosstalk.BatchResult) {
	if len(text) >= MaxNumbers {
		return crosstalk.BatchResult{Err: fmt.Errorf("a line is longer than %d MiB", MaxNumbers>>20)}
	}
	if err := json.Unmarshal(text, line); err != nil {
		return crosstalk.BatchResult{Err: fmt.Errorf("a line is not JSON of the right form: %w", err)}
	}
	if r.Err = r.Key.UnmarshalText([]byte(*id)); r.Err != nil {
		return r
	}
	req, asked := requests[r.Key]
	if !asked {
		return crosstalk.BatchResult{Err: errors.New("a line is of no request of the batch")}
	}
	r.Answer, r.Err = read(req)
	if e := (*crosstalk.AskError)(nil); errors.As(r.Err, &e) && e.Status/100 == 2 {
		r.Key = crosstalk.Key{} // it was answered
	}
	return r
}
