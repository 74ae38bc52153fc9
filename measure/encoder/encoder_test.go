package encoder

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/testing/randmodel"
	"crosstalk/measure/encoder/internal/kernel"
)

// reference is DistilBERT written down plainly in float64: the hidden states of one sequence after the given number of
// layers.
func reference(m *randmodel.Model, ids []int32, layers int) []float64 {
	n, h := len(ids), m.Hidden
	norm := func(x []float64, name string) {
		for t := range n {
			row := x[t*h:][:h]
			var mean, variance float64
			for _, v := range row {
				mean += v / float64(h)
			}
			for _, v := range row {
				variance += (v - mean) * (v - mean) / float64(h)
			}
			for i, v := range row {
				row[i] = (v-mean)/math.Sqrt(variance+1e-12)*float64(m.Tensors[name+".weight"][i]) + float64(m.Tensors[name+".bias"][i])
			}
		}
	}
	linear := func(x []float64, in int, name string) []float64 {
		w, b := m.Tensors[name+".weight"], m.Tensors[name+".bias"]
		y := make([]float64, n*len(b))
		for t := range n {
			for j := range b {
				s := float64(b[j])
				for i := range in {
					s += x[t*in+i] * float64(w[j*in+i])
				}
				y[t*len(b)+j] = s
			}
		}
		return y
	}
	x := make([]float64, n*h)
	for t, id := range ids {
		for i := range h {
			x[t*h+i] = float64(m.Tensors["word"][int(id)*h+i]) + float64(m.Tensors["position"][t*h+i])
		}
	}
	norm(x, "norm")
	for l := range layers {
		name := func(s string) string { return randmodel.Name(l, s) }
		q, k, v := linear(x, h, name("q")), linear(x, h, name("k")), linear(x, h, name("v"))
		context, d := make([]float64, n*h), h/m.Heads
		for head := range m.Heads {
			for t := range n {
				p, sum := make([]float64, n), 0.0
				for u := range n {
					for i := head * d; i < (head+1)*d; i++ {
						p[u] += q[t*h+i] * k[u*h+i]
					}
					p[u] = math.Exp(p[u] / math.Sqrt(float64(d)))
					sum += p[u]
				}
				for u := range n {
					for i := head * d; i < (head+1)*d; i++ {
						context[t*h+i] += p[u] / sum * v[u*h+i]
					}
				}
			}
		}
		for i, v := range linear(context, h, name("out")) {
			x[i] += v
		}
		norm(x, name("norm1"))
		up := linear(x, h, name("up"))
		for i, v := range up {
			up[i] = v / 2 * math.Erfc(-v/math.Sqrt2)
		}
		for i, v := range linear(up, m.Inner, name("down")) {
			x[i] += v
		}
		norm(x, name("norm2"))
	}
	return x
}

func sequence(rng *rand.Rand, n, vocab int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(rng.IntN(vocab))
	}
	return ids
}

// use replaces the fastest kernel by the named one.
func (m *Model) use(name string) {
	sets := kernel.Sets()
	m.set = sets[slices.IndexFunc(sets, func(s *kernel.Set) bool { return s.Name == name })]
}

func write(t testing.TB, s randmodel.Shape) (*randmodel.Model, *Model) {
	t.Helper()
	r, dir := randmodel.New(s, 7), t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	m, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r, m
}

// Sizes that are and are not whole panels, heads wider than one, and sequences longer than a block.
func TestForward(t *testing.T) {
	for _, s := range []randmodel.Shape{
		{Layers: 2, Hidden: 24, Heads: 3, Inner: 50, Vocab: 60, Positions: 230},
		{Layers: 1, Hidden: 120, Heads: 3, Inner: 33, Vocab: 60, Positions: 120},
		{Layers: 1, Hidden: 256, Heads: 4, Inner: 256, Vocab: 60, Positions: 40},
	} {
		r, m := write(t, s)
		rng := rand.New(rand.NewPCG(1, 2))
		var seqs [][]int32
		for _, n := range []int{1, 2, 13, 31, 32, 33, 40, 97, 120, 200, 230} {
			if n <= s.Positions {
				seqs = append(seqs, sequence(rng, n, s.Vocab))
			}
		}
		for layers := 0; layers <= s.Layers; layers++ {
			var want [][]float64
			for _, ids := range seqs {
				want = append(want, reference(r, ids, layers))
			}
			for _, kernel := range Kernels() {
				m.use(kernel)
				for i, hidden := range encode(t, m, seqs, layers) {
					for j, v := range hidden {
						if d := math.Abs(float64(v) - want[i][j]); !(d < 1e-5) {
							t.Fatalf("%+v %s layer %d, %d tokens: value %d is %v, want %v", s, kernel, layers, len(seqs[i]), j, v, want[i][j])
						}
					}
				}
			}
		}
	}
}

