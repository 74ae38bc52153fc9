package labels

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument/consistency"
)

// What a sheet must not have, with its place.
func TestImportRefusesMore(t *testing.T) {
	dir := newRun(t, pairs(t)[:3], false)
	s, d := open(t, dir), plan(t, dir, Sample{Seed: 1})
	id := d.id(s.Units[0].key, false)
	for _, c := range []struct{ name, annotator, text, want string }{
		{"x.csv", " ", "id,label\n" + id + ",A\n", "annotator: expected a name"},
		{"x.csv", "ann", "id,label\n1234,A\n", "x.csv:2: unknown id 1234; expected one of a sheet exported from this run"},
		{"x.csv", "ann", "id,label\nxyz,A\n", "x.csv:2: unknown id xyz; expected one of a sheet"},
		{"x.csv", "ann", "id,label,seconds\n" + id + ",A,soon\n", `x.csv:2: seconds is "soon"`},
		{"x.csv", "ann", "id,label,seconds\n" + id + ",A,NaN\n", `x.csv:2: seconds is "NaN"`},
		{"x.csv", "ann", "id,label,seconds\n" + id + ",A,1e9\n", `x.csv:2: seconds is "1e9"`},
		{"x.csv", "ann", "id,code\n" + id + ",A\n", "x.csv:1: no column label"},
		{"x.csv", "ann", "id,item,code\n" + id + ",t001,A\n", "x.csv:1: no column label"},
		{"x.csv", "ann", "item,label\nt001,A\n", "x.csv:1: no column id"},
		{"x.csv", "ann", "code,label\nx,A\n", "x.csv:1: no column id"},
		{"x.xlsx", "ann", "id,label\n" + id + ",A\n", "x.xlsx: expected a sheet in CSV"},
		{"x.json", "ann", "[]", "x.json: expected a sheet in CSV"},
	} {
		file := filepath.Join(t.TempDir(), c.name)
		write(t, file, c.text)
		if got, err := s.importSheet(d, file, Label{Annotator: c.annotator}, nil, time.Now()); fault(got, err) == nil ||
			!strings.Contains(fault(got, err).Error(), c.want) {
			t.Errorf("%q: %v; expected %q", c.text, fault(got, err), c.want)
		}
	}
	file := filepath.Join(t.TempDir(), "x.csv")
	write(t, file, "id,label,seconds\n"+id+",A,1.5\n")
	ann := Label{Annotator: "ann"}
	if _, err := s.importSheet(Design{}, file, ann, nil, time.Now()); err == nil || !strings.HasPrefix(err.Error(), "no questions were exported from this run") {
		t.Errorf("%v", err)
	}
	got, err := s.importSheet(d, file, Label{Annotator: " ann "}, nil, time.Now())
	if err != nil || len(got.Labels) != 1 || got.Labels[0].Seconds != 1.5 || got.Labels[0].Annotator != "ann" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, missing := range []string{"no.csv"} {
		if _, err := s.importSheet(d, filepath.Join(dir, missing), ann, nil, time.Now()); !os.IsNotExist(err) &&
			!strings.Contains(fmt.Sprint(err), missing) {
			t.Errorf("%s: %v", missing, err)
		}
	}
}

// coded is a consistency run of inconsistent pairs, two of which differ in their
// answers alone.
func coded(t *testing.T) string {
	var all []crosstalk.Observation
	for i, answers := range [][2]string{{"yes", "no"}, {"yes", "maybe"}, {"no", "yes"}} {
		for sample := range 2 {
			o := crosstalk.Observation{Measure: "consistency", Item: []string{"a", "a", "b"}[i], Sample: sample, Variant: fmt.Sprint("T", i), Finding: "inconsistent",
				Condition: map[string]string{"model": "m"}, Labels: map[string]string{"task": "t", "pair": "de-en", "part": "T"}}
			o.AddText(crosstalk.Side, "source", answers[0])
			o.AddText(crosstalk.Side, "answer", answers[1])
			all = append(all, o)
		}
	}
	return madeRun(t, `"consistency"},"scoring":[{"rules":{}}]`, all)
}

