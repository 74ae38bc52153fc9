package study

import (
	"crypto/sha256"
	"encoding/json"
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
	"crosstalk/instrument/leakage"
	"crosstalk/internal/testing/golden"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/run/view"
)

// TestWholeStudies measures reference models and scores recorded answers with many
// settings, and compares what comes of it with testdata/studies.txt: the plan and the
// number of requests, the figures, and a hash of the observations. Read what differs
// and write it with -update.
func TestWholeStudies(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	answers := "id,language,completion,task,prompt\n" +
		"1,de,Das Wetter ist heute wirklich sehr schön.,chat,How is the weather today?\n2,de,The weather is really very nice today.,chat,And now?\n3,fr,Le temps est vraiment très beau aujourd'hui.,news,Quel temps fait-il?\n" +
		"4,xx,Nobody knows what this is.,news,x\n5,pt-BR,O tempo está realmente muito bom hoje.,news,Como está o tempo?\n6,ja,今日は天気がとても良いです。,chat,天気は?\n7,de,,chat,Leer?\n"
	first := file("first.csv", answers)
	second := file("second.csv", strings.ReplaceAll(answers, "really", "truly"))
	users := file("users.csv", "id,prompt,completion\n1,Wie ist das Wetter heute in Berlin?,Es ist schön und warm in Berlin.\n2,How is the weather in Paris today?,Es ist schön und warm in Paris.\n3,12,Es ist schön.\n")
	pairs := file("leakage.csv", "id,model,category,concept,prompt,control_prompt,test,control\n"+
		"a,m,fish,sharks,He likes sharks. He saw a,He saw a,big fish.,red car.\na,n,fish,sharks,He likes sharks. He saw a,He saw a,blue car.,green tree.\nb,m,food,bread,She likes bread. She ate,She ate,warm toast.,an apple.\nc,m,food,bread,She bakes bread. She ate,She ate,,an apple.\n")
	tasks := file("tasks.yaml", tasksFile)
	spoken := file("spoken.csv", "item,input,instruction,run,answer,channel\n1,en,en,1,Yes.,web\n1,en,en,2,no,web\n1,en>de,en>de,1,Ja.,web\n1,en>de,en,1,yes,app\n"+
		"2,en,en,1,hm,web\n2,en,en,2,no,web\n2,en>de,en>de,1,nein,web\n2,en,de,1,Nein,web\n")
	texts := file("texts.jsonl", `{"item":"1","input":"en>de","texts":["Eins."]}`+"\n"+`{"item":"2","input":"en>de","texts":["Eine Zwei ist das, und mehr ist es nicht."]}`+"\n")
	instructions := file("instructions.yaml", instructionsFile)
	own := file("own.csv", "id,prompt,language,length\np1,Wie ist das Wetter heute in Berlin?,de,\np2,Quel temps fait-il aujourd'hui dans la ville de Paris?,fr,short\n")
	asked := file("asked.csv", "id,language,completion\np1,de,Das Wetter ist heute wirklich sehr schön.\np2,fr,Le temps est vraiment très beau aujourd'hui.\n")
	samples := file("samples.csv", "id,language,completion,sample,task\n1,de,Das Wetter ist heute wirklich sehr schön.,0,a\n"+
		"1,de,The weather is really very nice today.,1,a\n2,de,Das Essen ist heute wirklich sehr gut.,0,b\n2,de,Das Essen ist heute wirklich sehr gut.,2,b\n")
	codes := "id,language,completion\n1,de,Das Wetter ist heute wirklich sehr schön.\n"
	for i := range 25 {
		codes += fmt.Sprintf("x%d,q%c%c,Nobody knows what this is.\n", i, 'a'+i/5, 'a'+i%5)
	}
	many := file("many.csv", codes+codes[strings.Index(codes, "x3"):strings.Index(codes, "x4")])
	low, high := Sweep{Samples: 2, Items: 3}, Sweep{Temperatures: []string{"0", "1.2"}, TopPs: []string{"0.5", "default"},
		Prefixes: []string{"", "Be brief. "}, Zip: [][]string{{"temperature", "top_p"}}, Samples: 1, Items: 2, MaxTokens: 30}
	open := func(s *Study, err error) *Study {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		return s
	}
	models := low
	models.Models = []string{"reference:leaky?rate=0.3", "reference:leaky?rate=0.9&seed=2"}
	confused := low
	confused.Models = []string{"reference:confused?line=0.3&word=0.2&short=0.1"}
	shots := confused
	shots.Items, shots.Samples = 2, 1
	inconsistent := Sweep{Models: []string{"reference:inconsistent"}, Samples: 1, Items: 4}
	var b strings.Builder
	for _, c := range []struct {
		name string
		s    *Study
		of   bool // it measures
	}{
		{"leakage", open(Leakage{Sweep: models, By: []string{"category"}}.Open()), true},
		{"leakage of a sweep", open(Leakage{Sweep: high, Suite: "leakage-context"}.Open()), true},
		{"leakage of part", open(Leakage{Sweep: low, Suite: "leakage-colours"}.Open()), true},
		{"confusion", open(Confusion{Sweep: confused, Languages: []string{"de", "ja", "zh"}}.Open()), true},
		{"confusion with demonstrations", open(Confusion{Sweep: shots, Languages: []string{"fr", "ko"}, Shots: []int{0, 2}, Positions: []string{"start", "end"}}.Open()), true},
		{"consistency", open(Consistency{Sweep: inconsistent, To: []string{"de", "paraphrase"}, AcceptRewrites: true}.Open()), true},
		{"consistency of inputs", open(Consistency{Sweep: inconsistent, From: []string{"en"}, To: []string{"zh", "fr"}, Parts: []string{"X"}}.Open()), true},
		{"confusion with demonstrations of another suite", open(Confusion{Suite: own, Sweep: Sweep{Models: confused.Models, Samples: 1},
			Shots: []int{0, 1}, Templates: []string{"auto", "qa"}}.Open()), true},
		{"confusion with texts of another language", open(Confusion{Sweep: shots, Languages: []string{"zh", "pt"}, Shots: []int{1}}.Open()), true},
		{"consistency with texts", open(Consistency{Suite: tasks, Texts: []string{texts}, From: []string{"en", "de"},
			To: []string{"de"}, Parts: []string{"X"}, Mixed: []string{"de"},
			Sweep: Sweep{Models: inconsistent.Models, Samples: 2}}.Open()), true},
		{"consistency with instructions", open(Consistency{Suite: tasks, From: []string{"en"}, To: []string{"de"}, Parts: []string{"I"},
			Instructions: instructions, Rewrite: []string{"en>de=Auf Deutsch: {text}", "en>de:I=Hm: {text}"},
			Sweep: Sweep{Models: inconsistent.Models, Samples: 1}}.Open()), true},
		{"leakage of two protocols", open(Leakage{Sweep: Sweep{Items: 2}, Options: leakage.Options{Protocols: []string{"gonen-2024", "smilga-2025"}, Counts: true}}.Open()),
			true},
		{"confusion of two protocols",
			open(Confusion{Sweep: shots, Languages: []string{"ru", "de"}, Options: confusion.Options{Protocols: []string{"lcb-paper", "lcb-script"}}}.Open()),
			true},
		{"consistency with prompts", open(Consistency{Sweep: Sweep{Models: inconsistent.Models, Items: 2, Temperatures: []string{"0", "1"}}, To: []string{"de", "equal"},
			Rewrite: []string{"equal=Say it otherwise.", "en>de=Auf Deutsch: {text}"}, AcceptRewrites: true, By: []string{consistency.ByClass}}.Open()), true},
		{"recorded consistency", open(Consistency{Texts: []string{texts}, By: []string{"channel"}}.Recorded([]string{spoken}, "", tasks)), false},
		{"recorded consistency of a model", open(Consistency{Options: consistency.Options{Protocols: []string{"ohmer-2023", "crosstalk-1"}}}.Recorded([]string{spoken}, "gpt", tasks)),
			false},
		{"recorded confusion", open(Confusion{By: []string{"task", "length"}}.Recorded([]string{first, second}, "")), false},
		{"recorded confusion of a model", open(Confusion{}.Recorded([]string{first}, "gpt")), false},
		{"recorded confusion of many languages", open(Confusion{}.Recorded([]string{many}, "")), false},
		{"recorded confusion of samples", open(Confusion{By: []string{"task"}}.Recorded([]string{samples}, "")), false},
		{"recorded confusion of prompts", open(Confusion{Prompts: own}.Recorded([]string{asked}, "")), false},
		{"recorded consistency with quality", open(Consistency{Texts: []string{texts}, Quality: "gloss", Free: "number"}.Recorded([]string{spoken}, "", tasks)), false},
		{"recorded confusion of users", open(Confusion{Expect: "user"}.Recorded([]string{users}, "")), false},
		{"recorded leakage", open(Leakage{By: []string{"category"}}.Recorded([]string{pairs}, "other")), false},
	} {
		if c.s == nil {
			continue
		}
		fmt.Fprintf(&b, "== %s ==\n", c.name)
		if c.of {
			f, err := c.s.Forecast(t.Context(), ask.Options{})
			if err != nil {
				t.Error(c.name, err)
				continue
			}
			for _, each := range f.Each {
				fmt.Fprintf(&b, "%d requests\n", each.Asks)
			}
			fmt.Fprintf(&b, "%d requests in all\n", f.Total.Asks)
		}
		path := filepath.Join(dir, c.name)
		if _, err := c.s.Run(t.Context(), path, ask.Options{}); err != nil {
			t.Error(c.name, err)
			continue
		}
		m, err := run.ReadManifest(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, condition := range m.Plan.Conditions {
			prompting, _ := json.Marshal(condition.Prompting)
			fmt.Fprintf(&b, "%v %v %s\n", condition.Name, condition.Format, prompting)
		}
		fmt.Fprintf(&b, "%s suites %v, not measured %d, changes %q, %d asks\n", m.Plan.Instrument, names(m.Suites), m.NotMeasured, m.Changes, m.Asks)
		estimates, err := run.ReadEstimates(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range estimates {
			maps.DeleteFunc(e.Counts, func(_ string, n int) bool { return n == 0 })
			value := "-"
			if e.Value.Defined() {
				value = fmt.Sprintf("%.4f", e.Value)
			}
			fmt.Fprintf(&b, "%s %s %s n %d/%d/%d %v %q\n", e.Measure, strings.TrimPrefix(fmt.Sprint(e.By), "map"), value, e.N,
				e.Observations, e.Clusters, e.Counts, e.Warnings)
		}
		h, n := sha256.New(), 0
		for o, err := range run.ReadObservations(path) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(h, o.Measure, o.Item, o.Cluster, o.Sample, o.Variant, fmt.Sprintf("%.6f", o.Value), o.NotScored,
				o.Implied, o.Condition, o.Labels, o.Finding)
			n++
		}
		fmt.Fprintf(&b, "%d observations %x\n", n, h.Sum(nil)[:4])
		otherwise(&b, path, m, estimates)
		for _, note := range slices.Concat(c.s.Notes.Files, c.s.Notes.Shown) {
			fmt.Fprintf(&b, "note: %s\n", strings.ReplaceAll(note, dir, ""))
		}
	}
	golden.Check(t, "testdata/studies.txt", b.String())
}

// otherwise sums a run up by other columns, and writes of each set how many figures there are and a hash of them.
func otherwise(b *strings.Builder, path string, m run.Manifest, written []crosstalk.Estimate) {
	columns := map[string]bool{}
	for _, e := range written {
		for column := range e.By {
			columns[column] = true
		}
	}
	measures := []string{written[0].Measure, written[len(written)-1].Measure}
	for _, of := range []figures.Set{
		{By: []string{}}, {Cross: []string{}}, {Cross: slices.Sorted(maps.Keys(columns))}, {Measures: measures[:1]},
		{Measures: measures},
		{By: []string{"model"}, Measures: measures[1:]}, {Cross: []string{"language", "model"}, By: []string{"category"}},
		{Cross: []string{consistency.ByClass}}, {By: []string{consistency.ByClass}}, {Cross: []string{"pair", view.SampleColumn}},
		{Cross: []string{"colour"}},
		{Measures: []string{"colour"}}, {View: view.View{Only: []view.Choice{{Column: "model", Values: []string{"x"}}}}},
		{View: view.View{Pool: []string{"model"}}}, {View: view.View{Only: []view.Choice{{Column: "distribution", Values: []string{"T=1"}}}}},
	} {
		list, err := of.Of(path)
		h := sha256.New()
		for _, e := range list {
			maps.DeleteFunc(e.Counts, func(_ string, n int) bool { return n == 0 })
			fmt.Fprintln(h, e.Measure, e.By, fmt.Sprintf("%.6f", e.Value), e.N, e.Observations, e.Clusters, e.Counts, e.Warnings,
				e.Signature)
		}
		fmt.Fprintf(b, "%q %q %q %v: %d figures %x", of.By, of.Cross, of.Measures, of.View, len(list), h.Sum(nil)[:4])
		if err != nil {
			fmt.Fprintf(b, " %s", short(err))
		}
		fmt.Fprintln(b)
	}
	settings := Sent(m)
	for _, condition := range m.Plan.Conditions {
		fmt.Fprintf(b, "settings %v\n", settings(condition.Name))
	}
	compared, err := figures.Compared([]string{path})
	fmt.Fprintf(b, "compared %q %v\n", compared, err)
	for _, names := range [][]string{{"a"}, {"a", "b"}} {
		for _, of := range []figures.Set{{}, {Cross: []string{figures.RunColumn}}} {
			list, err := of.OfRuns(slices.Repeat([]string{path}, len(names)), names)
			runs := map[string]int{}
			for _, e := range list {
				runs[e.By[figures.RunColumn]]++
			}
			fmt.Fprintf(b, "of runs %v %v\n", runs, err)
		}
	}
}

// instructionsFile are instructions of tasksFile that people have reviewed.
const instructionsFile = `instructions:
  - {task: same, sense: en>de, parts: [{part: q, text: Ist es dasselbe?}], words: [{word: ja, class: same}, {word: nein, class: different}], approved: true, reviewer: ann}
`

// names are the names of suites, of recorded answers with their fingerprints.
func names(ids crosstalk.SuiteIDs) (list []string) {
	for _, id := range append([]string{ids.All}, slices.Sorted(maps.Values(ids.Each))...) {
		name, hash, _ := strings.Cut(id, "@")
		if ids.All == "" {
			name += " " + hash
		}
		list = append(list, name)
	}
	return list
}
