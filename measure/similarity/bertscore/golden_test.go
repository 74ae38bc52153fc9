package bertscore

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"crosstalk/internal/testing/shared"
	"crosstalk/measure/similarity"
)

// tolerance of the reference scores, made by bert_score's own functions on float64 vectors.
const tolerance = 2e-6

func TestGolden(t *testing.T) {
	type pair struct {
		ID        int
		Cand, Ref string
	}
	type row struct {
		ID, Layer int
		Model     string
		P, R, F   *float64 // nil: NaN
	}
	pairs := map[int]pair{}
	for _, p := range shared.Lines[pair](t, "encoder/pairs/pairs.jsonl") {
		pairs[p.ID] = p
	}
	type key struct {
		model string
		layer int
	}
	rows := map[key][]row{}
	for _, r := range shared.Lines[row](t, "encoder/pairs/bertscore.jsonl") {
		rows[key{r.Model, r.Layer}] = append(rows[key{r.Model, r.Layer}], r)
	}
	for k, rows := range rows {
		layer := k.layer
		if layer == 0 {
			layer = Embeddings
		}
		s, err := Load(filepath.Join(shared.File(t, "encoder/models"), k.model), Options{Layer: layer})
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		var asked []similarity.Pair
		for _, r := range rows {
			p := pairs[r.ID]
			texts = append(texts, p.Cand, p.Ref)
			asked = append(asked, similarity.Pair{A: p.Cand, B: p.Ref})
		}
		tokens := make([]Tokens, len(texts))
		if err := s.Encode(context.Background(), texts, func(i int, v Tokens) { tokens[i] = v.Keep() }); err != nil {
			t.Fatal(err)
		}
		scores, err := s.Scores(context.Background(), asked[:64]) // a part is enough to encode again
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		check := func(id int, name string, got float64, want *float64) {
			if want == nil || math.IsNaN(got) {
				if want != nil || !math.IsNaN(got) {
					t.Errorf("%s: pair %d: %s = %v, want %v", s.Name(), id, name, got, want)
				}
				return
			}
			worst = max(worst, math.Abs(got-*want))
			if d := math.Abs(got - *want); !(d <= tolerance) {
				t.Errorf("%s: pair %d: %s = %v, want %v", s.Name(), id, name, got, *want)
			}
		}
		for i, r := range rows {
			got := Compare(tokens[2*i], tokens[2*i+1])
			check(r.ID, "P", got.P, r.P)
			check(r.ID, "R", got.R, r.R)
			check(r.ID, "F", got.F, r.F)
			if i < len(scores) && scores[i] != got.F {
				t.Errorf("pair %d: %v among others, %v alone", r.ID, scores[i], got.F)
			}
		}
		t.Logf("%s: %d rows differ by at most %.2g", s.Name(), len(rows), worst)
	}
}
