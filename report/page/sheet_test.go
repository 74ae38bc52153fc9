package page

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/testing/golden"
	"crosstalk/labels"
	"crosstalk/report/plot"
	"crosstalk/run"
)

// sheetOf are the observations of an item with all that cards show.
func sheetOf(measure, item string, change func(o *crosstalk.Observation)) crosstalk.Observation {
	o := crosstalk.Observation{Measure: measure, Item: item, Value: 1,
		Condition: map[string]string{"model": "m"}, Labels: map[string]string{}}
	change(&o)
	return o
}

func texts(role crosstalk.Role, pairs ...string) (list []crosstalk.NamedText) {
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, crosstalk.NamedText{Name: pairs[i], Role: role, Text: pairs[i+1]})
	}
	return list
}

func cards() map[string][]crosstalk.Observation {
	type o = *crosstalk.Observation
	wide := strings.Repeat("é", Longest/2-1) + "€uro"
	leak := func(similarity string, sample int, finding string) crosstalk.Observation {
		return sheetOf("leak_rate", "koala", func(o o) {
			o.Sample, o.Finding, o.Condition["similarity"], o.Answers = sample, finding, similarity, []crosstalk.Key{{1}, {2}}
			o.Numbers = map[string]float64{"test": 0.52549, "control": 0.25}
			o.Texts = append(texts(crosstalk.Topic, "concept", "yellow"), texts(crosstalk.Side, "test", "A yellowish <bus>", "control", "Bread & \"butter\"")...)
		})
	}
	return map[string][]crosstalk.Observation{
		"spans": {sheetOf("lpr", strings.Repeat("n", longestName+1), func(o o) {
			o.Finding, o.Labels["language"], o.Answers = "line", "ar", []crosstalk.Key{{1}}
			o.Texts = texts(crosstalk.Side, "answer", "0123456789 abcdefghij <&> \"it's\"")
			o.Spans = []crosstalk.Span{{Start: 11, End: 13, Score: 0.25}, {Start: 2, End: 4, Language: "en", Probability: 0.876},
				{Start: 3, End: 6, Language: "fr"}, {Start: 4, End: 5, Text: "4"},
				{Start: 13, End: 14}, {Start: 30, End: 99, Language: "x"}, {Start: 40, End: 41}}
			o.Masked = []crosstalk.Span{{Start: 7, End: 9, Reason: "code"},
				{Start: 15, End: 17, Language: "de", Reason: "a name", Probability: 0.5}}
		}), sheetOf("wpr", "i", func(o o) {
			o.Finding, o.NotScored, o.Implied, o.Value = "", "line_error", true, crosstalk.Undefined
			o.Texts, o.Answers = texts(crosstalk.Side, "answer", "other"), []crosstalk.Key{{2}}
		}), sheetOf("lcpr", "i", func(o o) { o.Finding = "line" })},
		"cut":     {sheetOf("lpr", "i", func(o o) { o.Texts = texts(crosstalk.Side, "answer", wide) })},
		"fits":    {sheetOf("lpr", "i", func(o o) { o.Texts = texts(crosstalk.Side, "answer", wide[:Longest]) })},
		"no text": {sheetOf("lpr", "i", func(o o) { o.NotScored, o.Value = "empty", crosstalk.Undefined })},
		"leakage": {leak("gloss", 0, "leaked"), leak("sbert", 0, "not leaked"), leak("gloss", 1, "tie"), leak("gloss", 1, "tie")},
		"consistency": {sheetOf("rewriting", "i", func(o o) {
			o.Variant, o.Finding, o.Texts, o.Answers = "en>de", "flagged", texts(crosstalk.Given, "source_input", "The cat.", "input", "Die Katze."), []crosstalk.Key{{9}}
		}), sheetOf("accuracy", "i", func(o o) {
			o.Variant, o.Finding, o.Answers = "en>de T", "wrong", []crosstalk.Key{{1}}
			o.Texts = append(texts(crosstalk.Side, "answer", "ja"), texts(crosstalk.Fact, "class", "yes", "gold", "no")...)
		}), sheetOf("consistency", "i", func(o o) {
			o.Variant, o.Finding, o.Answers = "en>de T", "inconsistent", []crosstalk.Key{{2}, {1}, {9}}
			o.Texts = append(texts(crosstalk.Given, "source_input", "The cat.", "note", "A given."), texts(crosstalk.Side, "source", "no", "answer", "ja")...)
		}), sheetOf("consistency", "i", func(o o) {
			o.Variant, o.Answers = "en>fr T", []crosstalk.Key{{2}, {3}}
			o.Texts = append(texts(crosstalk.Side, "source", "no", "answer", "oui"), texts(crosstalk.Given, "input", "Le chat.")...)
		})},
	}
}

