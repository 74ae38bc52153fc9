package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
)

// estimates has what a table can meet: several conditions, groups, undefined
// figures, ties, a p near 0, warnings that differ in a number, and names made
// to break each format.
func estimates() []crosstalk.Estimate {
	const signature = "leak_rate|suite:s@12345678|sim:gloss@1|post:none|round:3|ties:0.5|v0.1.0"
	counts := func(ties, notScored, empty int) map[string]int {
		return map[string]int{"ties": ties, "identical": 0, "not_scored": notScored, "empty": empty, "refused": 0, "failed": 0}
	}
	estimate := func(by map[string]string, value float64, n int) crosstalk.Estimate {
		return crosstalk.Estimate{Measure: "leak_rate", Value: crosstalk.Value(value), N: n, Observations: 5 * n,
			Clusters: n / 3, Counts: counts(n/10, 1, 0),
			Interval: &crosstalk.Interval{Low: value - 0.08, High: value + 0.07, Level: 0.95, Method: "cluster-robust-t-logit"},
			Test:     &crosstalk.Test{Method: "cluster-t", Null: 0.5, Statistic: 2.5, DF: 30.5, P: 0.0123},
			Effect:   &crosstalk.Effect{Name: "mean similarity difference", Value: 0.1234}, By: by, Signature: signature}
	}
	all := estimate(map[string]string{"model": "m", "similarity": "gloss@1", "category": "all"}, 0.7018, 109)
	all.Test.P = 1e-9
	few := estimate(map[string]string{"model": "m", "similarity": "gloss@1", "category": "animals"}, 0.5, 12)
	few.Warnings = []string{"only 12 observations (need at least 30)"}
	fewer := estimate(map[string]string{"model": "m", "similarity": "gloss@1", "category": "path to | \\ $x_1$ & 50% *~^#{}"}, 0.25, 3)
	fewer.Warnings = []string{"only 3 observations (need at least 30)"}
	fewer.Effect.Value = -0.0001
	nothing := crosstalk.Estimate{Measure: "leak_rate", Value: crosstalk.Undefined, N: 2, Counts: counts(0, 0, 2),
		Test: &crosstalk.Test{Method: "cluster-t", Null: 0.5, Statistic: crosstalk.Undefined, DF: crosstalk.Undefined,
			P: crosstalk.Undefined},
		Effect: &crosstalk.Effect{Name: "mean similarity difference", Value: crosstalk.Undefined},
		By:     map[string]string{"model": "m", "similarity": "gloss@1", "category": "[=1+1]"}, Signature: signature}
	hostile := estimate(map[string]string{"model": "<b>\x1b[31mred\n\n\\input{x}, \"žluť\" 是", "similarity": "gloss@1", "category": "all"}, 0.9, 40)
	bare := crosstalk.Estimate{Measure: "lpr", Value: 1, N: 1, By: map[string]string{"model": "other", "similarity": "gloss@1", "category": "all"}, Signature: "lpr|x"}
	return []crosstalk.Estimate{all, few, fewer, nothing, hostile, bare}
}

func TestGolden(t *testing.T) {
	for _, format := range Formats {
		t.Run(format, func(t *testing.T) {
			var b bytes.Buffer
			if err := Write(&b, format, estimates()); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/estimates."+format, b.String())
		})
	}
}

// The fields that crosstalk/estimates/v1 promises; there may be more.
func TestJSONSchema(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "json", estimates()); err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(b.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	if document["schema"] != "crosstalk/estimates/v1" || len(document) != 2 {
		t.Errorf("document %v", document)
	}
	first := document["estimates"].([]any)[0].(map[string]any)
	for field, kind := range map[string]any{"measure": "", "value": 0.0, "n": 0.0, "clusters": 0.0,
		"interval": map[string]any{}, "counts": map[string]any{}, "by": map[string]any{}, "signature": ""} {
		if reflect.TypeOf(first[field]) != reflect.TypeOf(kind) {
			t.Errorf("%s is %v, a %T; expected a %T", field, first[field], first[field], kind)
		}
	}
	if i := first["interval"].(map[string]any); i["low"] == nil || i["high"] == nil || i["level"] != 0.95 || i["method"] == "" || len(i) != 4 {
		t.Errorf("interval %v", i)
	}
	for _, count := range []string{"ties", "not_scored", "empty", "refused", "failed"} {
		if _, ok := first["counts"].(map[string]any)[count].(float64); !ok {
			t.Errorf("there is no count %s", count)
		}
	}
	undefined := document["estimates"].([]any)[3].(map[string]any)
	if v, ok := undefined["value"]; v != nil || !ok || undefined["interval"] != nil {
		t.Errorf("a figure over nothing is %v, its interval %v; expected null", v, undefined["interval"])
	}
	b.Reset()
	if err := Write(&b, "json", nil); err != nil || !strings.Contains(b.String(), `"estimates": []`) {
		t.Errorf("no estimates: %s %v", b.String(), err)
	}
}

