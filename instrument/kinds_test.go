package instrument_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/instrument"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/measure/langid"
	"crosstalk/measure/similarity"
	"crosstalk/measure/wordlist"
)

// made is what an instrument makes of a few items, between them all that it
// can find.
type made struct {
	kind         crosstalk.Kind
	labels       []string // that the items have
	observations []crosstalk.Observation
	estimates    []crosstalk.Estimate
}

func all(t *testing.T) []made { return []made{ofLeakage(t), ofConfusion(t), ofConsistency(t)} }

// allRoles are all that a text can have.
var allRoles = []crosstalk.Role{crosstalk.Topic, crosstalk.Given, crosstalk.Side, crosstalk.Fact, crosstalk.Aside}

// condition is the condition of all observations.
var condition = map[string]string{crosstalk.ModelColumn: "m"}

func said(text string) crosstalk.Answer {
	return crosstalk.Answer{Status: crosstalk.Text, Text: text,
		Key: crosstalk.KeyOf(crosstalk.Identity{}, crosstalk.Request{Prompt: text})}
}

var unanswered = []crosstalk.Answer{{Status: crosstalk.Empty, Key: crosstalk.Key{1}},
	{Status: crosstalk.Refused, Key: crosstalk.Key{2}},
	{Status: crosstalk.Failed, Key: crosstalk.Key{3}}}

func ofLeakage(t *testing.T) made {
	length := similarity.Func("length", func(_, b string) (float64, bool) { return float64(len(b)), b != "unknown" })
	in := &leakage.Instrument{Protocol: leakage.Protocols[0], Similarities: []similarity.Similarity{length},
		Condition: condition}
	in.Protocol.Windows, in.Protocol.Counts = leakage.Sentences, true
	item := crosstalk.Item{ID: "i", Pair: &crosstalk.Pair{Concept: "koalas", Test: "He likes koalas. He eats", Control: "He eats"},
		Labels: map[string]string{leakage.LanguageColumn: "en", leakage.DatasetColumn: "d"}}
	test := append([]crosstalk.Answer{said("aa"), said("a"), said("a"), said("unknown"), said("")}, unanswered...)
	control := slices.Repeat([]crosstalk.Answer{said("b")}, len(test))
	control[2] = said("bb")
	observations, err := in.Score(t.Context(), item, 0, test, control[:len(control)-1])
	if err != nil {
		t.Fatal(err)
	}
	item.ID, item.Pair = "c", &crosstalk.Pair{Concept: "bees", Context: &crosstalk.Context{Carrier: crosstalk.Note, Prompt: "Why?",
		Test: crosstalk.Carried{Text: "Ann keeps noisy bees."}, Control: crosstalk.Carried{Text: "Ann keeps at it."}}}
	copied, err := in.Score(t.Context(), item, 0, append([]crosstalk.Answer{said("She keeps noisy bees"), said("No")}, unanswered...),
		[]crosstalk.Answer{said("No"), said("No"), said("No"), said("No"), said("No")})
	if err != nil {
		t.Fatal(err)
	}
	observations = append(observations, copied...)
	return made{leakage.Kind(), []string{leakage.LanguageColumn, leakage.DatasetColumn}, observations,
		sumUp(t, leakage.Kind(), in.Rules(), observations, nil)}
}

// sumUp returns the estimates over observations. An estimator reads no details but
// the texts that its Kind asks for.
func sumUp(t *testing.T, kind crosstalk.Kind, r crosstalk.Rules, observations []crosstalk.Observation,
	by []string) []crosstalk.Estimate {
	t.Helper()
	e, values := r.Estimator(by), r.Estimator(by)
	for _, o := range observations {
		e.Add(o)
		o.Texts = slices.DeleteFunc(slices.Clone(o.Texts), func(text crosstalk.NamedText) bool {
			return !slices.Contains(kind.Reads, text.Name)
		})
		o.Spans, o.Masked, o.Tokens, o.Answers = nil, nil, nil, nil
		values.Add(o)
	}
	estimates := e.Estimates(crosstalk.SuiteIDs{})
	got, want := crosstalk.Canonical(values.Estimates(crosstalk.SuiteIDs{})), crosstalk.Canonical(estimates)
	if string(got) != string(want) {
		t.Errorf("%s without other texts:\n%s\nwant\n%s", kind.Name, got, want)
	}
	return estimates
}

// first takes a line for the language that its first word names.
type first struct{}

