package gloss

import (
	"os"
	"strings"
	"testing"
)

// share returns the share of triples (concept, related text, neutral text) whose
// related text is the more similar one; ties count one half, and so do triples
// that are not scored.
func share(t *testing.T, v *Vectors, triples [][3]string) float64 {
	t.Helper()
	right := 0.0
	for _, x := range triples {
		related, ok1 := v.Similarity(x[0], x[1])
		neutral, ok2 := v.Similarity(x[0], x[2])
		switch {
		case !ok1 || !ok2 || related == neutral:
			right += 0.5
			t.Logf("%q: no decision between %q and %q", x[0], x[1], x[2])
		case related > neutral:
			right++
		default:
			t.Logf("%q: %q %.3f, %q %.3f", x[0], x[1], related, x[2], neutral)
		}
	}
	return right / float64(len(triples))
}

func TestReferenceTriples(t *testing.T) {
	content, err := os.ReadFile(shared(t, "leakage/relatedness_triples.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var triples [][3]string
	for line := range strings.Lines(string(content)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) != 4 {
			t.Fatalf("line %d: %d columns, expected 4", len(triples)+1, len(f))
		}
		triples = append(triples, [3]string(f[1:]))
	}
	got := share(t, open(t), triples)
	t.Logf("%.3f of %d triples ordered rightly", got, len(triples))
	if got < 0.89 {
		t.Errorf("%.3f of %d triples ordered rightly, expected at least 0.89", got, len(triples))
	}
}

func open(t testing.TB) *Vectors {
	t.Helper()
	v, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return v
}
