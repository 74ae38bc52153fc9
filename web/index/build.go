package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"runtime"
	"slices"

	"crosstalk/internal/ordered"
	"crosstalk/internal/parallel"
	"crosstalk/internal/rescue"

	"github.com/ncruces/go-sqlite3"
)

// builder writes an index.
type builder struct {
	part, whole string
	stamp       string
	conn        *sqlite3.Conn

	conditions []map[string]string
	condition  map[string]int // the places of conditions, by their texts

	chunk  int
	answer []answer                       // of the chunk
	places map[string]map[string][]uint16 // kind, value
	values map[string]map[string]bool     // of kinds, in all chunks; nil for one that has too many
}

// answer is one row of the index.
type answer struct {
	lines []where
	fact  Fact
}

// Columns with more values are not offered as filters.
const mostValues = 200

func newBuilder(whole, stamp string) (*builder, error) {
	part, err := create(whole)
	if err != nil {
		return nil, fmt.Errorf("cannot write an index of the answers: %w", err)
	}
	b := &builder{part: part, whole: whole, stamp: stamp, condition: map[string]int{},
		places: map[string]map[string][]uint16{}, values: map[string]map[string]bool{}}
	if b.conn, err = sqlite3.Open(part); err == nil {
		// An index that a crash left unfinished is never used: nothing needs to reach the disk.
		err = b.conn.Exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;" + schema)
	}
	if err != nil {
		b.conn.Close()
		remove(part)
		return nil, err
	}
	return b, nil
}

// building limits the number of indexes built at a time.
var building = make(chan struct{}, 2)

// build builds the index. Readers see every chunk as soon as it is written.
func (x *Index) build(ctx context.Context, b *builder, book Book) {
	defer close(x.built)
	building <- struct{}{}
	defer func() { <-building }()
	// Plots of hostile observations are drawn here, in a goroutine of the server.
	err := rescue.Do(b.whole, func() error { return b.read(ctx, x, book) })
	if err == nil {
		err = rescue.Do(b.whole, func() error { return x.finish(b, book) })
	}
	if err != nil {
		err = errors.Join(err, b.conn.Close()) // does nothing if it is closed
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
	var block []*seen // observations that may be of the same answers
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

// mostOfAnItem limits the number of observations searched for the others of the same answer.
const mostOfAnItem = 20_000

// take adds the answers of a block of observations.
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

// add records that an answer has a value.
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

// flush writes the chunk.
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
	for kind, of := range sorted(b.places) {
		few, failed := b.facets(kind, of)
		err = errors.Join(err, failed)
		for value, places := range sorted(of) {
			if few && err == nil {
				err = step(put, []any{b.chunk, kind, value, pack(places)}, nil)
			}
		}
	}
	b.chunk++
	b.answer = b.answer[:0]
	clear(b.places)
	return errors.Join(err, put.Close())
}

// facets counts the values of a column, and reports whether these are few enough for
// a filter. It drops the column when they become too many. Words are not counted.
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
	for value, places := range sorted(of) {
		if known != nil && err == nil {
			err = b.run(count, kind, value, len(places))
		}
	}
	return known != nil, err
}

// sorted yields a map in the order of its keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// finish makes the index a single file and moves it to its place.
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
	// A single file, which readers do not need to write.
	if err := errors.Join(b.conn.Exec("PRAGMA journal_mode = DELETE"), b.conn.Close()); err != nil {
		return err
	}
	if os.Rename(b.part, b.whole) == nil { // else it serves where it is
		x.path = b.whole
	}
	return nil
}

func (b *builder) run(query string, values ...any) error { return rows(b.conn, query, values, nil) }
