package study

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/instrument/consistency/review"
	"crosstalk/model"
	"crosstalk/report/overview"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/run/shard"
)

// A refused parameter is left out once; what cannot be left out, or was, is the refusal itself. Reasoning is asked for
// in another way each time, and not for ever.
func TestDrop(t *testing.T) {
	zero := 0.0
	config := crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{Temperature: &zero}}
	var noted []string
	a := &adapting{name: "compatible:picky", note: func(c model.Change) { noted = append(noted, c.Param) }}
	drop := func(param string, version int) error {
		sent, _, done := a.apply(config.Request("x", 0), false)
		done()
		return a.drop(&ask.RefusedError{Param: param, Err: errors.New("no")}, sent, version)
	}
	var refused *ask.RefusedError
	if err := drop("top_k", 0); !errors.As(err, &refused) || len(a.dropped) != 0 {
		t.Errorf("%v, %v", err, a.dropped)
	}
	if err := drop("temperature", 0); err != nil || fmt.Sprint(a.dropped) != "[{temperature }]" {
		t.Errorf("%v, %v", err, a.dropped)
	}
	if err := drop("temperature", 0); err != nil || len(a.dropped) != 1 { // another ask has found it out
		t.Errorf("%v, %v", err, a.dropped)
	}
	if err := drop("temperature", 1); !errors.As(err, &refused) || len(a.dropped) != 1 {
		t.Errorf("%v, %v", err, a.dropped)
	}
	for n := 1; n < 8; n++ {
		if err := drop("reasoning", n); err != nil || len(a.dropped) != n+1 || a.dropped[n].level != []string{"", "off"}[n%2] {
			t.Errorf("%d: %v, %v", n, err, a.dropped)
		}
	}
	if err := drop("reasoning", 8); !errors.As(err, &refused) || len(a.dropped) != 8 || len(noted) != 8 {
		t.Errorf("%v, %v, %v", err, a.dropped, noted)
	}
	if got := a.refused(true); len(got) != 8 || got[0] != "temperature" || !a.settled {
		t.Error(got)
	}
	if got := a.refused(false); len(got) != 8 || !a.settled {
		t.Error(got)
	}
	settled := &adapting{name: a.name, note: a.note, settled: true}
	sent, _, _ := settled.apply(config.Request("x", 0), false)
	if err := settled.drop(&ask.RefusedError{Param: "temperature", Err: errors.New("no")}, sent, 0); err == nil ||
		!strings.HasSuffix(err.Error(), ", after answers with other settings were scored") || len(settled.dropped) != 1 {
		t.Errorf("%v, %v", err, settled.dropped)
	}
	if req, _, possible := without("compatible:picky", sent, "top_k"); possible || req.Prompt != sent.Prompt || req.Decoding.Temperature == nil {
		t.Errorf("%+v", req)
	}
	if got := sentOf([]model.Change{{Param: "top_p"}, {Param: "seed", From: "7"}, {Param: "x", Keeps: true}, {Param: "reasoning", To: "low"},
		{Param: "temperature"}, {Param: "stop"}}); got != "reasoning low; seed none; stop none; temperature default; top_p default" {
		t.Error(got)
	}
}

// Parts and senses that go together, and what is wrong in a list of replies.
func TestOpened(t *testing.T) {
	for i, c := range []Consistency{
		{Parts: []string{"I", "X"}, To: []string{"de"}},
		{Parts: []string{"X"}, To: []string{"eq"}, Rewrite: []string{"eq=x"}},
		{Parts: []string{"T"}, To: []string{"eq"}, Rewrite: []string{"eq=x", "eq:I=y"}},
	} {
		if _, err := c.Open(); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := (Confusion{}).Figures([]Reply{{"de", "Guten Tag zusammen."}, {"x y", "a"}}); err == nil {
		t.Error("a wrong tag: no error")
	}
	if _, err := (Confusion{}).Figures([]Reply{{"mi", "Kei hea?"}}); err == nil || !strings.HasPrefix(err.Error(), "the model cannot identify the language mi") {
		t.Error(err)
	}
	if _, err := (Confusion{By: []string{" "}}).Figures(nil); err == nil {
		t.Error("a wrong column: no error")
	}
	if _, err := Run(t.Context(), Leakage{Suite: "nowhere"}, "run"); err == nil {
		t.Error("an unknown suite: no error")
	}
	if _, err := CheckIdentifier("x.bin"); err == nil {
		t.Error("an identifier that is not there: no error")
	}
}

// failing is a writer that fails after some bytes.
type failing struct{ room int }

func (f *failing) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errors.New("full")
	}
	return len(b), nil
}

