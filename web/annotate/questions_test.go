package annotate

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/labels"
)

// answers are confusion observations in Hebrew, with a line each that is right
// and one that is not.
func answers() (list []crosstalk.Observation) {
	for i, text := range []string{"\n\nשלום לכולם, זה test קטן.\nThis line is English.\nקצר", "הכול טוב היום"} {
		o := crosstalk.Observation{Measure: "lpr", Item: "a" + strconv.Itoa(i), Cluster: "a", Value: 1, Condition: map[string]string{"model": "m"},
			Labels: map[string]string{"language": "he"}, Numbers: map[string]float64{"margin": 0.05, "margin_line": 3}}
		if i == 0 {
			o.Value, o.Finding = 0, "line"
			o.Spans = []crosstalk.Span{{Line: 4, Language: "en", Probability: 0.99}}
		}
		o.AddText(crosstalk.Side, "answer", text)
		list = append(list, o)
	}
	return list
}

var word = regexp.MustCompile(`name="mark" value="([0-9-]+)">([^<]*)<`)

// Lines are asked about one by one, those that are checked only; words of them
// are marked by their places.
func TestLines(t *testing.T) {
	path := newRun(t, "confusion", answers()...)
	c := as(t, newServer(t, path, Options{Questions: []string{"lines", "lines"}}), "ann")
	var asked []string
	for range 3 {
		form, page := c.question("lines")
		if !strings.Contains(page, "Is line A in Hebrew? Ignore names and single words of another language.</h1>") {
			t.Errorf("not asked as expected:\n%s", page)
		}
		var words []string
		for _, m := range word.FindAllStringSubmatch(page, -1) {
			words = append(words, html.UnescapeString(m[2]))
			if m[2] == "test" {
				form.Add("mark", m[1])
			}
		}
		asked = append(asked, strings.Join(words, " "))
		if slices.Contains(words, "test") { // what Return sends: no answer, and nothing is lost
			form.Set("comment", "look")
			if w := c.send("POST", "/lines", form); w.Code != 422 || !strings.Contains(w.Body.String(), `checked>test<`) ||
				!strings.Contains(w.Body.String(), "look</textarea>") {
				t.Errorf("without an answer: %d\n%s", w.Code, w.Body)
			}
		}
		form.Set("label", "right")
		if words[0] == "This" {
			form.Set("label", "wrong")
		}
		c.send("POST", "/lines", form)
	}
	slices.Sort(asked)
	if want := []string{"This line is English", "הכול טוב היום", "שלום לכולם זה test קטן"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q; want %q", asked, want)
	}
	for _, l := range readLabels(t, path) {
		switch {
		case l.Item == "a0" && l.Line == 3 && l.Label == "right" && len(l.Words) == 1 && l.Words[0].Text == "test":
		case l.Item == "a0" && l.Line == 4 && l.Label == "wrong" && l.Words == nil:
		case l.Item == "a1" && l.Line == 1 && l.Label == "right":
		default:
			t.Errorf("%+v", l)
		}
	}
	// The whole answer is another question, with the same words.
	form, page := as(t, newServer(t, path, Options{}), "ann").question("confusion")
	if form.Get("id") == "" || !strings.Contains(page, `<b>0</b> of 2`) {
		t.Error(page)
	}
	// One of these lines is near the threshold: the wrong one is not, nor is the short answer.
	for only, want := range map[string]int{"doubtful": 1, "doubtful=no": 2, "finding=en": 1, "language=he": 3} {
		s, err := New(path, Options{Questions: []string{"lines"}, Sample: labels.Sample{Only: []string{only}}})
		if err != nil || len(s.sheets[0].units) != want {
			t.Errorf("--only %s: %v, %v", only, s, err)
		}
	}
	for only, want := range map[string]string{"disputed": "only disputed: needs a run with several similarities", "finding=de": "only finding=de: there is no such answer",
		"mood": "only: unknown column mood; choose one of: doubtful, finding, item, language, model, sample"} {
		if _, err := New(path, Options{Sample: labels.Sample{Only: []string{only}}}); err == nil || err.Error() != want {
			t.Errorf("--only %s: %v", only, err)
		}
	}
}

