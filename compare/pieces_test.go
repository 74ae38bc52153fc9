package compare

import (
	"fmt"
	"testing"

	"crosstalk"
)

// A language that one side has no value in does not take the interval from the others.
func TestUnpairedWithoutALanguage(t *testing.T) {
	var rs []*recorded
	for side, name := range []string{"x", "y"} {
		r := &recorded{name: name, average: map[string]*crosstalk.Average{"lpr": {Over: []string{"language"}}}}
		for i := range 40 {
			condition, french := columns{"model": name}, columns{"language": "fr"}
			r.add("lpr", fmt.Sprint(name, "de", i), "", float64(i%2), condition, columns{"language": "de"})
			if id := fmt.Sprint(name, "fr", i); side == 0 {
				r.add("lpr", id, "", 1, condition, french)
			} else {
				r.miss("lpr", id, "empty", condition, french)
			}
		}
		rs = append(rs, r)
	}
	c := only(t, runs(t, Options{Unpaired: true}, rs...))
	if c.Method != "score" || c.Interval == nil || !c.P.Defined() || c.N != 120 {
		t.Errorf("%s: %v, p %v, n %d", c.Method, c.Interval, c.P, c.N)
	}
	near(t, "the figure of two languages", float64(c.ReferenceValue), 0.75, 1e-12)
	near(t, "the figure of one", float64(c.Value), 0.5, 1e-12)
}
