package suite

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/shared"
)

func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// What the embedded suites promise: enough items, each with what the reference
// model answers with, and nothing that looks like a mistake.
func TestEmbedded(t *testing.T) {
	suites, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range suites {
		names = append(names, s.Name)
		for _, r := range Check(s) {
			t.Errorf("%s: %s", s.Name, r)
		}
		for _, i := range s.Items.All() {
			if i.Labels["language"] == "" || i.Pair != nil && (i.Labels["language"] != s.Language || len(i.Pair.Leaks) < 2 ||
				len(i.Pair.Neutral) < 6) {
				t.Errorf("%s: %s is not complete", s.Name, i.ID)
			}
		}
	}
	for _, want := range []string{"confusion", "consistency",
		"leakage-adverts", "leakage-colours", "leakage-context", "leakage-de", "leakage-en", "leakage-poems", "leakage-recipes", "leakage-stories"} {
		if !slices.Contains(names, want) {
			t.Errorf("suites %q; expected %s among them", names, want)
		}
	}
	en := suites[slices.Index(names, "leakage-en")]
	items, controls := map[string]int{}, map[string]map[string]bool{}
	for _, i := range en.Items.All() {
		category := i.Labels["category"]
		if items[category]++; controls[category] == nil {
			controls[category] = map[string]bool{}
		}
		controls[category][i.Cluster] = true
	}
	if len(items) != 13 || en.License != "Apache-2.0" || en.Card == nil || en.Prefix[crosstalk.Chat] == "" {
		t.Errorf("leakage-en: %d categories, licence %q, card %v", len(items), en.License, en.Card)
	}
	for category, n := range items {
		if n < 60 || len(controls[category]) < 12 {
			t.Errorf("leakage-en: %d items with %d controls in %s; too few for an interval of the category", n, len(controls[category]), category)
		}
	}
}

