package labels

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/internal/testing/golden"
)

// odd is an observation of a measure, with texts by role: "side answer=...".
func odd(measure, item string, value float64, finding string, columns string, texts ...string) crosstalk.Observation {
	o := crosstalk.Observation{Measure: measure, Item: item, Value: crosstalk.Value(value), Finding: finding,
		Condition: map[string]string{"model": "m"}, Labels: map[string]string{}}
	for _, c := range strings.Fields(columns) {
		name, value, _ := strings.Cut(c, "=")
		switch name {
		case "similarity", "reading", "protocol":
			o.Condition[name] = value
		case "not_scored":
			o.NotScored, o.Value = value, crosstalk.Undefined
		case "cluster":
			o.Cluster = value
		case "variant":
			o.Variant = value
		default:
			o.Labels[name] = value
		}
	}
	for _, x := range texts {
		role, x, _ := strings.Cut(x, " ")
		name, text, _ := strings.Cut(x, "=")
		o.AddText(crosstalk.Role(role), name, text)
	}
	return o
}

// TestEveryQuestion compares what each question asks about, and how sheets show it, with testdata/units.txt.
func TestEveryQuestion(t *testing.T) {
	with := func(o crosstalk.Observation, change func(*crosstalk.Observation)) crosstalk.Observation {
		o.Condition, o.Labels = maps.Clone(o.Condition), maps.Clone(o.Labels)
		change(&o)
		return o
	}
	leak := odd("leak_rate", "a", 1, "leaked", "similarity=s1 language=en dataset=one cluster=c", "topic concept=red",
		"side test=a <red> rose & more", "side control=a stone")
	leak.Numbers = map[string]float64{"test": 0.5, "control": 0.48}
	other := with(leak, func(o *crosstalk.Observation) {
		o.Condition["similarity"], o.Value, o.Finding = "s2", 0, "not leaked"
		o.Numbers = map[string]float64{"test": 0.3, "control": 0.4}
	})
	second := with(leak, func(o *crosstalk.Observation) {
		o.Labels["dataset"], o.Cluster, o.Numbers, o.Sample = "two", "", map[string]float64{"test": 0.3}, 2
	})
	again := with(second, func(o *crosstalk.Observation) { o.Labels["dataset"], o.Numbers = "three", nil })

	text := "one two three four five\nsechs sieben acht neun zehn\nkurz"
	lines := odd("lpr", "a", 0, "line", "language=en task=t1", "side answer="+text)
	lines.Spans = []crosstalk.Span{{Line: 2, Language: "de", Probability: 0.9}}
	lines.Numbers = map[string]float64{"margin": 0.05, "margin_line": 1}
	words := odd("wpr", "a", 0, "", "language=en task=t1 not_scored=line_error")
	words.NotScored, words.Implied = "line error", true
	lines2 := odd("lpr", "a", 1, "", "language=en task=t2", "side answer=one two three four five")
	words2 := odd("wpr", "a", 0, "word", "language=en task=t2")
	lines3 := odd("lpr", "b", 1, "", "language=en task=t1", "side answer=six seven eight nine ten")
	words3 := odd("wpr", "b", 1, "", "language=en task=t1")
	words4 := odd("wpr", "c", 1, "", "language=en task=t1")
	words5 := odd("wpr", "b", 1, "", "language=en task=t1 not_scored=other")

	same := []crosstalk.Observation{
		odd("consistency", "q", 0, "inconsistent", "task=t pair=de-en part=T reading=reviewed variant=I",
			"given source_input=Warum?", "side source=ja", "side answer=no"),
		odd("consistency", "q", 0, "inconsistent", "task=t pair=de-en part=T reading=reviewed variant=T",
			"given input=Why?", "side source=ja", "side answer=yes"),
		odd("consistency", "r", 1, "consistent", "task=t pair=de-en part=T reading=reviewed variant=T", "side source=ja", "side answer=yes"),
		odd("consistency", "s", 0, "inconsistent", "task=t not_scored=refused"),
	}
	read := func(item, task, answer, class, gold, confidence string) crosstalk.Observation {
		return odd("accuracy", item, 1, "", "reading=x task="+task, "fact rule=r", "fact instruction=choose", "fact answer="+answer,
			"fact class="+class, "fact gold="+gold, "fact confidence="+confidence, "side answer="+answer)
	}
	reads := []crosstalk.Observation{read("1", "mood", "good", "up", "down", "high"), read("2", "mood", "fine", "", "up", "full"),
		read("3", "mood", "hm", "", "", "low"), read("4", "topic", "good", "ball", "", "full"), read("5", "mood", "good", "down", "", "low")}
	for i := range reads {
		reads[i].AddText(crosstalk.Topic, "task", reads[i].Labels["task"])
	}
	id, request := crosstalk.Identity{Provider: "p", Name: "m"}, crosstalk.Request{Prompt: "How are you?"}
	reads[0].Answers = []crosstalk.Key{crosstalk.KeyOf(id, request)}

	var b strings.Builder
	design := Design{Schema: designSchema, Secret: strings.Repeat("0f", 32)}
	for _, c := range []struct {
		run  string
		list []crosstalk.Observation
	}{
		{`"leakage"},"scoring":[{"rules":{}}]`, []crosstalk.Observation{leak, other, second, again}},
		{`"confusion"},"scoring":[{"rules":{"MinWords":5,"Threshold":0.3}}]`, []crosstalk.Observation{lines, words, lines2, words2, lines3,
			words3, words4, words5}},
		{`"consistency"},"scoring":[{"rules":{}}]`, append(same, reads...)},
	} {
		dir := madeRun(t, c.run, c.list)
		j, err := journal.Open(filepath.Join(dir, journal.Name))
		if err != nil {
			t.Fatal(err)
		}
		answer := crosstalk.Answer{Key: crosstalk.KeyOf(id, request), Status: crosstalk.Text}
		err = j.Put(journal.Record{Identity: id, Request: request, Answer: answer})
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(c.run[1:], `"`)
		for _, q := range questionsOf(instrument.Named(kind)) {
			s := openAs(t, dir, q.Name)
			fmt.Fprintf(&b, "== %s: %q, words right %v ==\n", q.Name, s.Question.labels(), s.words)
			for _, u := range s.Units {
				fmt.Fprintf(&b, "%s %d %s line %d of %v, cluster %s, columns %v\n  topic %q, given %q, texts %q, choices %q\n", u.Item, u.Sample,
					u.Variant, u.Line, u.Condition, u.Cluster, u.Columns, u.Topic, u.Given, u.Texts, u.Choices)
				for _, j := range u.Judged {
					fmt.Fprintf(&b, "  %q: %v, difference %.3f, %q", j.Judge, j.Value, j.Difference, j.Finding)
				}
				fmt.Fprintf(&b, "; doubt %.3f:", u.Doubt)
				for _, column := range []string{findingColumn, disputedColumn, doubtfulColumn, lengthColumn, itemColumn,
					sampleColumn, "task", "model", "x"} {
					fmt.Fprintf(&b, " %s", u.column(column))
				}
				b.WriteByte('\n')
			}
			for _, column := range []string{findingColumn, disputedColumn, doubtfulColumn, lengthColumn, "task", "model", "dataset", "x"} {
				fmt.Fprintf(&b, "by %s: %v\n", column, s.check("by", []string{column}))
			}
			asked := Questionnaire{s.Question, design.Ask(s.Question, s.Units, "ann", 1), 0}
			fmt.Fprintf(&b, "csv: %v\n", asked.Write(&b))
			for _, topic := range []string{"de", "zh-Hant", "x-odd", "!"} {
				fmt.Fprintf(&b, "of %s: %s\n", topic, s.Question.Asks(topic))
			}
		}
		before := filesOpen()
		for range 50 {
			openAs(t, dir, "")
		}
		if after := filesOpen(); after-before > 25 { // the runtime may open one or two
			t.Errorf("%d files are open, and %d were", after, before)
		}
	}
	golden.Check(t, "testdata/units.txt", b.String())
}

