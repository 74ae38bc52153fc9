package labels

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
)

// madeRun writes a finished run of these observations.
func madeRun(t *testing.T, manifest string, observations []crosstalk.Observation) string {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	for _, o := range observations {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(text, '\n'))
	}
	write(t, filepath.Join(dir, "manifest.json"), `{"schema":"crosstalk/run/v1","plan":{"instrument":`+manifest+`}`)
	write(t, filepath.Join(dir, "estimates.json"), noFigures)
	write(t, filepath.Join(dir, "observations.jsonl"), lines.String())
	return dir
}

// openAs opens the question of a run.
func openAs(t *testing.T, dir, question string) *Sheet {
	t.Helper()
	s, err := Open(dir, question)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// says returns an annotator's label for a unit.
func (s *Sheet) says(u Unit, annotator, label string) Label {
	return Label{Question: s.Question.Name, Place: u.Place, Annotator: annotator, Label: label}
}

// leaks is a leakage run of two similarities, two models and two categories: the
// second similarity is nearer to finding something else.
func leaks(t *testing.T, n int) string {
	var all []crosstalk.Observation
	for i := range n {
		for k, similarity := range []string{"gloss@1", "sbert@1"} {
			for _, model := range []string{"m1", "m2"} {
				difference := float64((i*37+11*len(model)*k+int(model[1])*5)%21-10) / 20 / float64(1+k)
				value, finding := 0.5, "tie"
				if difference > 0 {
					value, finding = 1, "leaked"
				} else if difference < 0 {
					value, finding = 0, "not leaked"
				}
				o := crosstalk.Observation{Measure: "leak_rate", Item: fmt.Sprint("i", i), Cluster: fmt.Sprint("c", i/2),
					Value: crosstalk.Value(value), Finding: finding,
					Condition: map[string]string{"model": model, "similarity": similarity},
					Labels:    map[string]string{"category": []string{"animals", "food"}[i%2], "language": "en"}, Numbers: map[string]float64{"test": difference, "control": 0}}
				o.AddText(crosstalk.Topic, "concept", fmt.Sprint("word ", i))
				o.AddText(crosstalk.Side, "test", fmt.Sprint("east ", i))
				o.AddText(crosstalk.Side, "control", strings.Repeat(fmt.Sprint("west ", i, " "), 1+i%12))
				all = append(all, o)
			}
		}
	}
	skipped := all[0]
	skipped.Item, skipped.NotScored = "has a value, and is not scored", "refused"
	undefined := all[0]
	undefined.Item, undefined.Value = "has no value", crosstalk.Undefined
	return madeRun(t, `"leakage"}`, append(all, skipped, undefined))
}

// A unit has the least doubt of its judges, and what was not scored is no unit.
func TestUnits(t *testing.T) {
	s := open(t, leaks(t, 20))
	if len(s.Units) != 40 {
		t.Errorf("%d units, want 40", len(s.Units))
	}
	disputed, doubtful := 0, 0
	for _, u := range s.Units {
		if len(u.Judged) != 2 || u.Judged[0].Judge != "gloss@1" || u.Judged[1].Judge != "sbert@1" {
			t.Fatalf("%+v", u)
		}
		least := min(math.Abs(u.Judged[0].Difference), math.Abs(u.Judged[1].Difference))
		if u.Doubt != least || u.column(doubtfulColumn) != word(least <= 0.03) ||
			u.column(findingColumn) != u.Judged[0].Finding ||
			u.column(disputedColumn) != word(u.Judged[0].Finding != u.Judged[1].Finding) ||
			u.column("model") != u.Condition["model"] || u.column("category") != u.Columns["category"] {
			t.Errorf("%+v", u)
		}
		if u.column(doubtfulColumn) == "yes" {
			doubtful++
		}
		if u.column(disputedColumn) == "yes" {
			disputed++
		}
	}
	if disputed == 0 || disputed == 40 || doubtful == 0 || doubtful == 40 {
		t.Errorf("%d disputed, %d doubtful", disputed, doubtful)
	}
	if err := s.check("by", []string{disputedColumn, doubtfulColumn, findingColumn, "model", "category"}); err != nil {
		t.Error(err)
	}
	for doubt, want := range map[float64]string{0.03: "yes", 0.0301: "no"} {
		if got := (&Unit{Doubt: doubt, near: 0.03, Judged: []Judged{{}}}).column(doubtfulColumn); got != want {
			t.Errorf("doubtful at %v: %s", doubt, got)
		}
	}
	again := slices.Clone(s.Units)
	if err := s.add(again[3]); err == nil || !strings.HasPrefix(err.Error(), "item "+again[3].Item+" has two answers with sample 0") {
		t.Error(err)
	}
	lone := newRun(t, pairs(t)[:4], false)
	if err := open(t, lone).check("by", []string{disputedColumn}); err == nil || err.Error() != "by disputed: needs a run with several similarities" {
		t.Error(err)
	}
	old := madeRun(t, `"confusion"},"scoring":[{"rules":{}}]`,
		[]crosstalk.Observation{{Measure: "lpr", Item: "a", Value: 1, Condition: map[string]string{"model": "m"},
			Labels: map[string]string{"language": "de"}}})
	if err := openAs(t, old, answerLanguage).check("by", []string{doubtfulColumn}); err == nil || err.Error() != "by doubtful: this run does not say how sure the instrument was; score it again" {
		t.Error(err)
	}
}

// people are the labels of three people, who agree often: one of them labels half of
// the units, and one label is of no unit.
func people(s *Sheet, units []Unit) (labels []Label) {
	for i, u := range units {
		for k, name := range []string{"ann", "bob", "cy"} {
			if k == 2 && i%2 == 1 {
				continue
			}
			said := []string{Control, Test}[int(math.Ceil(u.Judged[0].Value))]
			if (i*7+k*3)%5 == 0 {
				said = []string{Neither, Test, Control}[(i+k)%3]
			}
			labels = append(labels, s.says(u, name, said))
		}
	}
	other := s.says(units[0], "ann", Test)
	other.Question = answerLanguage
	lost := s.says(units[0], "ann", Test)
	lost.Item = "nowhere"
	return append(labels, other, lost)
}

// TestWholeAgreement compares what labels say of a run, in tables and as corrected
// figures, with testdata/agreement.txt.
func TestWholeAgreement(t *testing.T) {
	dir := leaks(t, 30)
	s := open(t, dir)
	drawn := func(sample Sample) (Design, []Unit) {
		d := plan(t, dir, sample)
		var units []Unit
		for i, u := range s.Units {
			if len(d.strata()) == 0 || i%3 == 0 || u.Judged[0].Finding != "leaked" {
				units = append(units, u)
			}
		}
		return d, units
	}
	var b strings.Builder
	show := func(name string, d Design, labels []Label, o Options) {
		t.Helper()
		o.Draws = 200
		a, err := s.compare(d, labels, o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "== %s: %d of %d, %d unmatched, weighted %q ==\n", name, a.Questions, a.Units, a.Unmatched, a.Weighted)
		for _, f := range a.Figures {
			value := "-"
			if f.Value.Defined() {
				value = fmt.Sprintf("%.4f", f.Value)
			}
			fmt.Fprintf(&b, "%s of %s %v: %s, %s, n %d\n", f.Measure, f.Of, f.By, value, bounds(f.Interval), f.N)
		}
		for _, c := range a.Cells {
			fmt.Fprintf(&b, "%s %v: people say %s, found %s: %d\n", c.Judge, c.By, c.People, c.Found, c.N)
		}
		for _, c := range a.Curves {
			fmt.Fprintf(&b, "%s %v, n %d: %v\n", c.Judge, c.By, c.N, c.Points)
		}
		for _, d := range a.Disagreements {
			fmt.Fprintf(&b, "%s %s %v people %q found %s, %.3f apart, %q %s\n", d.Judge, d.Item, d.Condition, d.People, d.Found, d.Gap, d.Texts, d.Link)
		}
	}
	correct := func(name string, d Design, labels []Label, by ...string) {
		t.Helper()
		figures, err := s.correct(d, labels, by, []crosstalk.Estimate{{Measure: "leak_rate", By: map[string]string{"model": "m1"}, Signature: "leak_rate|suite:s|v1"}})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "== corrected %s ==\n", name)
		for _, e := range figures {
			fmt.Fprintf(&b, "%v %.4f %s n %d of %d, clusters %d, %v %s %s\n", e.By, e.Value, bounds(e.Interval), e.N,
				e.Observations, e.Clusters, e.Counts, e.Better, e.Signature)
		}
	}
	whole, all := drawn(Sample{Seed: 1})
	labels := people(s, all)
	show("all", whole, labels, Options{Worst: 3, By: []string{"category"}})
	show("with links", whole, labels, Options{Worst: 2, Link: func(item string) string { return "/items/" + item }})
	show("one person", whole, slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return l.Annotator != "bob" }), Options{})
	show("few", whole, labels[:8], Options{By: []string{"model"}})
	show("nothing", whole, nil, Options{})
	correct("all", whole, labels)
	correct("by category and model", whole, labels, "category", "model")
	strata, some := drawn(Sample{Seed: 2, By: []string{"finding"}})
	show("stratified", strata, people(s, some), Options{Worst: 1, By: []string{"finding"}})
	correct("stratified", strata, people(s, some), "finding")
	golden.Check(t, "testdata/agreement.txt", b.String())
}

