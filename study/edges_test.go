package study

import (
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
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/review"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/testing/golden"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/run/view"
)

// write writes files into the current directory, in pairs of name and content.
func write(t *testing.T, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(files[i], []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// tasksFile is a task with texts in two languages.
const tasksFile = `suite: tasks
instrument: consistency
tasks:
  - task: same
    classes: [different, same]
    fields: [a]
    layout: "{q} {a}"
    languages: [en, de]
    instructions:
      en: {q: "Same?", words: {"yes": same, "no": different}}
      de: {q: "Gleich?", words: {ja: same, nein: different}}
      en>de: {q: "Ist es gleich?", words: {ja: same, nein: different}}
    items:
      - {id: "1", category: x, gold: same, texts: {en: {a: One.}, de: {a: Eins.}}}
      - {id: "2", category: y, gold: different, texts: {en: {a: Two.}, de: {a: Zwei.}}}
`

// short is an error without what lists may add to it.
func short(err error) string {
	return strings.ReplaceAll(fmt.Sprintf("%.160s", err.Error()), "\n", "\n  ")
}

// What cannot be opened, counted or scored, with the error of each, in testdata/errors.txt.
func TestErrors(t *testing.T) {
	file, err := filepath.Abs("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	const header = "id,model,concept,prompt,control_prompt,test,control\n"
	write(t, "tasks.yaml", tasksFile, "empty.yaml", strings.Split(tasksFile, "    items:")[0], "none.yaml", "[]\n", "unusable.csv", header+"a,m,,x,y,b,c\n",
		"a.csv", header+"a,m,sharks,He likes sharks. He saw a,He saw a,big fish.,red car.\n", "b.csv", header+"a,m,sharks,He likes sharks. He saw a,He saw a,blue fish.,a car.\n",
		"answers.csv", "item,input,instruction,run,answer\n1,en,en,1,yes\n", "unknown.csv", "item,input,instruction,run,answer\n9,en,en,1,yes\n",
		"replies.csv", "id,language,completion\nnobody,de,Guten Tag zusammen.\n", "klingon.csv", "id,language,completion\n1,tlh,nuqneH qaStaH nuq\n2,tlh,nuqneH\n",
		"own.csv", "prompt,language\nKei hea,mi\n", "bad.yaml", "instructions: 7\n", "bare.yaml", "instructions: []\n")
	hot, models := []string{"0", "1"}, []string{"reference:leaky?rate=0.3", "reference:leaky?rate=0.6"}
	sweep := func(s Sweep) Leakage {
		s.Items = 2
		s.CountOnly = true
		return Leakage{Sweep: s}
	}
	var b strings.Builder
	say := func(what any, s *Study, err error) {
		if err == nil {
			_, err = s.Forecast(t.Context(), ask.Options{})
		}
		if err == nil {
			err = errors.New("no error")
		}
		fmt.Fprintf(&b, "%v\n  %s\n", what, short(err))
	}
	for i, of := range []interface{ Open() (*Study, error) }{
		Leakage{Suite: "no"}, Leakage{Suite: "confusion"}, Leakage{Suite: "leakage-de"}, Leakage{Options: leakage.Options{Protocols: []string{"x"}}},
		Leakage{Options: leakage.Options{Post: "x"}},
		Leakage{Similarities: []string{}}, Leakage{Similarities: []string{"nope"}}, Leakage{Similarities: []string{"gloss:x"}},
		Leakage{Similarities: []string{"exec:"}},
		Leakage{By: []string{" "}}, Leakage{By: []string{"colour"}, Sweep: Sweep{Items: 2}},
		Leakage{By: []string{"category", " category"}, Sweep: Sweep{Items: 2}},
		sweep(Sweep{Models: []string{"nope"}}), sweep(Sweep{Models: []string{"nope:x"}}), sweep(Sweep{Models: []string{"reference:nope"}}),
		sweep(Sweep{Models: []string{"reference:leaky?rate=2"}}),
		sweep(Sweep{Samples: -1}), Leakage{Sweep: Sweep{Items: -1}}, sweep(Sweep{MaxTokens: -1}),
		sweep(Sweep{ReasoningTokens: -1}),
		sweep(Sweep{Temperatures: hot, Zip: [][]string{{"temperature"}}}), sweep(Sweep{Temperatures: hot, Zip: [][]string{{"temperature", "top-p"}}}),
		sweep(Sweep{Temperatures: hot, TopPs: []string{"0.5"}, Zip: [][]string{{"temperature", "top-p"}}}),
		sweep(Sweep{Temperatures: hot, Zip: [][]string{{"temperature", "temperature"}}}),
		sweep(Sweep{Temperatures: []string{"0", "0.0"}}), sweep(Sweep{Models: models, BaseURLs: []string{"http://a", "http://b", "http://c"}}),
		sweep(Sweep{Models: []string{models[0], models[0]}}),
		sweep(Sweep{Params: []string{"x"}}), sweep(Sweep{Params: []string{"=x"}}), sweep(Sweep{Params: []string{"api_key=secret"}}),
		sweep(Sweep{Params: []string{`x={"y":[{"auth_token":"secret"}]}`}}),
		sweep(Sweep{Params: []string{"max_new=1", `y={"n":[1,{"m":2}]}`}}),
		Confusion{Suite: "leakage-en"}, Confusion{Positions: []string{"x"}}, Confusion{Templates: []string{"x"}},
		Confusion{Shots: []int{0, -1}}, Confusion{Beams: []int{0}},
		Confusion{Beams: []int{2}, Sweep: Sweep{Models: []string{"anthropic:x"}}}, Confusion{Logprobs: -1}, Confusion{Logprobs: 1},
		Confusion{Logprobs: 2, Sweep: Sweep{Models: []string{"anthropic:x"}}},
		Confusion{Words: "words.txt"}, Confusion{Words: "words.txt", Options: confusion.Options{Protocols: []string{"lcb-paper"}}}, Confusion{Identifier: "none.bin"},
		Confusion{Languages: []string{"de", "tlh"}},
		Confusion{Options: confusion.Options{Part: "x"}},
		Confusion{Options: confusion.Options{Protocols: []string{"lcb-paper"}, Threshold: "0.5"}},
		Confusion{By: []string{"x"}, Sweep: Sweep{Items: 2}},
		Consistency{From: []string{"xx"}}, Consistency{To: []string{"x y"}}, Consistency{Parts: []string{"Q"}},
		Consistency{Rewrite: []string{"x"}}, Consistency{Rewrite: []string{"ohmer-2023"}},
		Consistency{Rewrite: []string{"a=b", "a=c"}}, Consistency{Rewrite: []string{"a>b>c=d"}}, Consistency{Rewrite: []string{"a:X=b"}},
		Consistency{Rewrite: []string{">b=c"}}, Consistency{Rewrite: []string{"eq=prompt"}},
		Consistency{Rewrite: []string{"de=a", "eq:I=prompt"}}, Consistency{To: []string{"eq"}, Rewrite: []string{"eq=p"}, Parts: []string{"X", "T"}},
		Consistency{Mixed: []string{"xx"}},
		Consistency{Free: "x"}, Consistency{Free: "nope>=0.5"}, Consistency{Free: "gloss>=x"}, Consistency{Quality: "nope"}, Consistency{Quality: "bertscore"},
		Consistency{Instructions: "none"},
		Consistency{Instructions: "none.yaml"}, Consistency{Texts: []string{"none.jsonl"}}, Consistency{Overrides: "no-run"}, Consistency{Suite: "tasks.yaml"},
		Consistency{Identifier: "none.bin"},
		Consistency{Options: consistency.Options{Protocols: []string{"x"}}},
		Consistency{By: []string{" "}},
		Consistency{Sweep: Sweep{Temperatures: []string{"hot"}}},
		Consistency{Suite: "tasks.yaml", From: []string{"fr"}},
		Consistency{Suite: "nowhere"},
		Consistency{Instructions: "bad.yaml"},
		Consistency{Instructions: "bare.yaml"},
		Consistency{Parts: []string{"I"}, To: []string{"eq"}, Rewrite: []string{"eq=x"}},
		Confusion{By: []string{" "}},
		Confusion{Sweep: Sweep{Temperatures: []string{"hot"}}},
		Confusion{Suite: "nowhere"},
		Confusion{Options: confusion.Options{Protocols: []string{"x"}}},
		Confusion{Suite: "own.csv"},
		Leakage{Sweep: Sweep{Temperatures: []string{"hot"}}},
	} {
		s, err := of.Open()
		say(i, s, err)
	}
	for i, open := range []func() (*Study, error){
		func() (*Study, error) { return Leakage{}.Recorded([]string{"unusable.csv"}, "") },
		func() (*Study, error) { return Leakage{}.Recorded([]string{"a.csv", "b.csv"}, "") },
		func() (*Study, error) { return Leakage{}.Recorded([]string{"no.csv"}, "") },
		func() (*Study, error) { return Leakage{By: []string{"x"}}.Recorded([]string{"a.csv"}, "") },
		func() (*Study, error) { return Leakage{Similarities: []string{"nope"}}.Recorded([]string{"a.csv"}, "") },
		func() (*Study, error) { return Leakage{Options: leakage.Options{Post: "x"}}.Recorded(nil, "") },
		func() (*Study, error) { return Leakage{By: []string{""}}.Recorded(nil, "") },
		func() (*Study, error) { return Confusion{Prompts: "confusion"}.Recorded([]string{"replies.csv"}, "") },
		func() (*Study, error) { return Confusion{Prompts: "no"}.Recorded([]string{"replies.csv"}, "") },
		func() (*Study, error) { return Confusion{By: []string{"x"}}.Recorded([]string{"replies.csv"}, "") },
		func() (*Study, error) { return Confusion{}.Recorded([]string{"klingon.csv"}, "") },
		func() (*Study, error) { return Consistency{}.Recorded([]string{"answers.csv"}, "", "") },
		func() (*Study, error) { return Consistency{}.Recorded([]string{"answers.csv"}, "", "no.yaml") },
		func() (*Study, error) { return Consistency{}.Recorded([]string{"answers.csv"}, "", "empty.yaml") },
		func() (*Study, error) { return Consistency{}.Recorded([]string{"answers.csv"}, "", "leakage-en") },
		func() (*Study, error) { return Consistency{}.Recorded([]string{"unknown.csv"}, "", "tasks.yaml") },
		func() (*Study, error) {
			return Consistency{By: []string{"x"}}.Recorded([]string{"answers.csv"}, "", "tasks.yaml")
		},
		func() (*Study, error) {
			return Consistency{Free: "x"}.Recorded([]string{"answers.csv"}, "", "tasks.yaml")
		},
		func() (*Study, error) {
			return Consistency{Texts: []string{"no.csv"}}.Recorded([]string{"answers.csv"}, "", "tasks.yaml")
		},
		func() (*Study, error) { return Confusion{Words: "x"}.Recorded([]string{"replies.csv"}, "") },
		func() (*Study, error) { return Confusion{Expect: "x y"}.Recorded([]string{"replies.csv"}, "") },
		func() (*Study, error) { return Confusion{Identifier: "x.bin"}.Recorded([]string{"replies.csv"}, "") },
		func() (*Study, error) {
			return Consistency{Options: consistency.Options{Protocols: []string{"x"}}}.Recorded(nil, "", "tasks.yaml")
		},
		func() (*Study, error) { return Consistency{By: []string{" "}}.Recorded(nil, "", "tasks.yaml") },
	} {
		s, err := open()
		if err == nil {
			_, err = s.Score(t.Context())
		}
		if err == nil {
			err = errors.New("no error")
		}
		fmt.Fprintf(&b, "recorded %d\n  %s\n", i, short(err))
	}
	golden.Check(t, file, b.String())
}

// Instructions that a model rewrote are used when they are approved, and complete.
func TestReviews(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	again := func() error {
		s, err := Consistency{Sweep: Sweep{Models: []string{"reference:inconsistent"}, Items: 2, Samples: 1}, To: []string{"de"}}.Open()
		if err != nil {
			t.Fatal(err)
		}
		s.Protocols[0].Conditions[0].Model.Provider = "other" // a reference model's need no review
		_, err = s.Run(t.Context(), dir, ask.Options{})
		return err
	}
	waiting := func() int {
		t.Helper()
		var e *ReviewError
		if err := again(); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		} else if err == nil {
			return 0
		}
		want := fmt.Sprintf("%d rewritten instructions need a review: in %s, ", e.Waiting, e.File)
		if e.File != filepath.Join(dir, run.InstructionsFile) || !strings.HasPrefix(e.Error(), want) {
			t.Error(e)
		}
		return e.Waiting
	}
	n := waiting()
	file := filepath.Join(dir, run.InstructionsFile)
	edit := func(change func(i int, in *review.Instruction)) {
		t.Helper()
		list, err := review.ReadRunInstructions(file)
		if err != nil || len(list) != max(n, 1) {
			t.Fatalf("%d instructions, %v; want %d", len(list), err, n)
		}
		for i := range list {
			change(i, &list[i])
		}
		if err := review.WriteInstructions(file, list); err != nil {
			t.Fatal(err)
		}
	}
	edit(func(i int, in *review.Instruction) { in.Approved = i > 0 })
	if got := waiting(); got != 1 || n == 0 {
		t.Errorf("%d wait, want 1 of %d", got, n)
	}
	edit(func(_ int, in *review.Instruction) { in.Approved, in.Reviewer = true, "ann" })
	if got := waiting(); got != 0 {
		t.Errorf("%d wait, want none", got)
	}
	if list, err := review.ReadRunInstructions(file); err != nil || list[0].Reviewer != "ann" {
		t.Errorf("%+v, %v", list, err)
	}
	edit(func(_ int, in *review.Instruction) { in.Words = nil })
	if err := again(); err == nil || !strings.Contains(err.Error(), "has no answer word for ") || !strings.HasSuffix(err.Error(), ": edit it in "+file) {
		t.Errorf("without words: %v", err)
	}
}

// A round asks some of the items, and asks nothing twice; what it observes is what the whole run does.
func TestRound(t *testing.T) {
	t.Parallel()
	s, err := Leakage{Sweep: Sweep{Items: 6, Temperatures: []string{"0", "1"}, Samples: 2}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	m, err := s.Begin(t.Context(), dir, ask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var first crosstalk.Usage
	for k, numbers := range [][]int{{3, 1}, {1, 3}} {
		round, err := m.Round(t.Context(), numbers)
		if err != nil || len(round) != 2 {
			t.Fatalf("%d items, %v", len(round), err)
		}
		for _, number := range numbers {
			for condition, observations := range round[number] {
				if len(round[number]) != 2 || len(observations) != 2 || observations[0].Item != s.Suite.Items.At(number).ID ||
					observations[1].Sample != 1 ||
					observations[0].Condition["temperature"] != []string{"0", "1"}[condition] {
					t.Errorf("item %d: %+v", number, round[number])
				}
			}
		}
		if sent := m.Session.Stats().Usage; k == 0 {
			first = sent
		} else if sent != first || sent.Prompt == 0 {
			t.Errorf("%+v, then %+v", first, sent)
		}
	}
	if s.items().Len() != 6 || s.place(5) != 5 || m.Batched() {
		t.Error("a round leaves the study with its items")
	}
	result, err := m.Run(t.Context())
	if err != nil || result.NotMeasured != 0 || result.Why() != nil {
		t.Errorf("%+v, %v", result, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	two, err := Leakage{Sweep: Sweep{Items: 1}, Options: leakage.Options{Protocols: []string{"gonen-2024", "smilga-2025"}}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if m, err = two.Begin(t.Context(), filepath.Join(t.TempDir(), "two"), ask.Options{}); err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Round(t.Context(), []int{0}); err == nil {
		t.Error("a round of two protocols: no error")
	}
}

// Items are drawn one by one, or those of a cluster together, each once.
func TestShuffled(t *testing.T) {
	s, err := Leakage{Sweep: Sweep{Items: 300, CountOnly: true}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), t.TempDir(), ask.Options{}); err == nil {
		t.Error("a study that only counts ran")
	}
	for clusters, want := range map[bool]int{false: 300, true: s.Suite.Clusters()} {
		units := s.Shuffled(1, clusters)
		all := slices.Sorted(slices.Values(slices.Concat(units...)))
		if len(units) != want || len(all) != 300 || all[0] != 0 || all[299] != 299 ||
			slices.IsSorted(slices.Concat(units...)) {
			t.Errorf("%d units of %d items, want %d", len(units), len(all), want)
		}
		if fmt.Sprint(units) != fmt.Sprint(s.Shuffled(1, clusters)) || fmt.Sprint(units) == fmt.Sprint(s.Shuffled(2,
			clusters)) {
			t.Error("the order does not depend on the seed alone")
		}
		for _, unit := range units {
			for _, i := range unit {
				if s.Suite.Items.At(i).Cluster != s.Suite.Items.At(unit[0]).Cluster {
					t.Errorf("%v is of several clusters", unit)
				}
			}
		}
	}
}

// The settings that were sent, by name, and those that were not.
func TestSent(t *testing.T) {
	seed := int64(7)
	s,
		err := Leakage{Sweep: Sweep{Items: 1, Samples: 1, Prefixes: []string{"x "}, Params: []string{"top_k=40", "word=a b", `list=[1,"b"]`}, Seed: &seed,
		ReasoningTokens: 5}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := s.Run(t.Context(), dir, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	m, err := run.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"temperature": "0", "top_p": "default", "reasoning": "default", "max_tokens": "100", "seed": "7", "stop": "none",
		"prefix": "x ", "api": "completions", "top_k": "40", "word": `"a b"`, "list": `[1,"b"]`}
	of := maps.Clone(m.Plan.Conditions[0].Name)
	of["similarity"] = "gloss@1"
	if got := Sent(m)(of); !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Sent(m)(map[string]string{"model": "other"}); got != nil {
		t.Errorf("of another model: %q", got)
	}
	m.Adapted = []run.Adapted{{Condition: 0, Without: []string{crosstalk.ParamTemperature, crosstalk.ParamSeed}}}
	if got := Sent(m)(of); got["temperature"] != "default" || got["seed"] != "none" {
		t.Errorf("%q", got)
	}
}

func TestIdentifiers(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "model", "x")
	for name, want := range map[string][2]bool{"embedded": {true, true}, "lid.176": {true, true}, "lid.176.bin": {true, true}, "lid.176.ftz": {true, true},
		"model": {true, false}, "x.ftz": {false, true}, "x.bin": {false, true}, "x": {false, false}, "": {false, false}} {
		if got := [2]bool{IsIdentifier(name), NamesIdentifier(name)}; got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	rows, err := CheckIdentifier("embedded")
	if err != nil || len(rows) != 4 || rows[1] != [2]string{"file", "in the program"} || !strings.Contains(rows[2][1], " languages; an English sentence as en, probability ") ||
		!strings.HasSuffix(rows[3][1], " to load") || rows[0][0] != "model" {
		t.Errorf("%q, %v", rows, err)
	}
	if _, err := CheckIdentifier("model"); err == nil {
		t.Error("a file of one letter is no model")
	}
}

// The observations behind compared figures are those of the view, once for each group that they are in.
func TestCompare(t *testing.T) {
	dir := scoredRun(t)
	german := view.Choice{Column: "language", Values: []string{"de"}}
	for _, c := range []struct {
		view            view.View
		figures, others int
	}{{view.View{}, 0, 432}, {view.View{Only: []view.Choice{german}}, 0, 108},
		{view.View{Groups: []view.Group{{Name: "German", Choice: german}}}, 1, 108},
		{view.View{Groups: []view.Group{{Name: "German", Choice: german},
			{Name: "two", Choice: view.Choice{Column: "language", Values: []string{"de", "ko"}}}}}, 2, 324}} {
		estimates, observations,
			err := figures.Set{View: c.view, Cross: []string{view.GroupColumn}, Measures: []string{"lpr"}}.Compare(dir)
		if len(c.view.Groups) == 0 {
			estimates, observations, err = figures.Set{View: c.view}.Compare(dir)
		}
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for o, err := range observations {
			if err != nil || len(c.view.Groups) > 0 && o.Column(view.GroupColumn) == "" {
				t.Fatal(o, err)
			}
			n++
		}
		grouped := 0
		for _, e := range estimates {
			if e.By[view.GroupColumn] != "" {
				grouped++
			}
		}
		if n != c.others || c.figures > 0 && (grouped != len(estimates) || grouped != 2*c.figures) {
			t.Errorf("%+v: %d observations, %d of %d figures of groups", c.view, n, grouped, len(estimates))
		}
	}
	columns, err := figures.Compared([]string{dir})
	if err != nil || !slices.Equal(columns, []string{figures.RunColumn, crosstalk.ModelColumn}) {
		t.Errorf("%q, %v", columns, err)
	}
	if _, _, err := (figures.Set{}).Compare("nowhere"); err == nil {
		t.Error("no run: no error")
	}
	if _, err := figures.Names(dir, "nowhere"); err == nil {
		t.Error("no run: no error")
	}
}

// Of several runs the first name of a value counts.
func TestNames(t *testing.T) {
	var dirs []string
	for i, names := range []map[string]string{{"a": "first", "b": "B"}, {"a": "second", "c": "C"}} {
		s, err := Leakage{Sweep: Sweep{Items: 1, Samples: 1}}.Open()
		if err != nil {
			t.Fatal(err)
		}
		s.Names = names
		dirs = append(dirs, filepath.Join(t.TempDir(), fmt.Sprint(i)))
		if _, err := s.Run(t.Context(), dirs[i], ask.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := figures.Names(dirs...); err != nil || !maps.Equal(names, map[string]string{"a": "first", "b": "B", "c": "C"}) {
		t.Errorf("%q, %v", names, err)
	}
}