// filesOpen is how many files the process has open, 0 where that is not known.
func filesOpen() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// Questions, corrections and overrides that are refused, with the messages that users read.
func TestRefused(t *testing.T) {
	when := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	leak, same := leaks(t, 4), coded(t)
	none := madeRun(t, `"leakage"},"scoring":[{"rules":{}}]`, nil)
	unknown := madeRun(t, `"phrenology"}`, nil)
	ruled := madeRun(t, `"confusion"},"scoring":[{"rules":{"MinWords":"many"}}]`, []crosstalk.Observation{
		odd("lpr", "a", 1, "", "language=en", "side answer=a b c d e")})
	said := func(dir, question string, labels ...Label) string {
		if err := Append(dir, labels...); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	codes := openAs(t, same, Codes)
	said(same, Codes, codes.says(codes.Units[0], "ann", "tone"))
	lost := openAs(t, leak, "").says(Unit{Place: Place{Item: "lost"}}, "ann", Test)
	said(leak, "", lost)
	for want, err := range map[string]error{
		unknown + ": there are no questions about a run of phrenology":                                                    second(Open(unknown, "")),
		`unknown question "codes" for a run of leakage; choose one of: leakage`:                                           second(Open(leak, Codes)),
		`unknown question "x" for a run of consistency; choose one of: consistency, reading, codes`:                       second(Open(same, "x")),
		none + " has no answers to ask about: none was scored":                                                            second(NewQuestionnaire(none, "", "ann", Sample{}, false)),
		same + ": no labels disagree":                                                                                     second(NewQuestionnaire(same, Codes, "ann", Sample{}, true)),
		none + " has no labels: use 'crosstalk annotate'":                                                                 second(NewQuestionnaire(none, "", "ann", Sample{}, true)),
		same + ": no label is of a question whose figure can be corrected":                                                third(CorrectedOf(same, nil)),
		"by: unknown column x; choose one of: category, disputed, doubtful, finding, item, language, model, sample":       third(CorrectedOf(leak, []string{"x"})),
		leak + ": none of its 1 labels answers the question leakage about an answer that was scored":                      second(AgreementOf(leak, "", Options{})),
		ruled + ": invalid rules: json: cannot unmarshal string into Go struct field Rules.Protocol.MinWords of type int": second(Open(ruled, Lines)),
		"no questions were exported from this run; use 'crosstalk annotate RUN --export FILE' first":                      second(ImportInto(leak, "", sheetOf(t, "id,label\nq1,A\n"), "ann", false, when)),
		"annotator: expected a name": second(ImportInto(leak, "", sheetOf(t, "id,label\nq1,A\n"), " ", false, when)),
		`unknown question "x"; choose one of: leakage, confusion, lines, consistency, reading, codes`: second(questionFor("x")),
	} {
		if err == nil || err.Error() != want && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if s, err := Open(ruled, answerLanguage); err != nil || len(s.Units) != 1 {
		t.Errorf("rules that nobody needs: %v", err)
	}
	sheets, errs := OpenAll(same, "x", Codes)
	if sheets[0] != nil || errs[0] == nil || errs[1] != nil || len(sheets[1].Units) != 6 {
		t.Errorf("%v, %v", sheets, errs)
	}
	// A run that was never scored has no columns to group by.
	bare := newRun(t, pairs(t)[:4], false)
	s := openAs(t, bare, "")
	said(bare, "", s.says(s.Units[0], "ann", Test))
	a, err := AgreementOf(bare, "", Options{})
	if err != nil || a.ByDefault == nil || len(a.ByDefault) != 0 {
		t.Errorf("%#v, %v", a.ByDefault, err)
	}
	if a, err = AgreementOf(bare, "", Options{By: []string{"category"}}); err != nil || a.ByDefault != nil {
		t.Errorf("%#v, %v", a.ByDefault, err)
	}
	log := NewLog(bare)
	if err := log.Refresh(); err != nil {
		t.Fatal(err)
	}
	for who, want := range map[string]bool{"ann": true, "bob": false} {
		l, turn, found := log.Find(who, s.Units[0].Key(), false)
		if found != want || turn != 0 || (l.Label == Test) != want {
			t.Errorf("%s: %+v, %d, %v", who, l, turn, found)
		}
	}
}

// Labels of an earlier version that the question lacks now have no value and no majority.
func TestOldLabels(t *testing.T) {
	s := openAs(t, leaks(t, 4), "")
	units, unmatched := s.labelled(nil, []Label{s.says(s.Units[0], "ann", "both"), s.says(s.Units[0], "bob", "both"),
		s.says(s.Units[1], "ann", "both"), s.says(s.Units[1], "bob", Test)})
	if len(units) != 2 || unmatched != 0 || units[0].majority != Neither || !math.IsNaN(units[0].value) ||
		units[1].majority != Test || units[1].value != 1 || !slices.Equal(annotators(units), []string{"ann", "bob"}) {
		t.Errorf("%+v", units)
	}
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

// sheetOf is a file with this text.
func sheetOf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sheet.csv")
	write(t, file, text)
	return file
}

// Designs, logs and figures after a failed write.
func TestInTheWay(t *testing.T) {
	if _, err := Plan(filepath.Join(t.TempDir(), "nowhere"), Sample{Seed: 1}); err == nil {
		t.Error("a design is written where there is no directory")
	}
	dir := leaks(t, 6)
	s := openAs(t, dir, "")
	lost := s.says(Unit{Place: Place{Item: "lost"}}, "ann", Test)
	if err := Append(dir, s.says(s.Units[0], "ann", Test), lost); err != nil {
		t.Fatal(err)
	}
	if a, err := AgreementOf(dir, "", Options{}); err != nil || a.Labels != 1 || a.Unmatched != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	for _, file := range []string{File, File + ".lock"} {
		if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
	l := NewLog(dir)
	info, err := os.Stat(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	if l.most = info.Size(); l.Refresh() != nil || len(l.Labels()) != 2 {
		t.Errorf("%d labels", len(l.Labels()))
	}
	l.most--
	if err := l.Refresh(); err == nil || !strings.Contains(err.Error(), File+": is larger than 0 MiB") {
		t.Errorf("%v", err)
	}
	// A sample by finding without any fault has no sensitivity; its other figures do not change.
	s = openAs(t, leaks(t, 20), "")
	var labels []Label
	for i, u := range s.Units {
		labels = append(labels, s.says(u, "ann", []string{Control, Neither, Control}[i%3]))
	}
	d := Design{Samples: []Sample{{N: 6, By: []string{findingColumn}}}}
	a, err := s.compare(d, labels, Options{Draws: 40})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Figures {
		if f.Measure == Sensitivity || f.Measure == TauB && (f.Interval == nil || !f.Interval.Contains(float64(f.Value))) {
			t.Errorf("%+v", f)
		}
	}
}