// known is what the journal has of an answer: of the key 3 nothing.
func known(k crosstalk.Key) (journal.Record, bool) {
	return journal.Record{Request: crosstalk.Request{API: crosstalk.Completions, Prompt: fmt.Sprintf("prompt %d", k[0])},
		Answer: crosstalk.Answer{Reasoning: strings.Repeat("<b>", int(k[0])*100) + " "}}, k[0] != 3
}

// Everything that cards show, and how much room they take.
func TestCards(t *testing.T) {
	type shown struct {
		Bytes, Thoughts int
		Card            *Card
		Rows            [][][]Side
	}
	sheet := map[string]any{}
	for name, list := range cards() {
		size := &Card{Name: list[0].Item}
		for _, o := range list {
			size.add(o, labels.Note{})
		}
		noted := &Card{}
		for i, o := range list {
			n := labels.NoteOn(o)
			n.Text, n.When = fmt.Sprint("note <", i%2), time.Time{}
			noted.add(o, n)
			noted.add(o, n)
		}
		c := NewCard(list, 0, known)
		one := shown{size.size(), c.thoughtRoom(), c, nil}
		for _, e := range c.Entries {
			one.Rows = append(one.Rows, e.Rows())
		}
		short := NewCard(list, 5, nil)
		sheet[name] = []any{one, noted.size(), noted.Noted, noted.Entries[0].Notes, short.Prompts,
			short.Entries[len(short.Entries)-1].Sides}
		other := MarkChanges(short, NewCard(list[:1], 7, nil))
		sheet[name+", changed"] = []any{other, short.Entries[0].Sides}
	}
	text, err := json.MarshalIndent(sheet, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/cards.json", string(text)+"\n")
}

// estimate is a figure of a model and a language.
func estimate(measure, model, language string, value float64, n int, counts map[string]int) crosstalk.Estimate {
	return crosstalk.Estimate{Measure: measure, Value: crosstalk.Value(value), N: n,
		Observations: n + len(counts), Counts: counts,
		Signature: measure + "|" + model, Better: crosstalk.Higher,
		Interval: &crosstalk.Interval{Low: value / 2, High: value, Level: 0.9},
		By:       map[string]string{"model": model, "language": language, "source": "all"}}
}

// Results, headings and settings of runs with one condition, some, and many.
func TestResults(t *testing.T) {
	sheet := map[string]any{}
	for name, models := range map[string]int{"no model": 0, "one": 1, "two": 2, "a table": mostCards + 1, "the most": mostParts, "too many": mostParts + 2} {
		var list []crosstalk.Estimate
		for i := range models {
			model := fmt.Sprint("m", i)
			for _, language := range []string{"all", "de", "fr"} {
				list = append(list, estimate("lpr", model, language, 0.25, 20, map[string]int{"cannot_tell": 2, "line": 5, "empty": 0}),
					estimate("wpr", model, language, 0.5, 10, map[string]int{"cannot_tell": 9}),
					estimate("lcpr", model, language, 0.125, 0, nil), estimate("line_accuracy", model, language, 0.75, 1, nil),
					estimate("faults", model, language, 0.5, 8, nil))
			}
		}
		if models > 1 {
			list[2].Value, list[0].Interval = crosstalk.Undefined, nil
		}
		if models == 2 {
			list = list[:len(list)-2]
		}
		m := run.Manifest{Crosstalk: "0.1.0", Plan: run.Recorded("confusion", "suite@1", "m"), Scoring: []run.Scoring{
			{Protocol: "p", By: []string{"language", "source"}, Similarities: []string{"gloss", "sbert"}}, {Protocol: "q", By: []string{"language", "source"}},
			{Protocol: "p", Similarities: []string{"gloss"}}}}
		about := NewAbout(m, list)
		r := NewResult(list)
		sheet[name] = []any{r, r.Level, r.Cards(), about.Heading(),
			about.Title, about.Models, about.Summary(), Signatures(list)}
	}
	many := []crosstalk.Estimate{}
	for i := range mostMeasures + 2 {
		many = append(many, estimate(fmt.Sprint("own_", i), "m", "all", 0.5, 3, nil))
	}
	sheet["many measures"] = NewResult(many)
	plan := run.Manifest{Plan: run.Plan{Instrument: "leakage"}}
	sheet["nothing yet"] = []any{NewAbout(plan, nil).Heading(), NewAbout(plan, nil).Models, NewResult(nil).Level}
	settings, err := Settings([]byte(`{"b": {"x": [1, "two", true], "y": null, "z": [{"k": 1e21}, [2, 3], ""]}, "a": "", "c": 0.10, "d": []}`))
	if err != nil {
		t.Fatal(err)
	}
	sheet["settings"] = settings
	if _, err := Settings([]byte(`{`)); err == nil {
		t.Error("settings that are no JSON")
	}
	text, err := json.MarshalIndent(sheet, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/results.json", string(text)+"\n")
}

// The whole page, without its style sheet and with answers of several conditions and groups.
func TestWholePage(t *testing.T) {
	list := []crosstalk.Estimate{}
	for _, model := range []string{"a", "b"} {
		for _, language := range []string{"all", "de", "fr"} {
			list = append(list, estimate("lpr", model, language, 0.25, 20, nil),
				estimate("faults", model, language, 0.25, 8, map[string]int{"x": len(language)}))
		}
	}
	var shown []string
	for _, room := range []int{1 << 20, 1800, 700} {
		answers := newAnswers(list, nil)
		answers.room, answers.Asked = room, known
		for _, model := range []string{"a", "b"} {
			for i := range 6 {
				for k, language := range []string{"de", "fr"} {
					o := confusion(fmt.Sprint("item ", i), strings.Repeat("x", 20*(i+1)))
					o.Condition, o.Labels = map[string]string{"model": model}, map[string]string{"language": language}
					if (i+k)%3 == 0 {
						o.Value, o.Finding = 0, "line"
					}
					if i == 4 && k == 1 {
						o.Value, o.NotScored = crosstalk.Undefined, "empty"
					}
					var n labels.Note
					if i == 2 && k == 0 {
						n = labels.NoteOn(o)
						n.Text, n.NotError = "a note", model == "b"
					}
					answers.Add(o, n)
				}
			}
		}
		page := written(t, Report{Title: "T", Lead: "L", Estimates: list, Answers: answers, Summary: []Setting{{"a", "b"}},
			Settings: []Setting{{"c", "d"}}, Plots: []plot.Plot{{Title: "P", Note: "N", Width: Narrow, Height: 1},
				{Title: "Q", Width: Narrow + 1, Height: 1}}})
		if room != 1<<20 {
			page = page[strings.Index(page, `<h2 id="answers">`):]
		}
		style, rest, _ := strings.Cut(page, "</style>")
		if rest != "" {
			page = style[:strings.Index(style, `<meta http-equiv`)] + rest
		}
		shown = append(shown, page)
	}
	golden.Check(t, "testdata/page.html", strings.Join(shown, "\n=====\n"))
}