// A forecast that cannot be written is an error, whichever line it is.
func TestForecastFails(t *testing.T) {
	for _, temperatures := range [][]string{{"0"}, {"0", "1"}} {
		s, err := Leakage{Sweep: Sweep{Items: 1, Temperatures: temperatures, CountOnly: true}}.Open()
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Forecast(t.Context(), ask.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for room, fails := range map[int]bool{0: true, 200: len(temperatures) > 1, 1 << 20: false} {
			if err := overview.WriteForecast(&failing{room}, f, nil, "runs/x"); (err != nil) != fails {
				t.Errorf("%d conditions, room for %d: %v", len(temperatures), room, err)
			}
		}
	}
}

// Recorded answers in several languages need a model for all; figures can be grouped by what a study may have.
func TestSimilarityOfLanguages(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a.csv", "id,model,language,concept,prompt,control_prompt,test,control\n"+
		"a,m,en,sharks,He likes sharks. He saw a,He saw a,big fish.,red car.\nb,m,de,Haie,Er mag Haie. Er sah,Er sah,Fisch.,Auto.\n")
	const want = "the items are in several languages (de, en): name one model for all"
	for file, want := range map[string]string{"a.csv": want, "none.csv": "none.csv"} {
		_, err := Leakage{Similarities: []string{"bertscore"}}.Recorded([]string{file}, "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	for column, of := range map[string]interface{ Open() (*Study, error) }{
		"position": Confusion{By: []string{"position"}, Sweep: Sweep{Items: 1}}, "pair": Consistency{By: []string{"pair", "part"}, Sweep: Sweep{Items: 1}},
		"similarity": Leakage{By: []string{"similarity"}, Sweep: Sweep{Items: 1}},
	} {
		s, err := of.Open()
		if err == nil {
			err = s.source.check(true)
		}
		if err != nil {
			t.Errorf("%s: %v", column, err)
		}
	}
}

// A run whose journal is gone says so, however it ended.
func TestJournalGone(t *testing.T) {
	t.Parallel()
	s, err := Leakage{Sweep: Sweep{Items: 1, Samples: 1}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Begin(t.Context(), filepath.Join(t.TempDir(), "run"), ask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := os.Rename(filepath.Join(m.Dir.Path, journal.Name), filepath.Join(m.Dir.Path, "elsewhere")); err != nil {
		t.Skip(err)
	}
	if _, err := m.Run(t.Context()); !errors.Is(m.Explain(err), journal.ErrGone) {
		t.Error(err)
	}
	for _, err := range []error{ask.ErrStopped, context.Canceled} {
		if got := m.Explain(err); !errors.Is(got, journal.ErrGone) || strings.Contains(got.Error(), "answered and saved") {
			t.Error(got)
		}
	}
}

// The keys that a sweep takes from the environment are hidden from programs.
func TestKeyVars(t *testing.T) {
	s := Sweep{KeyVar: "A_KEY", Headers: []string{"x=$B_KEY", "y=plain", "z=$C", "$D=e", "w=a$E"}}
	if got := s.keyVars(); !slices.Equal(got, []string{"A_KEY", "B_KEY", "C"}) {
		t.Errorf("%q", got)
	}
	if got := (&Sweep{}).keyVars(); got != nil {
		t.Errorf("%q", got)
	}
}

// A round stopped by a limit is incomplete and says why; running the study continues from there.
func TestRoundStops(t *testing.T) {
	t.Parallel()
	s, err := Leakage{Sweep: Sweep{Items: 4, Samples: 1}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Begin(t.Context(), filepath.Join(t.TempDir(), "run"), ask.Options{Budget: ask.Budget{Asks: 3}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	_, err = m.Round(t.Context(), []int{0, 2})
	var incomplete *IncompleteError
	if !errors.As(err, &incomplete) || !strings.HasSuffix(err.Error(), "(--budget-asks 3); run the same command again to resume") {
		t.Errorf("%v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Round(stopped, []int{1}); err == nil {
		t.Error("a stopped round: no error")
	}
}

// An error that comes while a run is stopped counts, and everything that is observed is told.
func TestObserve(t *testing.T) {
	t.Parallel()
	s, err := Leakage{Sweep: Sweep{Items: 3, Samples: 2}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	s.Observe = func(o crosstalk.Observation) { seen[o.Item]++ }
	dir := filepath.Join(t.TempDir(), "run")
	m, err := s.Begin(t.Context(), dir, ask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Run(t.Context()); err != nil || len(seen) != 3 || slices.Max(slices.Collect(maps.Values(seen))) != 2 {
		t.Errorf("%v, %v", seen, err)
	}
	m.Session.Stop()
	const saved = "12 of 12 requests are answered and saved in "
	var interrupted *InterruptedError
	if err := m.Explain(ask.ErrStopped); !errors.As(err, &interrupted) || err.Error() != "interrupted: "+saved+dir+"; run the same command again to resume" {
		t.Error(err)
	}
	if err := m.Explain(context.Canceled); !errors.As(err, &interrupted) {
		t.Error(err)
	}
	broken := errors.New("broken")
	if err := m.Explain(broken); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "broken\n"+saved) {
		t.Error(err)
	}
	if review := (&ReviewError{2, "f"}); m.Explain(review) != review {
		t.Error(m.Explain(review))
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

// Recorded answers that cannot be scored leave no directory, and a shard of them has its rows only.
func TestRecordedRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "replies.csv")
	text := "id,language,completion\n"
	for i := range 12 {
		text += fmt.Sprintf("r%d,de,Das Wetter ist heute wirklich sehr schön.\n", i)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for i := 1; i <= 2; i++ {
		s, err := Confusion{}.Recorded([]string{file}, "m")
		if err != nil {
			t.Fatal(err)
		}
		of := shard.Shard{Index: i, Count: 2}
		if err := s.Take(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "run")
		if _, err := s.Run(t.Context(), path, ask.Options{}); err != nil {
			t.Fatal(err)
		}
		n := 0
		for o, err := range run.ReadObservations(of.Dir(path)) {
			if err != nil {
				t.Fatal(err)
			}
			if all[o.Item] > 0 && all[o.Item] != i {
				t.Errorf("%s is in two shards", o.Item)
			}
			all[o.Item] = i
			n++
		}
		if n == 0 {
			t.Errorf("shard %d has nothing", i)
		}
	}
	if len(all) != 12 {
		t.Errorf("%d of 12 rows", len(all))
	}
	os.WriteFile(file, []byte("id,language,completion\n1,tlh,nuqneH qaStaH nuq\n"), 0o600)
	s, err := Confusion{}.Recorded([]string{file}, "m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), filepath.Join(dir, "bad"), ask.Options{}); err == nil || !strings.Contains(err.Error(), "tlh") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "bad")); !os.IsNotExist(err) {
		t.Error("the directory is there:", err)
	}
}

// One answer with thoughts is worth a remark.
func TestOneThought(t *testing.T) {
	for thoughts, want := range []string{"[]", "[note: 1 answers had the model's thoughts in them, which are not scored]"} {
		s := &Study{}
		s.thought.Add(int64(thoughts))
		if got := fmt.Sprint(s.Remarks()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A run with a damaged file is an error of whatever needs the file, and of nothing else.
func TestDamagedRuns(t *testing.T) {
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "run")
	small := Sweep{Items: 3, Samples: 1, Temperatures: []string{"0", "1"}}
	if _, err := Run(t.Context(), Leakage{Sweep: small}, whole); err != nil {
		t.Fatal(err)
	}
	uses := map[string]func(dir string) error{
		"written": func(dir string) error { _, err := figures.Set{}.Of(dir); return err },
		"figures": func(dir string) error { _, err := figures.Set{By: []string{}}.Of(dir); return err },
		"of runs": func(dir string) error {
			_, err := figures.Set{By: []string{}}.OfRuns([]string{dir}, []string{"a"})
			return err
		},
		"compare": func(dir string) error {
			_, observations, err := figures.Set{}.Compare(dir)
			if err == nil {
				for o, failed := range observations {
					if err = failed; err == nil && o.Measure == "" {
						t.Errorf("%+v", o)
					}
					if failed == nil {
						break
					}
				}
			}
			return err
		},
		"compare all": func(dir string) (last error) {
			_, observations, err := figures.Set{}.Compare(dir)
			if err != nil {
				return err
			}
			n := 0
			for _, err := range observations {
				if last != nil {
					t.Error("more comes after an error")
				}
				last, n = err, n+1
			}
			return last
		},
		"compared": func(dir string) error { _, err := figures.Compared([]string{dir}); return err },
		"names":    func(dir string) error { _, err := figures.Names(dir); return err },
	}
	for _, c := range []struct {
		file   string
		damage func(text string) string
		fails  []string
	}{
		{"", nil, nil},
		{"estimates.json", func(string) string { return "{" }, []string{"written", "figures", "of runs", "compare", "compare all"}},
		{"manifest.json", func(string) string { return "{" }, slices.Sorted(maps.Keys(uses))},
		{"manifest.json", func(text string) string { return strings.Replace(text, `"rules": {`, `"rules": 7, "x": {`, 1) }, []string{"figures", "of runs"}},
		{"observations.jsonl", func(text string) string { return text[:len(text)-9] }, []string{"figures", "of runs", "compare all"}},
		{"observations.jsonl", func(text string) string { return "7\n" + text }, []string{"figures", "of runs", "compare", "compare all"}},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		if c.file != "" {
			text, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.damage(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for name, use := range uses {
			err := use(dir)
			if (err != nil) != slices.Contains(c.fails, name) || err != nil && !strings.Contains(err.Error(), dir) {
				t.Errorf("%s is damaged: %s: %v", c.file, name, err)
			}
		}
	}
	// A shard whose neighbour has no manifest yet begins nevertheless.
	s, err := Leakage{Sweep: Sweep{Items: 3, Samples: 1}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Take(t.Context(), shard.Shard{Index: 1, Count: 2}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "shard-2-of-2"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.admitShard(dir); err != nil {
		t.Error(err)
	}
	if err := s.admitShard(whole); err == nil || err.Error() != whole+" has a run of all items: use another --out" {
		t.Error(err)
	}
}

// A round of a study whose instructions are rewritten prepares them once, and keeps those of other runs.
func TestRoundOfRewritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	for _, to := range []string{"de", "fr"} {
		s, err := Consistency{Sweep: Sweep{Models: []string{"reference:inconsistent"}, Items: 2, Samples: 1},
			To: []string{"de", to}, Parts: []string{"I"}}.Open()
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Begin(t.Context(), dir+to, ask.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 2 {
			round, err := m.Round(t.Context(), []int{n})
			if err != nil || len(round) != 1 || len(round[n][0]) == 0 {
				t.Errorf("%d items, %v", len(round), err)
			}
		}
		list, err := review.ReadRunInstructions(filepath.Join(m.Dir.Path, run.InstructionsFile))
		tasks := len(s.Suite.Tasks)
		if want := map[string]int{"de": tasks, "fr": 2 * tasks}[to]; err != nil || len(list) != want || len(s.reviews.made) != want {
			t.Errorf("%s: %d instructions, %d in use, %v; want %d", to, len(list), len(s.reviews.made), err, want)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
