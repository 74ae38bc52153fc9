package intern

import (
	"fmt"
	"maps"
	"testing"
)

func TestMaps(t *testing.T) {
	var i Maps
	a := i.Of(map[string]string{"x": "1", "y": "2"})
	if b := i.Of(map[string]string{"y": "2", "x": "1"}); fmt.Sprintf("%p", a) != fmt.Sprintf("%p", b) {
		t.Error("equal maps are kept twice")
	}
	for _, m := range []map[string]string{{"x": "1", "y": "3"}, {"x": "1"}, {"x": "2", "y": "1"}, {"x1": "", "y": "2"}, {}} {
		if got := i.Of(maps.Clone(m)); !maps.Equal(got, m) {
			t.Errorf("%v instead of %v", got, m)
		}
	}
	if i.Of(nil) != nil {
		t.Error("made a map of none")
	}
	for n := range 2 * most {
		m := map[string]string{"n": fmt.Sprint(n)}
		if got := i.Of(m); got["n"] != m["n"] {
			t.Fatal(got)
		}
	}
	if len(i.known) != most {
		t.Errorf("%d maps are kept", len(i.known))
	}
}
