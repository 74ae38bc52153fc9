package shell

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A shell reads every word as it was.
func TestQuote(t *testing.T) {
	words := []string{"", "plain-1.0/x=y", "two words", "it's", `"$(id)" ${HOME} \n`, "`id`", "a\nb\tc", "*?[x]", "#", "~", "!", "; id", "é語", "-n", "''", "a\u00a0b"}
	out, err := exec.Command("sh", "-c", `for word in `+Line(words)+`; do printf '%s\0' "$word"; done`).Output()
	if err != nil {
		t.Skip("no shell: ", err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("the shell reads %q, expected %q", got, words)
	}
	if line := Line([]string{"run", "leakage", "--out", "runs/a", "--model", "reference:leaky?rate=1"}); line != "run leakage --out runs/a --model 'reference:leaky?rate=1'" {
		t.Errorf("quotes where none are needed, or none: %s", line)
	}
}
