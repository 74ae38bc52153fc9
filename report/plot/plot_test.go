package plot

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/labels"
)

var save = flag.String("save", "", "a folder to write the figures of the tests to")

// mark is what an SVG says of one of its marks.
type mark struct {
	title string
	data  map[string]string
}

// read reads the marks back from the figure's SVG.
func read(t *testing.T, f Plot) (marks []mark) {
	t.Helper()
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	if *save != "" {
		if err := os.WriteFile(filepath.Join(*save, f.Name+".svg"), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d, open := xml.NewDecoder(&b), false
	for {
		token, err := d.Token()
		if err == io.EOF {
			return marks
		}
		if err != nil {
			t.Fatalf("%s is no XML: %v", f.Title, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "g" {
				m := mark{data: map[string]string{}}
				for _, a := range token.Attr {
					m.data[strings.TrimPrefix(a.Name.Local, "data-")] = a.Value
				}
				marks, open = append(marks, m), true
			}
			for _, a := range token.Attr {
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") || token.Name.Local == "script" {
					t.Errorf("%s: %s %s=%q, which a strict policy forbids", f.Title, token.Name.Local, a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			if open && len(marks) > 0 && marks[len(marks)-1].title == "" {
				marks[len(marks)-1].title = string(token)
			}
		case xml.EndElement:
			open = open && token.Name.Local != "title"
		}
	}
}

// value returns the value of the only mark with these data.
func value(t *testing.T, marks []mark, data map[string]string) float64 {
	t.Helper()
	var found []mark
	for _, m := range marks {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(data)), func(k string) bool { return m.data[k] != data[k] }) {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d marks have %v", len(found), data)
	}
	v, err := strconv.ParseFloat(found[0].data["value"], 64)
	if err != nil {
		t.Fatalf("%v: %v", data, err)
	}
	if percent := strconv.FormatFloat(100*v, 'f', 1, 64); strings.Contains(found[0].title, "%") &&
		!strings.Contains(found[0].title, percent) {
		t.Errorf("%v has the value %v and says %q", data, v, found[0].title)
	}
	return v
}

// estimate is a figure with an interval of ours around it.
func estimate(measure string, v float64, by ...string) crosstalk.Estimate {
	e := crosstalk.Estimate{Measure: measure, Value: crosstalk.Value(v), N: 100, Better: crosstalk.Higher,
		By:       map[string]string{},
		Interval: &crosstalk.Interval{Low: max(v-0.05, 0), High: min(v+0.04, 1), Level: 0.95}}
	if measure == "leak_rate" {
		e.Better = crosstalk.Lower
	}
	for i := 0; i < len(by); i += 2 {
		e.By[by[i]] = by[i+1]
	}
	return e
}

// only returns the figure whose title begins so.
func only(t *testing.T, figures []Plot, title string) Plot {
	t.Helper()
	var found []Plot
	var titles []string
	for _, f := range figures {
		titles = append(titles, f.Title)
		if strings.HasPrefix(f.Title, title) {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d figures are called %q: %q", len(found), title, titles)
	}
	return found[0]
}

// check compares the values in the SVG with the estimates of some measures.
func check(t *testing.T, f Plot, estimates []crosstalk.Estimate, of func(crosstalk.Estimate) bool) {
	t.Helper()
	marks, n := read(t, f), 0
	for _, e := range estimates {
		if !of(e) {
			continue
		}
		n++
		data := map[string]string{"measure": e.Measure}
		for c, v := range e.By {
			if v != crosstalk.All {
				data["by-"+c] = v
			}
		}
		if got := value(t, marks, data); got != float64(e.Value) {
			t.Errorf("%s: %v is %v; want %v", f.Title, data, got, e.Value)
		}
		data["low"], data["high"] = number(crosstalk.Value(e.Interval.Low)), number(crosstalk.Value(e.Interval.High))
		value(t, marks, data)
	}
	if n == 0 || len(marks) != n {
		t.Errorf("%s: %d marks of %d estimates", f.Title, len(marks), n)
	}
	if err := f.WritePDF(io.Discard); err != nil {
		t.Errorf("%s: %v", f.Title, err)
	}
}

func measured(measure string) func(crosstalk.Estimate) bool {
	return func(e crosstalk.Estimate) bool { return e.Measure == measure }
}

// smilga are the Leak-Rates of Smilga 2025, tables 2 and 3: of BERTScore and of
// Sentence-BERT, on the prompts of Gonen et al. and on the colours' three
// categories.
var smilga = []struct {
	model, similarity    string
	whole                float64
	first, second, third float64
}{
	{"Qwen2.5-0.5B-Instruct", "bertscore", 69.27, 65.03, 56.33, 71.22},
	{"Qwen2.5-0.5B-Instruct", "sbert", 77.52, 70.61, 51.85, 70.61},
	{"Qwen2.5-1.5B-Instruct", "bertscore", 75.23, 73.18, 70.36, 66.33},
	{"Qwen2.5-1.5B-Instruct", "sbert", 79.36, 72.79, 66.36, 61.02},
	{"Qwen2.5-3B-Instruct", "bertscore", 83.03, 70.45, 84.36, 57.76},
	{"Qwen2.5-3B-Instruct", "sbert", 73.85, 73.76, 86.91, 72.45},
	{"Qwen2.5-7B-Instruct", "bertscore", 74.77, 88.45, 58.36, 60.82},
	{"Qwen2.5-7B-Instruct", "sbert", 80.64, 70.3, 62.48, 64.9},
}

func TestLeakage(t *testing.T) {
	var list []crosstalk.Estimate
	for _, row := range smilga {
		for i, percent := range []float64{row.whole, row.first, row.second, row.third} {
			list = append(list, estimate("leak_rate", percent/100, "model", row.model, "similarity", row.similarity, "category", []string{"all", "1", "2", "3"}[i]))
		}
	}
	figures := NewCollector(list).Plots()
	whole := func(e crosstalk.Estimate) bool { return e.By["category"] == crosstalk.All }
	check(t, only(t, figures, "Leak rate by model and similarity"), list, whole)
	for _, similarity := range []string{"bertscore", "sbert"} {
		of := func(whole bool) func(crosstalk.Estimate) bool {
			return func(e crosstalk.Estimate) bool {
				return e.By["similarity"] == similarity && (e.By["category"] == crosstalk.All) == whole
			}
		}
		check(t, only(t, figures, "Leak rate by category and model · similarity "+similarity), list, of(false))
	}
	size := only(t, figures, "Leak rate and model size")
	check(t, size, list, whole)
	for model, want := range map[string]string{"Qwen2.5-0.5B-Instruct": "0.5", "Qwen2.5-7B-Instruct": "7"} {
		if value(t, read(t, size), map[string]string{"by-model": model, "by-similarity": "sbert", "x": want}); t.Failed() {
			t.Errorf("the size of %s", model)
		}
	}
}

// A model alone is not drawn: its figure stands over the plots.
func TestOneModel(t *testing.T) {
	one := []crosstalk.Estimate{estimate("leak_rate", 0.6, "model", "m", "similarity", "s", "category", "all")}
	if plots := NewCollector(one).Plots(); len(plots) != 0 {
		t.Errorf("%d plots of one figure: %q", len(plots), plots[0].Title)
	}
	one = append(one, estimate("leak_rate", 0.7, "model", "n", "similarity", "s", "category", "all"))
	only(t, NewCollector(one).Plots(), "Leak rate by model")
}

// Names say sizes in several ways.
func TestSizes(t *testing.T) {
	var list []crosstalk.Estimate
	for _, model := range []string{"mix-8x7B", "other-350m", "plain-70b-chat"} {
		list = append(list, estimate("leak_rate", 0.6, "model", model, "similarity", "gloss@1", "category", "all"))
	}
	marks := read(t, only(t, NewCollector(list).Plots(), "Leak rate and model size"))
	for model, want := range map[string]string{"mix-8x7B": "56", "other-350m": "0.35", "plain-70b-chat": "70"} {
		value(t, marks, map[string]string{"by-model": model, "x": want})
	}
}

// Rates over temperatures, as Gonen et al. 2024 sweep them; they print a
// figure only, so the numbers are made up.
func TestTemperatures(t *testing.T) {
	var sweep []crosstalk.Estimate
	for i, temperature := range []string{"0", "0.5", "1", "1.5"} {
		for j, model := range []string{"a", "b"} {
			for k, similarity := range []string{"bertscore", "sbert"} {
				sweep = append(sweep, estimate("leak_rate", 0.6+0.05*float64(i)+0.02*float64(j)+0.01*float64(k), "model", model,
					"temperature", temperature, "similarity", similarity, "category", "all"))
			}
		}
	}
	figures := NewCollector(sweep).Plots()
	for _, similarity := range []string{"bertscore", "sbert"} {
		f := only(t, figures, "Leak rate over temperature · similarity "+similarity)
		check(t, f, sweep, func(e crosstalk.Estimate) bool { return e.By["similarity"] == similarity })
	}
	f := only(t, figures, "Leak rate by model and similarity · temperature 0.5")
	check(t, f, sweep, func(e crosstalk.Estimate) bool { return e.By["temperature"] == "0.5" })
}

// The shares of test, neither and control, beside what people said.
func TestSides(t *testing.T) {
	b := NewCollector(nil)
	counts := map[float64]int{0: 20, 0.5: 30, 1: 50}
	for v, n := range counts {
		for i := range n {
			o := crosstalk.Observation{Measure: "leak_rate", Value: crosstalk.Value(v),
				Condition: map[string]string{"model": "m", "similarity": "gloss@1"}, Labels: map[string]string{"language": "en"},
				Numbers: map[string]float64{"test": 0.5 + (v-0.5)*float64(i)/50, "control": 0.5}}
			b.Add(o)
			if i%2 == 0 {
				b.AddOpinion(labels.Opinion{Said: []labels.Said{{Weight: 1, Observation: crosstalk.Observation{
					Measure: o.Measure, Value: crosstalk.Value(v), Condition: map[string]string{"model": "m"}, Labels: o.Labels}}}})
			}
		}
	}
	b.Add(crosstalk.Observation{Measure: "leak_rate", Value: crosstalk.Undefined, NotScored: "empty", Condition: map[string]string{"model": "m"}})
	f := only(t, b.Plots(), "Which answer is closer")
	marks := read(t, f)
	for _, row := range []string{"gloss@1", "people"} {
		for part, want := range map[string]float64{"control": 0.2, "neither": 0.3, "test": 0.5} {
			if got := value(t, marks, map[string]string{"row": row, "part": part}); got != want {
				t.Errorf("%s, %s: %v; want %v", row, part, got, want)
			}
		}
	}
	if len(marks) != 6 {
		t.Errorf("%d marks", len(marks))
	}
}

// What people and the instrument say in two settings: people's shares where
// another chart has the instrument's, and both with intervals.
func TestLabels(t *testing.T) {
	var shares []crosstalk.Estimate
	for _, x := range []struct {
		language, judge, label string
		value                  float64
	}{
		{"he", "people", "test", 0.4}, {"he", "people", "control", 0.2}, {"he", "people", "neither", 0.4}, {"he", "gloss@1", "test", 0.6},
		{"zh", "people", "test", 0.5}, {"zh", "people", "control", 0.1}, {"zh", "people", "neither", 0.4}, {"zh", "gloss@1", "test", 0.7},
	} {
		shares = append(shares, crosstalk.Estimate{Measure: "share", Value: crosstalk.Value(x.value), N: 50,
			Interval: &crosstalk.Interval{Low: x.value - 0.1, High: x.value + 0.1},
			By:       map[string]string{"model": "m", "language": x.language, "judge": x.judge, "label": x.label}})
	}
	c := NewCollector(nil)
	c.AddOpinion(labels.Opinion{Question: crosstalk.Question{Measure: "leak_rate", Title: "Which text is nearer to X?", Fault: "test"}, Shares: shares})
	plots := c.Plots()
	said := read(t, only(t, plots, "What people say"))
	if got := value(t, said, map[string]string{"by-language": "zh", "by-label": "test", "by-judge": "people"}); got != 0.5 || len(said) != 6 {
		t.Errorf("people say test in %v of zh, %d marks; want 0.5, 6", got, len(said))
	}
	found := read(t, only(t, plots, "Found by people"))
	if got := value(t, found, map[string]string{"by-language": "he", "by-judge": "gloss@1"}); got != 0.6 || len(found) != 4 {
		t.Errorf("gloss finds %v in he, %d marks; want 0.6, 4", got, len(found))
	}
	if got := value(t, found, map[string]string{"by-language": "zh", "by-judge": "people"}); got != 0.5 {
		t.Errorf("people find %v in zh; want 0.5, the share of test", got)
	}
	c = NewCollector(nil)
	c.AddOpinion(labels.Opinion{Question: crosstalk.Question{Measure: "lpr", Title: "Is the line right?", Fault: "wrong"}, Shares: shares})
	if both := read(t, only(t, c.Plots(), "People and instrument")); len(both) != 12 {
		t.Errorf("%d marks; want 12: three labels of two judges in two settings", len(both))
	}
}

// marchisio are figures that the authors' script prints for recorded answers with
// lid.176.ftz, not the paper's: LPR and WPR, LPR of languages and of sources.
var marchisio = []struct {
	model, task        string
	lpr, wpr           float64
	languages, sources map[string]float64
}{
	{"command-r-plus", "crosslingual", 90.06, 95.22,
		map[string]float64{"ar": 93.35, "de": 91.55, "es": 91.68, "fr": 90.10, "ja": 89.75, "zh": 82.82},
		map[string]float64{"complex_prompts": 78.12, "okapi": 94.21, "sharegpt": 97.86}},
	{"command-r-base", "crosslingual", 0.70, 97.22,
		map[string]float64{"ar": 0, "de": 0.87, "es": 1.61, "fr": 0.88, "ja": 0.41, "zh": 2.33}, map[string]float64{"complex_prompts": 1.81, "okapi": 0, "sharegpt": 0.29}},
	{"command-r-plus", "monolingual", 98.63, 99.44,
		map[string]float64{"ar": 99, "es": 99.33, "ja": 97, "ko": 100, "pt": 96, "zh": 93.5}, map[string]float64{"aya_human_annotated": 97.6, "dolly_human_edited": 99.6, "native_prompts": 98.75, "okapi": 98.4}},
	{"command-r-base", "monolingual", 83.40, 97.46,
		map[string]float64{"ar": 94.54, "es": 89.63, "ja": 64.65, "ko": 97.73, "pt": 82.86, "zh": 60.49},
		map[string]float64{"aya_human_annotated": 90.49, "dolly_human_edited": 91.65, "native_prompts": 85.13, "okapi": 78.24}},
}

func TestConfusion(t *testing.T) {
	var list []crosstalk.Estimate
	for _, row := range marchisio {
		add := func(measure string, percent float64, language, source string) {
			list = append(list, estimate(measure, percent/100, "model", row.model, "task", row.task, "language", language, "source", source))
		}
		add("lpr", row.lpr, "all", "all")
		add("wpr", row.wpr, "all", "all")
		for _, language := range slices.Sorted(maps.Keys(row.languages)) {
			add("lpr", row.languages[language], language, "all")
		}
		for _, source := range slices.Sorted(maps.Keys(row.sources)) {
			add("lpr", row.sources[source], "all", source)
		}
	}
	figures := NewCollector(list).Plots()
	in := func(task string, more func(crosstalk.Estimate) bool) func(crosstalk.Estimate) bool {
		return func(e crosstalk.Estimate) bool { return e.By["task"] == task && more(e) }
	}
	for _, task := range []string{"monolingual", "crosslingual"} {
		check(t, only(t, figures, "LPR, WPR by model · task "+task), list, in(task, func(e crosstalk.Estimate) bool { return e.By["language"] == "all" && e.By["source"] == "all" }))
		check(t, only(t, figures, "LPR by language and model · task "+task), list, in(task, func(e crosstalk.Estimate) bool { return e.By["language"] != "all" }))
		check(t, only(t, figures, "LPR by source · task "+task), list, in(task, func(e crosstalk.Estimate) bool { return e.By["source"] != "all" }))
	}
}

// Settings that are words are dots, those that are numbers lines.
func TestSettings(t *testing.T) {
	var list []crosstalk.Estimate
	for i, position := range []string{"start", "end", "integrated"} {
		for j, shots := range []string{"0", "5"} {
			list = append(list, estimate("lpr", 0.7+0.05*float64(i)+0.02*float64(j), "model", "m", "position", position, "shots", shots, "task", "crosslingual", "language", "all"))
		}
	}
	figures := NewCollector(list).Plots()
	for _, shots := range []string{"0", "5"} {
		check(t, only(t, figures, "LPR by position · shots "+shots), list, func(e crosstalk.Estimate) bool { return e.By["shots"] == shots })
	}
	check(t, only(t, figures, "LPR over shots · position end"), list, func(e crosstalk.Estimate) bool { return e.By["position"] == "end" })
}

// The doubt at confusion points, and the tokens around one.
func TestDoubt(t *testing.T) {
	var list []crosstalk.Estimate
	for at, bits := range map[string]float64{"confusion point": 2.3, "elsewhere": 0.6, "clean answer": 0.5} {
		e := estimate("entropy", bits, "model", "m", "at", at, "distribution", "T=0.3")
		e.Unit, e.Better, e.Interval = "bits", "", &crosstalk.Interval{Low: bits - 0.1, High: bits + 0.2}
		list = append(list, e)
	}
	b := NewCollector(list)
	tokens := []crosstalk.Token{
		{Text: "Der", Logprob: math.Log(0.9), Entropy: 0.4, Nucleus: 1, Mass: 0.99},
		{Text: " Fluss", Logprob: math.Log(0.8), Entropy: 0.9, Nucleus: 1, Mass: 0.98},
		{Text: " الترجمة", Logprob: math.Log(0.25), Entropy: 2.75, Nucleus: 4, Censored: true, Mass: 0.7, Fault: true,
			Candidates: []crosstalk.CandidateLogprob{{Token: " ist", Logprob: math.Log(0.5)},
				{Token: " الترجمة", Logprob: math.Log(0.25)}, {Token: "是", Logprob: math.Log(0.1)}}},
		{Text: `\xe3\x81`, Logprob: -1, Entropy: crosstalk.Undefined},
	}
	b.Add(crosstalk.Observation{Measure: "lpr", Item: "i", Condition: map[string]string{"model": "m"}, Tokens: tokens})
	figures := b.Plots()
	check(t, only(t, figures, "Entropy at and away"), list, measured("entropy"))
	f := only(t, figures, "Where confusion begins · m, i")
	marks := read(t, f)
	for i, want := range tokens {
		m := marks[i].data
		if m["token"] != want.Text || m["value"] != number(want.Entropy) || m["nucleus"] != strconv.Itoa(want.Nucleus) ||
			m["censored"] != strconv.FormatBool(want.Censored) || m["fault"] != strconv.FormatBool(want.Fault) {
			t.Errorf("token %d: %v of %+v", i, m, want)
		}
	}
	for i, want := range tokens[2].Candidates {
		m := marks[len(tokens)+i].data
		if p, _ := strconv.ParseFloat(m["probability"], 64); m["candidate"] != want.Token ||
			math.Abs(p-math.Exp(want.Logprob)) > 1e-12 || m["taken"] != strconv.FormatBool(i == 1) {
			t.Errorf("candidate %d: %v", i, m)
		}
	}
	if err := f.WritePDF(io.Discard); err != nil {
		t.Error(err)
	}
}

// Ohmer et al. 2023, tables 1, 2, 5 and 7 (PAWS-X).
func TestConsistency(t *testing.T) {
	var list []crosstalk.Estimate
	add := func(measure string, v float64, by ...string) {
		list = append(list, estimate(measure, v, append(by, "model", "gpt-3.5", "task", "paws-x")...))
	}
	for pair, v := range map[string][]float64{"en>de": {0.84, 0.93, 0.85, 0.565, 0.89, 0.67},
		"en>zh": {0.76, 0.91, 0.79, 0.492, 0.78, 0.71}, "de>en": {0.86, 0.93, 0.86, 0.600, 0.92, 0.72},
		"zh>en": {0.70, 0.87, 0.75, 0.376, 0.82, 0.52}} {
		for i, part := range []string{"T", "I", "X"} {
			add("consistency", v[i], "pair", pair, "part", part)
		}
		add("bleu", v[3], "pair", pair)
		add("consistency_correct", v[4], "pair", pair, "part", "T")
		add("consistency_incorrect", v[5], "pair", pair, "part", "T")
	}
	for sense, v := range map[string]float64{"gold": 0.45, "T": 0.62} {
		add("label_share", v, "pair", "en>de", "part", sense, "class", "true")
		add("label_share", 1-v, "pair", "en>de", "part", sense, "class", "false")
	}
	for _, e := range []struct {
		from, to string
		share    float64
	}{{"0", "0", 0.8}, {"0", "1", 0.15}, {"0", "invalid", 0.05}, {"1", "0", 0.1}, {"1", "1", 0.9}, {"1", "invalid", 0}} {
		add("transition", e.share, "pair", "en>de", "part", "T", "from", e.from, "to", e.to)
	}
	slices.SortStableFunc(list, func(a, b crosstalk.Estimate) int {
		return strings.Compare(a.By["pair"]+a.By["part"], b.By["pair"]+b.By["part"])
	})
	figures := NewCollector(list).Plots()
	check(t, only(t, figures, "Consistency by pair and part"), list, measured("consistency"))
	check(t, only(t, figures, "Consistency where the source is right and wrong"), list, func(e crosstalk.Estimate) bool { return strings.HasPrefix(e.Measure, "consistency_") })
	check(t, only(t, figures, "Classes of the answers"), list, measured("label_share"))
	check(t, only(t, figures, "Transitions between classes"), list, measured("transition"))
	f := only(t, figures, "Consistency and translation quality")
	check(t, f, list, measured("consistency"))
	if x := value(t, read(t, f), map[string]string{"by-pair": "zh>en", "by-part": "T", "x": "0.376"}); x != 0.70 {
		t.Errorf("%v", x)
	}
}

// Names that others chose break no figure; figures over nothing are "-".
func TestHostileNames(t *testing.T) {
	hostile := "</title><script>alert(1)</script>\x1b[31m\u202e\" onload=x " + strings.Repeat("long ", 500)
	list := []crosstalk.Estimate{estimate("leak_rate", 0.5, "model", hostile, "similarity", "a", "\" onclick=", "x"), estimate("leak_rate", math.NaN(), "model", "b", "similarity", "a", "\" onclick=", "x")}
	list[1].Interval = nil
	for _, f := range NewCollector(list).Plots() {
		marks := read(t, f)
		if len(marks) != 2 || marks[1].data["value"] != "-" || !strings.Contains(marks[1].title, "leak rate -") {
			t.Errorf("%+v", marks)
		}
		if f.Width > 2*width || strings.ContainsAny(f.Name, "<>/\" \x1b") || f.Name == "" || len(f.Name) > 80 {
			t.Errorf("width %g, name %q", f.Width, f.Name)
		}
		var b bytes.Buffer
		if err := f.WritePDF(&b); err != nil || !bytes.HasPrefix(b.Bytes(), []byte("%PDF-")) {
			t.Errorf("%v, %.9q", err, b.Bytes())
		}
	}
	if figures := NewCollector(nil).Plots(); len(figures) != 0 {
		t.Errorf("%d figures of nothing", len(figures))
	}
}

// Names of files differ, however long and alike the titles are.
func TestNames(t *testing.T) {
	var plots []Plot
	for _, title := range []string{"a", "a", "A 2", "", "是", strings.Repeat("long ", 50), strings.Repeat("long ", 60), strings.Repeat("long ", 70), "x/../y · z"} {
		plots = append(plots, Plot{Title: title})
	}
	taken := map[string]bool{}
	for _, p := range Named(plots) {
		title, name := p.Title, p.Name
		if taken[name] || len(name) > 80 ||
			strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r) }) {
			t.Errorf("%.20q is called %q", title, name)
		}
		taken[name] = true
	}
}

func TestSizeOf(t *testing.T) {
	for name, want := range map[string]float64{"Qwen2.5-0.5B-Instruct": 0.5, "llama-2-70b-chat": 70, "mixtral:8x7b": 56, "pythia-160m": 0.16, "x/Kimi-1T": 1000, "gpt-4o-mini": 0, "Qwen2.5": 0, "bert": 0, "v1.7beta": 0, "": 0} {
		if got, _ := sizeOf("", &crosstalk.Estimate{By: map[string]string{"model": name}}); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v; want %v", name, got, want)
		}
	}
	if got, _ := sizeOf("", &crosstalk.Estimate{By: map[string]string{"model": "x-7b", "size": "13"}}); got != 13 {
		t.Errorf("a column says 13, not %v", got)
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   []float64
	}{{[]float64{0, 1}, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{[]float64{0.912, 0.987}, []float64{0.9, 0.92, 0.94, 0.96, 0.98, 1}},
		{[]float64{0, 37}, []float64{0, 10, 20, 30, 40}}, {nil, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}}} {
		got := around(c.values, 0, 100).ticks()
		if len(got) != len(c.want) {
			t.Errorf("%v: %v; want %v", c.values, got, c.want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-9 {
				t.Errorf("%v: %v; want %v", c.values, got, c.want)
			}
		}
	}
	if s := around([]float64{math.NaN(), 3, math.Inf(1)}, 0, 1); !(s.low < 3 && s.high > 3) {
		t.Errorf("%+v", s)
	}
}