// The hidden states of a sequence are the same to the last bit whatever is encoded with it and however many cores there
// are.
func TestIndependent(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	_, m := write(t, randmodel.Shape{Layers: 2, Hidden: 40, Heads: 5, Inner: 70, Vocab: 99, Positions: 150})
	rng := rand.New(rand.NewPCG(3, 4))
	var seqs [][]int32
	for range 120 {
		seqs = append(seqs, sequence(rng, 1+rng.IntN(60), 99))
	}
	seqs = append(seqs, sequence(rng, 150, 99), seqs[3])
	for _, kernel := range Kernels() {
		m.use(kernel)
		together := encode(t, m, seqs, 2)
		for i, ids := range seqs {
			if alone := encode(t, m, [][]int32{ids}, 2)[0]; !slices.Equal(alone, together[i]) {
				t.Fatalf("%s: sequence %d differs alone", kernel, i)
			}
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	_, m := write(t, randmodel.Shape{Layers: 1, Hidden: 8, Heads: 1, Inner: 8, Vocab: 9, Positions: 5})
	for want, f := range map[string]struct {
		layers int
		ids    []int32
	}{
		"layer 2 of a model with layers 0 to 1":       {2, []int32{1}},
		"layer -1 of a model with layers 0 to 1":      {-1, []int32{1}},
		"sequence 1 has 0 tokens, expected 1 to 5":    {1, nil},
		"sequence 1 has 6 tokens, expected 1 to 5":    {1, make([]int32, 6)},
		"sequence 1 has token id 9, expected 0 to 8":  {1, []int32{9}},
		"sequence 1 has token id -1, expected 0 to 8": {1, []int32{-1}},
	} {
		err := m.Encode(context.Background(), [][]int32{{1}, f.ids}, f.layers, func(int, []float32) { t.Error("visited") })
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestEncodeCancelled(t *testing.T) {
	_, m := write(t, randmodel.Shape{Layers: 1, Hidden: 8, Heads: 1, Inner: 8, Vocab: 9, Positions: 600})
	ctx, cancel := context.WithCancel(context.Background())
	seqs := make([][]int32, 50)
	for i := range seqs {
		seqs[i] = make([]int32, 600) // a batch each
	}
	visits := make(chan int, len(seqs))
	err := m.Encode(ctx, seqs, 1, func(i int, _ []float32) { visits <- i; cancel() })
	if !errors.Is(err, context.Canceled) || len(visits) > runtime.GOMAXPROCS(0) {
		t.Errorf("error %v after %d sequences", err, len(visits))
	}
	if err := m.Encode(context.Background(), seqs, 1, func(int, []float32) {}); err != nil { // the scratch is back
		t.Error(err)
	}
}

func TestPlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var seqs [][]int32
	for range 500 {
		seqs = append(seqs, make([]int32, 1+rng.IntN(700)))
	}
	seen := make([]bool, len(seqs))
	last := math.MaxInt
	for _, batch := range plan(seqs, 2) {
		tokens := 0
		for _, i := range batch {
			if n := len(seqs[i]); n > last || seen[i] {
				t.Fatalf("sequence %d of %d tokens after one of %d, seen %v", i, n, last, seen[i])
			}
			last, seen[i] = len(seqs[i]), true
			tokens += last
		}
		if tokens > maxBatch && len(batch) > 1 {
			t.Errorf("a batch of %d sequences has %d tokens", len(batch), tokens)
		}
	}
	if slices.Contains(seen, false) {
		t.Error("a sequence is in no batch")
	}
	if n := len(plan(seqs[:4], 4)); n != 4 {
		t.Errorf("4 sequences on 4 cores make %d batches", n)
	}
}

func TestIdentity(t *testing.T) {
	for dir, want := range map[string]string{
		"/c/models--sentence-transformers--all-MiniLM-L6-v2/snapshots/c9745ed1d9f207416be6d2e6f8de32d1f16199bf": "sentence-transformers/all-MiniLM-L6-v2 c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
		"/c/models--roberta-base/snapshots/0123abc":                                                             "roberta-base 0123abc",
	} {
		model, revision, err := Identity(dir)
		if got := model + " " + revision; err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", dir, got, err, want)
		}
	}
	shape := randmodel.Shape{Layers: 1, Hidden: 8, Heads: 1, Inner: 8, Vocab: 9, Positions: 5}
	names := map[string]bool{}
	for seed := range uint64(2) {
		dir := filepath.Join(t.TempDir(), "tiny")
		mustMkdir(t, dir)
		if err := randmodel.New(shape, seed).Write(dir); err != nil {
			t.Fatal(err)
		}
		model, revision, err := Identity(dir)
		if err != nil || model != "tiny" || !strings.HasPrefix(revision, "sha256-") || len(revision) != 19 {
			t.Errorf("%s %s %v", model, revision, err)
		}
		names[revision] = true
	}
	if len(names) != 2 {
		t.Error("other weights have the same revision")
	}
}

func TestText(t *testing.T) {
	dir := t.TempDir()
	if err := randmodel.New(randmodel.Shape{Layers: 1, Hidden: 16, Heads: 2, Inner: 8, Vocab: 40, Positions: 6},
		1).Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := LoadText(dir)
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]string{0: "[2 5 6 7 8 3]", 4: "[2 5 6 3]", 99: "[2 5 6 7 8 3]"} {
		err = text.Encode(context.Background(), []string{" w5 w6 w7 w8 w9\x1c"}, 1, most, func(i int, ids []int32, hidden []float32) {
			if fmt.Sprint(ids) != want || len(hidden) != 16*len(ids) {
				t.Errorf("at most %d: ids %v and %d values, want %s", most, ids, len(hidden), want)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}