// senses are consistency observations: three answers, read as classes, of which
// one is inconsistent with its source.
func senses() (list []crosstalk.Observation) {
	for i, class := range []string{"yes", "no", ""} {
		item := "q" + strconv.Itoa(i)
		text := "They say " + class + "."
		confidence, finding := "high", "inconsistent"
		if i != 1 {
			finding = ""
		}
		if class == "" {
			confidence = "none"
		}
		accuracy := crosstalk.Observation{Measure: "accuracy", Item: item, Cluster: item, Value: 1, Variant: "en",
			Condition: map[string]string{"model": "m"},
			Labels:    map[string]string{"task": "quiz", "pair": "en"},
			Texts: []crosstalk.NamedText{{Name: "answer", Role: crosstalk.Side, Text: text}, {Name: "class", Role: crosstalk.Fact, Text: class},
				{Name: "gold", Role: crosstalk.Fact, Text: "yes"}, {Name: "rule", Role: crosstalk.Fact, Text: "exact"},
				{Name: "confidence", Role: crosstalk.Fact, Text: confidence}, {Name: "instruction", Role: crosstalk.Aside, Text: "en"}}}
		pair := crosstalk.Observation{Measure: "consistency", Item: item, Cluster: item, Value: 1, Variant: "en>de X",
			Finding: finding, Condition: map[string]string{"model": "m"},
			Labels: map[string]string{"task": "quiz", "pair": "en>de", "part": "X"},
			Texts: []crosstalk.NamedText{{Name: "source_input", Role: crosstalk.Given, Text: "Is it so " + item + "?"},
				{Name: "input", Role: crosstalk.Given, Text: "Ist das so " + item + "?"},
				{Name: "source", Role: crosstalk.Side, Text: "Yes " + item}, {Name: "answer", Role: crosstalk.Side, Text: "Nein " + item}}}
		if finding != "" {
			pair.Value = 0
		}
		list = append(list, accuracy, pair)
	}
	return list
}

// What people read in answers, and why pairs differ, fills in the tables of
// corrections and codes.
func TestReviews(t *testing.T) {
	path := newRun(t, "consistency", senses()...)
	s := newServer(t, path, Options{})
	if len(s.LeftOut) > 0 {
		t.Errorf("left out: %v", s.LeftOut)
	}
	for _, name := range []string{"ann", "bob"} {
		c := as(t, s, name)
		for range 3 {
			form, page := c.question("reading")
			if !strings.Contains(page, `value="yes"`) || !strings.Contains(page, `value="no"`) || !strings.Contains(page, `value="none"`) || !strings.Contains(page, `value="cannot tell"`) {
				t.Fatalf("choices:\n%s", page)
			}
			switch {
			case strings.Contains(page, "They say ."):
				form.Set("label", "None")
				form.Set("comment", "it evades")
			case strings.Contains(page, "They say no."):
				form.Set("label", map[string]string{"ann": "yes", "bob": "no"}[name])
			default:
				form.Set("label", "yes")
			}
			if w := c.send("POST", "/reading", form); w.Code != http.StatusSeeOther {
				t.Fatal(w.Body)
			}
		}
		form, page := c.question("codes")
		if !strings.Contains(page, "Is it so q1?") || !strings.Contains(page, "Ist das so q1?") || !strings.Contains(page, "<b>0</b> of 1 answered") {
			t.Errorf("codes:\n%s", page)
		}
		if name == "bob" && !strings.Contains(page, `name="reason" value="mistranslation"`) {
			t.Error("the first one's codes are not offered")
		}
		if w := c.send("POST", "/codes", form); w.Code != 422 || !strings.Contains(w.Body.String(), "no label; expected words") {
			t.Errorf("no code: %d", w.Code)
		}
		form.Set("label", map[string]string{"ann": " wrong  word; mistranslation;", "bob": "wrong word"}[name])
		if name == "bob" {
			form.Set("reason", "mistranslation")
		}
		c.send("POST", "/codes", form)
	}
	for _, l := range readLabels(t, path) {
		if l.Question == "codes" && l.Label != "mistranslation; wrong word" {
			t.Errorf("%+v", l)
		}
	}
	overrides, err := labels.Overrides(path)
	want := consistency.Overrides{
		{Task: "quiz", Instruction: "en", Text: "They say ."}:    {Reviewer: "ann, bob", Reason: "labelled so by 2 of 2; it evades; it evades"},
		{Task: "quiz", Instruction: "en", Text: "They say yes."}: {Class: "yes", Reviewer: "ann, bob", Reason: "labelled so by 2 of 2"},
	}
	if err != nil || !reflect.DeepEqual(overrides, want) {
		t.Errorf("%+v, %v; want %+v", overrides, err, want)
	}
	codes, err := labels.AgreementOf(path, "codes", labels.Options{})
	if err != nil {
		t.Fatal(err)
	}
	shares := map[string]float64{}
	for _, f := range codes.Figures {
		if f.Measure == labels.Share {
			shares[f.Of] = float64(f.Value)
		}
	}
	if !maps.Equal(shares, map[string]float64{"mistranslation": 1, "wrong word": 1}) {
		t.Errorf("%v", shares)
	}
}