// Each code that people give has a share: of those who gave it, alone or among others.
func TestSharesOfCodes(t *testing.T) {
	s := openAs(t, coded(t), Codes)
	labels := []Label{s.says(s.Units[0], "ann", "negation; vague"), s.says(s.Units[0], "bob", "vague"), s.says(s.Units[1], "ann", "tone")}
	a, err := s.compare(Design{}, labels, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]crosstalk.Value{}
	for _, f := range a.Figures {
		if f.Measure == Share {
			got[f.Of] = f.Value
		}
	}
	for code, want := range map[string]crosstalk.Value{"negation": 0.25, "vague": 0.5, "tone": 0.5} {
		if got[code] != want {
			t.Errorf("%s: %v, want %v", code, got[code], want)
		}
	}
	if len(got) != 3 {
		t.Errorf("%v", got)
	}
}

// A design that is not as it was written is refused: ids would not be found.
func TestReadDesignRefuses(t *testing.T) {
	secret := strings.Repeat("0f", 32)
	for text, want := range map[string]string{
		`{`: "labels.json: invalid design: ",
		`{"schema":"crosstalk/labels/v9","secret":"` + secret + `"}`:             `unknown schema "crosstalk/labels/v9"; expected "` + designSchema + `": update crosstalk`,
		`{"schema":"` + designSchema + `","secret":"` + secret[2:] + `"}`:        "invalid secret; expected 64 hexadecimal digits",
		`{"schema":"` + designSchema + `","secret":"` + secret + "00" + `"}`:     "invalid secret; expected 64 hexadecimal digits",
		`{"schema":"` + designSchema + `","secret":"` + secret + "zz" + `"}`:     "invalid secret; expected 64 hexadecimal digits",
		`{"schema":"` + designSchema + `","secret":"` + "zz" + secret[2:] + `"}`: "invalid secret; expected 64 hexadecimal digits",
		`{"schema":"` + designSchema + `","secret":"` + secret + `"}`:            "",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, designFile), text)
		for _, read := range []func() (Design, error){
			func() (Design, error) { return ReadDesign(dir) }, func() (Design, error) { return Plan(dir, Sample{N: 3}) },
		} {
			if d, err := read(); want == "" && (err != nil || d.Secret != secret) || want != "" &&
				(err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		}
		if kept, _ := os.ReadFile(filepath.Join(dir, designFile)); want != "" && string(kept) != text {
			t.Errorf("%s was replaced with %s", text, kept)
		}
	}
}

// Samples that differ in anything are each noted, once.
func TestPlanOfSamples(t *testing.T) {
	dir := t.TempDir()
	samples := []Sample{{N: 3, Seed: 1}, {N: 4, Seed: 1}, {N: 3, Seed: 2}, {N: 3, Seed: 1, By: []string{"finding"}},
		{N: 3, Seed: 1, By: []string{"model"}}, {N: 3, Seed: 1, Only: []string{"disputed"}}}
	var last Design
	for range 2 {
		for _, s := range samples {
			last = plan(t, dir, s)
		}
	}
	if len(last.Samples) != len(samples) {
		t.Errorf("%+v", last.Samples)
	}
	if a, b := last.Token("ann"), last.Token("bob"); len(a) != 26 || a == b || a != last.Token("ann") {
		t.Errorf("tokens %s and %s", a, b)
	}
	if s := open(t, newRun(t, pairs(t), false)); true {
		if units, err := s.Draw(Sample{N: 1, Seed: 1}); err != nil || len(units) != 1 {
			t.Errorf("%d units, %v", len(units), err)
		}
	}
}

