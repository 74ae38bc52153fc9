package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// A missing or damaged part of an index is an error only for calls that need it.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, answered(chunkSize+3))
	whole, err := os.ReadFile(open(t, dir, t.TempDir()).path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"SELECT 1", ""},
		{"DROP TABLE facets", "columns"},
		{"DROP TABLE meta", "conditions pages"},
		{"UPDATE meta SET value = '}'", "conditions"},
		{"DROP TABLE sets", "counts counts longest facts facts of a value longest longest phrase phrase value word words"},
		{"DROP TABLE chunks", "counts longest facts facts of a value last longest longest phrase observations phrase words"},
		{"DELETE FROM chunks", "counts longest facts facts of a value last longest longest phrase observations phrase words"},
		{"DELETE FROM chunks WHERE chunk = 1", "counts longest facts facts of a value last longest longest phrase"},
		{"UPDATE sets SET places = x'80'", "counts counts longest facts of a value longest phrase phrase value word words"},
		{"UPDATE chunks SET lines = x'80'", "last longest phrase observations phrase words"},
		{"UPDATE chunks SET lines = x'0180'", "last longest phrase observations phrase words"},
		{"UPDATE chunks SET facts = x''", "counts longest facts facts of a value longest longest phrase"},
		{"UPDATE chunks SET facts = x'00'", ""},
		{"observations", "last longest phrase observations phrase words"},
	} {
		damage, want, cache := c[0], c[1], t.TempDir()
		if err := os.WriteFile(pathIn(cache, dir), whole, 0o600); err != nil {
			t.Fatal(err)
		}
		x := open(t, dir, cache)
		if damage == "observations" {
			if err := os.Truncate(filepath.Join(dir, "observations.jsonl"), 10); err != nil {
				t.Fatal(err)
			}
		} else {
			c, err := sqlite3.Open(x.path)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(c.Exec(damage), c.Close()); err != nil {
				t.Fatal(err)
			}
		}
		var failed []string
		check := func(what string, err error) {
			if err != nil {
				failed = append(failed, what)
			}
		}
		search := func(what string, q Query) {
			q.Limit = 5
			_, err := x.Search(t.Context(), q)
			check(what, err)
		}
		_, err := x.Columns(t.Context())
		check("columns", err)
		_, err = x.Conditions(t.Context())
		check("conditions", err)
		search("counts", Query{Count: "language"})
		search("counts longest", Query{Count: "language", Order: Longest})
		_, err = x.Facts(t.Context(), nil)
		check("facts", err)
		_, err = x.Facts(t.Context(), map[string]string{"language": "de"})
		check("facts of a value", err)
		_, err = x.Observations(t.Context(), chunkSize+1)
		check("last", err)
		search("longest", Query{Order: Longest})
		search("longest phrase", Query{Order: Longest, Text: `"word7 and word3"`})
		_, err = x.Observations(t.Context(), 1)
		check("observations", err)
		_, err = x.Pages(t.Context())
		check("pages", err)
		search("phrase", Query{Text: `"word7 and word3"`})
		search("value", Query{Where: map[string]string{"language": "de"}})
		search("word", Query{Text: "word7"})
		search("words", Query{Text: `word7 and "word3"`})
		if got := strings.Join(failed, " "); got != want {
			t.Errorf("%s: errors of %q; want of %q", damage, got, want)
		}
		if _, err := x.Observations(t.Context(), 1); errors.Is(err, ErrNone) != (damage == "DELETE FROM chunks") {
			t.Errorf("%s: %v", damage, err)
		}
		for _, n := range []int{-1, 0, chunkSize + 4, 1 << 40} {
			if _, err := x.Observations(t.Context(), n); err == nil {
				t.Errorf("%s: answer %d is known", damage, n)
			}
		}
	}
}

