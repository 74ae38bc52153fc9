package encoder

import (
	"context"
	"math"
	"path"
	"path/filepath"
	"sync"
	"testing"

	"crosstalk/internal/testing/shared"
)

// Tolerances of the reference values (float64 arithmetic, rounded once).
const tolerance, pooledTolerance, unitTolerance = 2e-5, 1e-5, 1e-6

// models calls f in a subtest for each reference model and each kernel.
func models(t *testing.T, f func(t *testing.T, m *Model, dir string)) {
	names := shared.Names(t, "encoder/models")
	if len(names) != 17 {
		t.Errorf("%d models, expected 17", len(names))
	}
	for _, name := range names {
		m, err := Load(filepath.Join(shared.File(t, "encoder/models"), name))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, kernel := range Kernels() {
			t.Run(name+"/"+kernel, func(t *testing.T) {
				m.use(kernel)
				f(t, m, path.Join("encoder/encoder", name))
			})
		}
	}
}

func TestHiddenStates(t *testing.T) {
	models(t, func(t *testing.T, m *Model, dir string) {
		index := shared.JSON[struct {
			Layers int
			Items  []struct {
				Tokens int `json:"n_tokens"`
				Row    int `json:"row0"`
				IDs    []int32
			} `json:"hidden_index"`
		}](t, path.Join(dir, "index.json"))
		want, columns := shared.Matrix(t, path.Join(dir, "hidden.npy"))
		if columns != m.Hidden || index.Layers != m.Layers || len(index.Items) == 0 {
			t.Fatalf("%d columns, %d layers, %d texts", columns, index.Layers, len(index.Items))
		}
		var seqs [][]int32
		for _, item := range index.Items {
			seqs = append(seqs, item.IDs)
		}
		worst := 0.0
		for layer := 0; layer <= m.Layers; layer++ {
			for i, hidden := range encode(t, m, seqs, layer) {
				item := index.Items[i]
				row := item.Row + layer*item.Tokens
				worst = max(worst, distance(t, hidden, want[row*columns:(row+item.Tokens)*columns]))
			}
		}
		if !(worst <= tolerance) {
			t.Errorf("hidden states differ by %.2g", worst)
		}
		t.Logf("hidden %.2g", worst)
	})
}

func TestPooled(t *testing.T) {
	models(t, func(t *testing.T, m *Model, dir string) {
		var seqs [][]int32
		for _, text := range shared.Lines[struct{ IDs []int32 }](t, path.Join(dir, "texts.jsonl")) {
			seqs = append(seqs, text.IDs)
		}
		mean, _ := shared.Matrix(t, path.Join(dir, "mean.npy"))
		unit, _ := shared.Matrix(t, path.Join(dir, "mean_norm.npy"))
		cls, _ := shared.Matrix(t, path.Join(dir, "cls.npy"))
		var worst [3]float64
		for i, hidden := range encode(t, m, seqs, m.Layers) {
			at := func(all []float32) []float32 { return all[i*m.Hidden:][:m.Hidden] }
			worst[0] = max(worst[0], distance(t, Mean(hidden, m.Hidden), at(mean)))
			worst[1] = max(worst[1], distance(t, hidden[:m.Hidden], at(cls)))
			u := Mean(hidden, m.Hidden)
			Normalize(u)
			worst[2] = max(worst[2], distance(t, u, at(unit)))
		}
		if !(worst[0] <= pooledTolerance && worst[1] <= pooledTolerance && worst[2] <= unitTolerance) {
			t.Errorf("mean differs by %.2g, cls by %.2g, normalised mean by %.2g", worst[0], worst[1], worst[2])
		}
		t.Logf("mean %.2g cls %.2g normalised %.2g", worst[0], worst[1], worst[2])
	})
}

// encode returns copies of the hidden states of all sequences.
func encode(t testing.TB, m *Model, seqs [][]int32, layer int) [][]float32 {
	t.Helper()
	out := make([][]float32, len(seqs))
	var mu sync.Mutex
	err := m.Encode(context.Background(), seqs, layer, func(i int, hidden []float32) {
		mu.Lock()
		defer mu.Unlock()
		if out[i] != nil {
			t.Errorf("sequence %d visited twice", i)
		}
		out[i] = append([]float32{}, hidden...)
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range out {
		if len(out[i]) != len(seqs[i])*m.Hidden {
			t.Fatalf("sequence %d of %d tokens has %d values", i, len(seqs[i]), len(out[i]))
		}
	}
	return out
}

// distance is the largest absolute difference.
func distance(t testing.TB, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, expected %d", len(got), len(want))
	}
	worst := 0.0
	for i := range got {
		worst = max(worst, math.Abs(float64(got[i])-float64(want[i])))
	}
	return worst
}
