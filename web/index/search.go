package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
	"strings"
	"time"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// Query selects answers.
type Query struct {
	Where  map[string]string // values of columns; answers must have all of them
	Text   string            // prefixes of words in the answer; "exact phrases" in quotation marks
	After  int               // numbers larger than this, the smallest first
	Before int               // if not 0: the largest numbers less than this, in ascending order
	Only   []int             // if not nil: only these numbers, ascending
	Order  Order             // instead of by number; needs Skip, not After or Before
	Skip   int               // answers before the page, in this order
	Limit  int
	Count  string // if not "": the column whose values Page.Counts counts
}

// Page is a page of the answers of a query.
type Page struct {
	Numbers []int // of answers, ascending or in the query's order
	First   int   // position of the first answer among all found, from 1; 0: unknown
	Total   int   // number of answers found; -1: unknown
	Earlier bool  // there are more before
	Later   bool  // there are more after
	Cut     bool  // the search took too long: there may be more

	// Counts has the number of answers for each value of the query's column Count, among the answers that the rest of the
	// query finds: without Only and the query's condition on that column. Counts is nil if unknown.
	Counts map[string]int
	Rest   int
}

// Column is a column with its values, most frequent first.
type Column struct {
	Name   string
	Values []Value
}

// Value is a value of a column with its number of answers.
type Value struct {
	Name string
	N    int
}

// Columns lists the columns by which answers can be filtered.
func (x *Index) Columns(ctx context.Context) (columns []Column, err error) {
	err = x.read(ctx, func(c *sqlite3.Conn) error {
		const all = "SELECT kind, value, n FROM facets ORDER BY kind, n DESC, value"
		return rows(c, all, nil, func(s *sqlite3.Stmt) {
			if n := len(columns); n == 0 || columns[n-1].Name != s.ColumnText(0) {
				columns = append(columns, Column{Name: s.ColumnText(0)})
			}
			last := &columns[len(columns)-1]
			last.Values = append(last.Values, Value{s.ColumnText(1), s.ColumnInt(2)})
		})
	})
	return columns, err
}

// Patience is the maximum time for finding answers, and for counting them.
const (
	patience = 3 * time.Second
	counting = 40 * time.Millisecond
)

// Search returns a page of answers.
func (x *Index) Search(ctx context.Context, q Query) (p Page, err error) {
	err = x.search(ctx, q, func(s *search) error {
		if q.Order == ByNumber {
			p, err = s.page()
		} else {
			p, err = s.ordered()
		}
		if err != nil || q.Count == "" {
			return err
		}
		return s.values(&p)
	})
	return p, err
}

type search struct {
	x         *Index
	conn      *sqlite3.Conn
	query     Query
	terms     []term
	begun     time.Time
	answers   int // searchable answers
	get, from *sqlite3.Stmt
	known     map[int][2]set // results of find, by chunk
}

func (x *Index) search(ctx context.Context, q Query, f func(*search) error) error {
	return x.read(ctx, func(c *sqlite3.Conn) (err error) {
		s := &search{x: x, conn: c, query: q, terms: terms(q.Text), begun: time.Now(), answers: x.Progress().Answers,
			known: map[int][2]set{}}
		if s.get, _, err = c.Prepare("SELECT places FROM sets WHERE chunk = ? AND kind = ? AND value = ?"); err != nil {
			return err
		}
		defer s.get.Close()
		s.from, _, err = c.Prepare("SELECT places FROM sets WHERE chunk = ? AND kind = '' AND value >= ? AND value < ?")
		if err != nil {
			return err
		}
		defer s.from.Close()
		return f(s)
	})
}

// exact reports whether the query has exact phrases, which must be looked up in texts.
func (s *search) exact() bool {
	return slices.ContainsFunc(s.terms, func(t term) bool { return t.text != "" })
}