// Sides are exchanged with what they answer, and only where there are two.
func TestAskExchanges(t *testing.T) {
	d := Design{Secret: strings.Repeat("07", 32)}
	var units []Unit
	for i := range 60 {
		u := Unit{Place: Place{Item: fmt.Sprint(i)}, Texts: [2]string{"one", "two"}, Given: [2]string{"ask one", "ask two"}}
		u.key = u.Item
		units = append(units, u)
	}
	for question, most := range map[string]int{SameMeaning: 60, answerLanguage: 0} {
		q, err := questionFor(question)
		if err != nil {
			t.Fatal(err)
		}
		swapped := 0
		for _, a := range d.Ask(q, units, "ann", 1) {
			if a.Given != [2]string{"ask " + a.A, "ask " + a.B} {
				t.Errorf("%s: %+v", question, a)
			}
			if a.A == "two" {
				swapped++
			}
		}
		if swapped > most || most > 0 && (swapped < 10 || swapped > 50) {
			t.Errorf("%s: %d of 60 exchanged", question, swapped)
		}
	}
}

// A line cut short is removed however long it is, and nothing before it.
func TestTornFiles(t *testing.T) {
	label := Label{Question: "leakage", Place: Place{Item: "new"}, Annotator: "ann", Label: Test}
	old := `{"question":"leakage","item":"old","annotator":"ann","label":"test","comment":"` + strings.Repeat("x", 300) + "\"}\n"
	for _, n := range []int{1, 4094, 4095, 4096, 4097, 8192, 12000} {
		for _, before := range []string{"", old} {
			dir := t.TempDir()
			write(t, filepath.Join(dir, File), before+strings.Repeat("y", n))
			if err := Append(dir, label); err != nil {
				t.Fatal(err)
			}
			want := []string{"old", "new"}[1-min(len(before), 1):]
			var got []string
			list, err := Read(dir)
			for _, l := range list {
				got = append(got, l.Item)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d bytes after %d: %q, %v", n, len(before), got, err)
			}
		}
	}
}

