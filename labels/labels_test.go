package labels

import (
	"crosstalk/instrument"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"crosstalk"
)

// Names of questions, and labels of leakage.
const (
	NearerText     = "leakage"
	answerLanguage = "confusion"
	Lines          = "lines"
	SameMeaning    = "consistency"

	Test    = "test"
	Control = "control"
	Neither = "neither"
)

// pair is a pair of answers of testdata/pairs109.csv: two people's labels, with
// many ties, and the difference of two similarities.
type pair struct {
	item, cluster, a, b string
	difference          float64
}

func pairs(t *testing.T) (list []pair) {
	t.Helper()
	f, err := os.Open("testdata/pairs109.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		d, err := strconv.ParseFloat(r[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, pair{r[0], r[1], r[2], r[3], d})
	}
	return list
}

// newRun writes a leakage run of these pairs. swapped exchanges what the test
// and the control answered.
func newRun(t *testing.T, pairs []pair, swapped bool) string {
	t.Helper()
	dir := t.TempDir()
	var lines strings.Builder
	for _, p := range pairs {
		value, finding := 0.5, "tie"
		if d := p.difference; d > 0 != swapped && d != 0 {
			value, finding = 1, "leaked"
		} else if d != 0 {
			value, finding = 0, "not leaked"
		}
		test, control := "east of "+p.item, "west of "+p.item
		if swapped {
			test, control = control, test
			p.difference = -p.difference
		}
		o := crosstalk.Observation{Measure: "leak_rate", Item: p.item, Cluster: p.cluster, Value: crosstalk.Value(value),
			Finding:   finding,
			Condition: map[string]string{"model": "secret-model", "similarity": "gloss@1"},
			Labels:    map[string]string{"category": p.cluster[:2], "language": "en"},
			Numbers:   map[string]float64{"test": p.difference, "control": 0}}
		o.AddText(crosstalk.Topic, "concept", "word "+p.item[1:])
		o.AddText(crosstalk.Side, "test", test)
		o.AddText(crosstalk.Side, "control", control)
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(text, '\n'))
	}
	write(t, filepath.Join(dir, "manifest.json"), `{"schema":"crosstalk/run/v1","plan":{"instrument":"leakage"}}`)
	write(t, filepath.Join(dir, "estimates.json"), noFigures)
	write(t, filepath.Join(dir, "observations.jsonl"), lines.String())
	return dir
}

