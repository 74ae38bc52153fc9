package check

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"strconv"
	"strings"

	"crosstalk/guard"
	"crosstalk/internal/parallel"
	"crosstalk/recorded"
)

// verdict is what is written of an answer.
type verdict struct {
	guard.Response
	File string `json:"file,omitempty"` // of a log
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"` // of a log, in which spans have their places

	judged string // the text
	log    bool   // it is of a log
}

// lines reads requests as JSON Lines.
func (o Options) lines(out *writer, in io.Reader, name string) error {
	requests := func(yield func(numbered, error) bool) {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, longest)
		n := 0
		for lines.Scan() {
			n++
			line := lines.Bytes()
			if n == 1 {
				line = bytes.TrimPrefix(line, byteOrderMark)
			}
			if len(bytes.TrimSpace(line)) > 0 && !yield(numbered{n, bytes.Clone(line)}, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case err == bufio.ErrTooLong:
			yield(numbered{}, fmt.Errorf("%s:%d: %w", name, n+1, errLong))
		case err != nil:
			yield(numbered{}, fmt.Errorf("%s: %w", name, err))
		}
	}
	return judge(out, requests, func(line numbered) (v verdict, err error) {
		request, err := guard.ParseRequest(line.text, o.Language)
		if err == nil {
			v.Response, err = request.Check(o.Checker)
		}
		if err != nil {
			return v, fmt.Errorf("%s:%d: %w", name, line.n, err)
		}
		v.judged, v.File, v.Line = request.Text, name, line.n
		return v, nil
	})
}

type numbered struct {
	n    int
	text []byte
}

// judge writes the verdicts of answers in their order.
func judge[T any](out *writer, answers iter.Seq2[T, error], of func(T) (verdict, error)) error {
	check := func(_ context.Context, answer T) (verdict, error) { return of(answer) }
	for v, err := range parallel.Map(context.Background(), answers, parallel.Enough(), check) {
		if err == nil {
			err = out.answer(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// log reads answers as `crosstalk score confusion` does.
func (o Options) log(out *writer, path string, batches map[string][]string) error {
	r := recorded.Reading{Columns: o.Columns, Expect: o.Language, Identify: o.Checker.UserLanguage, ExpectFlag: "language",
		Batches: batches}
	r = o.suited(r, path)
	r.Note = o.Note
	return judge(out, r.Confusion(path), func(c recorded.Confusion) (verdict, error) { return o.confusion(c), nil })
}

// suited reads answers in a column text where there is no usual one, and by the user's language if the file does not
// say in which language answers should be, but what they answer.
func (o Options) suited(r recorded.Reading, path string) recorded.Reading {
	fits := func(r recorded.Reading) bool {
		r.Batches = maps.Clone(r.Batches)
		for _, err := range r.Confusion(path) {
			return err == nil
		}
		return true // a file of requests
	}
	given := r.Columns["completion"]
	for _, column := range []string{given, cmp.Or(given, "text")} {
		for _, expect := range []string{r.Expect, cmp.Or(r.Expect, recorded.ExpectUser)} {
			of := r
			if of.Expect = expect; column != given {
				of.Columns = map[string]string{"completion": column}
				maps.Copy(of.Columns, r.Columns)
			}
			if !fits(of) {
				continue
			}
			if expect != r.Expect {
				o.Note(path + ": no column says in which language answers should be: taking the user's (--language user)")
			}
			return of
		}
	}
	return r
}

// confusion judges an answer of a log.
func (o Options) confusion(c recorded.Confusion) verdict {
	v := verdict{Text: c.Answer.Text, judged: c.Answer.Text, log: true}
	v.ID, _ = json.Marshal(cmp.Or(c.ID, c.Where))
	colon := strings.LastIndexByte(c.Where, ':')
	v.File = c.Where[:colon]
	v.Line, _ = strconv.Atoi(c.Where[colon+1:])
	if c.Unjudged == "" {
		var err error
		v.Expected = c.Item.Labels["language"]
		if v.Judgement, err = o.Checker.Check(c.Answer.Text, v.Expected); err == nil {
			return v
		}
	}
	v.Expected, v.Judgement = "", guard.Unknown()
	return v
}