func (first) Name() string { return "first" }
func (first) Identify(text string) langid.Guess {
	word, _, _ := strings.Cut(text, " ")
	return langid.Guess{Language: word, Probability: 0.9}
}

func ofConfusion(t *testing.T) made {
	words, err := wordlist.Read(strings.NewReader("people\n"))
	if err != nil {
		t.Fatal(err)
	}
	in := &confusion.Instrument{Protocol: confusion.Protocols[2], Identifier: first{}, Judge: guard.Checker{},
		Words:     words,
		Condition: condition}
	in.Prompting.Logprobs = 1
	var observations []crosstalk.Observation
	for language, texts := range map[string][]string{
		"ru": {"ru 1 2 3 4", "ru 1 2 3 people", "ru 1 2 3 4\nen 1 2 3 4", "en 1 2 3 4", "short"},
		"de": {"de 1 2 3 4", "de 1 2 3 слово"},
	} {
		answers := slices.Clone(unanswered)
		for i, text := range texts {
			a := said(text)
			if i != 3 { // of that one the probabilities are not known
				a.Logprobs = []crosstalk.TokenLogprob{{Token: text, Logprob: math.Log(0.5),
					Top: []crosstalk.CandidateLogprob{{Token: text, Logprob: math.Log(0.5)}}}}
			}
			answers = append(answers, a)
		}
		item := crosstalk.Item{ID: language, Prompt: &crosstalk.Prompt{Language: language},
			Labels: map[string]string{confusion.TaskColumn: "monolingual", confusion.SourceColumn: "s"}}
		for sample, a := range answers {
			observations = append(observations, in.Score(item, sample, a)...)
		}
	}
	recorded := crosstalk.Item{ID: "recorded", Prompt: &crosstalk.Prompt{Text: "Why?"},
		Labels: map[string]string{confusion.TaskColumn: "monolingual", confusion.LanguageColumn: "xx"}}
	observations = append(observations, in.Score(recorded, 0, crosstalk.Answer{Status: crosstalk.Text, Text: "x"})...)
	strict := *in
	strict.Protocol.AllAnswers = true
	observations = append(observations, strict.Score(crosstalk.Item{ID: "waived", Prompt: &crosstalk.Prompt{Language: "ru"},
		Labels: map[string]string{confusion.TaskColumn: "monolingual"}}, 0, said("short"))...)
	return made{confusion.Kind(), []string{confusion.TaskColumn, confusion.SourceColumn}, observations,
		append(sumUp(t, confusion.Kind(), in.Rules(), observations, confusion.By), ofReasoning(t, *in, &observations)...)}
}

// ofReasoning adds observations of reasoning under our own protocol, and returns
// their estimates.
func ofReasoning(t *testing.T, in confusion.Instrument, all *[]crosstalk.Observation) []crosstalk.Estimate {
	in.Protocol, in.Part, in.Prompting.Logprobs = confusion.Protocols[0], confusion.Reasoning, 0
	var observations []crosstalk.Observation
	item := crosstalk.Item{ID: "reasoning", Prompt: &crosstalk.Prompt{Language: "de"}, Labels: map[string]string{confusion.TaskColumn: "monolingual"}}
	for sample, text := range []string{"Das ist eine kurze deutsche Antwort.", "The user asks in German, so let me think about it.",
		"Das ist eine kurze deutsche завтра Antwort.", "12", ""} {
		a := said(text)
		a.Reasoning = a.Text
		observations = append(observations, in.Score(item, sample, a)...)
	}
	mixed := said("Thinking: Das ist eine Antwort.")
	mixed.Reason = crosstalk.Mixed
	observations = append(observations, in.Score(item, 5, mixed)...)
	*all = append(*all, observations...)
	return sumUp(t, confusion.Kind(), in.Rules(), observations, confusion.By)
}

