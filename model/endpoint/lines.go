package endpoint

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"

	"crosstalk"
)

// Lines yields the lines that are at a path of the API, empty ones left out. A
// line is good until the next one is asked for. Errors are those of Get, and
// come last: also if the lines break off.
func (e *Endpoint) Lines(ctx context.Context, path string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		body, err := e.Open(ctx, path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer body.Close()
		lines := bufio.NewScanner(body)
		lines.Buffer(make([]byte, 0, 64<<10), MaxNumbers)
		for lines.Scan() {
			if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 && !yield(line, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(nil, e.fault(crosstalk.Rejected, 0, nil, "a line of %s is longer than %d MiB", e.identity.Endpoint, MaxNumbers>>20))
		case err != nil:
			yield(nil, e.unreachable(ctx, cutOff{err}))
		}
	}
}

// Open returns what is at a path of the API, however long it is. It must be
// closed. Errors are those of Get.
func (e *Endpoint) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	key, err := e.key()
	if err != nil {
		return nil, e.fault(crosstalk.Denied, 0, nil, "%v", err)
	}
	resp, err := e.exchange(ctx, http.MethodGet, path, jsonType, nil, key)
	if err != nil {
		return nil, e.unreachable(ctx, err)
	}
	if resp.StatusCode/100 != 2 {
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
		resp.Body.Close()
		return nil, e.refused(resp, raw, key)
	}
	return resp.Body, nil
}

// Broken is the error for something longer than an answer that cannot be read.
func (e *Endpoint) Broken(ctx context.Context, err error) error {
	return e.unreachable(ctx, cutOff{err})
}

// Unclear marks the error of a request that creates something, unless the
// error says that nothing was created: the server said no, or nobody was there.
func Unclear(err error) error {
	var e *crosstalk.AskError
	if errors.As(err, &e) {
		switch {
		case e.Fault == crosstalk.Rejected, e.Fault == crosstalk.Denied, e.Status == 429, e.Status == 503, e.Status == 529:
			return err
		}
	}
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return err
	}
	return &crosstalk.UnclearError{Err: err}
}
