package report

import (
	"strings"
	"testing"
)

// Rows end in the same column of the screen, whatever their scripts, and no text turns or hides the others.
func TestTableByWidth(t *testing.T) {
	table := Table{Header: []string{"source", "LPR %"}, Left: 1, Notes: []string{"a\u2066b"}, Heading: []string{"m\u202e"},
		Above: [][]Span{{{"", 1}, {"\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587", 1}}},
		Rows:  [][]string{{"\u4e2d\u6587\u8d44\u6599\u5e93", "100.0"}, {"e\u0301te\u0301", "7.0"}, {"\u202eevil\x1b[2J\x7f", "1.0"}, {"\U0001f468\u200d\U0001f469\u200d\U0001f467", "2.0"}}}
	var b strings.Builder
	if err := WriteTable(&b, "table", table); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for _, line := range lines[2:8] {
		if Width(line) != 2+14+2+12 {
			t.Errorf("%q takes %d columns", line, Width(line))
		}
	}
	if strings.ContainsAny(b.String(), "\u202e\u2066\x1b") || !strings.Contains(b.String(), "⟨RLO⟩evil␛[2J␡") {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	if err := WriteTable(&b, "latex", table); err != nil || !strings.Contains(b.String(), `$\langle$RLO$\rangle$evil {[}2J  & `) {
		t.Errorf("%v, %s", err, &b)
	}
	b.Reset()
	if err := WriteRows(&b, [][]string{{"\u4e2d", "1", "x\ny"}, {"ab", "10"}, {"c\u202e", "2", "z"}}, 1); err != nil ||
		b.String() != "\u4e2d       1  x y\nab      10\nc⟨RLO⟩   2    z\n" {
		t.Errorf("%v, %q", err, b.String())
	}
}