func ofConsistency(t *testing.T) made {
	words := func(no, yes string) []crosstalk.AnswerWord {
		return []crosstalk.AnswerWord{{Word: no, Class: "different"}, {Word: yes, Class: "same"}}
	}
	task := crosstalk.Task{Name: "t", Classes: []string{"different", "same"}, Fields: []string{"a"}, Layout: "{ask} {a}",
		Instructions: map[string]crosstalk.Instruction{"en": {Parts: map[string]string{"ask": "Is it?"}, Words: words("no", "yes")},
			"de": {Parts: map[string]string{"ask": "Ist es?"}, Words: words("nein", "ja")}}}
	item := crosstalk.Item{ID: "i", Input: &crosstalk.Input{Task: "t", Gold: map[string]string{"en": "same"},
		Texts: map[string][]string{"en": {"the cat sleeps in the garden"}, "de": {"die Katze schläft im Garten"}}}}
	source, both := consistency.Form{Input: "en", Instruction: "en"}, consistency.Form{Input: "en>de", Instruction: "en>de"}
	inputs := consistency.Form{Input: "en>de", Instruction: "en"}
	in := &consistency.Instrument{Protocol: consistency.Protocols[0], Tasks: []crosstalk.Task{task}, Condition: condition,
		Quality:   similarity.Func("length", func(a, _ string) (float64, bool) { return float64(len(a)), true }),
		Overrides: consistency.Overrides{{Task: "t", Instruction: "en>de", Text: "hm"}: {Class: "same", Reviewer: "ab", Reason: "it agrees"}}}
	var observations []crosstalk.Observation
	for _, c := range []struct {
		texts         []string
		source, other []crosstalk.Answer
	}{
		{[]string{"die Katze schläft im Garten"}, []crosstalk.Answer{said("yes"), said("no")}, []crosstalk.Answer{said("ja"), said("nein"), said("hm"), said("?")}},
		{[]string{"the cat sleeps in the garden"}, []crosstalk.Answer{said("no"), said("no")}, append([]crosstalk.Answer{said("nein")}, unanswered...)},
		{nil, []crosstalk.Answer{{}, said("no")}, []crosstalk.Answer{said("ja")}},
	} {
		rewritten := consistency.Rewritten{Texts: c.texts, Flags: consistency.FlagTexts("en>de", item.Input.Texts["en"], c.texts, nil)}
		item.ID += "i"
		list, err := in.Score(t.Context(), nil, item,
			consistency.Answers{source: c.source, both: c.other, inputs: c.source[:1]},
			map[consistency.Sense]consistency.Rewritten{"en>de": rewritten})
		if err != nil {
			t.Fatal(err)
		}
		observations = append(observations, list...)
	}
	return made{consistency.Kind(), nil, observations,
		sumUp(t, consistency.Kind(), in.Rules(), observations, []string{consistency.ByClass})}
}

// set is a set of keys.
type set map[string]bool

func (s set) lacks(t *testing.T, of string, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if !s[key] {
			t.Errorf("%s %q", of, key)
		}
	}
}

func list(s set) []string { return slices.Sorted(maps.Keys(s)) }

// keysOf are the keys of a kind by what they are of.
func keysOf(k crosstalk.Kind) (measures, findings, columns, counts set) {
	measures, findings, columns, counts = set{}, set{}, set{}, set{}
	for _, m := range k.Measures {
		measures[m.Key] = true
	}
	for _, f := range k.Findings {
		findings[f.Key] = true
	}
	for _, c := range k.Columns {
		columns[c.Key] = true
	}
	for _, c := range k.Counts {
		counts[c] = true
	}
	return
}

