package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/run"

	"github.com/ncruces/go-sqlite3"
)

type where struct{ offset, size int64 }

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

type seen struct {
	crosstalk.Observation
	where
	block, answer string
	tags          []tag
	words         []string
	fact          Fact // for this observation alone
}

// analyse computes what the index stores about the observation.
func (s *seen) analyse() {
	// Nearby observations with the same names are shown as one answer.
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

// unpackLines decodes the output of packLines. The answers share an array of lines: a page of results for a rare word
// unpacks a chunk for each of its answers.
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

// Observations returns the observations of answers, by number.
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

// Verdict summarises the findings in an answer.
type Verdict uint8

const (
	Unscored Verdict = iota // none of its observations has a value
	Clean                   // scored, without a fault
	Fault                   // with a finding that the instrument looks for
)

// Fact contains what is needed to order and compare answers.
type Fact struct {
	Key     uint64 // of the item, variant and sample: the same under other conditions and in other runs
	Verdict Verdict
	Length  uint32  // characters of its texts
	Doubt   float32 // how close the decision was: 0 is closest; NaN if unknown

	Condition uint16 // index in Conditions
}

// Numbered is the fact of an answer, with its number.
type Numbered struct {
	Number int
	Fact
}

// KeyOf returns the key of the answer to an item.
func KeyOf(item, variant string, sample int) uint64 {
	h := fnv.New64a()
	h.Write([]byte(item + "\x00" + variant + "\x00" + strconv.Itoa(sample)))
	return h.Sum64()
}

func factOfOne(o *crosstalk.Observation) Fact {
	kind := instrument.Of(o.Measure)
	f := Fact{Key: KeyOf(o.Item, o.Variant, o.Sample), Doubt: float32(math.NaN())}
	for _, t := range o.Texts {
		if t.Role == crosstalk.Side {
			f.Length += uint32(utf8.RuneCountInString(t.Text))
		}
	}
	switch {
	case o.Finding != "" && kind.Finding(o.Finding).Fault:
		f.Verdict = Fault
	case o.NotScored == "" && o.Value.Defined():
		f.Verdict = Clean
	}
	doubt, known := 0.0, len(kind.Doubt) > 0
	for i, name := range kind.Doubt {
		x, has := o.Numbers[name]
		if known = known && has; i == 0 {
			doubt = x
		} else {
			doubt -= x
		}
	}
	if known {
		f.Doubt = float32(math.Abs(doubt))
	}
	return f
}

func factOf(list []*seen) Fact {
	f := list[0].fact
	for _, s := range list[1:] {
		f.Verdict, f.Length = max(f.Verdict, s.fact.Verdict), max(f.Length, s.fact.Length)
		if !(s.fact.Doubt >= f.Doubt) && s.fact.Doubt == s.fact.Doubt {
			f.Doubt = s.fact.Doubt
		}
	}
	return f
}

// conditionOf returns the index of an answer's condition, without the columns within an answer.
func (b *builder) conditionOf(s *seen) uint16 {
	text := strings.TrimPrefix(s.block, s.Item)
	i, known := b.condition[text]
	if !known {
		if len(b.conditions) == mostConditions {
			return mostConditions
		}
		i = len(b.conditions)
		b.condition[text] = i
		kind, condition := instrument.Of(s.Measure), maps.Clone(s.Observation.Condition)
		maps.DeleteFunc(condition, func(c, _ string) bool { return kind.Column(c).Within })
		b.conditions = append(b.conditions, condition)
	}
	return uint16(i)
}

func packFacts(answers []answer) (b []byte) {
	le := binary.LittleEndian
	for _, a := range answers {
		b = le.AppendUint64(b, a.fact.Key)
		b = append(b, byte(a.fact.Verdict))
		b = le.AppendUint32(b, a.fact.Length)
		b = le.AppendUint32(b, math.Float32bits(a.fact.Doubt))
		b = le.AppendUint16(b, a.fact.Condition)
	}
	return b
}

// Facts returns the facts of the answers with these values of columns, by number.
func (x *Index) Facts(ctx context.Context, where map[string]string) (list []Numbered, err error) {
	err = x.search(ctx, Query{Where: where}, func(s *search) error {
		list, err = s.facts()
		return err
	})
	return list, err
}

func (s *search) facts() (list []Numbered, err error) {
	_, err = s.each(math.MaxInt64, func(chunk int, found, _ set) error {
		packed, err := blob(s.conn, "SELECT facts FROM chunks WHERE chunk = ?", chunk)
		if err != nil || packed == nil {
			return cmp.Or(err, ErrNone)
		}
		for i := range s.size(chunk) {
			if le := binary.LittleEndian; found.has(i) && len(packed) >= (i+1)*factSize {
				b := packed[i*factSize:] // in the format of packFacts
				list = append(list, Numbered{chunk*chunkSize + i + 1, Fact{le.Uint64(b), Verdict(b[8]), le.Uint32(b[9:]),
					math.Float32frombits(le.Uint32(b[13:])), le.Uint16(b[17:])}})
			}
		}
		return nil
	})
	return list, err
}
