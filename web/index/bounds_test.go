package index

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// A search that took too long stops and reports it, in every order, and counts nothing.
func TestPatience(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, answered(20))
	x := open(t, dir, t.TempDir())
	late := func(s *search) { s.begun = time.Now().Add(-patience - time.Second) }
	for _, order := range Orders {
		err := x.search(t.Context(), Query{Limit: 5, Order: order, Count: "model"}, func(s *search) (err error) {
			late(s)
			p := Page{}
			if order == ByNumber {
				p, err = s.page()
			} else {
				p, err = s.ordered()
			}
			err = errors.Join(err, s.values(&p))
			if !p.Cut || p.Numbers != nil || p.Counts != nil || p.Rest != 0 || order == ByNumber && p.Total != -1 {
				t.Errorf("order %q: %+v; want nothing, cut", order, p)
			}
			if all, err := s.each(-1, func(int, set, set) error { return nil }); all || err != nil {
				t.Errorf("all chunks in no time: %v, %v", all, err)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	for name, q := range map[string]Query{"by number": {Limit: 5}, "longest": {Limit: 5, Order: Longest}} {
		if p, err := x.Search(t.Context(), q); err != nil || p.Cut || len(p.Numbers) != 5 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// Conditions beyond the limit share one place after all others; those before keep theirs.
func TestMostConditions(t *testing.T) {
	dir := t.TempDir()
	var list []crosstalk.Observation
	for i := range mostConditions + 3 {
		list = append(list, crosstalk.Observation{Item: fmt.Sprint(i), Condition: map[string]string{"model": fmt.Sprint(i)}})
	}
	for _, i := range []int{7, mostConditions - 1, mostConditions + 1} {
		again := list[i]
		again.Sample = 1
		again.Item = "again"
		list = append(list, again)
	}
	write(t, dir, list)
	x := open(t, dir, t.TempDir())
	conditions, err := x.Conditions(t.Context())
	if err != nil || len(conditions) != mostConditions || conditions[mostConditions-1]["model"] != fmt.Sprint(mostConditions-1) {
		t.Fatalf("%d conditions, %v", len(conditions), err)
	}
	facts, err := x.Facts(t.Context(), nil)
	if err != nil || len(facts) != len(list) {
		t.Fatalf("%d facts, %v", len(facts), err)
	}
	for i, f := range facts {
		want := min(i, mostConditions)
		if i >= mostConditions+3 {
			want = []int{7, mostConditions - 1, mostConditions}[i-mostConditions-3]
		}
		if int(f.Condition) != want {
			t.Errorf("answer %d has the condition %d; want %d", i+1, f.Condition, want)
		}
	}
}

// Observations of an answer are put together over mostOfAnItem observations of an item, and no more.
func TestMostOfAnItem(t *testing.T) {
	for more, want := range map[int]int{0: mostOfAnItem - 1, 1: mostOfAnItem + 1} {
		dir := t.TempDir()
		var list []crosstalk.Observation
		for i := range mostOfAnItem - 1 + more {
			list = append(list, crosstalk.Observation{Item: "i", Measure: "lpr", Sample: i})
		}
		write(t, dir, append(list, crosstalk.Observation{Item: "i", Measure: "wpr"}))
		if got := open(t, dir, t.TempDir()).Progress().Answers; got != want {
			t.Errorf("%d answers; want %d", got, want)
		}
	}
}

// An answer that was asked for before it was indexed is found afterwards.
func TestAskedTooEarly(t *testing.T) {
	dir := t.TempDir()
	var list []crosstalk.Observation
	for i := range chunkSize + 1 {
		list = append(list, crosstalk.Observation{Item: fmt.Sprint("item-", i)})
	}
	write(t, dir, list)
	wait, seen := make(chan struct{}), 3*chunkSize-1 // it waits at once
	x, err := Open(dir, t.TempDir(), slow{wait, &seen})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if _, err := x.Observations(t.Context(), chunkSize+1); !errors.Is(err, ErrNone) {
		t.Errorf("before: %v", err)
	}
	if list, err := x.Conditions(t.Context()); err != nil || list != nil {
		t.Errorf("conditions before: %v, %v", list, err)
	}
	close(wait)
	if err := x.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := x.Observations(t.Context(), chunkSize+1, 1)
	if err != nil || len(got) != 2 || got[0][0].Item != fmt.Sprint("item-", chunkSize) || got[1][0].Item != "item-0" {
		t.Errorf("afterwards: %v", err)
	}
}

// What a search asks for: beginnings of words, or an exact phrase where words do not say all.
func TestTerms(t *testing.T) {
	long := strings.Repeat("x", longestWord)
	for query, want := range map[string]string{
		"":               "",
		"!? \"-\" \"\"":  "",
		"Two  Words":     "two= words=",
		`"One" two`:      "one=one two=",
		`two "Not  Shut`: "two= not|shut=not shut",
		`a "b c" d "e"`:  "a= b|c=b c d= e=e",
		"well-known":     "well|known=well-known",
		"京都":             "京|都=京都",
		"(word)":         "word=",
		long:             long + "=",
		long + "y":       long + "=" + long + "y",
	} {
		var got []string
		for _, term := range terms(query) {
			got = append(got, strings.Join(term.words, "|")+"="+term.text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q; want %q", query, got, want)
		}
	}
	keys := []uint64{KeyOf("a", "b", 1), KeyOf("ab", "", 1), KeyOf("", "ab", 1), KeyOf("a", "b", 2), KeyOf("a", "c", 1)}
	if slices.Sort(keys); len(slices.Compact(keys)) != 5 {
		t.Errorf("different answers have the same key: %x", keys)
	}
}

// An index is outdated when the figures change, or the observations in place. Old indexes and unfinished ones are
// removed from the cache, and nothing else.
func TestOutdated(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir, answered(3))
	day := 24 * time.Hour
	for name, age := range map[string]time.Duration{"a.db": 59 * day, "b.db": 61 * day, "c.db.1.part": 59 * day,
		"d.db.1.part": 61 * day, "e.txt": 61 * day} {
		path, then := filepath.Join(cache, name), time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, then, then)); err != nil {
			t.Fatal(err)
		}
	}
	x := open(t, dir, cache)
	left := map[string]bool{}
	files, _ := os.ReadDir(cache)
	for _, f := range files {
		left[f.Name()] = true
	}
	want := map[string]bool{"a.db": true, "c.db.1.part": true, "e.txt": true, filepath.Base(pathIn(cache, dir)): true}
	if !maps.Equal(left, want) {
		t.Errorf("left: %v; want %v", left, want)
	}
	figures := filepath.Join(dir, "estimates.json")
	for _, change := range []func() error{
		func() error { return os.WriteFile(figures, []byte("[]"), 0o600) },
		func() error { return os.WriteFile(figures, []byte("[ ]"), 0o600) },
		func() error { return os.Chtimes(figures, time.Time{}, time.Unix(1, 0)) },
		func() error {
			return os.Chtimes(filepath.Join(dir, "observations.jsonl"), time.Time{}, time.Unix(1, 0))
		},
	} {
		if !x.Fresh() {
			t.Error("the index is outdated before a change")
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if x.Fresh() {
			t.Error("the index is fresh after a change")
		}
		x = open(t, dir, cache)
	}
}

// An index that cannot be moved to its place serves where it is; one whose file is gone is an error.
func TestCannotBeMoved(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir, answered(3))
	if err := os.MkdirAll(filepath.Join(pathIn(cache, dir), "occupied"), 0o700); err != nil {
		t.Fatal(err)
	}
	x := open(t, dir, cache)
	if p, err := x.Search(t.Context(), Query{Limit: 5}); err != nil || len(p.Numbers) != 3 {
		t.Errorf("%+v, %v", p, err)
	}
	dir = t.TempDir()
	write(t, dir, answered(3))
	x = open(t, dir, cache)
	if err := os.Remove(x.path); err != nil {
		t.Skip(err)
	}
	if columns, err := x.Columns(t.Context()); err == nil {
		t.Errorf("columns of no file: %v", columns)
	}
}

// Readers at the same time do not wait for each other, and none of their connections stays open.
func TestManyReaders(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, answered(3))
	x := open(t, dir, t.TempDir())
	var within func(depth int) error
	within = func(depth int) error {
		if depth == 0 {
			return nil
		}
		return x.read(t.Context(), func(*sqlite3.Conn) error { return within(depth - 1) })
	}
	if err := within(cap(x.conns) + 2); err != nil || len(x.conns) != cap(x.conns) {
		t.Errorf("%d connections are kept, %v", len(x.conns), err)
	}
	if err := x.Close(); err != nil || len(x.conns) != 0 {
		t.Errorf("%d connections are left, %v", len(x.conns), err)
	}
	links, _ := os.ReadDir("/proc/self/fd") // none on other systems
	for _, f := range links {
		if to, _ := os.Readlink("/proc/self/fd/" + f.Name()); strings.HasPrefix(to, x.path) {
			t.Errorf("left open: %s", to)
		}
	}
}

// crowded is a book with which the first chunk finds no room on the disk.
type crowded struct {
	full
	fail error
}

func (c *crowded) Add(crosstalk.Observation) {
	if c.n++; c.n > 1 {
		return
	}
	parts, _ := filepath.Glob(filepath.Join(c.cache, "*.part"))
	conn, err := sqlite3.Open(parts[0])
	if err == nil {
		err = errors.Join(conn.Exec("CREATE TRIGGER full BEFORE INSERT ON chunks WHEN new.chunk = 0"+
			" BEGIN SELECT raise(ABORT, 'disk full'); END"), conn.Close())
	}
	c.fail = err
}
func (c *crowded) Pages() ([]byte, error) { return nil, nil }

// refused is a book that has no data to store.
type refused struct{ book }

func (refused) Pages() ([]byte, error) { return []byte("[]"), errors.New("no plots") }

// A chunk that cannot be written, or a book without data, ends building with the error.
func TestBuildFails(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	var list []crosstalk.Observation
	for i := range chunkSize + 2 {
		list = append(list, crosstalk.Observation{Item: fmt.Sprint(i)})
	}
	write(t, dir, list)
	c := &crowded{full: full{cache: cache}}
	for want, b := range map[string]Book{"disk full": c, "no plots": &refused{}} {
		at := cache
		if b != Book(c) {
			at = t.TempDir()
		}
		x, err := Open(dir, at, b)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), want) || c.fail != nil {
			t.Errorf("%v, %v; want %s", err, c.fail, want)
		}
		if s := x.Progress(); s.Building || s.Err == nil || want == "disk full" && s.Answers != 0 {
			t.Errorf("%+v", s)
		}
		x.Close()
	}
}
