package sbert

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"crosstalk/internal/testing/shared"
	"crosstalk/measure/encoder"
	"crosstalk/measure/similarity/embedding"
)

func TestGolden(t *testing.T) {
	type pair struct {
		ID        int
		Cand, Ref string
	}
	type row struct {
		ID    int
		Model string
		Cos   float64
		Mean  float64 `json:"cos_mean"`
	}
	pairs := map[int]pair{}
	for _, p := range shared.Lines[pair](t, "encoder/pairs/pairs.jsonl") {
		pairs[p.ID] = p
	}
	rows := map[string][]row{}
	for _, r := range shared.Lines[row](t, "encoder/pairs/similarity.jsonl") {
		rows[r.Model] = append(rows[r.Model], r)
	}
	for model, rows := range rows {
		s, err := Load(filepath.Join(shared.File(t, "encoder/models"), model), Options{})
		if err != nil {
			t.Fatal(err)
		}
		configured := s.pooling
		var texts []string
		for _, r := range rows {
			texts = append(texts, pairs[r.ID].Cand, pairs[r.ID].Ref)
		}
		worst := 0.0
		for _, mean := range []bool{false, true} {
			if s.pooling = configured; mean {
				s.pooling = []pool{encoder.Mean}
			}
			vectors, err := s.Embed(context.Background(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range rows {
				score, err := embedding.Cosine(vectors[2*i], vectors[2*i+1])
				if err != nil {
					t.Fatal(err)
				}
				want := r.Cos
				if mean {
					want = r.Mean
				}
				worst = max(worst, math.Abs(score-want))
				if !(math.Abs(score-want) <= 1e-6) {
					t.Errorf("%s mean %v: pair %d: %v, want %v", s.Name(), mean, r.ID, score, want)
				}
			}
		}
		t.Logf("%s: %d rows differ by at most %.2g", s.Name(), len(rows), worst)
	}
}