// Texts are escaped, and what reorders or hides text is shown as marks.
func TestHostile(t *testing.T) {
	list := pairs(1, false)
	hostile := "</textarea><script>alert(1)</script>\u202eabc\x1b[31m"
	for i := range list[0].Texts {
		list[0].Texts[i].Text = hostile
	}
	path := newRun(t, "leakage", list...)
	c := as(t, newServer(t, path, Options{Guide: []string{hostile}}), "<b>")
	form, _ := c.question("leakage")
	form.Set("label", "A")
	form.Set("comment", hostile)
	c.send("POST", "/leakage", form)
	c.send("POST", "/leakage/undo", url.Values{})
	c.question("leakage")
	for _, page := range c.bodies {
		if strings.Contains(page, "<script>") || strings.Contains(page, "<b>.") ||
			strings.ContainsAny(strings.ReplaceAll(page, html.EscapeString(hostile)+"</textarea>", ""), "\u202e\x1b") {
			t.Errorf("not escaped:\n%s", page)
		}
	}
}

// Cutting a text into words loses nothing but white space around it, in any
// language, and places are those of the words.
func TestPieces(t *testing.T) {
	for language, text := range map[string]string{
		"de": "  Ein «Satz» — mit test, 3,5 %\tund\n\n  noch einer.  ", "ja": "\n私はtestを見た。\n二行目、です。", "zh": "我今天 very 高兴，真的。",
		"th": "ฉันชอบ test มาก", "ar": "هذا، نص test قصير.", "hi": "यह एक test है।", "ko": "이것은 test입니다.", "": "x\u200by \xff\xfe z", "en": "",
	} {
		o := answers()[0]
		o.Labels = map[string]string{"language": language}
		o.Texts = nil
		o.AddText(crosstalk.Side, "answer", text)
		s := newServer(t, newRun(t, "confusion", o), Options{Questions: []string{"confusion"}})
		u := &s.sheets[0].Units[0]
		text := u.Texts[0] // as it was recorded
		var joined strings.Builder
		for _, p := range pieces(text, s.sheets[0].Words(u), nil) {
			joined.WriteString(p.Text)
			if from, to, found := strings.Cut(p.Place, "-"); found {
				start, _ := strconv.Atoi(from)
				end, _ := strconv.Atoi(to)
				if text[start:end] != p.Text {
					t.Errorf("%s: %q is at %s", language, p.Text, p.Place)
				}
			}
		}
		if strings.TrimSpace(joined.String()) != strings.TrimSpace(text) {
			t.Errorf("%s: %q became %q", language, text, joined.String())
		}
	}
}
