package gloss

import (
	"crosstalk/internal/testing/shared"
	"os"
	"strings"
	"testing"
)

// share returns the share of triples (concept, related text, neutral text) whose related text is the more similar one,
// ties and triples that are not scored counting one half, and how many are not scored.
func share(t *testing.T, v *Vectors, triples [][3]string) (share float64, notScored int) {
	t.Helper()
	right := 0.0
	for _, x := range triples {
		related, ok1 := v.Similarity(x[0], x[1])
		neutral, ok2 := v.Similarity(x[0], x[2])
		switch {
		case !ok1 || !ok2:
			notScored++
			right += 0.5
			t.Logf("%q: not scored with %q and %q", x[0], x[1], x[2])
		case related > neutral:
			right++
		case related == neutral:
			right += 0.5
			fallthrough
		default:
			t.Logf("%q: %q %.3f, %q %.3f", x[0], x[1], related, x[2], neutral)
		}
	}
	return right / float64(len(triples)), notScored
}

// triples reads the reference triples.
func triples(t *testing.T) [][3]string {
	t.Helper()
	content, err := os.ReadFile(shared.File(t, "leakage/relatedness_triples.tsv"))
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
	return triples
}

func TestReferenceTriples(t *testing.T) {
	triples := triples(t)
	got, notScored := share(t, open(t), triples)
	t.Logf("%.4f of %d triples ordered rightly, %d not scored", got, len(triples), notScored)
	if got < 0.89 {
		t.Errorf("%.4f of %d triples ordered rightly, %d not scored; expected at least 0.89", got, len(triples), notScored)
	}
}
