package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
)

// book counts observations.
type book struct{ n int }

func (b *book) Add(crosstalk.Observation) { b.n++ }
func (b *book) Pages() ([]byte, error)    { return fmt.Append(nil, b.n), nil }

var _ Book = (*book)(nil)

// write writes observations as a run has them.
func write(t testing.TB, dir string, observations []crosstalk.Observation) {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	for _, o := range observations {
		if err := e.Encode(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "observations.jsonl"), []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// open returns the built index of a run.
func open(t testing.TB, dir, cache string) *Index {
	t.Helper()
	x, err := Open(dir, cache, &book{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	if err := x.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return x
}

// answered are n answers with two observations each, and what each has.
func answered(n int) (observations []crosstalk.Observation) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		base := crosstalk.Observation{Item: fmt.Sprintf("item-%d", i), Value: 1,
			Condition: map[string]string{"model": fmt.Sprint("m", r.IntN(3))},
			Labels:    map[string]string{"language": []string{"ar", "de", "ja"}[r.IntN(3)]}}
		lpr, wpr := base, base
		lpr.Measure, wpr.Measure = "lpr", "wpr"
		place := "北海道"
		if i%7 == 0 {
			place = "東京都"
		}
		lpr.AddText(crosstalk.Side, "answer", fmt.Sprintf("Word%d and word%d, %s %d", r.IntN(50), r.IntN(5), place, i))
		switch r.IntN(5) {
		case 0:
			lpr.Value, lpr.Finding, wpr.Value, wpr.NotScored = 0, "line", crosstalk.Undefined, "line error"
			wpr.Implied = true
		case 1:
			wpr.Value, wpr.Finding = 0, "word"
		}
		observations = append(observations, lpr, wpr)
	}
	return observations
}

// Titles of findings.
const (
	wrongLanguage = "wrong language"
	wrongWord     = "wrong word"
)

// Every page of every query, forwards and backwards, is what a plain search
// finds, over several chunks.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	n := chunkSize + 1234
	observations := answered(n)
	write(t, dir, observations)
	x := open(t, dir, t.TempDir())
	if s := x.Progress(); s.Answers != n || s.Building || s.Read != s.Size {
		t.Fatalf("%+v; want %d answers", s, n)
	}
	if pages, err := x.Pages(t.Context()); err != nil || string(pages) != fmt.Sprint(2*n) {
		t.Errorf("%s, %v", pages, err)
	}
	found := func(i int, what string) bool {
		lpr, wpr := observations[2*i], observations[2*i+1]
		switch what {
		case wrongLanguage:
			return lpr.Finding == "line"
		case wrongWord:
			return wpr.Finding == "word"
		}
		return lpr.Finding == "" && wpr.Finding == ""
	}
	text := func(i int) string { return strings.ToLower(observations[2*i].Text("answer")) }
	for name, c := range map[string]struct {
		query Query
		holds func(i int) bool
	}{
		"all":      {Query{}, func(int) bool { return true }},
		"a column": {Query{Where: map[string]string{"language": "ja"}}, func(i int) bool { return observations[2*i].Labels["language"] == "ja" }},
		"two": {Query{Where: map[string]string{"model": "m1", Found: wrongWord}},
			func(i int) bool { return observations[2*i].Condition["model"] == "m1" && found(i, wrongWord) }},
		"nothing":    {Query{Where: map[string]string{Found: Nothing}}, func(i int) bool { return found(i, Nothing) }},
		"a gap":      {Query{Where: map[string]string{Found: NotScored}}, func(int) bool { return false }},
		"no such":    {Query{Where: map[string]string{"language": "xx"}}, func(int) bool { return false }},
		"a word":     {Query{Text: "WORD17"}, func(i int) bool { return strings.HasPrefix(text(i), "word17 ") }},
		"beginnings": {Query{Text: "word4 wor"}, func(i int) bool { return strings.Contains(text(i), "word4") }},
		"as it is":   {Query{Text: `"word17 and word3"`}, func(i int) bool { return strings.HasPrefix(text(i), "word17 and word3,") }},
		"no spaces":  {Query{Text: "京都"}, func(i int) bool { return i%7 == 0 }},
		"not so":     {Query{Text: "都京"}, func(int) bool { return false }},
		"rare":       {Query{Text: "16390"}, func(i int) bool { return strings.Contains(text(i), " 16390") }},
		"an item":    {Query{Text: "item-77"}, func(i int) bool { return strings.Contains(observations[2*i].Item, "item-77") }},
		"with both": {Query{Text: "word17", Where: map[string]string{Found: wrongLanguage}},
			func(i int) bool { return strings.HasPrefix(text(i), "word17 ") && found(i, wrongLanguage) }},
		"no word": {Query{Text: "!?"}, func(int) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			var want []int
			for i := range n {
				if c.holds(i) {
					want = append(want, i+1)
				}
			}
			q := c.query
			q.Limit = max(7, len(want)/5)
			var got []int
			for pages := 0; ; pages++ {
				p, err := x.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if p.Total >= 0 && (p.Total != len(want) || len(p.Numbers) > 0 && p.First != len(got)+1) {
					t.Errorf("%d of %d; want %d of %d", p.First, p.Total, len(got)+1, len(want))
				}
				if got = append(got, p.Numbers...); !p.Later || pages > 1000 {
					break
				}
				q.After = got[len(got)-1]
			}
			if !slices.Equal(got, want) {
				t.Fatalf("forwards: %d answers, want %d: %v", len(got), len(want), got[:min(len(got), 10)])
			}
			got, q.After, q.Before = nil, 0, 1<<40
			for pages := 0; ; pages++ {
				p, err := x.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if got = append(slices.Clone(p.Numbers), got...); !p.Earlier || pages > 1000 || len(p.Numbers) == 0 {
					break
				}
				q.Before = got[0]
			}
			if !slices.Equal(got, want) {
				t.Fatalf("backwards: %d answers, want %d", len(got), len(want))
			}
		})
	}
	for _, i := range []int{0, 1, chunkSize - 1, chunkSize, n - 1} {
		list, err := x.Observations(t.Context(), i+1)
		if err != nil || len(list[0]) != 2 || list[0][0].Item != observations[2*i].Item || list[0][1].Measure != "wpr" {
			t.Errorf("answer %d: %+v, %v", i+1, list, err)
		}
	}
	for _, i := range []int{0, -1, n + 1, 1 << 50} {
		if _, err := x.Observations(t.Context(), i); !errors.Is(err, ErrNone) {
			t.Errorf("answer %d: %v", i, err)
		}
	}
}

