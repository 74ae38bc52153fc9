package labels

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/measure/stats"
)

// confusionRun writes a run of 12 answers in Arabic: lines 1 where LPR is, words
// 1 where WPR is too, and -1 where words cannot be told.
func confusionRun(t *testing.T, lines, words []int) string {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	for i := range lines {
		o := crosstalk.Observation{Measure: "lpr", Item: fmt.Sprint(i), Value: crosstalk.Value(lines[i]),
			Condition: map[string]string{"model": "m"},
			Labels:    map[string]string{"language": "ar", "task": "monolingual"}}
		o.AddText(crosstalk.Side, "answer", "a b c d e\nf g h i j")
		w := o
		w.Measure, w.Texts, w.Value = "wpr", nil, crosstalk.Value(words[i])
		if words[i] < 0 {
			w.Value, w.NotScored = crosstalk.Undefined, "cannot tell"
		}
		if lines[i] == 0 {
			o.Finding, o.Spans = "line", []crosstalk.Span{{Line: 2, Language: "fa"}}
			w.Value, w.NotScored, w.Implied = crosstalk.Undefined, "line error", true
		}
		for _, o := range []crosstalk.Observation{o, w} {
			line, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(append(line, '\n'))
		}
	}
	write(t, filepath.Join(dir, "manifest.json"), `{"schema":"crosstalk/run/v1","plan":{"instrument":"confusion"},"scoring":[{"rules":{"MinWords":5,"Threshold":0.3}}]}`)
	write(t, filepath.Join(dir, "estimates.json"), noFigures)
	write(t, filepath.Join(dir, "observations.jsonl"), text.String())
	return dir
}

// Answers whose words cannot be told have no words, right or wrong.
func TestReadWords(t *testing.T) {
	dir := confusionRun(t, []int{1, 1, 1, 0}, []int{1, 0, -1, 0})
	s := open(t, dir)
	if !maps.Equal(s.words, map[int]float64{0: 1, 1: 0, 3: 0}) {
		t.Error(s.words)
	}
}

// People label eight of twelve answers; the ratio of answers without a wrong word
// to those without a wrong line is the WPR of the labels, and LCPR the harmonic
// mean. If people labelled all that the instrument says, figures are its own.
func TestCorrectWords(t *testing.T) {
	lines := []int{1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1}
	words := []int{1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0}
	dir := confusionRun(t, lines, words)
	label := func(i int, right, word bool) Label {
		l := Label{Question: answerLanguage, Place: Place{Item: fmt.Sprint(i), Condition: map[string]string{"model": "m"}},
			Annotator: "ann", Label: "wrong"}
		if right {
			l.Label = "right"
		}
		if !word {
			l.Words = []Word{{0, 1, "a"}}
		}
		return l
	}
	var given, all []Label
	for i := range lines {
		if i < 8 { // people see no wrong line in 4, and a wrong word in 0
			given = append(given, label(i, lines[i] == 1 || i == 4, words[i] == 1 && i > 0))
		}
		all = append(all, label(i, lines[i] == 1, words[i] == 1))
	}
	s := open(t, dir)
	own := []crosstalk.Estimate{{Measure: "wpr", By: map[string]string{"model": "m"}, Signature: "wpr|list:x|v1"}}
	figures := func(given []Label) map[string]float64 {
		estimates, err := s.correct(Design{}, given, nil, own)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, e := range estimates {
			got[e.Measure+" "+e.By[figureColumn]] = float64(e.Value)
			if e.Interval == nil || !e.Interval.Contains(float64(e.Value)) {
				t.Errorf("%s %s: %v has the interval %v", e.Measure, e.By[figureColumn], e.Value, e.Interval)
			}
			if e.Measure == "wpr" && e.By[figureColumn] == corrected && e.Signature != fmt.Sprintf("wpr|list:x|corrected:%d-labels|v1", len(given)) {
				t.Errorf("signature %s", e.Signature)
			}
		}
		return got
	}
	got := figures(given)
	harmonic := func(a, b float64) float64 { return 2 * a * b / (a + b) }
	for name, want := range map[string]float64{
		"lpr uncorrected": 10.0 / 12, "wpr uncorrected": 7.0 / 10, "lcpr uncorrected": harmonic(10.0/12, 0.7),
		"lpr labels alone": 7.0 / 8, "wpr labels alone": 3.0 / 7, "lcpr labels alone": harmonic(7.0/8, 3.0/7),
	} {
		if math.Abs(got[name]-want) > 1e-12 {
			t.Errorf("%s is %v; expected %v", name, got[name], want)
		}
	}
	got = figures(all)
	for _, measure := range []string{"lpr", "wpr", "lcpr"} {
		if math.Abs(got[measure+" corrected"]-got[measure+" uncorrected"]) > 1e-12 {
			t.Errorf("%s: corrected %v by labels that say the same, uncorrected %v", measure, got[measure+" corrected"], got[measure+" uncorrected"])
		}
	}
	for i := range given {
		given[i].Words = nil
	}
	if s.markedWords(given) || len(figures(given)) != 3 {
		t.Error("WPR is corrected though nobody marked a word")
	}
}

