package nearest

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	known := []string{"leakage", "confusion", "consistency", "lcb-script", "lcb-paper", "leak_rate", "gonen-2024"}
	for name, want := range map[string]string{
		"leakge": "leakage", "laekage": "leakage", "Leakage": "leakage", "lcb_script": "lcb-script", "leak-rate": "leak_rate", "leak_rat": "leak_rate",
		"gonen": "gonen-2024", "lcb": "", "confus": "confusion", "lcb-xxxx": "", "lcb-scrept": "lcb-script", "taste": "", "": "", strings.Repeat("x", 200): "",
	} {
		if got := Of(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Question("leakge", known); got != "did you mean leakage? " {
		t.Error(got)
	}
	if got := Question("taste", known); got != "" {
		t.Error(got)
	}
}