// each calls f with each chunk's answers that have all values and words. all is false if that takes too long.
func (s *search) each(most time.Duration, f func(chunk int, found, rest set) error) (all bool, err error) {
	begun := time.Now()
	for chunk := 0; s.size(chunk) > 0; chunk++ {
		if time.Since(begun) > most {
			return false, nil
		}
		found, rest, err := s.find(chunk)
		if err == nil {
			err = f(chunk, found, rest)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// size returns the number of answers in a chunk: all chunks but the last are full.
func (s *search) size(chunk int) int { return min(s.answers-chunk*chunkSize, chunkSize) }

// page finds the page, backwards from Before or forwards from After, and counts.
func (s *search) page() (p Page, err error) {
	back := s.query.Before > 0
	// After is the index of the number after it.
	chunk, step, edge := min(s.query.After, 1<<40)/chunkSize, 1, s.query.After
	if back {
		chunk, step, edge = (min(s.query.Before-1, s.answers)-1)/chunkSize, -1, s.query.Before-1
	}
	for ; chunk >= 0 && s.size(chunk) > 0 && len(p.Numbers) <= s.query.Limit; chunk += step {
		if time.Since(s.begun) > patience {
			p.Cut = true
			break
		}
		found, _, err := s.find(chunk)
		if err != nil {
			return p, err
		}
		for k := range s.size(chunk) {
			place := k
			if back {
				place = s.size(chunk) - 1 - k
			}
			at := chunk*chunkSize + place
			if !found.has(place) || !back && at < edge || back && at >= edge {
				continue
			}
			if ok, err := s.check(at + 1); err != nil {
				return p, err
			} else if ok {
				p.Numbers = append(p.Numbers, at+1)
			}
			if p.Cut = time.Since(s.begun) > patience; p.Cut || len(p.Numbers) > s.query.Limit {
				break
			}
		}
	}
	more := len(p.Numbers) > s.query.Limit
	if more {
		p.Numbers = p.Numbers[:s.query.Limit]
	}
	p.Earlier, p.Later = s.query.After > 0, more
	if back {
		slices.Reverse(p.Numbers)
		p.Earlier, p.Later = more, true
	}
	return p, s.count(&p)
}

// count counts all answers of the query, if that is fast.
func (s *search) count(p *Page) error {
	p.Total = -1
	if p.Cut || s.exact() {
		return nil
	}
	total, before := 0, 0
	all, err := s.each(counting, func(chunk int, found, _ set) error {
		total += found.count()
		if len(p.Numbers) > 0 {
			found.and(first(min(max(p.Numbers[0]-1-chunk*chunkSize, 0), chunkSize)))
			before += found.count()
		}
		return nil
	})
	if !all {
		return err
	}
	p.Total = total
	if len(p.Numbers) > 0 {
		p.First, p.Earlier, p.Later = before+1, before > 0, before+len(p.Numbers) < total
	}
	return nil
}

// values counts the values of the query's column Count, if that is fast.
func (s *search) values(p *Page) error {
	if p.Cut || s.exact() {
		return nil // exact phrases must be looked up in texts
	}
	stmt, _, err := s.conn.Prepare("SELECT places, value FROM sets WHERE chunk = ? AND kind = ?")
	if err != nil {
		return err
	}
	defer stmt.Close()
	counts, answers := map[string]int{}, 0
	all, err := s.each(patience/10, func(chunk int, _, rest set) error {
		answers += rest.count()
		return step(stmt, []any{chunk, s.query.Count}, func() error {
			var with set
			err := with.unpack(stmt.ColumnRawBlob(0))
			with.and(rest)
			counts[stmt.ColumnText(1)] += with.count()
			return err
		})
	})
	if all {
		p.Counts, p.Rest = counts, answers
	}
	return err
}

// find returns a chunk's answers with all values and words. rest ignores Only and the column Count.
func (s *search) find(chunk int) (found, rest set, err error) {
	if known, ok := s.known[chunk]; ok {
		return known[0], known[1], nil
	}
	found = first(s.size(chunk))
	narrow := func(stmt *sqlite3.Stmt, a, b string) {
		var with set
		unpack := func() error { return with.unpack(stmt.ColumnRawBlob(0)) }
		err = errors.Join(err, step(stmt, []any{chunk, a, b}, unpack))
		found.and(with)
	}
	for column, value := range s.query.Where {
		if column != s.query.Count {
			narrow(s.get, column, value)
		}
	}
	for _, t := range s.terms {
		last := len(t.words) - 1
		for _, word := range t.words[:last] {
			narrow(s.get, "", word)
		}
		narrow(s.from, t.words[last], t.words[last]+"\U0010ffff")
	}
	rest = found
	if value, ok := s.query.Where[s.query.Count]; ok {
		narrow(s.get, s.query.Count, value)
	}
	if s.query.Only != nil {
		var only set
		for _, n := range s.query.Only {
			if (n-1)/chunkSize == chunk && n > 0 {
				only.add((n - 1) % chunkSize)
			}
		}
		found.and(only)
	}
	s.known[chunk] = [2]set{found, rest}
	return found, rest, err
}

func (s *search) check(number int) (bool, error) {
	if !s.exact() {
		return true, nil
	}
	list, err := s.x.observationsOf(s.conn, number)
	var texts []string
	for _, o := range list {
		for _, text := range append(slices.Clip(o.Texts), crosstalk.NamedText{Text: o.Item}) {
			texts = append(texts, plain(text.Text))
		}
	}
	return !slices.ContainsFunc(s.terms, func(t term) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, t.text) })
	}), err
}

