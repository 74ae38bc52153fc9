package sbert

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"crosstalk/internal/shared"
	"crosstalk/measure/encoder"
	"crosstalk/measure/similarity"
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
		for _, kernel := range encoder.Kernels() {
			if err := s.text.UseKernel(kernel); err != nil {
				t.Fatal(err)
			}
			rows := rows
			if kernel == "portable" { // slow, and compared value by value in package encoder
				rows = rows[:len(rows)/10]
			}
			var asked []similarity.Pair
			for _, r := range rows {
				asked = append(asked, similarity.Pair{A: pairs[r.ID].Cand, B: pairs[r.ID].Ref})
			}
			worst := 0.0
			for _, mean := range []bool{false, true} {
				if s.pooling = configured; mean {
					s.pooling = []pool{encoder.Mean}
				}
				scores, err := s.Scores(context.Background(), asked)
				if err != nil {
					t.Fatal(err)
				}
				for i, r := range rows {
					want := r.Cos
					if mean {
						want = r.Mean
					}
					worst = max(worst, math.Abs(scores[i]-want))
					if !(math.Abs(scores[i]-want) <= 1e-6) {
						t.Errorf("%s %s mean %v: pair %d: %v, want %v", s.Name(), kernel, mean, r.ID, scores[i], want)
					}
				}
			}
			t.Logf("%s %s: %d rows differ by at most %.2g", s.Name(), kernel, len(rows), worst)
		}
	}
}
