package suite

import (
	"crosstalk/internal/testing/golden"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const head = "suite: s\ninstrument: leakage\n"

// Text that is small to write and endless to read is refused at once.
func TestParseBombs(t *testing.T) {
	const many = 100000
	lines := func(format func(i int) string) string {
		var b strings.Builder
		for i := range many {
			b.WriteString(format(i))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"brackets":     head + "items: " + strings.Repeat("[", many),
		"maps":         head + "items: " + strings.Repeat("{a: ", many),
		"dashes":       head + "items:\n " + strings.Repeat("- ", many) + "a",
		"empty dashes": strings.Repeat("-\n", many),
		"questions":    strings.Repeat("? ", many),
		"indentation": head + "items:\n" + func() (s string) {
			for i := range 1000 {
				s += strings.Repeat(" ", i+1) + "a:\n"
			}
			return s
		}(),
		"keys":    "prompt:\n" + lines(func(i int) string { return "  k" + strings.Repeat("k", i%7) + string(rune('a'+i%26)) + ":\n" }),
		"aliases": "a: &a [x, x]\n" + lines(func(int) string { return "b: [*a, *a]\n" }),
		"long":    "# " + strings.Repeat("x", maxYAML),
	} {
		done := make(chan error, 1)
		go func() {
			_, err := Parse("s.yaml", []byte(text))
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: it does not end", name)
		}
	}
}

var example = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// The manual's examples are complete suites, and good ones but for their size.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("../docs/suites.md")
	if err != nil {
		t.Fatal(err)
	}
	var instruments []string
	for _, found := range example.FindAllStringSubmatch(string(manual), -1) {
		s, err := Parse("suites.md", []byte(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		instruments = append(instruments, s.Instrument)
		for _, r := range Check(s) {
			if !strings.Contains(r, "intervals need at least") {
				t.Errorf("%s: %s", s.Name, r)
			}
		}
	}
	for _, want := range []string{"leakage", "confusion", "consistency"} {
		if !slices.Contains(instruments, want) {
			t.Errorf("no example for %s", want)
		}
	}
}

// Whatever the text, parsing ends with an error or a suite whose items are
// whole and have names of their own.
func FuzzParse(f *testing.F) {
	f.Add([]byte("suite: !!binary aGk=\nitems: !!set {a}\n? b\n: - c\n"))
	f.Add([]byte("a: &a [*a]\n<<: *a\n--- x\n...\n%YAML 1.2\n"))
	for _, text := range golden.Inputs(f, "testdata/suites.txt") {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("s.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "s.yaml:") {
				t.Errorf("%v names no file", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, item := range s.Items.All() {
			whole := item.Pair != nil && item.Pair.Concept != "" && item.Pair.Test != "" && item.Pair.Control != "" ||
				item.Prompt != nil && item.Prompt.Text != "" && item.Prompt.Language != "" ||
				item.Input != nil && item.Input.Task != "" && len(item.Input.Texts) > 0
			if item.ID == "" || seen[item.ID] || item.Cluster == "" || !whole {
				t.Errorf("item %+v %+v %+v %+v", item, item.Pair, item.Prompt, item.Input)
			}
			seen[item.ID] = true
		}
		Check(s)
	})
}
