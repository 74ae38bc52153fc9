package index

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// where is where a line lies in the observations.
type where struct{ offset, size int64 }

// longestLine is the maximum length of an observation.
const longestLine = 256 << 20

// batches yields the lines of a file, many at a time.
func batches(name string, r io.Reader) iter.Seq2[batch, error] {
	return func(yield func(batch, error) bool) {
		in := bufio.NewReaderSize(r, 1<<20)
		b, offset := batch{name: name}, int64(0)
		for number := 1; ; number++ {
			start := len(b.text)
			var err error
			for {
				var piece []byte
				piece, err = in.ReadSlice('\n')
				if first := len(b.text) == start && len(piece) > 0; first && piece[0] == 0 { // a hole of any size
					err = fmt.Errorf("%s:%d: invalid observation: begins with a NUL byte", name, number)
				}
				b.text = append(b.text, piece...)
				if len(b.text)-start > longestLine {
					err = fmt.Errorf("%s:%d: is longer than %d MiB", name, number, longestLine>>20)
				}
				if err != bufio.ErrBufferFull {
					break
				}
			}
			if size := int64(len(b.text) - start); size > 0 {
				b.lines = append(b.lines, where{offset, size})
				offset += size
			}
			ended := err == io.EOF
			if err != nil && !ended {
				yield(b, err)
				return
			}
			if len(b.text) >= batchSize || ended {
				b.last = offset
				if !yield(b, nil) || ended {
					return
				}
				b = batch{name: name, number: number}
			}
		}
	}
}

const batchSize = 256 << 10

// batch are some lines of the observations.
type batch struct {
	name   string
	number int // of the line before the first
	text   []byte
	lines  []where
	last   int64 // offset of what follows
}

// seen is an observation in the form for the index.
type seen struct {
	crosstalk.Observation
	where
	block, answer string
	tags          []tag
	words         []string
	fact          Fact // of this observation alone
}

// parse reads a batch.
func (b batch) parse() ([]seen, error) {
	list, at := make([]seen, 0, len(b.lines)), int64(0)
	for i, line := range b.lines {
		text := b.text[at : at+line.size]
		at += line.size
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		s := seen{where: line}
		if err := json.Unmarshal(text, &s.Observation); err != nil {
			return nil, fmt.Errorf("%s:%d: invalid observation: %w", b.name, b.number+i+1, err)
		}
		s.block, s.answer = answerOf(&s.Observation)
		s.tags = tags(&s.Observation)
		s.fact = factOfOne(&s.Observation)
		add := func(w string) { s.words = append(s.words, w) }
		words(s.Item, add)
		for _, t := range s.Texts {
			words(t.Text[:min(len(t.Text), longestText)], add)
		}
		list = append(list, s)
	}
	return list, nil
}

// packLines encodes the places of the lines of answers.
func packLines(answers []answer) []byte {
	var b []byte
	end := int64(0)
	for _, a := range answers {
		b = binary.AppendVarint(b, int64(len(a.lines)))
		for _, l := range a.lines {
			b = binary.AppendVarint(binary.AppendVarint(b, l.offset-end), l.size)
			end = l.offset + l.size
		}
	}
	return b
}

// unpackLines decodes the output of packLines. The answers share an array of lines:
// a page of a rare word unpacks a chunk for each of its answers.
func unpackLines(b []byte) (answers []answer, err error) {
	next := func() int64 {
		v, n := binary.Varint(b)
		if n <= 0 {
			b, err = nil, errSet
			return 0
		}
		b = b[n:]
		return v
	}
	answers, lines, end := make([]answer, 0, chunkSize), make([]where, 0, 4*chunkSize), int64(0)
	for len(b) > 0 {
		start := len(lines)
		for n := next(); n > 0 && err == nil; n-- {
			l := where{offset: end + next(), size: next()}
			if l.size < 0 || l.size > longestLine {
				return nil, errSet
			}
			lines, end = append(lines, l), l.offset+l.size
		}
		answers = append(answers, answer{lines: lines[start:len(lines):len(lines)]})
	}
	return answers, err
}

// ErrNone is the error for an unknown answer.
var ErrNone = errors.New("no such answer")

// Observations returns the observations of answers, by their numbers.
func (x *Index) Observations(ctx context.Context, numbers ...int) (list [][]crosstalk.Observation, err error) {
	err = x.read(ctx, func(c *sqlite3.Conn) error {
		for _, n := range numbers {
			of, err := x.observationsOf(c, n)
			if err != nil {
				return err
			}
			list = append(list, of)
		}
		return nil
	})
	return list, err
}

func (x *Index) observationsOf(c *sqlite3.Conn, number int) ([]crosstalk.Observation, error) {
	if number < 1 {
		return nil, ErrNone
	}
	lines, err := x.linesOf(c, (number-1)/chunkSize)
	if err != nil {
		return nil, err
	}
	place := (number - 1) % chunkSize
	if place >= len(lines) {
		return nil, ErrNone
	}
	var list []crosstalk.Observation
	for _, l := range lines[place].lines {
		text := make([]byte, l.size)
		if _, err := x.observations.ReadAt(text, l.offset); err != nil {
			return nil, fmt.Errorf("%s: has changed: %w", x.observations.Name(), err)
		}
		var o crosstalk.Observation
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, fmt.Errorf("%s: has changed: %w", x.observations.Name(), err)
		}
		list = append(list, o)
	}
	return list, nil
}

// linesOf returns the lines of the observations of a chunk's answers. It caches the last chunk.
func (x *Index) linesOf(c *sqlite3.Conn, chunk int) ([]answer, error) {
	x.state.Lock()
	kept, have := x.lines, x.linesOfChunk
	x.state.Unlock()
	if kept != nil && have == chunk {
		return kept, nil
	}
	packed, err := blob(c, "SELECT lines FROM chunks WHERE chunk = ?", chunk)
	if err != nil || packed == nil {
		return nil, cmp.Or(err, ErrNone)
	}
	lines, err := unpackLines(packed)
	if err == nil {
		x.state.Lock()
		x.lines, x.linesOfChunk = lines, chunk
		x.state.Unlock()
	}
	return lines, err
}