func bounds(i *crosstalk.Interval) string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f to %.4f", i.Low, i.High)
}

// By a column of the condition there is nothing to add: figures are of each condition.
func TestCorrectByCondition(t *testing.T) {
	s := open(t, leaks(t, 12))
	labels := people(s, s.Units)
	var counts []int
	for _, by := range [][]string{nil, {"model"}, {"category"}} {
		figures, err := s.correct(Design{}, labels, by, nil)
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, len(figures))
		for _, e := range figures {
			if e.By["model"] == "" || e.By["model"] == crosstalk.All || e.By["similarity"] == "" || e.Better != crosstalk.Lower ||
				!strings.Contains(e.Signature, "|mean:answers") || strings.Contains(e.Signature, "|labels:") != (e.By[figureColumn] == labelsAlone) {
				t.Errorf("%+v", e)
			}
		}
	}
	if !slices.Equal(counts, []int{12, 12, 36}) {
		t.Errorf("%d figures, want 12, 12 and 36", counts)
	}
}

// Lines know how doubtful they are: those at fault by their probability, the nearest
// of a right answer by its margin.
func TestDoubtOfLines(t *testing.T) {
	o := crosstalk.Observation{Measure: "lpr", Item: "a", Value: 0, Condition: map[string]string{"model": "m"},
		Labels:  map[string]string{"language": "de", "task": "x"},
		Numbers: map[string]float64{"margin": 0.05, "margin_line": 2},
		Spans:   []crosstalk.Span{{Line: 3, Language: "en", Probability: 0.75}, {Line: 4, Probability: 0.5}}}
	o.AddText(crosstalk.Side, "answer", "eins zwei drei vier fünf\nsechs sieben acht neun zehn\none two three four five\nx y z u v w\nkurz")
	dir := madeRun(t, `"confusion"},"scoring":[{"rules":{"MinWords":5,"Threshold":0.3}}]`, []crosstalk.Observation{o})
	var got []string
	for _, u := range openAs(t, dir, Lines).Units {
		got = append(got, fmt.Sprintf("%d %v %s %.2f %s", u.Line, u.Judged[0].Value, u.Judged[0].Finding, u.Doubt, u.column(doubtfulColumn)))
	}
	if want := []string{"1 1  +Inf no", "2 1  0.05 yes", "3 0 en 0.45 no", "4 0 unknown 0.20 no"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if u := openAs(t, dir, answerLanguage).Units[0]; u.Doubt != 0.05 || u.column(doubtfulColumn) != "yes" || u.Topic != "de" {
		t.Errorf("%+v", u)
	}
}

// Readings are of different answers, with the classes of their task; codes are of
// pairs that differ, as they were reviewed or read.
func TestReadingsAndCodes(t *testing.T) {
	answer := func(item, task, text, class, gold, confidence, reading string) crosstalk.Observation {
		o := crosstalk.Observation{Measure: "accuracy", Item: item, Value: 1,
			Condition: map[string]string{"model": "m", "reading": reading}, Labels: map[string]string{"task": task}}
		for _, x := range [][2]string{{"rule", "r"}, {"instruction", "choose"}, {"answer", text}, {"class", class}, {"gold", gold}, {"confidence", confidence}} {
			o.AddText(crosstalk.Fact, x[0], x[1])
		}
		return o
	}
	unread := answer("u", "sentiment", "x", "a", "a", "high", "as read")
	unread.Texts = slices.DeleteFunc(unread.Texts, func(x crosstalk.NamedText) bool { return x.Name == "rule" })
	pair := func(item, finding, reading, source, input string) crosstalk.Observation {
		o := crosstalk.Observation{Measure: "consistency", Item: item, Value: 0, Finding: finding,
			Condition: map[string]string{"model": "m", "reading": reading}, Labels: map[string]string{"task": "t"}}
		if source != "" {
			o.AddText(crosstalk.Given, "source_input", source)
		}
		if input != "" {
			o.AddText(crosstalk.Given, "input", input)
		}
		return o
	}
	observations := []crosstalk.Observation{
		answer("1", "sentiment", "good", "positive", "negative", "high", "as read"), answer("1", "sentiment", "good", "positive", "negative", "high", "with review"),
		answer("2", "sentiment", "good", "positive", "negative", "high", "as read"), answer("3", "sentiment", "hm", "", "neutral", "low", "as read"),
		answer("4", "topic", "good", "sports", "", "", "as read"), unread,
	}
	s := openAs(t, madeRun(t, `"consistency"},"scoring":[{"rules":{}}]`, observations), Reading)
	var got []string
	for _, u := range s.Units {
		got = append(got, fmt.Sprintf("%s %s %q %v", u.Item, u.column(findingColumn), u.Choices, u.Doubt))
	}
	want := []string{`1 positive ["negative" "neutral" "positive" "none" "cannot tell"] 1`, `3 none ["negative" "neutral" "positive" "none" "cannot tell"] 0`, `4 sports ["sports" "none" "cannot tell"] 0`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := s.Question.labels(); !slices.Equal(got, []string{"negative", "neutral", "positive", "sports", "none", "cannot tell"}) {
		t.Errorf("%q", got)
	}
	// The majority overrides; who cannot tell, or does not agree, does not.
	labels := []Label{s.says(s.Units[0], "ann", "negative"), s.says(s.Units[0], "bob", "negative"), s.says(s.Units[0], "cy", "positive"),
		s.says(s.Units[1], "ann", noClass), s.says(s.Units[2], "ann", "sports"), s.says(s.Units[2], "bob", noClass)}
	if got := s.overrides(labels); len(got) != 2 {
		t.Errorf("%+v", got)
	}
	a, err := s.compare(Design{}, labels, Options{})
	if err != nil || a.Questions != 3 {
		t.Errorf("%+v, %v", a, err)
	}
	pairs := []crosstalk.Observation{pair("1", "inconsistent", "with review", "Wie?", "How?"), pair("2", "consistent", "with review", "Wo?", "Where?"),
		pair("1", "inconsistent", "as read", "Wie?", "How?"), pair("3", "inconsistent", "", "Wann?", "When?")}
	codes := openAs(t, madeRun(t, `"consistency"},"scoring":[{"rules":{}}]`, pairs), Codes)
	got = nil
	for _, u := range codes.Units {
		got = append(got, fmt.Sprintf("%s %q", u.Item, u.Given))
	}
	if want := []string{`1 ["Wie?" "How?"]`, `3 ["Wann?" "When?"]`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A sentence that sums up many notes.
func TestNoted(t *testing.T) {
	for want, notes := range map[string][]Note{
		"":                       nil,
		"1 answer has a note.":   {{Text: "x"}},
		"2 answers have a note.": {{Text: "x"}, {Text: "y"}},
		"1 answer has a note or a mark; 1 is marked as no error. Figures do not change with a mark.":    {{NotError: true}},
		"3 answers have a note or a mark; 2 are marked as no error. Figures do not change with a mark.": {{NotError: true}, {Text: "x"}, {NotError: true, Text: "x"}},
	} {
		var n Noted
		for _, note := range notes {
			n.Add(note)
		}
		if n.String() != want {
			t.Errorf("%q, want %q", n.String(), want)
		}
	}
	for text, ok := range map[string]bool{strings.Repeat("é", LongestNote): true, strings.Repeat("é", LongestNote+1): false} {
		if err := AddNote(t.TempDir(), Note{Place: Place{Item: "a"}, Text: text}); (err == nil) != ok {
			t.Errorf("%d characters: %v", len([]rune(text)), err)
		}
	}
}

// The columns of lengths and their order.
func TestLengths(t *testing.T) {
	var got []string
	for _, n := range []int{1, 20, 21, 50, 51, 100, 101, 200, 201} {
		got = append(got, (&Unit{Place: Place{Line: 1}, Texts: [2]string{strings.Repeat("ü", n)},
			Judged: []Judged{{}}}).column(lengthColumn))
	}
	want := []string{"1 to 20", "1 to 20", "21 to 50", "21 to 50", "51 to 100", "51 to 100", "101 to 200", "101 to 200", "201 or more"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	list := []string{"201 or more", "b", "51 to 100", "1 to 20", "a", "51 to 9"}
	slices.SortFunc(list, compareNumbered)
	if !slices.Equal(list, []string{"a", "b", "1 to 20", "51 to 100", "51 to 9", "201 or more"}) {
		t.Errorf("%q", list)
	}
}

func word(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
