package compare

import (
	"bytes"
	"encoding/json"
	"testing"

	"crosstalk"
	"crosstalk/internal/golden"
	"crosstalk/report"
)

// compared has what can be met: several measures and groups, differences shown
// and not, undefined ones, what was left out, refused and is doubtful, and a
// name made to break a format.
func compared() Result {
	const signature = "lpr|suite:s@1|lid:x|v0.1.0"
	comparison := func(measure, language, temperature string, reference, value, p float64, shown bool) Comparison {
		d := value - reference
		return Comparison{
			Subject: Subject{Measure: measure, By: columns{"task": "crosslingual", "language": language},
				Condition: columns{"model": "m|1", "temperature": temperature}, Reference: columns{"model": "m|1", "temperature": "0"}},
			Value: crosstalk.Value(value), ReferenceValue: crosstalk.Value(reference), Difference: crosstalk.Value(d),
			Interval: &crosstalk.Interval{Low: d - 0.031, High: d + 0.029, Level: 0.95, Method: "cluster-robust-logit-t"},
			Method:   "sign-flip", P: crosstalk.Value(p / 3), Adjusted: crosstalk.Value(p), Shown: shown, Detectable: 0.052, Paired: true,
			N: 300, Clusters: 100, LeftOut: map[string]int{"unpaired": 2, "line_error": 3}, Better: crosstalk.Higher, Signature: signature,
		}
	}
	few := comparison("wpr", "ar", "1", 0.9, 0.9, 1, false)
	few.Method, few.Detectable, few.N, few.Warnings = "mcnemar", crosstalk.Undefined, 12, []string{"only 12 observations (need at least 30)"}
	none := comparison("wpr", "ko", "0.5", 0, 0, 0, false)
	none.Value, none.ReferenceValue, none.Difference, none.P, none.Adjusted = crosstalk.Undefined, crosstalk.Undefined,
		crosstalk.Undefined, crosstalk.Undefined, crosstalk.Undefined
	none.Interval, none.N, none.Clusters, none.Across, none.Warnings = nil, 0, 0, []string{"suite"}, []string{"no observations"}
	refused := Refusal{Subject: Subject{"lpr", columns{"task": "crosslingual"}, columns{"model": "m2", "temperature": "0"},
		columns{"model": "m|1", "temperature": "0"}}, Reason: Incomparable, Fields: map[string][2]string{"lid": {"x", "y"}, "kana": {"", "yes"}}}
	return Result{Schema: Schema, Level: 0.95, Adjustment: "holm", Family: 3, Comparisons: []Comparison{
		comparison("lpr", "all", "0.5", 0.98, 0.9, 0.0004, true), comparison("lpr", "all", "1", 0.98, 0.97, 0.31, false), few, none,
	}, Refused: []Refusal{refused, refused, {Subject: Subject{Measure: "bleu", Condition: columns{"model": "m2"}}, Reason: NoAverage}}}
}

func TestGolden(t *testing.T) {
	for _, format := range report.Formats {
		t.Run(format, func(t *testing.T) {
			var b bytes.Buffer
			if err := Write(&b, format, compared()); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, "testdata/compared."+format, b.String())
		})
	}
	if err := Write(&bytes.Buffer{}, "yaml", compared()); err == nil {
		t.Error("an unknown format is written")
	}
}

// One comparison has its condition above the table and a row of its own, and
// run names stand only where they tell conditions apart.
func TestHeading(t *testing.T) {
	one := compared()
	one.Comparisons, one.Refused, one.Family = one.Comparisons[:1], nil, 1
	one.Comparisons[0].Condition, one.Comparisons[0].Reference = columns{"model": "new", "run": "y"}, columns{"model": "old", "run": "x"}
	table := one.table()
	if got := table.Heading; len(got) != 3 || got[0] != "lpr" || got[1] != "model new against model old" || got[2] != "task crosslingual" {
		t.Errorf("%q", got)
	}
	if table.Rows[0][0] != crosstalk.All {
		t.Errorf("%q", table.Rows[0])
	}
	one.Comparisons[0].Condition["model"] = "old"
	if got := one.table().Heading[2]; got != "run y against run x" {
		t.Errorf("%q", got)
	}
}

// What JSON holds comes back.
func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, "json", compared()); err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if back.Schema != Schema || len(back.Comparisons) != 4 || back.Comparisons[3].Value.Defined() ||
		!back.Comparisons[0].Shown {
		t.Errorf("%+v", back)
	}
}
