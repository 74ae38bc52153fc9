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
	"strings"

	"crosstalk"
)

// Lines yields the lines that are at a path of the API, empty ones left out, and longer ones cut at MaxNumbers bytes.
// A line is valid until the next one is read. The errors are Get's and come last, also if the lines break off.
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
		lines.Split(cutLines())
		for lines.Scan() {
			if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 && !yield(line, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, e.Broken(ctx, err))
		}
	}
}

// cutLines is bufio.ScanLines that passes over what a line has beyond MaxNumbers bytes.
func cutLines() bufio.SplitFunc {
	within := false // a line that was cut
	return func(data []byte, end bool) (advance int, token []byte, err error) {
		advance, token, err = bufio.ScanLines(data, end)
		if advance == 0 && len(data) >= MaxNumbers {
			advance, token = len(data), data
		}
		if advance == 0 {
			return 0, nil, err
		}
		if within {
			token = token[:0] // nil would end the lines with the input
		}
		within = data[advance-1] != '\n'
		return advance, token, err
	}
}

// Open returns what is at a path of the API, however long it is. The caller closes it. It returns the errors of Get.
func (e *Endpoint) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	resp, key, err := e.exchange(ctx, http.MethodGet, path, jsonType, nil)
	if err != nil {
		return nil, err
	}
	page := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
	if resp.StatusCode/100 == 2 && !page {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	switch status := resp.StatusCode; {
	case status == 404, status == 410:
		return nil, e.fault(crosstalk.Denied, status, nil, "%s does not have %s (HTTP %d, %s)", e.identity.Endpoint, path,
			status, e.quote(readProblem(raw)))
	case status/100 != 2:
		return nil, e.refused(resp, raw, key)
	}
	return nil, e.page(resp.StatusCode, problem{message: title(raw), page: true})
}

// Broken is the error for something longer than an answer that cannot be read.
func (e *Endpoint) Broken(ctx context.Context, err error) error {
	return e.unreachable(ctx, cutOff{err})
}

// Unclear marks the error of a request that creates something, unless the server said no, or was not there.
func Unclear(err error) error {
	var e *crosstalk.AskError
	said := errors.As(err, &e) && (e.Fault == crosstalk.Rejected || e.Fault == crosstalk.Denied || e.Status == 429 ||
		e.Status == 503 || e.Status == 529)
	var op *net.OpError
	if said || errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return err
	}
	return &crosstalk.UnclearError{Err: err}
}
