package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/testing/golden"
)

// Tables with all that one can have, and with as little as one can have, in every layout.
func TestTableSheet(t *testing.T) {
	long := strings.Repeat("a cell with very many words ", 4)
	tables := []Table{
		{Heading: []string{"LPR, %", "model m"}, Header: []string{"language", "source", "%", "n", "interval", "%", "n", "change"}, Left: 2,
			Rows: [][]string{{"de", "okapi", "90.0", "7", "80.1 to 95.0", "1.2", "10", "-3.4"}, {"", "dolly", "-", "0", "-", "<0.001", "3e-07", "+0.5 to -1.0"},
				{"fr", "okapi", "9e-300", "2e+10", "1 to 2", "", "5", "(-2)"}},
			Above:  [][]Span{{{Columns: 2}, {"a title that is wider than its columns", 3}, {"x", 2}, {"one", 1}}, {{Columns: 2}, {"A", 1}, {"B & C", 2}, {"D", 3}}},
			Breaks: []int{2}, Bold: []Place{{0, 2}, {2, 4}, {1, 0}}, Notes: []string{"signature: a|b", "warning: 50 %"}, Caption: "A caption_1.", Label: "tab:x-y"},
		{Header: []string{""}, Left: 1, Rows: [][]string{{"all"}}},
		{Header: []string{"words", "others", "n"}, Left: 2, Rows: [][]string{{long, "x", "1"}, {"y", strings.Repeat("b", 2*maxName), "2"}}},
		{Header: []string{"words", "others", "more"}, Left: 3, Rows: [][]string{{long, strings.Repeat("b", 2*maxName+1), "[x] *y*\x1b\u2028"}}},
		{Heading: []string{"no rows"}, Header: []string{"a", "b"}, Left: 1, Breaks: []int{0}},
	}
	var b bytes.Buffer
	for _, format := range []string{"table", "markdown", "latex"} {
		fmt.Fprintf(&b, "== %s\n", format)
		if err := WriteTables(&b, format, tables); err != nil {
			t.Fatal(err)
		}
	}
	golden.Check(t, "testdata/tables.txt", b.String())
	hostile := Table{Heading: []string{"\n"}, Header: []string{"\n"}, Rows: [][]string{{"\n"}}, Notes: []string{"\n"},
		Above: [][]Span{{{"\n", 1}}}}
	before := fmt.Sprintf("%#v", hostile)
	if tidy := fmt.Sprintf("%#v", hostile.Tidy()); tidy != strings.ReplaceAll(before, `\n`, " ") || fmt.Sprintf("%#v", hostile) != before {
		t.Errorf("%s, of which is left %#v", tidy, hostile)
	}
	for format, want := range map[string]string{"csv": "tables are not written as csv; expected table, markdown or latex",
		"json": "tables are not written as json; expected table, markdown or latex",
		"yaml": `unknown format "yaml"; choose one of: table, json, jsonl, csv, markdown, latex`} {
		if err := WriteTable(&b, format, Table{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", format, err, want)
		}
	}
}

// Figures of any fault, of several instruments, corrected by people, in several units, and in groups of several kinds.
func TestFigureSheet(t *testing.T) {
	figure := func(measure string, value float64, n int, by ...string) crosstalk.Estimate {
		e := crosstalk.Estimate{Measure: measure, Value: crosstalk.Value(value), N: n, Observations: 2 * n, Clusters: n / 2,
			By: map[string]string{}, Signature: measure + "|s", Counts: map[string]int{"empty": n % 3, "new_count": n % 2}}
		for i := 0; i < len(by); i += 2 {
			e.By[by[i]] = by[i+1]
		}
		if n > 3 {
			e.Interval = &crosstalk.Interval{Low: value - 0.05, High: value + 0.05, Level: 0.9, Method: "wilson"}
		} else {
			e.Warnings = []string{fmt.Sprintf("only %d items", n)}
		}
		return e
	}
	long := "provider:organisation/a-model-with-a-very-long-name-that-does-not-fit-"
	var list []crosstalk.Estimate
	for i, model := range []string{long + "1", long + "2"} {
		list = append(list, figure(confusion.Faults, 0.25, 10+i, "model", model, "language", "all"),
			figure(confusion.Faults, 0.5, 4, "model", model, "language", "de"), figure(confusion.LPR, 0.9, 10, "model", model, "language", "all"),
			figure(confusion.LPR, 0.8, 3, "model", model, "language", "de"), figure(confusion.Entropy, 1.5, 2, "model", model, "language", "all"))
	}
	list[4].Unit, list[9].Unit = "bits", "bits"
	corrected := figure(leakage.Measure, 0.6, 8, "model", "m", "similarity", "s", "category", "all")
	corrected.People = &crosstalk.People{Kappa: 0.8125, CannotTell: 0.04, Adjudicated: 2}
	corrected.Test = &crosstalk.Test{Method: "t", Null: 0.5, P: 1e-9}
	corrected.Effect = &crosstalk.Effect{Name: "difference", Value: 0.0005}
	plainOne := figure(leakage.Measure, 0.4, 9, "model", "m", "similarity", "s", "category", "x")
	undefined := figure(leakage.Faults, math.NaN(), 0, "model", "m", "similarity", "s", "category", "all")
	short := figure(leakage.Measure, 0.4, 9, "model", "m", "category", "x")
	var b bytes.Buffer
	for _, c := range []struct {
		title string
		list  []crosstalk.Estimate
	}{
		{"two models with long names", list}, {"corrected by people", []crosstalk.Estimate{corrected, plainOne, undefined, short}},
		{"only faults", list[:2]}, {"no fault", []crosstalk.Estimate{figure(confusion.Faults, 0, 5, "model", "m")}},
		{"one figure without columns", []crosstalk.Estimate{figure("unknown_measure", 0.5, 5)}},
	} {
		for _, format := range []string{"table", "csv"} {
			fmt.Fprintf(&b, "== %s, %s\n", c.title, format)
			if err := Write(&b, format, c.list); err != nil {
				t.Fatal(err)
			}
		}
	}
	of := crosstalk.Observation{Condition: map[string]string{"model": long + "2"}}
	fmt.Fprintln(&b, "== named\n", Names{long + "2": "two"}.By(of.Condition))
	if err := WriteNamed(&b, "table", list[:2], Names{long + "1": "one"}); err != nil {
		t.Fatal(err)
	}
	if err := WriteNamed(&b, "csv", list[:2], Names{long + "1": "one"}); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/figures.txt", b.String())
}

func TestNumbers(t *testing.T) {
	p := func(v float64) *crosstalk.Test { return &crosstalk.Test{P: crosstalk.Value(v)} }
	for _, c := range []struct{ got, want string }{
		{SmallP(nil), "-"}, {SmallP(p(math.NaN())), "-"}, {SmallP(p(0)), "<1e-300"},
		{SmallP(p(0.001)), "0.001"}, {SmallP(p(0.00099)), "1e-03"}, {SmallP(p(2e-9)), "2e-09"},
		{PValue(0.001), "0.001"}, {PValue(0.00099), "<0.001"}, {PValue(1), "1.000"}, {PValue(crosstalk.Undefined), "-"},
		{Level(nil), "95 %"}, {Level([]crosstalk.Estimate{{}, {Interval: &crosstalk.Interval{Level: 0.995}},
			{Interval: &crosstalk.Interval{Level: 0.9}}}), "99.5 %"},
		{Number(0.1), "0.1"},
		{EffectSize(&crosstalk.Effect{Value: 0.0005}), "0.001"}, {EffectSize(&crosstalk.Effect{Value: -0.0005}), "-0.001"},
		{EffectSize(&crosstalk.Effect{Value: 0.00049}), "0.000"},
		{latexNumber("1e-07"), `$1\cdot 10^{-7}$`}, {latexNumber("80.1 to 95.0"), "80.1--95.0"}, {latexNumber("-3.4 to +1"), "$-$3.4 to +1"}, {latexNumber("-"), "-"},
		{Apart(map[string]string{"b": "2", "a": "1", "c": "3"}, []map[string]string{{"a": "1", "b": "2", "c": "3"}, {"a": "0", "b": "2"}}), "a 1 c 3"},
		{short("  two  words ", 9), "two words"}, {short("two  words", 8), "two w…ds"}, {short("0123456789@12345678", 10), "0123456789"}, {short("0123456789a", 10), "012345…89a"},
		{short("a@12345678", 10), "a@12345678"},
		{fmt.Sprint(common([]string{"a b c", "a x c"})), "2 2"}, {fmt.Sprint(common([]string{"ab", "ab c"})), "0 0"}, {fmt.Sprint(common([]string{"a:b", "a:"})), "0 0"},
		{fmt.Sprint(common([]string{"x/y", "x/z/y"})), "2 0"},
		{Plain(crosstalk.Estimate{Measure: confusion.LPR, Value: 1, Observations: 3}), ""},
		{Plain(crosstalk.Estimate{Measure: confusion.Faults, Value: crosstalk.Undefined}), ""},
		{Plain(crosstalk.Estimate{Measure: confusion.Faults, Value: 0.5, Observations: 3}), "2 of 3 answers are wholly or partly in another language: 50.0 %"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// Groups of which there are many are named in part, those with the most faults first.
func TestMostWhom(t *testing.T) {
	all := []crosstalk.Estimate{{Measure: confusion.Faults, Value: 0.5, Observations: 100, By: map[string]string{"language": "all"}}}
	var want []string
	for i := range mostWhom + 2 {
		all = append(all, crosstalk.Estimate{Measure: confusion.Faults, Value: 0.1, Observations: 10 * (i + 1),
			By: map[string]string{"language": fmt.Sprint(i)}})
	}
	for i := mostWhom + 1; len(want) < mostWhom; i-- {
		want = append(want, fmt.Sprintf("language %d: %d of %d (10.0 %%)", i, i+1, 10*(i+1)))
	}
	if got := Whom(all); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Whom(nil); got != nil {
		t.Errorf("%q", got)
	}
}