// All that an instrument says of answers is in its Kind, and all that is in the
// Kind is said.
func TestKinds(t *testing.T) {
	for _, m := range all(t) {
		t.Run(m.kind.Name, func(t *testing.T) {
			measures, findings, columns, counts := keysOf(m.kind)
			answers := map[string]string{} // by item, variant, sample and side
			has := map[string]set{"measure": {}, "finding": {}, "column": {}, "count": {}, "text or label": {}, "number": {}}
			roles := map[string]crosstalk.Role{}
			for _, o := range m.observations {
				has["measure"][o.Measure] = true
				if o.Finding != "" {
					has["finding"][o.Finding] = true
				}
				for column := range o.Condition {
					if column != crosstalk.ModelColumn {
						has["column"][column] = true
					}
				}
				for column := range o.Labels {
					has["text or label"][column] = true
					if !slices.Contains(m.labels, column) || columns[column] {
						has["column"][column] = true
					}
				}
				for _, text := range o.Texts {
					has["text or label"][text.Name] = true
					if !slices.Contains(allRoles, text.Role) {
						t.Errorf("%s of %s has the role %q", text.Name, o.Measure, text.Role)
					}
					if role, known := roles[text.Name]; known && role != text.Role {
						t.Errorf("%s has the roles %s and %s", text.Name, role, text.Role)
					}
					roles[text.Name] = text.Role
				}
				for number := range o.Numbers {
					has["number"][number] = true
				}
				for _, number := range m.kind.Measure(o.Measure).Numbers {
					if _, ok := o.Numbers[number]; !ok && o.NotScored == "" {
						t.Errorf("an observation of %s has no number %s", o.Measure, number)
					}
				}
				sides := 0
				for _, text := range o.Texts {
					if text.Role != crosstalk.Side {
						continue
					}
					if sides == len(o.Answers) || text.Text != "" && o.Answers[sides] != said(text.Text).Key {
						t.Fatalf("%s of %s is not of the answer in its place: %+v", text.Name, o.Measure, o)
					}
					sides++
					answer := fmt.Sprint(o.Item, o.Variant, o.Sample, text.Name)
					if before, known := answers[answer]; known && before != text.Text {
						t.Errorf("the %s of %s is %q and %q", text.Name, o.Variant, before, text.Text)
					}
					answers[answer] = text.Text
				}
				if _, ok := o.Condition[m.kind.Judge]; !ok && m.kind.Judge != "" {
					t.Errorf("an observation of %s has no column %s", o.Measure, m.kind.Judge)
				}
				if implied := o.NotScored == confusion.LineError; o.Implied != implied {
					t.Errorf("an observation of %s without a value, %q, is implied: %v", o.Measure, o.NotScored, o.Implied)
				}
			}
			for _, e := range m.estimates {
				has["measure"][e.Measure] = true
				for count := range e.Counts {
					has["count"][count] = true
				}
				unscored := m.kind.Measure(e.Measure).Unscored
				if !slices.ContainsFunc(unscored, func(key string) bool { _, counted := e.Counts[key]; return counted }) {
					t.Errorf("%s has no count %q", e.Measure, unscored)
				}
				for column := range e.By {
					if columns[column] {
						has["column"][column] = true
					}
				}
			}
			for _, o := range m.observations {
				for column := range o.Labels {
					if m.kind.Column(column).OfFigures {
						t.Errorf("observations of %s have %s, a column of figures only", o.Measure, column)
					}
				}
			}
			measures.lacks(t, "Kind.Measures lacks", list(has["measure"])...)
			has["measure"].lacks(t, "nothing is measured of", list(measures)...)
			findings.lacks(t, "Kind.Findings lacks", list(has["finding"])...)
			has["finding"].lacks(t, "nothing is found of", list(findings)...)
			columns.lacks(t, "Kind.Columns lacks", list(has["column"])...)
			has["column"].lacks(t, "nothing has the column", list(columns)...)
			counts.lacks(t, "Kind.Counts lacks", list(has["count"])...)
			for _, key := range crosstalk.Unanswered {
				has["count"][key] = true
			}
			has["count"].lacks(t, "nothing is counted as", list(counts)...)
			has["text or label"].lacks(t, "there is no target", m.kind.Target)
			has["number"].lacks(t, "nothing has the number of doubt", m.kind.Doubt...)
			for _, chart := range m.kind.Charts {
				measures.lacks(t, "a chart is of", chart.Measures...)
				for _, column := range append(slices.Clone(chart.Rows), chart.Series) {
					if column != "" && column != crosstalk.ModelColumn {
						columns.lacks(t, "a chart has the column", column)
					}
				}
				if chart.Over != "" {
					measures.lacks(t, "a chart is over", chart.Over)
				}
			}
		})
	}
}

// No two instruments measure something of the same name.
func TestMeasuresDiffer(t *testing.T) {
	known := map[string]string{}
	for _, k := range instrument.Kinds() {
		if instrument.Named(k.Name).Title != k.Title || k.Title == "" || k.Sentence == "" {
			t.Errorf("%s: %q, %q", k.Name, k.Title, k.Sentence)
		}
		for _, m := range k.Measures {
			if other, twice := known[m.Key]; twice {
				t.Errorf("%s is of %s and %s", m.Key, other, k.Name)
			}
			known[m.Key] = k.Name
			if instrument.Of(m.Key).Name != k.Name || m.Label == "" || m.Name == "" || m.Sentence == "" {
				t.Errorf("%s of %s: %+v", m.Key, k.Name, m)
			}
		}
	}
	if m := instrument.Measure("no_such"); m.Label != "no such" || instrument.Of("no_such").Name != "" || instrument.Named("x").Title != "x" {
		t.Errorf("%+v", m)
	}
}

// The files that describe instruments have no other fields than a Kind.
func TestKindFiles(t *testing.T) {
	for _, kind := range instrument.Kinds() {
		text, err := os.ReadFile(filepath.Join(kind.Name, "kind.json"))
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&crosstalk.Kind{}); err != nil {
			t.Errorf("%s: %v", kind.Name, err)
		}
	}
}