// Order is an order of answers.
type Order string

const (
	ByNumber Order = ""
	Longest  Order = "longest"
	Shortest Order = "shortest"
	Doubtful Order = "doubtful" // the closest decisions first, unknown ones last
)

// Orders lists all orders.
var Orders = []Order{ByNumber, Longest, Shortest, Doubtful}

func (s *search) ordered() (p Page, err error) {
	list, err := s.facts()
	if err != nil {
		return p, err
	}
	compare := map[Order]func(a, b Numbered) int{
		Longest:  func(a, b Numbered) int { return int(b.Length) - int(a.Length) },
		Shortest: func(a, b Numbered) int { return int(a.Length) - int(b.Length) },
		// NaN sorts before all numbers, and so after them if both the numbers and the order are reversed.
		Doubtful: func(a, b Numbered) int { return cmp.Compare(-b.Doubt, -a.Doubt) },
	}[s.query.Order]
	slices.SortFunc(list, func(a, b Numbered) int { return cmp.Or(compare(a, b), a.Number-b.Number) })
	p.Total = len(list)
	if s.exact() {
		p.Total = -1 // exact phrases are not included
	}
	passed := 0
	for _, a := range list {
		if p.Cut = time.Since(s.begun) > patience; p.Cut {
			break
		}
		if ok, err := s.check(a.Number); err != nil {
			return p, err
		} else if !ok {
			continue
		}
		if passed++; passed <= s.query.Skip {
			continue
		}
		if p.Later = len(p.Numbers) == s.query.Limit; p.Later {
			break
		}
		p.Numbers = append(p.Numbers, a.Number)
	}
	p.First, p.Earlier = s.query.Skip+1, s.query.Skip > 0
	return p, nil
}

// set contains answers of a chunk, by index.
type set [chunkSize / 64]uint64

func (s *set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *set) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

func (s *set) and(t set) {
	for i := range s {
		s[i] &= t[i]
	}
}

func (s *set) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// first returns the set of the first n answers of a chunk.
func first(n int) (s set) {
	for i := range n / 64 {
		s[i] = ^uint64(0)
	}
	if n%64 > 0 {
		s[n/64] = 1<<(n%64) - 1
	}
	return s
}

// pack encodes ascending indexes as their distances, or as bits if that is shorter.
func pack(places []uint16) []byte {
	var b []byte
	last := -1
	for _, p := range places {
		b = binary.AppendUvarint(b, uint64(int(p)-last-1))
		last = int(p)
	}
	if len(b) < chunkSize/8 {
		return b
	}
	var s set
	for _, p := range places {
		s.add(int(p))
	}
	b = b[:0]
	for _, w := range s {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

var errSet = errors.New("the index is damaged: delete it")

// unpack adds the output of pack to the set.
func (s *set) unpack(b []byte) error {
	if len(b) == chunkSize/8 {
		for i := range s {
			s[i] |= binary.LittleEndian.Uint64(b[8*i:])
		}
		return nil
	}
	for last := -1; len(b) > 0; {
		d, n := uint64(b[0]), 1 // most distances are one byte long
		if d >= 0x80 {
			d, n = binary.Uvarint(b)
		}
		if n <= 0 || d >= chunkSize || last+1+int(d) >= chunkSize {
			return errSet
		}
		last += 1 + int(d)
		s.add(last)
		b = b[n:]
	}
	return nil
}
