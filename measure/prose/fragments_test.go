package prose

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"crosstalk/internal/testing/golden"
)

// TestFragments compares how each line of testdata/fragments.txt is masked, alone, within a line and within a word,
// with what follows it in the file. {x*5} in a line stands for xxxxx, ␤ for a line break. -update writes the file.
func TestFragments(t *testing.T) {
	const file = "testdata/fragments.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "\t") {
			continue
		}
		got.WriteString(line)
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		text := strings.ReplaceAll(line, "␤", "\n")
		for strings.Contains(text, "{") && strings.Contains(text, "*") {
			before, rest, _ := strings.Cut(text, "{")
			inner, after, _ := strings.Cut(rest, "}")
			repeated, number, ok := strings.Cut(inner, "*")
			n := 0
			if _, err := fmt.Sscan(number, &n); err != nil || !ok {
				break
			}
			text = before + strings.Repeat(repeated, n) + after
		}
		for _, form := range []string{"%s", "so %s da", "é%sé"} {
			fmt.Fprintf(&got, "\t%s\n", shown(fmt.Sprintf(form, text)))
		}
	}
	golden.Check(t, file, got.String())
}

// shown are the blocks and the masked parts of a text, long ones by their length.
func shown(text string) string {
	var all []string
	d := Parse(text)
	for _, s := range append(d.Blocks, d.Masks...) {
		part := text[s.Start:s.End]
		if len(part) > 60 {
			part = fmt.Sprintf("%.10s... %d bytes", part, len(part))
		}
		all = append(all, fmt.Sprintf("%s[%s]", s.Kind, strings.ReplaceAll(part, "\n", "␤")))
	}
	return strings.Join(all, " ")
}
