package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/run"

	"github.com/ncruces/go-sqlite3"
)

// where is where a line lies in the observations.
type where struct{ offset, size int64 }

// longestLine is the maximum length of an observation.
const longestLine = 256 << 20

// batchSize is the number of observations that are analysed together.
const batchSize = 512

// batches yields the observations of a run, many at a time.
func batches(dir string) iter.Seq2[[]seen, error] {
	return func(yield func([]seen, error) bool) {
		var batch []seen
		for o, err := range run.ReadLocated(dir) {
			if err != nil {
				if yield(batch, nil) {
					yield(nil, err)
				}
				return
			}
			batch = append(batch, seen{Observation: o.Observation, where: where{o.Offset, o.Size}})
			if len(batch) == batchSize {
				if !yield(batch, nil) {
					return
				}
				batch = make([]seen, 0, batchSize)
			}
		}
		yield(batch, nil)
	}
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

// analyse sets what the index has of the observation.
func (s *seen) analyse() {
	// Observations near each other with the same names are shown as one answer.
	kind, block := instrument.Of(s.Measure), s.Item
	for _, c := range slices.Sorted(maps.Keys(s.Observation.Condition)) {
		if !kind.Column(c).Within {
			block += "\x00" + c + "\x00" + s.Observation.Condition[c]
		}
	}
	s.block, s.answer = block, s.Variant+"\x00"+strconv.Itoa(s.Sample)
	s.tags, s.fact = tags(&s.Observation), factOfOne(&s.Observation)
	add := func(w string) { s.words = append(s.words, w) }
	words(s.Item, add)
	for _, t := range s.Texts {
		words(t.Text[:min(len(t.Text), longestText)], add)
	}
}

// packLines encodes the places of the lines of answers.
func packLines(answers []answer) []byte {
	var b []byte
	end := int64(0)
	for _, a := range answers {
		b = binary.AppendUvarint(b, uint64(len(a.lines)))
		for _, l := range a.lines {
			b = binary.AppendUvarint(binary.AppendVarint(b, l.offset-end), uint64(l.size))
			end = l.offset + l.size
		}
	}
	return b
}

// unpackLines decodes the output of packLines. The answers share an array of lines:
// a page of a rare word unpacks a chunk for each of its answers.
func unpackLines(b []byte) ([]answer, error) {
	answers, lines, end := make([]answer, 0, chunkSize), make([]where, 0, 4*chunkSize), int64(0)
	for len(b) > 0 {
		count, k := binary.Uvarint(b)
		if k <= 0 || count > uint64(len(b)) {
			return nil, errSet
		}
		b = b[k:]
		start := len(lines)
		for range count {
			d, k := binary.Varint(b)
			if k <= 0 {
				return nil, errSet
			}
			size, m := binary.Uvarint(b[k:])
			if m <= 0 || size > longestLine {
				return nil, errSet
			}
			b = b[k+m:]
			l := where{end + d, int64(size)}
			lines, end = append(lines, l), l.offset+l.size
		}
		answers = append(answers, answer{lines: lines[start:len(lines):len(lines)]})
	}
	return answers, nil
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
