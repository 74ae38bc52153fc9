package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/instrument"
)

// Verdict is what was found in an answer, in short.
type Verdict uint8

// The verdicts.
const (
	Unscored Verdict = iota // no observation of it has a value
	Clean                   // scored, without a fault
	Fault                   // with a finding that the instrument looks for
)

// Fact is what orders and compares answers.
type Fact struct {
	Key     uint64 // of the item, its variant and the sample: the same under other conditions and in other runs
	Verdict Verdict
	Length  uint32  // characters of its texts
	Doubt   float32 // how close the decision was: 0 is closest; NaN where that is not known

	Condition uint16 // its place in Conditions
}

// Numbered is the fact of an answer.
type Numbered struct {
	Number int
	Fact
}

// KeyOf is the key of the answer to an item.
func KeyOf(item, variant string, sample int) uint64 {
	h := fnv.New64a()
	h.Write([]byte(item + "\x00" + variant + "\x00" + strconv.Itoa(sample)))
	return h.Sum64()
}

// factOfOne is the fact of a single observation.
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

// factOf is the fact of an answer with these observations.
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

// mostConditions is the number of conditions that are kept; others count as one more.
const mostConditions = 1000

// conditionOf is the place of an answer's condition, without the columns within an answer.
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

// factSize is the number of bytes of a packed fact.
const factSize = 8 + 1 + 4 + 4 + 2

func packFacts(answers []answer) []byte {
	b := make([]byte, 0, factSize*len(answers))
	for _, a := range answers {
		b = binary.LittleEndian.AppendUint64(b, a.fact.Key)
		b = append(b, byte(a.fact.Verdict))
		b = binary.LittleEndian.AppendUint32(b, a.fact.Length)
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(a.fact.Doubt))
		b = binary.LittleEndian.AppendUint16(b, a.fact.Condition)
	}
	return b
}

// Facts returns the facts of the answers that have these values of columns, by their numbers.
func (x *Index) Facts(ctx context.Context, where map[string]string) (list []Numbered, err error) {
	err = x.search(ctx, Query{Where: where}, func(s *search) error {
		list, err = s.facts()
		return err
	})
	return list, err
}

// facts are the facts of the answers that have all values and words.
func (s *search) facts() (list []Numbered, err error) {
	_, err = s.each(math.MaxInt64, func(chunk int, found, _ set) error {
		packed, err := blob(s.conn, "SELECT facts FROM chunks WHERE chunk = ?", chunk)
		if err != nil || packed == nil {
			return cmp.Or(err, ErrNone)
		}
		for i := range s.size(chunk) {
			if le := binary.LittleEndian; found.has(i) && len(packed) >= (i+1)*factSize {
				b := packed[i*factSize:] // as packFacts wrote it
				list = append(list, Numbered{chunk*chunkSize + i + 1, Fact{le.Uint64(b), Verdict(b[8]), le.Uint32(b[9:]),
					math.Float32frombits(le.Uint32(b[13:])), le.Uint16(b[17:])}})
			}
		}
		return nil
	})
	return list, err
}