// The last page is there when the last chunk is full, and when there is none.
func TestLastPage(t *testing.T) {
	for _, n := range []int{0, 1, chunkSize, 2 * chunkSize} {
		dir := t.TempDir()
		var list []crosstalk.Observation
		for i := range n {
			list = append(list, crosstalk.Observation{Item: fmt.Sprint(i)})
		}
		write(t, dir, list)
		x := open(t, dir, t.TempDir())
		for _, before := range []int{n + 1, n + 2, 1 << 40} {
			p, err := x.Search(t.Context(), Query{Before: before, Limit: 1})
			if err != nil || len(p.Numbers) != min(n, 1) || n > 0 && p.Numbers[0] != n {
				t.Errorf("%d answers, before %d: %+v, %v", n, before, p, err)
			}
		}
		for before := chunkSize; n > chunkSize && before <= chunkSize+2; before++ { // where a chunk ends
			p, err := x.Search(t.Context(), Query{Before: before, Limit: 1})
			if err != nil || !slices.Equal(p.Numbers, []int{before - 1}) {
				t.Errorf("before %d: %+v, %v", before, p, err)
			}
		}
	}
}

// Samples and similarities of an item are put together as answers; columns are
// those of conditions, labels and findings.
func TestAnswers(t *testing.T) {
	dir := t.TempDir()
	var list []crosstalk.Observation
	for _, sim := range []string{"gloss", "exec"} {
		for sample := range 2 {
			o := crosstalk.Observation{Measure: "leak_rate", Item: "i", Sample: sample, Value: crosstalk.Value(sample),
				Numbers:   map[string]float64{"test": 1, "control": 0},
				Condition: map[string]string{"similarity": sim, "model": "m"}, Labels: map[string]string{"category": "colour"}, Finding: []string{"not leaked", "leaked"}[sample]}
			o.AddText(crosstalk.Topic, "concept", "yellow")
			o.AddText(crosstalk.Side, "test", "a")
			if sim == "exec" {
				o.Value, o.Finding = 0.5, "tie"
			}
			list = append(list, o)
		}
	}
	list = append(list, crosstalk.Observation{Measure: "leak_rate", Item: "i",
		Condition: map[string]string{"similarity": "gloss", "model": "other"}, Value: crosstalk.Undefined, NotScored: "empty"},
		crosstalk.Observation{Measure: "consistency", Item: "j", Variant: "en>de T", Labels: map[string]string{"pair": "en>de", "part": "T"}, Value: 1},
		crosstalk.Observation{Measure: "consistency", Item: "j", Variant: "en>de X", Labels: map[string]string{"pair": "en>de", "part": "X"}, Value: 0, Finding: "inconsistent"},
		crosstalk.Observation{Measure: "rewriting", Item: "j", Variant: "en>de", Labels: map[string]string{"pair": "en>de"},
			Value: 0, Finding: "flagged", Texts: []crosstalk.NamedText{{Name: "flags", Role: crosstalk.Fact, Text: "length, lines"}}})
	write(t, dir, list)
	x := open(t, dir, t.TempDir())
	columns, err := x.Columns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range columns {
		for _, v := range c.Values {
			got[c.Name] += fmt.Sprintf("%s %d, ", v.Name, v.N)
		}
	}
	for name, want := range map[string]string{"found": "any fault 2, tie 2, empty 1, inconsistent 1, leaked 1, not leaked 1, not scored 1, no finding 1, rewriting flagged 1, ", "flags": "length, lines 1, ", "leaked by": "gloss 1, ", "tie by": "", "not leaked by": "", "similarity": "gloss 3, exec 2, ",
		"model": "m 2, other 1, ", "category": "colour 2, ", "concept": "yellow 2, ", "part": "T 1, X 1, ", "pair": "en>de 3, "} {
		if a, b := strings.Split(got[name], ", "), strings.Split(want, ", "); !slices.Equal(slices.Sorted(slices.Values(a)),
			slices.Sorted(slices.Values(b))) {
			t.Errorf("%s: %s; want %s", name, got[name], want)
		}
	}
	if n := x.Progress().Answers; n != 6 {
		t.Errorf("%d answers; want 6", n)
	}
}

