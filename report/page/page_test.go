package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/labels"
	"crosstalk/report/plot"
	"crosstalk/run"

	"github.com/google/go-cmp/cmp"
)

func written(t *testing.T, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func confusion(item, answer string, spans ...crosstalk.Span) crosstalk.Observation {
	o := crosstalk.Observation{Measure: "lpr", Item: item, Value: 1, Condition: map[string]string{"model": "m"},
		Labels: map[string]string{"language": "ar", "task": "monolingual"},
		Spans:  spans}
	o.AddText(crosstalk.Side, "answer", answer)
	o.Answers = []crosstalk.Key{{1}}
	if spans != nil {
		o.Value, o.Finding = 0, "line"
	}
	return o
}

func estimates() []crosstalk.Estimate {
	by := func(language string) map[string]string {
		return map[string]string{"model": "m", "task": "monolingual", "language": language}
	}
	return []crosstalk.Estimate{
		{Measure: "lpr", Value: 0.75, N: 4, Interval: &crosstalk.Interval{Low: 0.5, High: 0.9, Level: 0.95}, By: by("all"),
			Counts: map[string]int{"empty": 1, "line": 2}, Signature: "lpr|x"},
		{Measure: "lpr", Value: 0.5, N: 2, By: by("ar"), Signature: "lpr|x"},
	}
}

func reportOf(observations ...crosstalk.Observation) Report {
	a := newAnswers(estimates(), nil)
	for _, o := range observations {
		a.Add(o, labels.Note{})
	}
	return Report{Title: "T", Estimates: estimates(), Answers: a}
}

// The page's policy allows its style sheet and nothing else, and what is in it
// is what the policy's hash was taken of.
func TestPolicy(t *testing.T) {
	text := written(t, reportOf(confusion("a", "b")))
	between := func(from, to string) string {
		_, rest, _ := strings.Cut(text, from)
		s, _, _ := strings.Cut(rest, to)
		return s
	}
	sum := sha256.Sum256([]byte(between("<style>", "</style>")))
	want := "default-src &#39;none&#39;; style-src &#39;sha256-" + strings.ReplaceAll(base64.StdEncoding.EncodeToString(sum[:]), "+", "&#43;") + "&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"
	if got := between(`"Content-Security-Policy" content="`, `"`); got != want {
		t.Errorf("policy %s\nwant   %s", got, want)
	}
	if strings.Contains(text, "<script") || regexp.MustCompile(`<[^>]* (style|on\w+)=`).MatchString(text) ||
		strings.Contains(text, "http:") && !strings.Contains(text, "http://www.w3.org/2000/svg") {
		t.Error("there is script, a style attribute or an address in the page")
	}
}

// hostile are answers made to break pages, terminals and readers.
var hostile = []string{
	"</p></article></main><script>alert(1)</script><style>*{display:none}</style>",
	`<img src=x onerror=alert(1)> <svg onload=alert(1)> <a href="javascript:alert(1)">x</a> <!-- ]]> {{.}} &lt;`,
	"\x1b[2J\x1b[31mred\x1b]0;title\x07 \x00 \x9b31m\xff\xfe",
	"\u202egnp.exe\u202c \u2066x\u2069 a\u200bb \U000e0041\U000e0042 \ufeff \u2028",
	strings.Repeat("<b>", 1<<20/3),
	strings.Repeat("a\u0301", 3000) + "\r\n\r\n" + strings.Repeat("\n", 5000),
}

// thinking knows what a model thought before its answers.
func thinking(text string) func(crosstalk.Key) (journal.Record, bool) {
	return func(crosstalk.Key) (journal.Record, bool) {
		return journal.Record{Answer: crosstalk.Answer{Reasoning: text}}, false
	}
}

// pageOf is a page with a text in every place where others can put one.
func pageOf(t *testing.T, text string) string {
	short := text[:min(len(text), 100)]
	o := confusion(text, text, crosstalk.Span{Start: 1, End: len(text) - 1, Language: short, Probability: 0.5},
		crosstalk.Span{Start: -5, End: 3}, crosstalk.Span{Start: 4, End: 1 << 40}, crosstalk.Span{Start: 9, End: 2})
	o.Finding, o.Labels["language"], o.Condition["model"] = short, short, short
	r := reportOf(o)
	r.Answers.Asked = thinking(text)
	r.Title, r.Settings, r.Summary = text, []Setting{{short, text}}, []Setting{{"a", text}}
	r.Estimates[0].By["model"], r.Estimates[0].Warnings, r.Estimates[0].Signature = text, []string{text}, text
	r.Plots = plot.NewCollector(append(r.Estimates, r.Estimates...)).Plots()
	return written(t, r)
}

// Hostile answers, names and settings are shown as text: the page has the same
// elements as with harmless ones.
func TestHostile(t *testing.T) {
	harmless := pageOf(t, "a harmless answer")
	if !strings.Contains(harmless, `<details class="thought"><summary>Thoughts</summary><p class="t" dir="auto">a harmless answer</p></details>`) {
		t.Error("the page lacks the folded thoughts")
	}
	for i, text := range hostile {
		page := pageOf(t, text)
		for _, tag := range []string{"script", "style", "img", "svg", "a", "b", "p", "iframe", "article", "main", "section", "meta", "input", "!--"} {
			count := func(s string) int { return len(regexp.MustCompile(`(?i)<`+tag+`[\s>/]`).FindAllString(s, -1)) }
			if got, want := count(page), count(harmless); got != want {
				t.Errorf("%d: <%s> is there %d times, %d with a harmless answer", i, tag, got, want)
			}
		}
		if at := strings.IndexAny(page, "\x00\x07\x1b\r\u202e\u2066\u200b\ufeff\u2028\U000e0041\u009b"); at >= 0 {
			t.Errorf("%d: a control character is left in %q", i, page[max(0, at-40):at+20])
		}
	}
}

// A long text is cut with a note, wherever it is.
func TestLong(t *testing.T) {
	long := strings.Repeat("é", 1<<19)
	page := written(t, reportOf(confusion("a", long)))
	if len(page) > 60_000 || !strings.Contains(page, fmt.Sprintf("%d more bytes not shown", 1<<20-Longest)) {
		t.Errorf("%d bytes", len(page))
	}
}

func TestMarked(t *testing.T) {
	const text = "gut\nnot good\nمرحبا hello"
	got := marked(text, []crosstalk.Span{{Start: 24, End: 29, Text: "hello"},
		{Start: 4, End: 12, Language: "en", Probability: 0.988}, {Start: 5, End: 6}, {Start: 28, End: 99}}, Longest)
	want := []Piece{{Text: "gut\n"}, {Text: "not good", Kind: "line", Label: "en 99 %"}, {Text: "\nمرحبا "}, {Text: "hello", Kind: "word"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := marked("", nil, Longest); got != nil {
		t.Errorf("%v", got)
	}
}

func TestEchoes(t *testing.T) {
	var words []string
	for _, p := range echoesIn(marked("Yellowish, a yellow's bus; yell. Ýellow YELLOW school-bus buses", nil, Longest), "yellow school bus") {
		if p.Kind == "echo" {
			words = append(words, p.Text)
		}
	}
	if want := []string{"Yellowish", "yellow", "bus", "yell", "YELLOW", "school", "bus"}; !cmp.Equal(want, words) {
		t.Errorf("%q; want %q", words, want)
	}
}

// A span is words in the side that it names, with its score; what a score has
// words is not words as an echo too.
func TestMarkedSide(t *testing.T) {
	o := crosstalk.Observation{Measure: "leak_rate_max", Item: "i", Texts: []crosstalk.NamedText{{Name: "concept", Role: crosstalk.Topic, Text: "coral"},
		{Name: "test", Role: crosstalk.Side, Text: "A coral. The coral reef."}, {Name: "control", Role: crosstalk.Side, Text: "A coral. The cat."}},
		Spans: []crosstalk.Span{{Side: "test", Line: 1, Start: 9, End: 24, Score: 0.4567}}}
	c := NewCard([]crosstalk.Observation{o}, 0, nil)
	want := []Side{{Name: "test", Pieces: []Piece{{Text: "A "}, {Text: "coral", Kind: "echo"}, {Text: ". "}, {Text: "The coral reef.", Kind: "line", Label: "0.457"}}},
		{Name: "control", Pieces: []Piece{{Text: "A "}, {Text: "coral", Kind: "echo"}, {Text: ". The cat."}}}}
	if d := cmp.Diff(want, c.Entries[0].Sides); d != "" {
		t.Error(d)
	}
}

func FuzzMarked(f *testing.F) {
	f.Add("gut\nnot good", "good", 4, 12, 2, 30)
	f.Fuzz(func(t *testing.T, text, concept string, a, b, c, d int) {
		for _, pieces := range [][]Piece{marked(text, []crosstalk.Span{{Start: a, End: b, Language: "x"}, {Start: c, End: d}},
			Longest), echoesIn(marked(text, nil, Longest), concept)} {
			var all strings.Builder
			for _, p := range pieces {
				if p.Kind != "cut" {
					all.WriteString(p.Text)
				}
			}
			if got := all.String(); got != text && (len(text) <= Longest || !strings.HasPrefix(text, got)) {
				t.Errorf("%q became %q", text, got)
			}
		}
	})
}

// Every answer stands under the figure that it is in, those with a finding
// first; where there is no room for all they are what is kept.
func TestAnswers(t *testing.T) {
	wrong := crosstalk.Span{Start: 0, End: 3, Language: "en", Probability: 0.9}
	r := reportOf(confusion("right", "abc"), confusion("wrong", "xyz", wrong), confusion("empty", ""))
	sections := r.Answers.sections(r.Estimates)
	if len(sections) != 1 || sections[0].Name != "model m · task monolingual" || len(sections[0].Groups) != 1 {
		t.Fatalf("%+v", sections)
	}
	g := sections[0].Groups[0]
	if g.Name != "ar" || g.Figures != "LPR 50.0 %" || g.Count() != "3 items, 1 with a finding" || len(g.Cards) != 3 || g.Cards[0].Name != "wrong" || !g.Cards[0].Fault {
		t.Errorf("%+v: %s", g, g.Count())
	}

	other := func(item string, spans ...crosstalk.Span) crosstalk.Observation {
		o := confusion(item, "abc", spans...)
		o.Labels = map[string]string{"task": "monolingual", "language": "de"}
		return o
	}
	worst := reportOf(confusion("1", "abc"), confusion("2", "xyz", wrong), other("3", wrong), other("4", wrong))
	order := ""
	for _, g := range worst.Answers.sections(worst.Estimates)[0].Groups {
		order += g.Name + " "
	}
	if order != "de ar " {
		t.Errorf("groups in the order %s", order)
	}

	a := newAnswers(estimates(), nil)
	a.Asked = thinking(strings.Repeat("<", 5000))
	text := strings.Repeat("x", 3000)
	const n = 3000
	for i := range n {
		o := confusion(fmt.Sprint(i), text)
		if i%3 == 0 {
			o = confusion(fmt.Sprint(i), text, wrong)
		}
		a.Add(o, labels.Note{})
	}
	g = a.sections(estimates())[0].Groups[0]
	faults := 0
	for _, c := range g.Cards {
		if c.Fault {
			faults++
		}
	}
	if faults != n/3 || len(g.Cards) == n || a.dropped != n-len(g.Cards) ||
		!strings.Contains(a.Note(), fmt.Sprintf("%d items are not shown", n-len(g.Cards))) {
		t.Errorf("%d cards, %d with a finding, %d dropped", len(g.Cards), faults, a.dropped)
	}
	if page := written(t, Report{Estimates: estimates(), Answers: a}); len(page) > 5_000_000 {
		t.Errorf("%d bytes", len(page))
	}
}

// Test and control stand side by side, with the similarities of each measure.
func TestLeakageCard(t *testing.T) {
	es := []crosstalk.Estimate{{Measure: "leak_rate", Value: 1, By: map[string]string{"model": "m", "similarity": "gloss",
		"category": "all"}}, {Measure: "leak_rate", Value: 1, By: map[string]string{"model": "m", "similarity": "gloss", "category": "x"}}}
	a := newAnswers(es, nil)
	a.Asked = func(k crosstalk.Key) (journal.Record, bool) {
		return journal.Record{Request: crosstalk.Request{API: crosstalk.Completions, Prompt: fmt.Sprintf("prompt %d", k[0])}}, true
	}
	for _, similarity := range []string{"gloss", "sbert"} {
		for k := range 2 {
			a.Add(crosstalk.Observation{Measure: "leak_rate", Item: "i", Sample: k, Value: crosstalk.Value(k),
				Condition: map[string]string{"model": "m", "similarity": similarity}, Labels: map[string]string{"category": "x"},
				Numbers: map[string]float64{"test": 0.5, "control": 0.25}, Finding: []string{"not leaked", "leaked"}[k], Answers: []crosstalk.Key{{1}, {2}},
				Texts: []crosstalk.NamedText{{Name: "concept", Role: crosstalk.Topic, Text: "koala"},
					{Name: "test", Role: crosstalk.Side, Text: "koalas"}, {Name: "control", Role: crosstalk.Side, Text: "bread"}}}, labels.Note{})
		}
	}
	sections := a.sections(es)
	c := sections[0].Groups[0].Cards[0]
	if len(sections[0].Groups[0].Cards) != 1 || len(c.Entries) != 2 || c.Head != "koala" || !c.Fault {
		t.Fatalf("%+v", c)
	}
	if want := []Setting{{"test", "prompt 1"}, {"control", "prompt 2"}}; !cmp.Equal(want, c.Prompts) {
		t.Errorf("%v", c.Prompts)
	}
	e := c.Entries[1]
	if len(e.Sides) != 2 || e.Sides[0].Name != "test" || e.Sides[0].Pieces[0].Kind != "echo" || e.Sides[1].Name != "control" {
		t.Errorf("%+v", e.Sides)
	}
	if len(e.Facts) != 2 || e.Facts[1].Text != "sbert: leaked: the test answer is closer (test 0.500, control 0.250)" || !e.Facts[1].Fault {
		t.Errorf("%+v", e.Facts)
	}
}

// What is known of an answer comes from several observations: texts keep their
// order, what was given is shown once, and only gaps are called so.
func TestCardOfSeveralObservations(t *testing.T) {
	named := func(role crosstalk.Role, pairs ...string) (texts []crosstalk.NamedText) {
		for i := 0; i < len(pairs); i += 2 {
			texts = append(texts, crosstalk.NamedText{Name: pairs[i], Role: role, Text: pairs[i+1]})
		}
		return texts
	}
	given := named(crosstalk.Given, "source_input", "The cat.", "input", "Die Katze.")
	accuracy := slices.Concat(named(crosstalk.Side, "answer", "ja"), named(crosstalk.Fact, "class", "yes", "gold", "no"), named(crosstalk.Aside, "instruction", "en"))
	compared := slices.Concat(given, named(crosstalk.Side, "source", "no", "answer", "ja"), named(crosstalk.Fact, "source_class", "no", "class", "yes"))
	c := NewCard([]crosstalk.Observation{
		{Measure: "rewriting", Item: "i", Variant: "en>de", Value: 0, Finding: "flagged", Texts: given, Answers: []crosstalk.Key{{9}}},
		{Measure: "accuracy", Item: "i", Variant: "en>de T", Value: 0, Finding: "wrong", Texts: accuracy, Answers: []crosstalk.Key{{1}}},
		{Measure: "consistency", Item: "i", Variant: "en>de T", Value: 0, Finding: "inconsistent", Texts: compared, Answers: []crosstalk.Key{{2}, {1}, {9}}},
	}, 0, func(k crosstalk.Key) (journal.Record, bool) {
		return journal.Record{Request: crosstalk.Request{API: crosstalk.Completions, Prompt: fmt.Sprintf("prompt %d", k[0])},
			Answer: crosstalk.Answer{Reasoning: strings.Repeat(fmt.Sprintf("<b>thought</b> %d", k[0]), int(k[0]-1))}}, true
	})
	var got []string
	for _, e := range c.Entries {
		for _, side := range e.Sides {
			got = append(got, side.Name)
		}
		for _, fact := range e.Facts {
			got = append(got, fmt.Sprint(fact.Text, " ", fact.Fault))
		}
	}
	want := []string{"source input", "input", "en>de false", "rewriting flagged true",
		"source", "answer", "en>de T false", "wrong true", "inconsistent true", "source class no, class yes, gold no false"}
	if d := cmp.Diff(want, got); d != "" || !c.Fault || c.Unscored {
		t.Errorf("%s: %+v", d, c)
	}
	if want := []Setting{{"asked", "prompt 1"}}; !cmp.Equal(want, c.Prompts) {
		t.Errorf("%v", c.Prompts)
	}
	// The answer of key 1 came without a thought.
	if want := []Setting{{"Thoughts before source", "<b>thought</b> 2"}}; !cmp.Equal(want, c.Entries[1].Thoughts) || c.Entries[0].Thoughts != nil {
		t.Errorf("%+v", c.Entries)
	}

	line := crosstalk.Observation{Measure: "wpr", Value: crosstalk.Undefined, NotScored: "line error", Implied: true}
	if c := NewCard([]crosstalk.Observation{line}, 0, nil); c.Unscored || c.Fault || c.Entries[0].Facts != nil {
		t.Errorf("what another observation says: %+v", c)
	}
	line.Implied = false
	if c := NewCard([]crosstalk.Observation{line}, 0, nil); !c.Unscored || len(c.Entries[0].Facts) != 1 {
		t.Errorf("a gap: %+v", c)
	}
	tie := crosstalk.Observation{Measure: "leak_rate", Value: 0.5, Finding: "tie",
		Condition: map[string]string{"similarity": "s"}, Numbers: map[string]float64{"test": 1, "control": 1}}
	if c := NewCard([]crosstalk.Observation{tie}, 0, nil); c.Fault ||
		!cmp.Equal(c.Entries[0].Facts, []Fact{{Text: "s: a tie (test 1.000, control 1.000)"}}) {
		t.Errorf("a tie: %+v", c)
	}
}

// The result is the figures over all answers, not those of one class or of single
// groups, by the columns in which conditions differ, the instrument's most
// important measures first.
func TestResult(t *testing.T) {
	by := func(task, language string) map[string]string {
		return map[string]string{"model": "m", "task": task, "language": language}
	}
	r := NewResult([]crosstalk.Estimate{
		{Measure: "wpr", Value: 1, N: 0, By: by("crosslingual", "all")},
		{Measure: "lpr", Value: 0.75, N: 4, Observations: 4, By: by("monolingual", "all"),
			Interval: &crosstalk.Interval{Low: 0.5, High: 0.9, Level: 0.9}, Counts: map[string]int{"unchecked": 1, "full_answer": 2}},
		{Measure: "lpr", Value: 0.5, N: 2, By: by("monolingual", "ar")},
		{Measure: "entropy", Value: 2, Unit: "bits", N: 2, By: map[string]string{"model": "m", "at": "elsewhere"}},
	})
	if len(r.Measures) != 2 || r.Measures[0].Label != "LPR" || r.Measures[1].Name != "word-level pass rate" ||
		len(r.Parts) != 2 || r.More != 0 || !r.Cards() || r.Level != "90 %" {
		t.Fatalf("%+v", r)
	}
	cross, mono := r.Parts[0], r.Parts[1]
	if cross.Name != "task crosslingual" || cross.Figures[0] != nil || cross.Figures[1].Value != "100.0" ||
		!strings.HasPrefix(cross.Figures[1].Doubt, "Nothing was measured") {
		t.Errorf("%+v", cross)
	}
	if f := mono.Figures[0]; f.Interval != "50.0 to 90.0" || f.Counts != "4 items · 2 all in a wrong language · 1 unchecked" || f.Doubt != "1 of 5 answers could not be judged." || f.Sentence == "" {
		t.Errorf("%+v", f)
	}
	one := map[string]string{"model": "m", "task": "t", "pair": "en>de", "part": "T"}
	r = NewResult([]crosstalk.Estimate{{Measure: "consistency", Value: 0.75, N: 4, By: one, Counts: map[string]int{"not_scored": 1}},
		{Measure: "transition", Value: 0.25, By: one}, {Measure: "label_share", Value: 0.25, By: one}})
	if len(r.Parts) != 1 || r.Parts[0].Name != "" || len(r.Measures) != 1 ||
		!strings.HasSuffix(r.Parts[0].Figures[0].Counts, "1 not scored") {
		t.Errorf("%+v", r)
	}
	var many []crosstalk.Estimate
	for i := range 40 {
		many = append(many, crosstalk.Estimate{Measure: "lpr", Value: 1, N: 1, By: map[string]string{"model": fmt.Sprint("m", i)}})
	}
	if r := NewResult(many); r.Cards() || len(r.Parts) != mostParts || r.More != 40-mostParts || r.Parts[3].Name != "m3" {
		t.Errorf("%d parts and %d more, %q", len(r.Parts), r.More, r.Parts[3].Name)
	}
}

// A page's title and summary say what was measured, by the figures or, as long
// as there are none, by the plan.
func TestAbout(t *testing.T) {
	m := run.Manifest{Crosstalk: "1",
		Plan: run.Plan{Instrument: "leakage", Suite: "s@1", Conditions: []run.Condition{{Model: crosstalk.Identity{Name: "planned"}}}},
		Scoring: []run.Scoring{{Protocol: "a", Similarities: []string{"gloss", "sbert"}, By: []string{"x", "y"}},
			{Protocol: "b", Similarities: []string{"gloss"}, By: []string{"x", "y"}}}}
	var estimates []crosstalk.Estimate
	for _, want := range []string{"Semantic leakage of planned", "Semantic leakage of m1", "Semantic leakage of m1 and m2", "Semantic leakage of 3 models"} {
		a := NewAbout(m, estimates)
		if a.Heading() != want || a.Title != "Semantic leakage" || a.Sentence == "" {
			t.Errorf("%+v: %s; want %s", a, a.Heading(), want)
		}
		model := fmt.Sprint("m", len(estimates)+1)
		estimates = append(estimates, crosstalk.Estimate{Measure: "leak_rate", By: map[string]string{"model": model}, Signature: "g"})
	}
	want := []Setting{{"suite", "s@1"}, {"models", "m1\nm2"}, {"protocol", "a\nb"}, {"similarities", "gloss\nsbert"}, {"grouped by", "x, y"}, {"crosstalk", "1"}}
	if d := cmp.Diff(want, NewAbout(m, estimates[:2]).Summary()); d != "" {
		t.Error(d)
	}
	if s := Signatures(estimates); s.Value != "g" {
		t.Errorf("%+v", s)
	}
}

func TestSettings(t *testing.T) {
	got, err := Settings([]byte(`{"schema":"s","plan":{"conditions":[{"model":{"provider":"openai","endpoint":""},"temperature":0.5},{"model":null}]},"by":["a","b"],"n":10000000000000001,"ok":true}`))
	want := []Setting{{"by", "a, b"}, {"n", "10000000000000001"}, {"ok", "true"}, {"plan › conditions › 1 › model › provider", "openai"}, {"plan › conditions › 1 › temperature", "0.5"}, {"schema", "s"}}
	if err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Settings([]byte("{")); err == nil {
		t.Error("no error")
	}
}

// A program that has written a page can still serve some.
func TestTemplatesAfterAPage(t *testing.T) {
	written(t, Report{})
	if _, err := Templates().Parse("more"); err != nil {
		t.Error(err)
	}
}