// Suites are read by name: one costs nothing until it is used.
func BenchmarkEmbedded(b *testing.B) {
	for _, name := range names() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Load(name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestLoad(t *testing.T) {
	if s, err := Load("leakage-en"); err != nil || s.Name != "leakage-en" {
		t.Errorf("%v %v", s, err)
	}
	for name, content := range map[string]string{
		"a.yaml":  head + "items: [{id: i, concept: c, test: t c, control: t}]",
		"a.YML":   head + "items: [{id: i, concept: c, test: t c, control: t}]",
		"a.txt":   "He eats\nHe likes koalas. He eats\n",
		"a.csv":   "id,concept,prompt,control_prompt\ni,c,t c,t\n",
		"a.jsonl": `{"id":"i","concept":"c","prompt":"t c","control_prompt":"t"}`,
	} {
		if s, err := Load(write(t, name, content)); err != nil || s.Items.Len() != 1 {
			t.Errorf("%s: %v %v", name, s, err)
		}
	}
	if s, err := LoadFor("confusion", "confusion"); err != nil || s.Name != "confusion" {
		t.Errorf("%v %v", s, err)
	}
	if s, err := LoadFor("leakage", "confusion"); err == nil || s != nil || !strings.HasPrefix(err.Error(), "confusion is a confusion suite; expected a leakage suite") {
		t.Errorf("%v %v", s, err)
	}
	dir := t.TempDir()
	for name, want := range map[string]string{
		"leakage-xx":                   `unknown suite "leakage-xx"; choose one of: ` + strings.Join(names(), ", ") + `, boolq, gonen-2024, lcb, paws-x, smilga-2025, xnli; or name a file (.yaml, .zip, .txt, .csv, .tsv, .jsonl, .json, .xlsx, .parquet)`,
		"":                             `unknown suite ""; choose one of`,
		filepath.Join(dir, "a.yaml"):   "open " + filepath.Join(dir, "a.yaml") + ": no such file or directory",
		filepath.Join(dir, "a.csv"):    filepath.Join(dir, "a.csv") + ": no such file or directory",
		write(t, "a.yaml.gz", "x"):     "is not a gzip file",
		write(t, "a.pdf", "x"):         ": expected a file that ends in .csv, .tsv, .jsonl, .json, .xlsx or .parquet, optionally with .gz",
		write(t, "a.csv", "a,b\n1,2"):  `a.csv:1: has no column "prompt"; expected`,
		write(t, "b.txt", ""):          "b.txt: contains no prompts",
		write(t, "c.txt", "He eats\n"): "c.txt:1: a control without a test: the next line has a different ending",
		write(t, "d.csv", "concept,prompt,control_prompt\n,t c,t\n"): "d.csv: no row has both a test and a control prompt",
	} {
		if _, err := Load(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestIDIsTheContents(t *testing.T) {
	base := func() *Suite {
		return &Suite{Name: "s", Items: ItemsOf(
			crosstalk.Item{ID: "a", Labels: map[string]string{"category": "x"},
				Pair: &crosstalk.Pair{Concept: "c", Test: "t c", Control: "t", Leaks: []string{"l"}}},
			crosstalk.Item{ID: "b", Pair: &crosstalk.Pair{Concept: "d", Test: "t d", Control: "t"}},
		)}
	}
	id := base().ID()
	if !strings.HasPrefix(id, "s@") || len(id) != len("s@")+8 {
		t.Errorf("id %q", id)
	}
	for what, change := range map[string]func(*Suite){
		"order":  func(s *Suite) { s.Items = ItemsOf(s.Items.At(1), s.Items.At(0)) },
		"labels": func(s *Suite) { s.Items.last[0].Labels = nil },
		"leaks":  func(s *Suite) { s.Items.At(0).Pair.Leaks = nil },
	} {
		if s := base(); true {
			if change(s); s.ID() != id {
				t.Errorf("another %s changes the id", what)
			}
		}
	}
	for what, change := range map[string]func(*Suite){
		"concept": func(s *Suite) { s.Items.At(0).Pair.Concept = "e" },
		"test":    func(s *Suite) { s.Items.At(0).Pair.Test = "u c" },
		"control": func(s *Suite) { s.Items.At(0).Pair.Control = "u" },
		"remove":  func(s *Suite) { s.Items.At(0).Pair.Remove = []string{"c"} },
		"item id": func(s *Suite) { s.Items.last[0].ID = "e" },
		"number":  func(s *Suite) { s.Items = ItemsOf(s.Items.At(0)) },
	} {
		if s := base(); true {
			if change(s); s.ID() == id {
				t.Errorf("another %s does not change the id", what)
			}
		}
	}
}

func TestPromptList(t *testing.T) {
	s, err := parsePromptList("a.txt", []byte("\ufeff"+strings.ReplaceAll(`Complete the sentence: He eats
Complete the sentence: He likes  koalas. He eats

Complete the sentence: He likes the sea lions. He eats
He was very sad. He hummed
He was blue. He hummed
`, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range s.Items.All() {
		got = append(got, i.ID+": "+i.Pair.Concept+": "+i.Pair.Test+" / "+i.Cluster)
	}
	want := []string{"line-2: koalas: He likes koalas. He eats / He eats", "line-4: sea lions: He likes the sea lions. He eats / He eats",
		"line-6: blue: He was blue. He hummed / He was very sad. He hummed"}
	if !reflect.DeepEqual(got, want) || s.Prefix[crosstalk.Chat] != "Complete the sentence: " {
		t.Errorf("%q, want %q", got, want)
	}
	for text, want := range map[string]string{
		"He eats\nShe sings\nShe likes ants. She sings\n":           "a.txt:1: a control without a test",
		"He eats\nHe likes ants. He eats\nHe likes ants. He eats\n": "a.txt:2: cannot find the concept",
		"He eats\nHe likes \xff. He eats\n":                         "a.txt:2: is not valid UTF-8: save the file as UTF-8",
		"\n \n":                                                     "a.txt: contains no prompts",
		"He eats\n" + strings.Repeat("x", 1<<20):                    "a.txt: bufio.Scanner: token too long",
	} {
		if _, err := parsePromptList("a.txt", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

func FuzzPromptList(f *testing.F) {
	f.Add("He eats\nHe likes koalas. He eats\nHe likes ants. He eats\n")
	f.Add("a. b\na. a. b\n. \nHe was very sad. \n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parsePromptList("a.txt", []byte(text))
		if err != nil {
			return
		}
		for _, i := range s.Items.All() {
			if i.Pair.Concept == "" || i.Pair.Test == "" || i.Pair.Control == "" || i.Pair.Test == i.Pair.Control {
				t.Errorf("%+v", i.Pair)
			}
		}
		Check(s)
	})
}

// The list that Gonen et al. published: 140 lines, 31 of them controls by
// their place, 109 tests.
func TestGonenPromptList(t *testing.T) {
	s, err := Load(shared.File(t, "leakage/gonen2024_prompts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	concepts := map[string]int{}
	for _, i := range s.Items.All() {
		concepts[i.Pair.Concept]++
		first := strings.Fields(i.Pair.Concept)[0]
		if !strings.Contains(i.Pair.Test, first) || !strings.HasSuffix(i.Pair.Test, lastWords(i.Pair.Control, 1)) {
			t.Errorf("%+v", i.Pair)
		}
	}
	if s.Items.Len() != 109 || s.Clusters() != 31 {
		t.Errorf("%d tests, %d controls, want 109 and 31", s.Items.Len(), s.Clusters())
	}
	for concept, n := range map[string]int{"koalas": 1, "butterflies": 1} {
		if concepts[concept] < n {
			t.Errorf("concept %q: %d", concept, concepts[concept])
		}
	}

	// Smilga's list of the same prompts states the concepts.
	smilga, err := Load(shared.File(t, "leakage/smilga_prompts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	bare := func(s string) string {
		return strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(strings.TrimPrefix(s, instruction), "’", "'")), " "))
	}
	stated := map[string]string{}
	for _, i := range smilga.Items.All() {
		if i.Labels["dataset"] == "initial" {
			stated[bare(i.Pair.Test)] = bare(i.Pair.Concept)
		}
	}
	met, differ := 0, 0
	for _, i := range s.Items.All() {
		if concept, ok := stated[bare(i.Pair.Test)]; ok {
			met++
			if bare(i.Pair.Concept) != concept {
				differ++ // in an article or the bounds of an idiom
				if !strings.Contains(bare(i.Pair.Test), bare(i.Pair.Concept)) ||
					!strings.Contains(concept+" "+bare(i.Pair.Concept), lastWords(concept, 1)) {
					t.Errorf("%s: concept %q, stated %q", i.Pair.Test, i.Pair.Concept, concept)
				}
			}
		}
	}
	if met != 109 || differ > 14 {
		t.Errorf("%d of 109 prompts met; %d concepts differ from those stated", met, differ)
	}
}

func TestSources(t *testing.T) {
	item := func(id, dataset string) crosstalk.Item {
		return crosstalk.Item{ID: id, Labels: map[string]string{"dataset": dataset},
			Pair: &crosstalk.Pair{Concept: "c", Test: "t " + id, Control: "t"}}
	}
	s := NewSources([]string{"dir/a.csv.gz", "b.jsonl"})
	s.Add("dir/a.csv.gz", item("1", "d"))
	one := idOf(s, map[string]string{"dataset": "d"})
	s.Add("dir/a.csv.gz", item("1", "d")) // again, as another sample
	if again := idOf(s, map[string]string{"dataset": "d"}); again != one || !strings.HasPrefix(one, "a-d@") {
		t.Errorf("%s, then %s", one, again)
	}
	s.Add("b.jsonl", item("2", "d"))
	s.Add("b.jsonl", item("3", "e"))
	for group, want := range map[string]string{"": "a+b@", "all": "a+b@", "d": "a-d+b-d@", "e": "b-e@"} {
		if got := idOf(s, map[string]string{"dataset": group}); !strings.HasPrefix(got, want) {
			t.Errorf("data set %q: %s, want %s...", group, got, want)
		}
	}
	if got := idOf(s, map[string]string{"dataset": "none"}); got != "-" {
		t.Errorf("an unknown data set: %s", got)
	}
	// The id of a file's items is that of the suite made of them.
	file := write(t, "x.csv", "id,concept,prompt,control_prompt\n1,c,t 1,t\n2,c,t 2,t\n")
	suite, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	sources := NewSources([]string{file})
	for _, i := range suite.Items.All() {
		sources.Add(file, i)
	}
	if got := idOf(sources, nil); got != suite.ID() {
		t.Errorf("%s, as a suite %s", got, suite.ID())
	}
}

// idOf is the suite of a figure with these columns.
func idOf(s *Sources, by map[string]string) string { return s.IDs().Of(by) }
