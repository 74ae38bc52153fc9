package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
	"crosstalk/internal/parallel"
	"crosstalk/internal/rescue"
	"crosstalk/internal/visible"

	"github.com/ncruces/go-sqlite3"
)

type builder struct {
	part, whole string
	stamp       string
	conn        *sqlite3.Conn

	conditions []map[string]string
	condition  map[string]int // indexes of conditions, by their texts

	chunk  int
	answer []answer                       // in the chunk
	places map[string]map[string][]uint16 // by kind and value
	values map[string]map[string]bool     // by kind, in all chunks; nil for a kind with too many
}

type answer struct {
	lines []where
	fact  Fact
}

func newBuilder(whole, stamp string) (*builder, error) {
	part, err := create(whole)
	if err != nil {
		return nil, fmt.Errorf("cannot write an index of the answers: %w", err)
	}
	b := &builder{part: part, whole: whole, stamp: stamp, condition: map[string]int{},
		places: map[string]map[string][]uint16{}, values: map[string]map[string]bool{}}
	if b.conn, err = sqlite3.Open(part); err == nil {
		// An index that a crash left unfinished is never used: no data needs to be synced to disk.
		err = b.conn.Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;" + schema)
	}
	if err != nil {
		b.conn.Close()
		remove(part)
		return nil, err
	}
	return b, nil
}

// building limits the number of indexes built concurrently.
var building = make(chan struct{}, 2)

// build builds the index. Readers see every chunk as soon as it is written.
func (x *Index) build(ctx context.Context, b *builder, book Book) {
	defer close(x.built)
	building <- struct{}{}
	defer func() { <-building }()
	// This draws plots of hostile observations in a goroutine of the server.
	err := rescue.Do(b.whole, func() error { return b.read(ctx, x, book) })
	if err == nil {
		err = rescue.Do(b.whole, func() error { return x.finish(b, book) })
	}
	if err != nil {
		err = errors.Join(err, b.conn.Close()) // no effect if already closed
	}
	x.progress(func(s *State) { s.Building, s.Err = false, err })
}

func (b *builder) read(ctx context.Context, x *Index, book Book) error {
	each := func(_ context.Context, batch []seen) ([]seen, error) {
		return batch, rescue.Do(b.whole, func() error {
			for i := range batch {
				batch[i].analyse()
			}
			return nil
		})
	}
	var block []*seen // observations that may belong to the same answers
	for batch, err := range parallel.Map(ctx, batches(x.dir), runtime.GOMAXPROCS(0), each) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		for i := range batch {
			s := &batch[i]
			book.Add(s.Observation)
			s.Spans, s.Masked, s.Tokens, s.Texts = nil, nil, nil, nil
			if len(block) > 0 && (block[0].block != s.block || len(block) == mostOfAnItem) {
				if err := b.take(x, block); err != nil {
					return err
				}
				block = block[:0]
			}
			block = append(block, s)
			x.progress(func(now *State) { now.Read = s.offset + s.size })
		}
	}
	return errors.Join(ctx.Err(), b.take(x, block), b.flush(x))
}

func (b *builder) take(x *Index, block []*seen) error {
	for _, list := range ordered.Groups(block, func(s *seen) string { return s.answer }) {
		if len(b.answer) == chunkSize {
			if err := b.flush(x); err != nil {
				return err
			}
		}
		place := uint16(len(b.answer))
		a := answer{fact: factOf(list)}
		a.fact.Condition = b.conditionOf(list[0])
		fault := slices.ContainsFunc(list, func(s *seen) bool {
			return slices.ContainsFunc(s.tags, func(t tag) bool { return t.column == Found && t.value != Nothing })
		})
		for _, s := range list {
			a.lines = append(a.lines, s.where)
			for _, t := range s.tags {
				if !fault || t != (tag{Found, Nothing}) {
					b.add(t.column, t.value, place)
				}
			}
			for _, w := range s.words {
				b.add("", w, place)
			}
		}
		b.answer = append(b.answer, a)
	}
	return nil
}

func (b *builder) add(kind, value string, place uint16) {
	places := b.places[kind]
	if places == nil {
		places = map[string][]uint16{}
		b.places[kind] = places
	}
	list := places[value]
	if n := len(list); n > 0 && list[n-1] == place {
		return
	}
	places[value] = append(list, place)
}

