package crosstalk

import (
	"fmt"
	"testing"
)

// An answer has a fault if the observation that decides finds one, has a number that
// says so, or no value for a reason that is a fault.
func TestFault(t *testing.T) {
	k := Kind{Findings: []Finding{{Key: "line", Fault: true}, {Key: "tie"}},
		Faults: Faults{Measure: "faults", Of: "lines", Numbers: map[string]string{"words": "word"}, Reasons: []string{"invalid"}}}
	for _, c := range []struct {
		of   Observation
		want string
	}{
		{Observation{Measure: "lines", Value: 0, Finding: "line"}, "1 line "},
		{Observation{Measure: "lines", Value: 1}, "0  "},
		{Observation{Measure: "lines", Value: 1, Numbers: map[string]float64{"words": 0}}, "0  "},
		{Observation{Measure: "lines", Value: 1, Numbers: map[string]float64{"words": 2}}, "1 word "},
		{Observation{Measure: "lines", Value: 0, Finding: "line", Numbers: map[string]float64{"words": 2}}, "1 line "},
		{Observation{Measure: "lines", Value: 0.5, Finding: "tie"}, "0  "},
		{Observation{Measure: "lines", Value: Undefined, NotScored: "invalid"}, "1 invalid "},
		{Observation{Measure: "lines", Value: Undefined, NotScored: "empty"}, "NaN  empty"},
	} {
		got, ok := k.Fault(c.of)
		if text := fmt.Sprint(float64(got.Value), " ", got.Finding, " ", got.NotScored); !ok || got.Measure != "faults" || text != c.want {
			t.Errorf("%+v: %q, %v; want %q", c.of, text, ok, c.want)
		}
	}
	if _, ok := k.Fault(Observation{Measure: "words"}); ok {
		t.Error("another measure decides")
	}
	if _, ok := (Kind{}).Fault(Observation{}); ok {
		t.Error("a kind without faults has some")
	}
}