// Lines are compared by language and length, and correct line accuracy.
func TestLines(t *testing.T) {
	dir := confusionRun(t, []int{1, 0, 1}, []int{1, 1, 1})
	s, err := Open(dir, Lines)
	if err != nil {
		t.Fatal(err)
	}
	var given []Label
	for i := range 3 {
		for line := 1; line <= 2; line++ {
			l := Label{Question: Lines, Place: Place{Item: fmt.Sprint(i), Line: line, Condition: map[string]string{"model": "m"}},
				Annotator: "ann", Label: "right"}
			if i == 1 && line == 1 || i == 2 && line == 2 {
				l.Label = "wrong"
			}
			given = append(given, l)
		}
	}
	a, err := s.compare(Design{}, given, Options{By: []string{"language", lengthColumn}, Worst: 9, Draws: 100,
		Link: func(item string) string { return "/" + item }})
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]int{}
	for _, c := range a.Cells {
		cells[c.By["language"]+c.By[lengthColumn]+" "+c.People+" "+c.Found] = c.N
	}
	want := map[string]int{}
	for _, by := range []string{"", "ar", "1 to 20"} {
		want[by+" right none"], want[by+" wrong none"], want[by+" right fa"] = 3, 2, 1
	}
	if !maps.Equal(cells, want) {
		t.Errorf("cells %v; expected %v", cells, want)
	}
	if len(a.Disagreements) != 3 || a.Disagreements[0].Link == "" || a.Disagreements[0].Line == 0 {
		t.Errorf("%+v", a.Disagreements)
	}
	estimates, err := s.correct(Design{}, given, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if e := estimates[1]; e.Measure != "line_accuracy" || math.Abs(float64(e.Value)-4.0/6) > 1e-12 || !strings.Contains(e.Signature, "mean:lines|labels:6") {
		t.Errorf("%+v", e)
	}
}

func TestLength(t *testing.T) {
	for n, want := range map[int]string{1: "1 to 20", 20: "1 to 20", 21: "21 to 50", 200: "101 to 200", 201: "201 or more"} {
		if got := length(strings.Repeat("ß", n)); got != want {
			t.Errorf("%d characters: %s; expected %s", n, got, want)
		}
	}
	if compareNumbered("21 to 50", "101 to 200") >= 0 || compareNumbered("de", "en") >= 0 {
		t.Error("wrong order")
	}
}

// Tau-b, kappa and alpha are given by category; the curve has the value of each
// slack; kappa of the similarity and people is Cohen's.
func TestAgreementByCategory(t *testing.T) {
	list := pairs(t)
	dir := newRun(t, list, false)
	d := plan(t, dir, Sample{Seed: 1})
	a, b := map[string]string{}, map[string]string{}
	for _, p := range list {
		a[p.item], b[p.item] = p.a, p.b
	}
	s := open(t, dir)
	fill(t, dir, d, "ann", s.Units, func(item string) string { return a[item] })
	fill(t, dir, d, "bob", s.Units, func(item string) string { return b[item] })
	given, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.compare(d, given, Options{By: []string{"category"}, Draws: 100})
	if err != nil {
		t.Fatal(err)
	}
	category := list[0].cluster[:2]
	var x, y []string
	for _, p := range list {
		if p.cluster[:2] == category {
			x, y = append(x, p.a), append(y, p.b)
		}
	}
	want := stats.CohenKappa(x, y)
	found := map[string]bool{}
	for _, f := range got.Figures {
		if f.By["category"] != category {
			continue
		}
		found[f.Measure] = true
		if f.Measure == CohensKappa && f.Of == "ann and bob" && (f.N != len(x) || math.Abs(float64(f.Value)-want) > 1e-12) {
			t.Errorf("kappa %v of %d; expected %v of %d", f.Value, f.N, want, len(x))
		}
	}
	for _, measure := range []string{TauB, CohensKappa, Alpha, Sensitivity} {
		if !found[measure] {
			t.Errorf("no %s by category", measure)
		}
	}
	// scipy has the first, and the definition with slack the second (TestAgreement).
	curve := map[float64]float64{}
	for _, p := range got.Curves[0].Points {
		curve[p.Slack] = float64(p.Tau)
	}
	if math.Abs(curve[0]-0.29013835681203537) > 1e-12 || math.Abs(curve[0.03]-0.2990753854859213) > 1e-12 {
		t.Errorf("curve %v", curve)
	}
	// Shares of people and of the similarity, in the same terms.
	shares := map[string]float64{}
	for _, e := range s.shares(d, given) {
		shares[e.By[JudgeColumn]+" "+e.By[LabelColumn]] = float64(e.Value)
	}
	leaked := 0.0
	for _, p := range list {
		if p.difference > 0 {
			leaked++
		}
	}
	if math.Abs(shares["people test"]-84.0/218) > 1e-12 || math.Abs(shares["people neither"]-90.0/218) > 1e-12 || shares["gloss@1 test"] != leaked/109 {
		t.Errorf("%v", shares)
	}
	weights := 0.0
	for _, said := range s.said(d, given) {
		weights += said.Weight
	}
	if math.Abs(weights-218) > 1e-9 {
		t.Errorf("weights add up to %v; expected 218 labels", weights)
	}
}

// Findings in the words of an answer do not count if its lines were not scored.
func TestWordsWithoutLines(t *testing.T) {
	words := crosstalk.Observation{Measure: "wpr", Item: "x", Value: 1, Condition: map[string]string{"model": "m"}}
	lines := crosstalk.Observation{Measure: "lpr", Item: "y", Value: 1, Condition: map[string]string{"model": "m"}}
	s := openAs(t, madeRun(t, `"confusion"},"scoring":[{"rules":{}}]`, []crosstalk.Observation{words, lines, words}), "")
	if len(s.Units) != 1 || len(s.words) != 0 {
		t.Errorf("%+v, %v", s.Units, s.words)
	}
}

// Observations that cannot be read are no answers to ask about.
func TestOpenOfBroken(t *testing.T) {
	dir := madeRun(t, `"confusion"},"scoring":[{"rules":{}}]`, nil)
	write(t, filepath.Join(dir, "observations.jsonl"), "{\n")
	if _, err := Open(dir, ""); err == nil || !strings.Contains(err.Error(), "observations.jsonl") {
		t.Errorf("%v", err)
	}
}
