package compare

import (
	"errors"
	"strings"
	"testing"

	"crosstalk"
)

// What cannot be read or compared is the error of whatever is computed.
func TestErrorsOfReading(t *testing.T) {
	var r, harmonic recorded
	r.name, harmonic.average = "good", map[string]*crosstalk.Average{"lcpr": {HarmonicOf: []string{"lpr", "wpr"}}}
	for _, id := range []string{"1", "2", "3"} {
		for side, condition := range []columns{first, second} {
			r.add("m", id, "", float64(side), condition, nil)
			for _, m := range []string{"lpr", "wpr"} {
				harmonic.add(m, id, "", float64(side), condition, nil)
			}
		}
	}
	cut := errors.New("cut")
	broken := Run{Name: "broken", Observations: func(yield func(crosstalk.Observation, error) bool) {
		if yield(r.observations[0], nil) {
			yield(crosstalk.Observation{}, cut)
		}
	}}
	nothing := Run{Name: "nothing", Observations: func(func(crosstalk.Observation, error) bool) {}}
	good := r.run(t)
	bare := good
	bare.Estimates = nil
	for name, of := range map[string]func([]Run, Options) error{
		"compare": func(runs []Run, o Options) error { _, err := Runs(runs, o); return err },
		"pilot":   func(runs []Run, o Options) error { _, _, err := Pilots(runs, o); return err },
	} {
		for _, c := range []struct {
			runs []Run
			o    Options
			want string // "": none
		}{
			{[]Run{good}, Options{}, ""},
			{[]Run{broken}, Options{}, "cut"}, {[]Run{good, broken}, Options{}, "cut"},
			{[]Run{nothing}, Options{}, "nothing has no observations"}, {[]Run{good, nothing}, Options{}, "nothing has no observations"},
			{[]Run{bare}, Options{}, "there are no figures to compare"},
		} {
			err := of(c.runs, c.o)
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
		for _, o := range []Options{{Measures: []string{"nope"}}, {Across: []string{"nope"}}, {Reference: columns{"nope": "x"}},
			{Reference: columns{"model": "nope"}}} {
			if err := of([]Run{good}, o); err == nil || !strings.Contains(err.Error(), "nope") {
				t.Errorf("%s: %+v: %v", name, o, err)
			}
		}
	}
	for _, by := range [][]string{nil, {" "}} {
		if _, err := Open([]string{"nowhere"}, by); err == nil {
			t.Errorf("by %q: no error", by)
		}
	}
}