// A column with too many values is none to choose by.
func TestManyValues(t *testing.T) {
	dir := t.TempDir()
	var list []crosstalk.Observation
	for i := range 3 * chunkSize / 2 {
		list = append(list, crosstalk.Observation{Item: fmt.Sprint(i),
			Labels: map[string]string{"few": fmt.Sprint(i % mostValues), "many": fmt.Sprint(i / 90), "more": fmt.Sprint(i / 60),
				"long": strings.Repeat("x", 200)}})
	}
	write(t, dir, list)
	columns, err := open(t, dir, t.TempDir()).Columns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"few", "found"}) {
		t.Errorf("%v", names)
	}
}

// A column that cannot be forgotten ends building: its counts would be wrong.
func TestForgetFails(t *testing.T) {
	b, err := newBuilder(filepath.Join(t.TempDir(), "browse.db"), "stamp")
	if err != nil {
		t.Fatal(err)
	}
	defer b.conn.Close()
	if err := b.conn.Exec("CREATE TRIGGER full BEFORE DELETE ON facets BEGIN SELECT raise(ABORT, 'disk full'); END"); err != nil {
		t.Fatal(err)
	}
	x, err := &Index{}, error(nil)
	for i := 0; i <= mostValues && err == nil; i++ {
		s := seen{tags: []tag{{"many", fmt.Sprint(i)}}}
		err = errors.Join(b.take(x, []*seen{&s}), b.flush(x))
	}
	if err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("%v; want the error of the database", err)
	}
}

// An index is used again, made anew when the run changed or when it is damaged, and is never in the run. Those that
// were not opened for long are removed.
func TestPlace(t *testing.T) {
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "deep", "cache")
	write(t, dir, answered(10))
	open(t, dir, cache).Close()
	if info, err := os.Stat(cache); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the cache: %v, %v", info.Mode(), err)
	}
	there, old := pathIn(cache, dir), filepath.Join(cache, "other.db")
	month := time.Now().Add(-30 * 24 * time.Hour)
	if err := errors.Join(os.Chtimes(there, month, month), os.WriteFile(old, nil, 0o600),
		os.Chtimes(old, month, month.Add(-unused))); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(there)
	if err != nil {
		t.Fatal(err)
	}
	x := open(t, dir, cache)
	after, err := os.Stat(there)
	if err != nil || !os.SameFile(before, after) || time.Since(after.ModTime()) > time.Hour ||
		x.Progress().Answers != 10 || !x.Fresh() {
		t.Errorf("the index was made again, or is not known to be used: %v, %+v", err, x.Progress())
	}
	write(t, dir, answered(20))
	if x.Fresh() {
		t.Error("the index is taken for fresh")
	}
	if n := open(t, dir, cache).Progress().Answers; n != 20 {
		t.Errorf("%d answers", n)
	}
	for _, damage := range []string{"", "no database", strings.Repeat("SQLite format 3\x00", 1000)} {
		if err := os.WriteFile(there, []byte(damage), 0o666); err != nil {
			t.Fatal(err)
		}
		if n := open(t, dir, cache).Progress().Answers; n != 20 {
			t.Errorf("%d answers", n)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "*")); !slices.Equal(left, []string{there}) {
		t.Errorf("left: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("in the run: %v", left)
	}
}

