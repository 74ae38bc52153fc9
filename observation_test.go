package crosstalk

import (
	"encoding/json"
	"math"
	"testing"
)

func TestValue(t *testing.T) {
	for text, f := range map[string]Value{"0.5": 0.5, "null": Undefined} {
		b, err := json.Marshal(f)
		if err != nil || string(b) != text {
			t.Errorf("%v: %s %v", f, b, err)
		}
		var back Value
		if err := json.Unmarshal(b, &back); err != nil || back.Defined() != f.Defined() || f.Defined() && back != f {
			t.Errorf("%s: %v %v", b, back, err)
		}
	}
	if b, err := json.Marshal(Value(math.Inf(-1))); err != nil || string(b) != "null" {
		t.Errorf("infinite: %s %v", b, err)
	}
}

// A condition's column goes before an item's of the same name.
func TestColumns(t *testing.T) {
	o := Observation{Condition: map[string]string{"model": "m", "system": ""},
		Labels: map[string]string{"model": "other", "system": "other", "language": "de"}}
	for column, want := range map[string]string{"model": "m", "system": "", "language": "de", "task": ""} {
		if got := o.Column(column); got != want {
			t.Errorf("%s is %q, want %q", column, got, want)
		}
	}
	for _, c := range []struct {
		wanted map[string]string
		has    bool
	}{
		{nil, true}, {map[string]string{"model": "other"}, true}, {map[string]string{"model": "m"}, false},
		{map[string]string{"task": ""}, false}, {o.Labels, true},
	} {
		if HasAll(o.Labels, c.wanted) != c.has {
			t.Errorf("%v has all of %v: %v", o.Labels, c.wanted, !c.has)
		}
	}
}

// The columns over all values do not name a figure, and naming leaves them as they are.
func TestKeys(t *testing.T) {
	e := Estimate{Measure: "lpr", By: map[string]string{"language": All, "source": "a"}}
	alike := Estimate{Measure: "lpr", By: map[string]string{"source": "a"}}
	if e.Key() != alike.Key() || len(e.By) != 2 || len(e.Of()) != 1 {
		t.Errorf("%q and %q; %v", e.Key(), alike.Key(), e.By)
	}
	for _, other := range []Estimate{{Measure: "wpr", By: alike.By}, {Measure: "lpr"},
		{Measure: "lpr", By: map[string]string{"source": "b"}}} {
		if other.Key() == e.Key() {
			t.Errorf("%v and %v have the same key", other, e)
		}
	}
}
