package crosstalk

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

func TestRollup(t *testing.T) {
	for _, c := range []struct {
		labels map[string]string
		by     []string
		want   []map[string]string
	}{
		{nil, nil, []map[string]string{{}}},
		{map[string]string{"a": "x", "b": "y"}, []string{"a", "b"}, []map[string]string{{"a": "all", "b": "all"}, {"a": "x", "b": "all"}, {"a": "x", "b": "y"}}},
		{map[string]string{"a": "x"}, []string{"a", "b"}, []map[string]string{{"a": "all", "b": "all"}, {"a": "x", "b": "all"}}},
		{map[string]string{"b": "y"}, []string{"a", "b"}, []map[string]string{{"a": "all", "b": "all"}}},
		{map[string]string{"a": "all", "b": "y"}, []string{"a", "b"}, []map[string]string{{"a": "all", "b": "all"}}},
		{nil, []string{"a"}, []map[string]string{{"a": "all"}}},
	} {
		if got := Rollup(c.labels, c.by); !reflect.DeepEqual(got, c.want) {
			t.Errorf("Rollup(%v, %v) = %v, want %v", c.labels, c.by, got, c.want)
		}
	}
}

func TestFigure(t *testing.T) {
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