// What is read back from CSV and JSON Lines is what was written, hostile names
// included.
func TestMachineFormatsKeepNames(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "csv", estimates()); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	header := records[0]
	column := func(record []string, name string) string { return record[slices.Index(header, name)] }
	for i, e := range estimates() {
		r := records[i+1]
		if column(r, "model") != e.By["model"] || column(r, "category") != e.By["category"] {
			t.Errorf("row %d: %q", i, r)
		}
		if (column(r, "value") == "") == e.Value.Defined() {
			t.Errorf("row %d: value %q of %v", i, column(r, "value"), e.Value)
		}
	}
	b.Reset()
	if err := Write(&b, "jsonl", estimates()); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&b)
	for i, want := range estimates() {
		var got crosstalk.Estimate
		if err := d.Decode(&got); err != nil || !reflect.DeepEqual(got.By, want.By) ||
			got.Value.Defined() != want.Value.Defined() {
			t.Errorf("line %d: %+v %v", i, got, err)
		}
	}
}

// A name cannot add a row, a column or a command to what people read.
func TestTextFormatsContainNames(t *testing.T) {
	for _, format := range []string{"table", "markdown", "latex"} {
		var b bytes.Buffer
		if err := Write(&b, format, estimates()); err != nil {
			t.Fatal(err)
		}
		if s := b.String(); strings.ContainsAny(s, "\x1b\r") || strings.Contains(s, "\n\n\\input") {
			t.Errorf("%s lets control characters through: %q", format, s)
		}
		switch s := b.String(); format {
		case "markdown":
			want := 0 // bars in each row of the table
			for _, line := range strings.Split(s, "\n") {
				bars := strings.Count(line, "|") - strings.Count(line, `\|`)
				if !strings.HasPrefix(line, "|") {
					want = 0
				} else if want == 0 {
					want = bars
				} else if bars != want {
					t.Errorf("%d bars in %s", bars, line)
				}
			}
			if strings.Contains(s, "<b>") {
				t.Error("markdown lets HTML through")
			}
		case "latex":
			for _, line := range strings.Split(s, "\n") {
				if strings.HasPrefix(line, "%") {
					continue
				}
				for _, bad := range []string{`\input`, ` 50% `, ` $x`, "[", " *"} {
					if strings.Contains(strings.ReplaceAll(line, "{[}", ""), bad) {
						t.Errorf("%q stands in %s", bad, line)
					}
				}
			}
			if !strings.Contains(s, "path to ") || !strings.Contains(s, "62.2--77.2") {
				t.Error("an interval is a dash, a name is not")
			}
		}
	}
}

func TestUndefinedIsADash(t *testing.T) {
	for got, want := range map[string]string{
		pValue(nil): "-", pValue(&crosstalk.Test{P: crosstalk.Undefined}): "-", pValue(&crosstalk.Test{P: 0.0009}): "<0.001",
		pValue(&crosstalk.Test{P: 0.04}): "0.040",
		EffectSize(nil):                  "-", EffectSize(&crosstalk.Effect{Value: crosstalk.Undefined}): "-",
		EffectSize(&crosstalk.Effect{Value: -0.0001}): "0.000",
		Number(crosstalk.Undefined):                   "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// Figures with a unit are numbers; where units are mixed each stands beside
// its figure.
func TestUnits(t *testing.T) {
	figure := func(measure, at, unit string, value float64) crosstalk.Estimate {
		return crosstalk.Estimate{Measure: measure, Unit: unit, Value: crosstalk.Value(value), N: 7, Clusters: 7,
			Interval: &crosstalk.Interval{Low: value / 2, High: 2 * value}, By: map[string]string{"model": "m", "at": at}, Signature: "s"}
	}
	bits, more := figure("entropy", "point", "bits", 2.345), figure("entropy", "elsewhere", "bits", 0.5)
	var b bytes.Buffer
	for _, test := range []struct {
		format    string
		estimates []crosstalk.Estimate
		want      []string
	}{
		{"table", []crosstalk.Estimate{bits, more}, []string{"bits 95 % interval", "2.35 1.17 to 4.69", "0.50 0.25 to 1.00"}},
		{"table", []crosstalk.Estimate{bits, figure("nucleus_size", "point", "tokens", 3), figure("lpr", "point", "", 0.25)},
			[]string{"value 95 % interval", "2.35 bits 1.17 to 4.69", "3.00 tokens 1.50 to 6.00", "25.0 % 12.5 to 50.0"}},
		{"csv", []crosstalk.Estimate{bits, figure("lpr", "point", "", 0.25)}, []string{"measure,model,at,value,unit,low", "entropy,m,point,2.345,bits,1.1725", "lpr,m,point,0.25,,0.125"}},
	} {
		b.Reset()
		if err := Write(&b, test.format, test.estimates); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
				t.Errorf("%s has no %q:\n%s", test.format, want, b.String())
			}
		}
	}
}

