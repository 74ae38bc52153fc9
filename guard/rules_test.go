package guard

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The rule book has the rules by their names, in their order, with their excuses.
func TestRuleBook(t *testing.T) {
	data, err := os.ReadFile("../docs/validation/confusion.md")
	if err != nil {
		t.Fatal(err)
	}
	_, book, _ := strings.Cut(string(data), "\n## Rule book\n")
	book, _, _ = strings.Cut(book, "\n## ")
	var got []string
	for line := range strings.Lines(book) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| ") && len(cells) == 4 && cells[1] != "rule" && cells[1] != "---" {
			got = append(got, strings.Join(cells[:3], " | "))
		}
	}
	for i, r := range rules {
		excuse := "none"
		if r.excuse != "" {
			excuse = fmt.Sprintf("`%s`", r.excuse)
		}
		want := fmt.Sprintf("| %d | %s | %s", i+1, r.name, excuse)
		if i >= len(got) || got[i] != want {
			t.Fatalf("rule %d of the book is not %q: %q", i+1, want, got)
		}
	}
	if len(got) != len(rules) {
		t.Errorf("the book has %d rules, the code %d", len(got), len(rules))
	}
}

// A last sentence that only ends in a colon announces what the sentences before it say.
func TestAnnouncedBeforeColon(t *testing.T) {
	for end, want := range map[string]Verdict{":": Right, ".": Wrong} {
		text := "Hier auf Englisch. Bitte sehr" + end + "\n\nYour order is on its way and arrives tomorrow.\n\n" +
			"Haben Sie noch weitere Fragen dazu?"
		if j, err := Check(text, "de"); err != nil || j.Verdict != want {
			t.Errorf("%q: %v, %v; want %s", end, j.Verdict, err, want)
		}
	}
}
