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
