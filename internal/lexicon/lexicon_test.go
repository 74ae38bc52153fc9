package lexicon

import (
	"maps"
	"testing"
)

func TestParse(t *testing.T) {
	got := Parse("# colours\n\ncolours: red\n\tgreen: blue\r\n# between\n\n\tred\nnone:\nlong name:\n\tx\n")
	want := map[string]string{"colours": "red green: blue red", "none": "", "long name": "x"}
	if !maps.Equal(got, want) {
		t.Errorf("Parse = %q, expected %q", got, want)
	}
	if set := Set(got["colours"]); !maps.Equal(set, map[string]bool{"red": true, "green:": true, "blue": true}) {
		t.Errorf("Set = %v", set)
	}
}