// What is no observation is said with its line; what came before can be looked
// through, and nothing is left behind.
func TestBadLines(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":     {"{\"item\":\"a\"}\n\nnonsense\n", "observations.jsonl:3: "},
		"another":     {"{\"item\":\"a\"}\n{\"item\":[]}\n", "observations.jsonl:2: "},
		"cut":         {"{\"item\":\"a\"}\n{\"item\":\"b", "observations.jsonl:2: "},
		"null bytes":  {"\x00\x00\x00\n", "observations.jsonl:1: "},
		"empty":       {"", ""},
		"white space": {"\n \n\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "observations.jsonl"), []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			cache := t.TempDir()
			x, err := Open(dir, cache, &book{})
			if err != nil {
				t.Fatal(err)
			}
			err = x.Wait(t.Context())
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v; want %s", err, c.want)
			}
			if _, err := x.Search(t.Context(), Query{Limit: 5}); err != nil {
				t.Error(err)
			}
			x.Close()
			if left, _ := filepath.Glob(filepath.Join(cache, "*.db.*")); left != nil {
				t.Errorf("left: %v", left)
			}
			open, _ := os.ReadDir("/proc/self/fd") // none on other systems
			for _, f := range open {
				if to, _ := os.Readlink("/proc/self/fd/" + f.Name()); strings.HasPrefix(to, cache) || strings.HasPrefix(to, dir) {
					t.Errorf("left open: %s", to)
				}
			}
		})
	}
	if _, err := Open(t.TempDir(), t.TempDir(), &book{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Chunks can be looked through while the index is built, and building can be
// left.
func TestWhileBuilding(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, answered(4*chunkSize))
	wait := make(chan struct{})
	cache := t.TempDir()
	x, err := Open(dir, cache, slow{wait, new(int)})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Minute); x.Progress().Answers < chunkSize; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no chunk came")
		}
	}
	p, err := x.Search(t.Context(), Query{Where: map[string]string{"language": "ja"}, Text: "word", Limit: 10})
	if err != nil || len(p.Numbers) != 10 || p.Total < chunkSize/4 || p.Total > chunkSize/2 || !x.Progress().Building {
		t.Errorf("%+v, %v, %+v", p, err, x.Progress())
	}
	if pages, err := x.Pages(t.Context()); err != nil || pages != nil {
		t.Errorf("%q, %v", pages, err)
	}
	close(wait)
	x.Close()
	if left, _ := filepath.Glob(filepath.Join(cache, "*.db.*")); left != nil {
		t.Errorf("left: %v", left)
	}
}

// slow waits when it has seen a chunk and a half.
type slow struct {
	wait chan struct{}
	n    *int
}

func (s slow) Add(crosstalk.Observation) {
	if *s.n++; *s.n == 3*chunkSize {
		<-s.wait
	}
}
func (s slow) Pages() ([]byte, error) { return nil, nil }

// A search that nobody waits for ends.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, answered(100))
	x := open(t, dir, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, Query{Limit: 5}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if p, err := x.Search(t.Context(), Query{Limit: 5}); err != nil || len(p.Numbers) != 5 {
		t.Error(p, err)
	}
}

func TestSets(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, share := range []float64{0, 0.0001, 0.01, 0.2, 0.9, 1} {
		var places []uint16
		for i := range chunkSize {
			if r.Float64() < share {
				places = append(places, uint16(i))
			}
		}
		packed := pack(places)
		var s set
		if err := s.unpack(packed); err != nil {
			t.Fatal(err)
		}
		if s.count() != len(places) || len(packed) > chunkSize/8 {
			t.Errorf("%d of %d, in %d bytes", s.count(), len(places), len(packed))
		}
		for _, p := range places {
			if !s.has(int(p)) {
				t.Fatalf("%d is missing", p)
			}
		}
	}
	for _, n := range []int{0, 1, 63, 64, 65, chunkSize - 1, chunkSize} {
		if got := first(n); got.count() != n {
			t.Errorf("the first %d are %d", n, got.count())
		}
	}
}

// Damaged sets and lines are errors.
func FuzzUnpack(f *testing.F) {
	f.Add(pack([]uint16{1, 2, 3}))
	f.Add(packLines([]answer{{lines: []where{{0, 5}, {9, 3}}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var s set
		s.unpack(b)
		unpackLines(b)
	})
}
