package gate

import (
	"testing"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/measure/stats"
	"crosstalk/run"
)

// Runs are a history if all have the same figures with the same signatures.
func TestDifferentNights(t *testing.T) {
	m, n := columns{"model": "m"}, columns{"model": "n"}
	of := func(by columns, signature string) crosstalk.Estimate {
		e := figure("lpr", .9, by)
		e.Signature = signature
		return e
	}
	for _, c := range []struct {
		first, second []crosstalk.Estimate
		want          string
	}{
		{[]crosstalk.Estimate{of(m, "lpr|x"), of(n, "lpr|x")}, []crosstalk.Estimate{of(m, "lpr|x"), of(n, "lpr|x")}, ""},
		{[]crosstalk.Estimate{of(m, "lpr|x"), of(n, "lpr|x")}, []crosstalk.Estimate{of(m, "lpr|x")}, "a and b have different figures"},
		{[]crosstalk.Estimate{of(m, "lpr|x")}, []crosstalk.Estimate{of(m, "lpr|x"), of(n, "lpr|x")},
			`a and b differ by model, "m" and "n"`},
		{[]crosstalk.Estimate{of(m, "lpr|x")}, []crosstalk.Estimate{of(m, "lpr|y")},
			"LPR of a and b have different signatures, lpr|x and lpr|y"},
	} {
		h := History{Kind: instrument.Named("confusion"), Nights: []Night{{Name: "a", estimates: c.first},
			{Name: "b", estimates: c.second}}}
		switch err := h.collect(); {
		case c.want == "" && (err != nil || len(h.Series) != 2):
			t.Errorf("%d series, %v", len(h.Series), err)
		case c.want != "" && (err == nil || err.(*ErrNoHistory).why != c.want):
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	for across, want := range map[string]string{"": "LPR of a and b have different signatures, lpr|suite:x|y and lpr|suite:z|y", "suite": ""} {
		h := History{Kind: instrument.Named("confusion"), Nights: []Night{{Name: "a", estimates: []crosstalk.Estimate{
			of(m, "lpr|suite:x|y")}}, {Name: "b", estimates: []crosstalk.Estimate{of(m, "lpr|suite:z|y")}}}}
		if across != "" {
			h.across = []string{across}
		}
		if err := h.collect(); (err == nil) != (want == "") || err != nil && err.(*ErrNoHistory).why != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if Recorded(run.Manifest{}) {
		t.Error("a run without conditions is of recorded answers")
	}
}

// A night whose items cannot be counted is no evidence.
func TestUncountedNight(t *testing.T) {
	result := nights(t, crosstalk.Higher, 1, [2]int{30, 0}, [2]int{40, 0})
	result.Comparisons[0].Night = stats.Night{}
	if n := nightly(result.Comparisons[1], result.Comparisons, .02); n == nil || n.Nights != 1 {
		t.Errorf("%+v", n)
	}
	if n := nightly(result.Comparisons[0], result.Comparisons, .02); n != nil {
		t.Errorf("%+v", n)
	}
}