// Comments are reasons; "none" reads an answer as of no class.
func TestOverridesTell(t *testing.T) {
	o := crosstalk.Observation{Measure: "accuracy", Item: "1", Value: 1, Condition: map[string]string{"model": "m"},
		Labels: map[string]string{"task": "sentiment"}}
	for _, x := range [][2]string{{"rule", "r"}, {"instruction", "choose"}, {"answer", "good"}, {"class", "positive"}, {"gold", "negative"}} {
		o.AddText(crosstalk.Fact, x[0], x[1])
	}
	s := openAs(t, madeRun(t, `"consistency"},"scoring":[{"rules":{}}]`, []crosstalk.Observation{o}), Reading)
	u := s.Units[0]
	for said, want := range map[string]string{noClass: "", "negative": "negative"} {
		labels := []Label{s.says(u, "bob", said), s.says(u, "ann", said), s.says(u, "cy", "positive")}
		labels[0].Comment = "clear"
		got := s.overrides(labels)[consistency.Answered{Task: "sentiment", Instruction: "choose", Text: "good"}]
		if got.Class != want || got.Reviewer != "ann, bob, cy" || got.Reason != "labelled so by 2 of 3; clear" {
			t.Errorf("%s: %+v", said, got)
		}
	}
	decided := []Label{s.says(u, "ann", "positive"), s.says(u, "eve", "negative")}
	decided[1].Decides = true
	if got := s.overrides(decided)[consistency.Answered{Task: "sentiment", Instruction: "choose",
		Text: "good"}]; got.Class != "negative" || got.Reviewer != "ann, eve" || got.Reason != "decided by eve" {
		t.Errorf("%+v", got)
	}
	if got := s.overrides([]Label{s.says(u, "ann", cannotTell), s.says(u, "bob", cannotTell)}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	// Who cannot tell does not count as one who disagrees.
	a, err := s.compare(Design{}, []Label{s.says(u, "ann", "negative"), s.says(u, "bob", cannotTell),
		s.says(u, "cy", "positive"), s.says(u, "dan", "negative")}, Options{Worst: 1})
	if err != nil || len(a.Disagreements) != 1 || math.Abs(float64(a.Disagreements[0].Gap)-2.0/3) > 1e-12 {
		t.Errorf("%+v, %v", a.Disagreements, err)
	}
}

func TestNoMatch(t *testing.T) {
	dir := newRun(t, pairs(t)[:3], false)
	s := open(t, dir)
	lost := s.says(s.Units[0], "ann", Test)
	lost.Item = "nowhere"
	if err := Append(dir, lost); err != nil {
		t.Fatal(err)
	}
	if a, err := AgreementOf(dir, "", Options{}); err == nil {
		t.Errorf("%+v", a)
	}
	if opinions, err := Opinions(t.TempDir()); err != nil || opinions != nil {
		t.Errorf("%+v, %v", opinions, err)
	}
}

// Labels of a question become opinions of its observations.
func TestOpinions(t *testing.T) {
	dir := labelled(t)
	list, err := Opinions(dir)
	if err != nil || len(list) != 1 || list[0].Question.Name != NearerText || len(list[0].Said) != 120 {
		t.Fatalf("%+v, %v", list, err)
	}
	weights := 0.0
	for _, s := range list[0].Said {
		weights += s.Weight
	}
	people, found := 0.0, 0.0
	for _, e := range list[0].Shares {
		if e.By[JudgeColumn] == People {
			people += float64(e.Value)
		} else {
			found += float64(e.Value)
		}
	}
	if math.Abs(weights-120) > 1e-9 || math.Abs(people-1) > 1e-9 || math.Abs(found-1) > 1e-9 {
		t.Errorf("weights %v, shares of people %v, of what was found %v", weights, people, found)
	}
	write(t, filepath.Join(dir, File), "{\n")
	if _, err := Opinions(dir); err == nil {
		t.Error("labels that cannot be read are no opinions")
	}
}

// The signature is of the run's own figure of this measure, with the mean if that
// figure averages.
func TestSignatureOfMeasure(t *testing.T) {
	s := open(t, newRun(t, pairs(t)[:2], false))
	by := map[string]string{"model": "m"}
	own := []crosstalk.Estimate{{Measure: "other", By: by, Signature: "other|v1"}, {Measure: "leak_rate", By: map[string]string{"model": "n"}, Signature: "n|v1"},
		{Measure: "leak_rate", By: by, Signature: "m|v1", Average: &crosstalk.Average{}}}
	if got := s.signature(own, "leak_rate", by); got != "m|mean:answers|v1" {
		t.Error(got)
	}
	own[2].Average = nil
	if got := s.signature(own, "leak_rate", by); got != "m|v1" {
		t.Error(got)
	}
}

// Notes of a part come in the order in which they were written.
func TestMergeKeepsOrder(t *testing.T) {
	run, part := t.TempDir(), t.TempDir()
	for i := range 12 {
		n := NoteOn(crosstalk.Observation{Measure: "leak_rate", Item: fmt.Sprintf("%02d", i)})
		n.Text, n.When = "x", time.Date(2026, 1, 1, 0, 30-i, 0, 0, time.UTC)
		if err := AddNote(part, n); err != nil {
			t.Fatal(err)
		}
	}
	if added, err := Merge(run, []string{part}); err != nil || added != 12 {
		t.Fatalf("%d, %v", added, err)
	}
	text, err := os.ReadFile(filepath.Join(run, "notes.jsonl"))
	var got []string
	for line := range strings.Lines(string(text)) {
		_, item, _ := strings.Cut(line, `"item":"`)
		got = append(got, item[:2])
	}
	if want := []string{"11", "10", "09", "08", "07", "06", "05", "04", "03", "02", "01", "00"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

// A reading shows what was asked, as the journal has it.
func TestReadingsShowPrompts(t *testing.T) {
	answer := func(item, reading string, key crosstalk.Key) crosstalk.Observation {
		o := crosstalk.Observation{Measure: "accuracy", Item: item, Value: 1,
			Condition: map[string]string{"model": "m", "reading": reading}, Labels: map[string]string{"task": "sentiment"}}
		if key != (crosstalk.Key{}) {
			o.Answers = []crosstalk.Key{key}
		}
		for _, x := range [][2]string{{"rule", "r"}, {"instruction", "choose"}, {"answer", item}, {"class", "good"}} {
			o.AddText(crosstalk.Fact, x[0], x[1])
		}
		return o
	}
	id := crosstalk.Identity{Provider: "openai", Endpoint: "http://localhost", Name: "m"}
	requests := []crosstalk.Request{
		{Messages: []crosstalk.Message{{Role: "system", Content: "be short"}, {Role: "user", Content: " How was it?\n"}}}, {Prompt: " Was it good?\n"}}
	observations := []crosstalk.Observation{answer("chat", "as read", crosstalk.KeyOf(id, requests[0])),
		answer("prompt", "as read", crosstalk.KeyOf(id, requests[1])),
		answer("lost", "as read", crosstalk.Key{1}), answer("recorded", "as read", crosstalk.Key{})}
	dir := madeRun(t, `"consistency"},"scoring":[{"rules":{}}]`, observations)
	given := func() (list []string) {
		for _, u := range openAs(t, dir, Reading).Units {
			if u.Condition["reading"] != "" || u.Condition["model"] != "m" {
				t.Errorf("%v", u.Condition)
			}
			list = append(list, u.Item+": "+u.Given[0])
		}
		return list
	}
	if got, want := given(), []string{"chat: ", "prompt: ", "lost: ", "recorded: "}; !slices.Equal(got, want) {
		t.Errorf("without a journal: %q, want %q", got, want)
	}
	j, err := journal.Open(filepath.Join(dir, journal.Name))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if err := j.Put(journal.Record{Identity: id, Request: r,
			Answer: crosstalk.Answer{Key: crosstalk.KeyOf(id, r), Status: crosstalk.Text, Text: "good"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := given(), []string{"chat: How was it?", "prompt: Was it good?", "lost: ", "recorded: "}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Marked words are kept in the order of the text; who cannot tell is not counted.
func TestMarkedWords(t *testing.T) {
	dir := confusionRun(t, []int{1, 1}, []int{1, 1})
	s, d := open(t, dir), plan(t, dir, Sample{Seed: 1})
	b := s.Blind(d)
	words := b.Words(&s.Units[0])
	if len(words) < 3 || words[0].Text != "a" || words[1] != (Word{2, 3, "b"}) {
		t.Fatalf("%+v", words)
	}
	id := d.id(s.Units[0].key, false)
	l, err := b.Label(Answer{ID: id, Shown: "right", Words: [][2]int{{2, 3}, {0, 1}}})
	if err != nil || !slices.Equal(l.Words, words[:2]) {
		t.Errorf("%+v, %v", l, err)
	}
	for _, places := range [][][2]int{{{0, 2}}, {{0, 1}, {1, 2}}} {
		if _, err := b.Label(Answer{ID: id, Shown: "right", Words: places}); err == nil || err.Error() != "marked words are not words of the text" {
			t.Errorf("%v: %v", places, err)
		}
	}
	marked := s.says(s.Units[0], "bob", "right")
	marked.Words = words[:1]
	labels := []Label{s.says(s.Units[0], "ann", "right"), marked, s.says(s.Units[0], "cy", cannotTell),
		s.says(s.Units[0], "dan", "wrong"), s.says(s.Units[0], "eve", "wrong")}
	units, _ := s.labelled(nil, labels) // a tie
	got := s.passes(units)
	if got[0] != [2]float64{0.5, 0.25} || !math.IsNaN(got[1][0]) || !math.IsNaN(got[1][1]) {
		t.Errorf("%v", got)
	}
	units, _ = s.labelled(nil, labels[:4])
	if got := s.passes(units); got[0] != [2]float64{1, 0.5} {
		t.Errorf("%v", got)
	}
}

// A line is asked about with its own text, not that of the answer, by the rules of the
// only protocol if observations do not name it.
func TestTextsOfLines(t *testing.T) {
	var got []string
	for _, u := range openAs(t, confusionRun(t, []int{1}, []int{1}), Lines).Units {
		got = append(got, fmt.Sprintf("%d %q", u.Line, u.Texts))
	}
	if want := []string{`1 ["a b c d e" ""]`, `2 ["f g h i j" ""]`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
