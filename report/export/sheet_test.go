package export

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/testing/golden"
	"crosstalk/labels"
	"crosstalk/run/view"
)

// runOf writes a run of these observations and, if there are any, answers. Its name begins with the instrument.
func runOf(t *testing.T, instrument string, observations []crosstalk.Observation, answers ...journal.Record) string {
	t.Helper()
	dir := instrument
	instrument, _, _ = strings.Cut(instrument, "-")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, o := range observations {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(text, '\n'))
	}
	for name, text := range map[string]string{"observations.jsonl": lines.String(),
		"manifest.json":  `{"schema":"crosstalk/run/v1","crosstalk":"9.9","plan":{"instrument":"` + instrument + `"}}`,
		"estimates.json": `{"schema":"crosstalk/estimates/v1","estimates":[{"measure":"lpr","value":1,"by":{"model":"m","language":"all"},"signature":"of m"}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if len(answers) == 0 {
		return dir
	}
	j, err := journal.Open(filepath.Join(dir, journal.Name))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if err := j.Put(a); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// All that is written of runs of two instruments, in each format: see testdata/sheet.txt. -update writes it anew.
func TestSheet(t *testing.T) {
	sheet, err := filepath.Abs("testdata/sheet.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	id := crosstalk.Identity{Provider: "openai", Endpoint: "http://localhost", Name: "m"}
	temperature := 0.5
	asked := func(text, answer string, r crosstalk.Request) (journal.Record, crosstalk.Key) {
		if text != "" {
			r.Messages = []crosstalk.Message{{Role: "system", Content: "Be kind."}, {Role: "user", Content: text}}
		}
		r.Decoding = crosstalk.Decoding{Temperature: &temperature}
		key := crosstalk.KeyOf(id, r)
		a := crosstalk.Answer{Key: key, Status: crosstalk.Text, Text: answer, Reasoning: "Hm.", Reason: "stop", Model: "m-1",
			Usage: crosstalk.Usage{Prompt: 3, Completion: 5, Reasoning: 2}, Latency: 1500 * time.Microsecond,
			Attempts: 2, Time: time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)}
		return journal.Record{Identity: id, Request: r, Answer: a}, key
	}
	first, firstKey := asked("Wo ist\nmein Paket?", "Es ist on its way, und *das* | bald.", crosstalk.Request{Sample: 1})
	second, secondKey := asked("", "Hi.", crosstalk.Request{API: crosstalk.Completions, Prompt: "Sag hallo."})
	type observation = crosstalk.Observation
	answer := func(item string, sample int, text, finding string, value float64, key ...crosstalk.Key) observation {
		o := crosstalk.Observation{Measure: "lpr", Item: item, Sample: sample, Value: crosstalk.Value(value),
			Finding: finding, Answers: key,
			Condition: map[string]string{"model": "m"}, Labels: map[string]string{"language": "de", "task": "t"}}
		if text != "" {
			o.AddText(crosstalk.Side, "answer", text)
		}
		return o
	}
	word := func(o crosstalk.Observation, spans ...crosstalk.Span) crosstalk.Observation {
		o.Measure, o.Value, o.Finding, o.Spans, o.Texts = "wpr", 0, "word", spans, nil
		return o
	}
	one := answer("a", 1, first.Answer.Text, "", 1, firstKey)
	one.Numbers = map[string]float64{"words_wrong": 2}
	two := answer("b", 0, "Hi.", "line", 0, secondKey)
	two.Spans = []crosstalk.Span{{Line: 1, Start: 0, End: 3, Text: "Hi.", Language: "en", Probability: 0.5},
		{Start: -1, End: 2, Text: "of the file"}, {Start: 2, End: 2, Text: "empty"}, {Start: 0, End: 2, Text: "not the answer's"}, {Start: 0, End: 4, Text: " too\nlong "}}
	two.Masked, two.Tokens = []crosstalk.Span{{Start: 1, End: 2}}, []crosstalk.Token{{Text: "Hi", Entropy: 0.5}}
	lost := answer("d", 0, "Bye\x1b[2J & <b>", "line", 0, crosstalk.Key{9})
	lost.AddText(crosstalk.Given, "prompt", "Sag \"tschüss\".")
	lost.AddText(crosstalk.Given, "input", "Not this.")
	silent := answer("e", 0, "Kurz.", "line", 0)
	silent.Implied = true
	unscored := answer("f", 0, "42", "", float64(crosstalk.Undefined))
	unscored.NotScored = "cannot_tell"
	right := answer("c", 0, "Ja.", "", 1)
	words := []crosstalk.Span{{Start: 7, End: 13, Language: "en"}, {Start: 14, End: 17, Language: "en"}}
	runOf(t, "confusion", []crosstalk.Observation{one, word(one, words...),
		right, word(right), two, lost, silent, unscored}, first, second)
	var pairs []crosstalk.Observation
	for i, finding := range []string{"leaked", "not leaked", "leaked"} {
		o := crosstalk.Observation{Measure: "leak_rate", Item: fmt.Sprint("i", i), Cluster: "c",
			Value: crosstalk.Value(1 - i%2), Finding: finding,
			Condition: map[string]string{"model": "m", "similarity": "s"}, Labels: map[string]string{"category": []string{"x", "y"}[i/2]}}
		o.AddText(crosstalk.Topic, "concept", "koalas")
		o.AddText(crosstalk.Given, "prompt", "He likes koalas. He eats")
		o.AddText(crosstalk.Side, "test", "leaves")
		o.AddText(crosstalk.Side, "control", "bread")
		if i == 2 {
			o.Answers = []crosstalk.Key{firstKey}
		}
		pairs = append(pairs, o)
	}
	runOf(t, "leakage", pairs, first)
	if err := labels.Append("leakage", labels.Label{Question: "leakage", Place: labels.Place{Item: "i0", Condition: map[string]string{"model": "m"}},
		Annotator: "ann", Label: "test"}); err != nil {
		t.Fatal(err)
	}
	runOf(t, "consistency", nil)
	changed := func(item string, sides ...string) observation { // one answer may be missing
		o := observation{Measure: "consistency", Item: item, Finding: "inconsistent", Condition: map[string]string{"model": "m"}}
		for _, side := range sides {
			o.AddText(crosstalk.Side, side, side+" to "+item)
		}
		return o
	}
	runOf(t, "consistency-uneven", []observation{changed("a"), changed("b", "answer"), changed("c", "source", "answer"),
		changed("d", "source")})
	var b strings.Builder
	for _, dir := range []string{"confusion", "leakage", "consistency", "consistency-uneven", "nowhere"} {
		for _, format := range append(Formats, "") {
			for _, answers := range []bool{false, true} {
				fmt.Fprintf(&b, "\n$ export %s %s answers %v\n", dir, format, answers)
				if err := WriteRun(&b, format, dir, answers); err != nil {
					fmt.Fprintf(&b, "! %v\n", err)
				}
			}
		}
		for _, format := range append(faultFormats, "xml") {
			for _, only := range []string{"", "sample=2", "item=b,d", "category=y", "nothing=x", "model=n"} {
				fmt.Fprintf(&b, "\n$ faults %s %s %s\n", dir, format, only)
				v, err := view.View{}, error(nil)
				if only != "" {
					v, err = view.Chosen([]string{only})
				}
				if err == nil {
					err = WriteFaults(&b, format, dir, v)
				}
				if err != nil {
					fmt.Fprintf(&b, "! %v\n", err)
				}
			}
		}
	}
	golden.Check(t, sheet, b.String())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	open, _ := os.ReadDir("/proc/self/fd") // none on other systems
	for _, f := range open {
		if to, _ := os.Readlink("/proc/self/fd/" + f.Name()); strings.HasPrefix(to, here+"/") {
			t.Errorf("%s was left open", to)
		}
	}
}

// What cannot be written is an error, whatever the format.
func TestFull(t *testing.T) {
	t.Chdir(t.TempDir())
	o := observations()[2]
	dir := runOf(t, "confusion", []crosstalk.Observation{o})
	for _, format := range []string{JSONLines, CSV} {
		if err := WriteRun(full{}, format, dir, false); err != errFull {
			t.Errorf("%s: %v", format, err)
		}
	}
	for _, format := range faultFormats {
		if err := WriteFaults(full{}, format, dir, view.View{}); err != errFull {
			t.Errorf("%s: %v", format, err)
		}
	}
	two := runOf(t, "confusion-two", []crosstalk.Observation{o, o})
	if err := WriteFaults(&fullOnce{}, "table", two, view.View{}); err != errFull {
		t.Errorf("what can be written again: %v", err)
	}
	if err := writeSamples(full{}, seq([]crosstalk.Observation{o}), nil); err != errFull {
		t.Error(err)
	}
}

var errFull = fmt.Errorf("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// fullOnce refuses the first write for lack of space.
type fullOnce struct{ before bool }

func (f *fullOnce) Write(b []byte) (int, error) {
	if !f.before {
		f.before = true
		return 0, errFull
	}
	return len(b), nil
}

// A damaged file of a run is an error that names it, whatever is written.
func TestDamaged(t *testing.T) {
	for file, formats := range map[string][]string{
		"manifest.json": {JSONLines, CSV, LMEval, "table"}, "observations.jsonl": {JSONLines, CSV, LMEval, "table"},
		"estimates.json": {CSV}, labels.File: {CSV}, journal.Name: {LMEval, "table"},
	} {
		t.Chdir(t.TempDir())
		dir := runOf(t, "confusion", observations()[2:3], journal.Record{Request: crosstalk.Request{Prompt: "x"}})
		if err := os.RemoveAll(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte("{broken\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{JSONLines, CSV, LMEval, "table"} {
			write := func() error { return WriteRun(io.Discard, format, dir, false) }
			if format == "table" {
				write = func() error { return WriteFaults(io.Discard, format, dir, view.View{}) }
			}
			err := write()
			if (err != nil) != slices.Contains(formats, format) || err != nil && !strings.Contains(err.Error(), file) {
				t.Errorf("%s with a broken %s: %v", format, file, err)
			}
		}
	}
}