func TestWriteErrors(t *testing.T) {
	for _, format := range Formats {
		if err := Write(full{}, format, estimates()); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: %v", format, err)
		}
	}
	if err := WriteNamed(full{}, "json", estimates(), nil); err == nil {
		t.Error("nothing was written and that is no error")
	}
	want := `unknown format "yaml"; choose one of: table, json, jsonl, csv, markdown, latex`
	if err := Write(full{}, "yaml", nil); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// Many rows are named in part, and numbers become ranges.
func TestWarnings(t *testing.T) {
	rows := strings.Split("abcdefghijkl", "")
	of := make([][]string, len(rows))
	for i := range 10 {
		of[i] = []string{"only " + string(rune('1'+i%3)) + " items"}
	}
	of[11] = []string{"odd"}
	want := []string{"warning: a, b, c, d, e, f, g, h, and 2 more rows: only 1 to 3 items", "warning: l: odd"}
	if got := Warnings(rows, of); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	nine := strings.Split("abcdefghi", "")
	same := func(n int, text string) [][]string { return slices.Repeat([][]string{{text}}, n) }
	for _, c := range []struct {
		rows []string
		of   [][]string
		want string
	}{
		{nine[:2], same(2, "x 10 y"), "warning: every row: x 10 y"},
		{nine[:1], same(1, "x"), "warning: a: x"},
		{nine, same(8, "x"), "warning: a, b, c, d, e, f, g, h: x"},
		{append(nine, "j"), same(9, "x"), "warning: a, b, c, d, e, f, g, h, and 1 more rows: x"},
		{nine[:3], [][]string{{"7 of 9"}, {"12 of 9"}}, "warning: a, b: 7 to 12 of 9"},
	} {
		if got := strings.Join(Warnings(c.rows, c.of), "|"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A t-test over observations that come in clusters is marked in tables, with a note, and
// not in formats for programs.
func TestIndependent(t *testing.T) {
	e := crosstalk.Estimate{Measure: "leak_rate", Value: 0.6, N: 4, Observations: 4, Clusters: 2, By: map[string]string{"model": "m"},
		Test: &crosstalk.Test{Method: "t", Null: 0.5, P: 0.012}}
	for _, c := range []struct {
		name string
		edit func(*crosstalk.Estimate)
		want bool
	}{
		{"clusters", func(*crosstalk.Estimate) {}, true},
		{"no clusters", func(e *crosstalk.Estimate) { e.Clusters = 4 }, false},
		{"cluster test", func(e *crosstalk.Estimate) { e.Test = &crosstalk.Test{Method: "cluster-t", P: 0.012} }, false},
		{"no p", func(e *crosstalk.Estimate) { e.Test = &crosstalk.Test{Method: "t", P: crosstalk.Undefined} }, false},
		{"no test", func(e *crosstalk.Estimate) { e.Test = nil }, false},
	} {
		one := e
		c.edit(&one)
		for _, format := range Formats {
			var b strings.Builder
			if err := Write(&b, format, []crosstalk.Estimate{one}); err != nil {
				t.Fatal(err)
			}
			marked, noted := strings.Contains(b.String(), "0.012*"), strings.Contains(b.String(), "counts all observations as independent")
			if format == "latex" {
				marked = strings.Contains(b.String(), "0.012{*}")
			}
			if format == "markdown" {
				marked = strings.Contains(b.String(), `0.012\*`)
			}
			if want := c.want && ForPeople(format); marked != want || noted != want {
				t.Errorf("%s, %s: marked %v, note %v; want %v\n%s", c.name, format, marked, noted, want, &b)
			}
		}
	}
}