// Lines that changed in place, or are gone, are reported as errors.
func TestChangedLines(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, answered(3))
	x := open(t, dir, t.TempDir())
	file := filepath.Join(dir, "observations.jsonl")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text []byte
		want string
	}{
		{append([]byte("}"), data[1:]...), "has changed: invalid character '}'"}, {data[:len(data)/2], "has changed: EOF"}, {nil, "has changed: EOF"},
	} {
		if err := os.WriteFile(file, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Observations(t.Context(), 1, 2, 3); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
}

// The first thing that cannot be written is the error of building, whatever can be written after it.
func TestFirstError(t *testing.T) {
	for trigger, want := range map[string]string{
		"INSERT ON chunks WHEN new.chunk = 0":    "take",
		"INSERT ON chunks WHEN new.chunk = 1":    "flush",
		"INSERT ON facets WHEN new.value = 'v0'": "take",
		"INSERT ON sets WHEN new.value = 'v0'":   "take",
		"INSERT ON sets WHEN new.value = 'last'": "flush",
	} {
		b, err := newBuilder(filepath.Join(t.TempDir(), "browse.db"), "stamp")
		if err != nil {
			t.Fatal(err)
		}
		if err := b.conn.Exec("CREATE TRIGGER full BEFORE " + trigger + " BEGIN SELECT raise(ABORT, 'disk full'); END"); err != nil {
			t.Fatal(err)
		}
		var block []*seen
		for i := range chunkSize + 1 {
			s := &seen{answer: fmt.Sprint(i), tags: []tag{{"column", fmt.Sprint("v", i%9)}}}
			if i == chunkSize {
				s.tags[0].value = "last"
			}
			block = append(block, s)
		}
		x := &Index{}
		got := ""
		if err = b.take(x, block); err != nil {
			got = "take"
		} else if err = b.flush(x); err != nil {
			got = "flush"
		}
		if got != want || err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("%s: %s fails with %v, want %s", trigger, got, err, want)
		}
		if err := b.conn.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := create(filepath.Join(t.TempDir(), strings.Repeat("x", 300)+".db")); err == nil {
		t.Error("a name that is too long is created")
	}
	if small, sparse := pack([]uint16{1, 2, 3}), pack([]uint16{chunkSize - 1}); len(small) != 3 || len(sparse) > 3 {
		t.Errorf("few answers take %d and %d bytes", len(small), len(sparse))
	}
}

// Bytes that no set or list of lines is packed as are errors.
func TestUnpackRefuses(t *testing.T) {
	places := func(distances ...uint64) (b []byte) {
		for _, d := range distances {
			b = binary.AppendUvarint(b, d)
		}
		return b
	}
	for _, b := range [][]byte{{0x80}, places(chunkSize), places(1 << 63), places(1<<64 - 1), places(chunkSize-1, 0),
		places(5, chunkSize-6), places(5, 1<<63-7)} {
		if err := new(set).unpack(b); !errors.Is(err, errSet) {
			t.Errorf("set %x: %v", b, err)
		}
	}
	last := new(set)
	err := last.unpack(places(5, chunkSize-7))
	if err != nil || !last.has(5) || !last.has(chunkSize-1) || last.count() != 2 {
		t.Errorf("%v, %d", err, last.count())
	}
	whole := packLines([]answer{{lines: []where{{7, longestLine}, {1 << 40, 3}}}, {}, {lines: []where{{0, 1}}}})
	list, err := unpackLines(whole)
	if err != nil || len(list) != 3 || list[0].lines[1] != (where{1 << 40, 3}) || list[2].lines[0] != (where{0, 1}) {
		t.Errorf("%+v, %v", list, err)
	}
	long := packLines([]answer{{lines: []where{{0, longestLine + 1}}}})
	for _, b := range [][]byte{{0x80}, {2, 0, 1}, {1, 0x80}, {1, 0, 0x80}, long, whole[:len(whole)-1]} {
		if list, err := unpackLines(b); !errors.Is(err, errSet) {
			t.Errorf("lines %x: %+v, %v", b, list, err)
		}
	}
}

// What a value of a column and a word of an answer may be.
func TestLimits(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	o := crosstalk.Observation{Measure: "lpr", Item: "one", Value: 1, Condition: map[string]string{"model": "a"},
		Labels: map[string]string{"model": "b", "just": strings.Repeat("x", longestValue), "long": strings.Repeat("x", longestValue+1),
			strings.Repeat("n", longestValue): "v", strings.Repeat("m", longestValue+1): "v"}}
	o.AddText(crosstalk.Side, "answer", strings.Repeat("a", longestText-4)+" bc def")
	write(t, dir, []crosstalk.Observation{o})
	fresh := filepath.Join(cache, "another.db")
	if err := os.WriteFile(fresh, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x := open(t, dir, cache)
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("an index that is used was removed: %v", err)
	}
	columns, err := x.Columns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range columns {
		got = append(got, fmt.Sprint(c.Name[:min(len(c.Name), 5)], " ", c.Values[0].Name[:1], len(c.Values)))
	}
	if want := []string{"found n1", "just x1", "model a1", "nnnnn v1"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
	for text, want := range map[string]int{"bc": 1, "d": 0, "def": 0, "one": 1, `"BC  def"`: 0, `"one"`: 1, "a": 1} {
		if p, err := x.Search(t.Context(), Query{Text: text, Limit: 1}); err != nil || len(p.Numbers) != want {
			t.Errorf("%s: %+v, %v; want %d", text, p, err, want)
		}
	}
	if _, err := Open(dir, filepath.Join(fresh, "cache"), &book{}); err == nil ||
		!strings.HasPrefix(err.Error(), "cannot write an index of the answers: ") {
		t.Errorf("%v", err)
	}
}

// full is a book whose data finds no room on the disk.
type full struct {
	book
	cache string
}

func (f *full) Pages() ([]byte, error) {
	parts, err := filepath.Glob(filepath.Join(f.cache, "*.part"))
	if err != nil || len(parts) != 1 {
		return nil, fmt.Errorf("%v, %w", parts, err)
	}
	c, err := sqlite3.Open(parts[0])
	if err != nil {
		return nil, err
	}
	const refuse = "CREATE TRIGGER full BEFORE INSERT ON meta BEGIN SELECT raise(ABORT, 'disk full'); END"
	return []byte("[]"), errors.Join(c.Exec(refuse), c.Close())
}

// An index that could not be finished reports why and is not kept.
func TestFinishFails(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	write(t, dir, answered(3))
	x, err := Open(dir, cache, &full{cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("%v", err)
	}
	x.Close()
	if left, _ := filepath.Glob(filepath.Join(cache, "*")); left != nil {
		t.Errorf("left: %v", left)
	}
}