// noFigures is the estimates.json of a finished run.
const noFigures = `{"schema":"crosstalk/estimates/v1","estimates":[]}`

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *Sheet {
	t.Helper()
	s, err := Open(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func plan(t *testing.T, dir string, sample Sample) Design {
	t.Helper()
	d, err := Plan(dir, sample)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// sheet is the rows of an exported CSV sheet, the header first.
func sheet(t *testing.T, s *Sheet, d Design, units []Unit, annotator string) [][]string {
	t.Helper()
	var b strings.Builder
	q := Questionnaire{s.Question, d.Ask(s.Question, units, annotator, 1), 0}
	if err := q.Write(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// fill answers a sheet as a person who sees only the texts, and imports it.
func fill(t *testing.T, dir string, d Design, annotator string, units []Unit, label func(item string) string) {
	t.Helper()
	s := open(t, dir)
	rows := sheet(t, s, d, units, annotator)
	for _, r := range rows[1:] {
		_, item, _ := strings.Cut(r[3], " of ")
		switch label(item) {
		case Neither:
			r[6] = "Neither"
		case Test:
			r[6] = map[bool]string{true: "A", false: "b"}[strings.HasPrefix(r[3], "east")]
		case Control:
			r[6] = map[bool]string{true: "a", false: "B"}[strings.HasPrefix(r[3], "west")]
		}
	}
	file := filepath.Join(t.TempDir(), annotator+".csv")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := csv.NewWriter(f).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	f.Close()
	imported, err := s.importSheet(d, file, Label{Annotator: annotator}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := Append(dir, imported.Labels...); err != nil {
		t.Fatal(err)
	}
}

// Two people label 109 pairs on sheets of their own. The expected values are
// from scipy 1.10.1 (kendalltau) and, in Python, from the definitions of kappa
// (Cohen 1960), of alpha (Krippendorff 2011, by coincidences) and of tau-b with
// slack 0.03.
func TestAgreement(t *testing.T) {
	list := pairs(t)
	dir := newRun(t, list, false)
	d := plan(t, dir, Sample{Seed: 1})
	a, b := map[string]string{}, map[string]string{}
	for _, p := range list {
		a[p.item], b[p.item] = p.a, p.b
	}
	fill(t, dir, d, "ann", open(t, dir).Units, func(item string) string { return a[item] })
	fill(t, dir, d, "bob", open(t, dir).Units, func(item string) string { return b[item] })
	labels, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	got, err := s.compare(d, labels, Options{Worst: 5, Draws: 300})
	if err != nil {
		t.Fatal(err)
	}
	if got.Labels != 218 || got.Questions != 109 {
		t.Errorf("%d labels of %d questions; expected 218 of 109", got.Labels, got.Questions)
	}
	value := func(measure, of string) float64 {
		for _, f := range got.Figures {
			if f.Measure == measure && f.Of == of {
				if f.Interval == nil || !f.Interval.Contains(float64(f.Value)) {
					t.Errorf("%s of %s: %v is not in its interval %v", measure, of, f.Value, f.Interval)
				}
				return float64(f.Value)
			}
		}
		t.Errorf("no %s of %s", measure, of)
		return math.NaN()
	}
	for _, want := range []struct {
		measure, of string
		value       float64
	}{
		{Share, Test, 84.0 / 218}, {Share, Control, 44.0 / 218}, {Share, Neither, 90.0 / 218},
		{Rate, "people", (84 + 90.0/2) / 218}, {Rate, "ann", 0.6146788990825688}, {Rate, "bob", 0.5688073394495413},
		{TauB, "ann and bob", 0.5583179534125872}, {CohensKappa, "ann and bob", 0.6430442756091171},
		{Alpha, "all annotators", 0.6434674027339642}, {TauB, "gloss@1 and people", 0.2990753854859213},
		{Sensitivity, "gloss@1", 25.0 / 32}, {Specificity, "gloss@1", 32.0 / 77}, {SameFindings, "gloss@1", 57.0 / 109},
	} {
		if x := value(want.measure, want.of); !(math.Abs(x-want.value) < 1e-12) {
			t.Errorf("%s of %s is %v; expected %v", want.measure, want.of, x, want.value)
		}
	}
	mean := (value(TauB, "gloss@1 and ann") + value(TauB, "gloss@1 and bob")) / 2
	if x := value(TauB, "gloss@1 and annotators, mean"); !(math.Abs(x-mean) < 1e-12) {
		t.Errorf("mean tau-b of annotators is %v; expected %v", x, mean)
	}
	if _, err := s.compare(d, labels, Options{By: []string{"mood"}}); err == nil || !strings.Contains(err.Error(), "unknown column mood; choose one of: category, ") {
		t.Errorf("unknown column: %v", err)
	}
}

// A sheet does not tell which side is the test answer: it is the same, but for
// the texts, whichever it is.
func TestBlind(t *testing.T) {
	list := pairs(t)
	dir, other := newRun(t, list, false), newRun(t, list, true)
	d := plan(t, dir, Sample{Seed: 1})
	a, b := open(t, dir), open(t, other)
	one, two := sheet(t, a, d, a.Units, "ann"), sheet(t, b, d, b.Units, "ann")
	first, inOrder := 0, 0
	for i, r := range one {
		for c, cell := range r {
			want := two[i][c]
			if i > 0 && (c == 3 || c == 4) {
				want = two[i][7-c] // the other side
			}
			if cell != want {
				t.Fatalf("row %d: %q would be %q if test and control were exchanged", i+1, cell, want)
			}
		}
		for _, cell := range r {
			for _, hint := range []string{"secret-model", "control", "leaked", "gloss", "category"} {
				if strings.Contains(cell, hint) {
					t.Errorf("row %d shows %q", i+1, cell)
				}
			}
		}
		if i > 0 && strings.HasPrefix(r[3], "east") {
			first++
		}
		if i > 1 && r[2] > one[i-1][2] {
			inOrder++
		}
	}
	// 109 fair draws are outside of these with a probability below 1e-6.
	if first < 29 || first > 80 {
		t.Errorf("the test answer is A in %d of 109 questions", first)
	}
	if inOrder > 80 {
		t.Errorf("%d of 108 questions follow the order of the run", inOrder)
	}
	again, bob := sheet(t, a, d, a.Units, "ann"), sheet(t, a, d, a.Units, "bob")
	if fmt.Sprint(again) != fmt.Sprint(one) {
		t.Error("the same annotator gets another sheet")
	}
	if fmt.Sprint(bob) == fmt.Sprint(one) {
		t.Error("another annotator gets the same sheet")
	}
	e := plan(t, other, Sample{Seed: 1})
	if e.Secret == d.Secret || fmt.Sprint(sheet(t, a, e, a.Units, "ann")) == fmt.Sprint(one) {
		t.Error("two runs share a secret")
	}
	var text strings.Builder
	if err := (Questionnaire{a.Question, d.Ask(a.Question, a.Units, "ann", 1), 0}).Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, hint := range []string{d.Secret, "secret-model", "gloss", "leaked", "control", "t007"} {
		if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(text.String(), "east of t007", ""), "west of t007", ""), hint) {
			t.Errorf("the sheet shows %q", hint)
		}
	}
}

func TestDraw(t *testing.T) {
	list := pairs(t)
	s := open(t, newRun(t, list, false))
	count := func(units []Unit) map[string]int {
		n := map[string]int{}
		for _, u := range units {
			n[u.column(findingColumn)]++
		}
		return n
	}
	units, err := s.Draw(Sample{N: 30, By: []string{findingColumn}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(units); n["tie"] != 4 || n["leaked"] != 13 || n["not leaked"] != 13 {
		t.Errorf("drawn %v; expected all 4 ties and 13 of each other finding", n)
	}
	again, _ := s.Draw(Sample{N: 30, By: []string{findingColumn}, Seed: 1})
	other, _ := s.Draw(Sample{N: 30, By: []string{findingColumn}, Seed: 2})
	if fmt.Sprint(units) != fmt.Sprint(again) || fmt.Sprint(units) == fmt.Sprint(other) {
		t.Error("a seed should draw one sample, another seed another")
	}
	if _, err := s.Draw(Sample{N: 2, By: []string{findingColumn}}); err == nil || !strings.Contains(err.Error(), "smaller than the number of strata, 3") {
		t.Errorf("fewer than strata: %v", err)
	}
}

// One answer for each prompt, or one sample of all, can be asked about.
func TestDrawItems(t *testing.T) {
	s := &Sheet{Question: questionsOf(instrument.Named("leakage"))[0], at: map[string]int{}}
	for i := range 60 {
		at := Place{Item: fmt.Sprint("item-", i%12), Sample: i / 12, Condition: map[string]string{"model": "m"}}
		u := Unit{Place: at, Judged: make([]Judged, 1)}
		if err := s.add(u); err != nil {
			t.Fatal(err)
		}
	}
	items, samples := map[string]int{}, map[int]int{}
	units, err := s.Draw(Sample{N: 12, By: []string{"item"}, Seed: 1})
	for _, u := range units {
		items[u.Item]++
		samples[u.Sample]++
	}
	if err != nil || len(units) != 12 || len(items) != 12 || len(samples) < 3 {
		t.Errorf("%d units of %d items and %d samples, %v; expected one of each of 12 items", len(units), len(items), len(samples), err)
	}
	units, err = s.Draw(Sample{Only: []string{"sample=5"}})
	for _, u := range units {
		if u.Sample != 4 {
			t.Errorf("sample %d among those of number 5", u.Sample)
		}
	}
	if err != nil || len(units) != 12 {
		t.Errorf("%d units of sample 5, %v", len(units), err)
	}
	if _, err := s.Draw(Sample{Only: []string{"sample=0"}}); err == nil {
		t.Error("there is a sample 0")
	}
}

// Labels of a sample by finding: figures are those of the whole run. Everybody
// finds a leak in what leaked and in nothing else, so that they equal the
// instrument's share.
func TestStratified(t *testing.T) {
	list := pairs(t)
	dir := newRun(t, list, false)
	sample := Sample{N: 60, By: []string{findingColumn}, Seed: 1}
	s, d := open(t, dir), plan(t, dir, sample)
	units, err := s.Draw(sample)
	if err != nil {
		t.Fatal(err)
	}
	leaked, ties, difference := 0.0, 0.0, map[string]float64{}
	for _, p := range list {
		difference[p.item] = p.difference
		if p.difference > 0 {
			leaked++
		} else if p.difference == 0 {
			ties++
		}
	}
	fill(t, dir, d, "ann", units, func(item string) string {
		if difference[item] > 0 {
			return Test
		}
		return Neither
	})
	labels, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.compare(d, labels, Options{Draws: 300})
	if err != nil {
		t.Fatal(err)
	}
	want := (leaked + (109-leaked)/2) / 109
	if x := float64(got.Figures[0].Value); math.Abs(x-want) > 1e-12 {
		t.Errorf("rate is %v; expected %v", x, want)
	}
	own := []crosstalk.Estimate{{Measure: "leak_rate", By: map[string]string{"model": "secret-model"}, Signature: "leak_rate|x|v1"}}
	estimates, err := s.correct(d, labels, []string{"category"}, own)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range []struct {
		figure, signature string
		value             float64
	}{
		{uncorrected, "leak_rate|x|v1", (leaked + ties/2) / 109},
		{labelsAlone, "leak_rate|x|labels:60|v1", want},
		{corrected, "leak_rate|x|corrected:60-labels|v1", want},
	} {
		e := estimates[i]
		if e.By[figureColumn] != w.figure || e.Signature != w.signature || math.Abs(float64(e.Value)-w.value) > 1e-12 ||
			e.Interval == nil {
			t.Errorf("%s: %v, %s; expected %v, %s with an interval", e.By[figureColumn], e.Value, e.Signature, w.value, w.signature)
		}
	}
}

// A bootstrap of few units, or of units that hardly vary, has no interval.
func TestDegenerateBootstrap(t *testing.T) {
	units := func(n, apart int) (list []labelledUnit) {
		for i := range n {
			label := "yes"
			if i < apart {
				label = "no"
			}
			list = append(list, labelledUnit{Unit: &Unit{Cluster: fmt.Sprint(i)}, labels: map[string]string{"ann": label, "bob": "yes"}})
		}
		return list
	}
	count := func(list []labelledUnit) statistic { // undefined without a unit that is apart
		return func(at []int) float64 {
			n := 0.0
			for _, i := range at {
				if list[i].labels["ann"] == "no" {
					n++
				}
			}
			if n == 0 {
				return math.NaN()
			}
			return n / float64(len(at))
		}
	}
	for _, c := range []struct {
		n, apart int
		interval bool
	}{{3, 2, false}, {9, 5, false}, {10, 5, true}, {40, 1, false}, {40, 3, true}, {40, 40, false}} {
		list := units(c.n, c.apart)
		var own comparison
		own.o.Draws = 500
		own.add(TauB, "x", nil, list, count(list))
		if got := own.result.Figures[0].Interval != nil; got != c.interval {
			t.Errorf("%d units, %d apart: interval %v", c.n, c.apart, own.result.Figures[0].Interval)
		}
	}
}

// fault is why a sheet or a row of it cannot be read.
func fault(got Imported, err error) error { return errors.Join(append(got.Odd, err)...) }

func TestImportRefuses(t *testing.T) {
	list := pairs(t)[:3]
	dir := newRun(t, list, false)
	s, d := open(t, dir), plan(t, dir, Sample{Seed: 1})
	id := func(unit int) string { return d.id(s.Units[unit].key, false) }
	ann := Label{Annotator: "ann"}
	old := []Label{{Question: "leakage", Place: s.Units[0].Place, Annotator: "ann", Label: Test}}
	answeredBefore := d.id(s.Units[0].key, true)
	for _, c := range []struct{ name, text, want string }{
		{"x.csv", "id,label\n" + id(1) + ",A\nfedcba,B\n", "x.csv:3: unknown id fedcba"},
		{"x.csv", "id,label\n" + id(1) + ",A\n" + id(2) + ",\n" + id(1) + ",A\n", "x.csv:4: duplicate id " + id(1) + " (first used in "},
		{"x.csv", "id,label\n" + id(1) + ",test\n", `x.csv:2: unknown label "test"; choose one of: A, B, neither`},
		{"x.csv", "id,answer\n" + id(1) + ",A\n", "x.csv:1: no column label"},
		{"x.csv", "id,label,seconds\n" + id(1) + ",A,-1\n", "x.csv:2: seconds is \"-1\""},
		{"x.csv", "id,label\n" + answeredBefore + ",A\n", "x.csv:2: ann has answered question " + answeredBefore + " before"},
	} {
		file := filepath.Join(t.TempDir(), c.name)
		write(t, file, c.text)
		if got, err := s.importSheet(d, file, ann, old, time.Now()); fault(got, err) == nil ||
			!strings.Contains(fault(got, err).Error(), c.want) {
			t.Errorf("%q: %v; expected %q", c.text, err, c.want)
		}
	}
}

func TestStore(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, File)
	label := func(item, annotator, label string) Label {
		return Label{Question: "leakage", Place: Place{Item: item}, Annotator: annotator, Label: label}
	}
	if list, err := Read(dir); err != nil || list != nil {
		t.Fatalf("no file: %v, %v", list, err)
	}
	if err := Append(dir, label("1", "ann", Test), label("2", "ann", Test), label("1", "bob", Control), label("3", "ann", Test)); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v; expected 0600", info.Mode())
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"question":"leakage","item":"9","annot`) // a crash
	f.Close()
	if list, err := Read(dir); err != nil || len(list) != 4 {
		t.Errorf("after a crash: %d labels, %v; expected 4", len(list), err)
	}
	if err := Append(dir, label("1", "ann", Neither), label("3", "ann", "")); err != nil { // changed; withdrawn
		t.Fatal(err)
	}
	list, err := Read(dir)
	if err != nil || len(list) != 3 || list[0].Label != Neither || list[2].Annotator != "bob" {
		t.Errorf("%+v, %v; expected the last label of each, without a withdrawn one", list, err)
	}
	if err := Append(dir, label("1", "ann", "A")); err == nil || !strings.Contains(err.Error(), `unknown label "A"; choose one of: test, control, neither`) {
		t.Errorf("unknown label: %v", err)
	}
	text, _ := os.ReadFile(file)
	write(t, file, string(text)+"{}\n")
	if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), File+":7: invalid label: unknown question") {
		t.Errorf("a bad line: %v", err)
	}
}

// Labels of several annotators at once are all there, and whole.
func TestAppendAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wait sync.WaitGroup
	for a := range 8 {
		wait.Go(func() {
			for i := range 20 {
				if err := Append(dir, Label{Question: "leakage", Place: Place{Item: strconv.Itoa(i)}, Annotator: strconv.Itoa(a),
					Label: Test}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if list, err := Read(dir); err != nil || len(list) != 160 {
		t.Errorf("%d labels, %v; expected 160", len(list), err)
	}
}

// A link in place of the labels of a run that somebody prepared is not followed.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	write(t, victim, "")
	for _, target := range []string{"victim", "made-by-the-link"} {
		os.Remove(filepath.Join(dir, File))
		if err := os.Symlink(target, filepath.Join(dir, File)); err != nil {
			t.Skip(err)
		}
		if err := Append(dir, Label{Question: "leakage", Place: Place{Item: "1"}, Annotator: "ann", Label: Test}); err == nil {
			t.Error("a link was followed for writing")
		}
		if _, err := Read(dir); err == nil {
			t.Error("a link was followed for reading")
		}
	}
	if text, _ := os.ReadFile(victim); len(text) > 0 {
		t.Error("the linked file was written")
	}
	if _, err := os.Stat(filepath.Join(dir, "made-by-the-link")); err == nil {
		t.Error("the link's target was made")
	}
}

// Every instrument's observations become questions with a topic and texts.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		instrument, observations, topic string
		units                           int
		labels                          string
	}{
		{"confusion", `{"measure":"lpr","item":"1","value":0,"finding":"line","condition":{},"labels":{"language":"de"},"texts":[{"name":"answer","role":"side","text":"no"}]}
{"measure":"wpr","item":"1","value":1,"condition":{}}
{"measure":"lpr","item":"2","value":null,"not_scored":"empty","condition":{},"labels":{"language":"de"}}
`, "de", 1, "right wrong cannot tell"},
		{"consistency", `{"measure":"consistency","item":"1","variant":"T","value":1,"condition":{},"texts":[{"name":"source_input","role":"given","text":"why?"},{"name":"source","role":"side","text":"no"}]}
{"measure":"consistency","item":"1","variant":"I","value":1,"condition":{},"texts":[{"name":"source","role":"side","text":"no"}]}
`, "why?", 2, "yes no cannot tell"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "manifest.json"), `{"schema":"crosstalk/run/v1","plan":{"instrument":"`+c.instrument+`"}}`)
		write(t, filepath.Join(dir, "estimates.json"), noFigures)
		write(t, filepath.Join(dir, "observations.jsonl"), c.observations)
		s := open(t, dir)
		if len(s.Units) != c.units || strings.Join(s.Question.labels(), " ") != c.labels {
			t.Fatalf("%s: %d questions with labels %v; expected %d with %s", c.instrument, len(s.Units), s.Question.labels(), c.units, c.labels)
		}
		for _, u := range s.Units {
			if u.Topic != c.topic || u.Texts[0] != "no" {
				t.Errorf("%s: topic %q, text %q; expected %q, no", c.instrument, u.Topic, u.Texts[0], c.topic)
			}
		}
	}
}