func (b *builder) flush(x *Index) (err error) {
	n := len(b.answer)
	if n == 0 {
		return nil
	}
	txn, err := b.conn.BeginImmediate()
	if err != nil {
		return err
	}
	defer func() {
		if txn.End(&err); err == nil {
			x.progress(func(s *State) { s.Answers += n })
		}
	}()
	put, _, err := b.conn.Prepare("INSERT INTO sets VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	err = b.run("INSERT INTO chunks VALUES (?, ?, ?, ?)", b.chunk, n, packLines(b.answer), packFacts(b.answer))
	for _, kind := range slices.Sorted(maps.Keys(b.places)) {
		of := b.places[kind]
		few, failed := b.facets(kind, of)
		err = errors.Join(err, failed)
		for _, value := range slices.Sorted(maps.Keys(of)) {
			if few && err == nil {
				err = step(put, []any{b.chunk, kind, value, pack(of[value])}, nil)
			}
		}
	}
	b.chunk++
	b.answer = b.answer[:0]
	clear(b.places)
	return errors.Join(err, put.Close())
}

// facets counts the values of a column, and reports whether they are few enough for a filter. If not, it drops the
// column. It does not count words.
func (b *builder) facets(kind string, of map[string][]uint16) (few bool, err error) {
	if kind == "" {
		return true, nil
	}
	known, old := b.values[kind]
	if !old {
		known = map[string]bool{}
	}
	for value := range of {
		if known != nil {
			known[value] = true
		}
	}
	if len(known) > mostValues {
		known, err = nil, b.run("DELETE FROM facets WHERE kind = ?", kind)
	}
	b.values[kind] = known
	const count = "INSERT INTO facets VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n"
	for _, value := range slices.Sorted(maps.Keys(of)) {
		if known != nil && err == nil {
			err = b.run(count, kind, value, len(of[value]))
		}
	}
	return known != nil, err
}

// finish turns the index into a single file and moves it into place.
func (x *Index) finish(b *builder, book Book) error {
	pages, err := book.Pages()
	if err != nil {
		return err
	}
	conditions, err := json.Marshal(b.conditions)
	if err != nil {
		return err
	}
	for name, value := range map[string][]byte{"conditions": conditions, "pages": pages, "stamp": []byte(b.stamp)} {
		if err := b.run("INSERT INTO meta VALUES (?, ?)", name, value); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.drain(); err != nil {
		return err
	}
	// A single file, which readers need not write to.
	if err := errors.Join(b.conn.Exec("PRAGMA journal_mode = DELETE"), b.conn.Close()); err != nil {
		return err
	}
	if os.Rename(b.part, b.whole) == nil { // otherwise, it stays where it is
		x.path = b.whole
	}
	return nil
}

func (b *builder) run(query string, values ...any) error { return rows(b.conn, query, values, nil) }

// unspaced lists scripts without spaces between words: each letter counts as a word.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
	unicode.Khmer, unicode.Myanmar}

// words calls use with each word of a text, in lower case: letters with their marks, and digits.
func words(text string, use func(string)) {
	start := -1
	end := func(i int) {
		if start >= 0 {
			use(fold(text[start:i]))
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case r >= utf8.RuneSelf && unicode.In(r, unspaced...):
			end(i)
			use(text[i : i+utf8.RuneLen(r)])
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r):
			if start < 0 {
				start = i
			}
		default:
			end(i)
		}
	}
	end(len(text))
}

// fold returns a word in lower case, cut to longestWord.
func fold(word string) string {
	word = strings.ToLower(word)
	n := min(len(word), longestWord)
	for n < len(word) && !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}

type term struct {
	words []string // its words; the last one may be a prefix
	text  string   // exact phrase in lower case; "": only the words
}

// terms parses a search. A word matches words that begin with it; a phrase in quotation marks matches exactly.
func terms(query string) (list []term) {
	add := func(text string, quoted bool) {
		var t term
		words(text, func(w string) { t.words = append(t.words, w) })
		if quoted || len(t.words) > 1 || len(text) > longestWord {
			t.text = plain(text)
		}
		if t.words != nil {
			list = append(list, t)
		}
	}
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			add(part, true)
			continue
		}
		for word := range strings.FieldsSeq(part) {
			add(word, false)
		}
	}
	return list
}

// plain returns a text in lower case, with single spaces.
func plain(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// Found is the column of findings.
const Found = "found"

// Values of the column Found, besides the titles of findings and a measure's reasons for not scoring an answer.
const (
	Nothing   = "no finding" // scored, and nothing was found
	NotScored = "not scored"
	AnyFault  = "any fault" // crosstalk.Kind.Fault
)

type tag struct{ column, value string }

// tags returns the columns of an observation, with control characters made visible: they are used in URLs and forms.
func tags(o *crosstalk.Observation) (list []tag) {
	add := func(column, value string) {
		if value != "" && len(value) <= longestValue && len(column) <= longestValue {
			list = append(list, tag{visible.Line(column), visible.Line(value)})
		}
	}
	for c, v := range o.Condition {
		add(c, v)
	}
	for c, v := range o.Labels {
		if _, both := o.Condition[c]; !both {
			add(c, v)
		}
	}
	for _, t := range o.Texts {
		if t.Role == crosstalk.Topic || t.Role == crosstalk.Fact {
			add(crosstalk.Words(t.Name), t.Text)
		}
	}
	if fault, ok := instrument.Of(o.Measure).Fault(*o); ok && fault.Value == 1 {
		add(Found, AnyFault)
	}
	switch {
	case o.Implied:
	case o.NotScored != "":
		add(Found, NotScored)
		add(Found, o.NotScored)
	case o.Finding != "":
		kind := instrument.Of(o.Measure)
		found := kind.Finding(o.Finding)
		for _, title := range found.Titles {
			add(Found, title)
		}
		if found.Fault && kind.Judge != "" {
			add(found.Titles[len(found.Titles)-1]+" by", o.Condition[kind.Judge])
		}
	default:
		add(Found, Nothing)
	}
	return list
}
