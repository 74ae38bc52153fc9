package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// each runs f with every set of this machine.
func each(t *testing.T, f func(t *testing.T, s *Set)) {
	for _, s := range Sets() {
		t.Run(s.Name, func(t *testing.T) { f(t, s) })
	}
}

func random(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

const guard = float32(-12345)

func TestGemm(t *testing.T) {
	each(t, func(t *testing.T, s *Set) {
		rng := rand.New(rand.NewPCG(1, 2))
		for rows := 1; rows <= 26; rows++ {
			for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 31, 100} {
				lda, ldb, ldc := k+rows%3, Panel+rows%2*5, Panel+k%4
				a, b, bias := random(rng, (rows-1)*lda+k), random(rng, (k-1)*ldb+Panel), random(rng, Panel)
				c := make([]float32, rows*ldc+Panel)
				for i := range c {
					c[i] = guard
				}
				s.Gemm(c, ldc, a, lda, b, ldb, bias, rows, k)
				for i, got := range c {
					r, j := i/ldc, i%ldc
					if r >= rows || j >= Panel {
						if got != guard {
							t.Fatalf("rows %d k %d: wrote past the result at row %d column %d", rows, k, r, j)
						}
						continue
					}
					want := float64(bias[j])
					for i := range k {
						want += float64(a[r*lda+i]) * float64(b[i*ldb+j])
					}
					if math.Abs(float64(got)-want) > 2e-5 {
						t.Fatalf("rows %d k %d: c[%d,%d] = %v, want %v", rows, k, r, j, got, want)
					}
				}
			}
		}
	})
}

// A row must not depend on how many rows are computed with it.
func TestGemmRowsIndependent(t *testing.T) {
	each(t, func(t *testing.T, s *Set) {
		rng := rand.New(rand.NewPCG(3, 4))
		const rows, k = 25, 77
		a, b, bias := random(rng, rows*k), random(rng, k*Panel), random(rng, Panel)
		c, one := make([]float32, rows*Panel), make([]float32, Panel)
		s.Gemm(c, Panel, a, k, b, Panel, bias, rows, k)
		for r := range rows {
			s.Gemm(one, Panel, a[r*k:], k, b, Panel, bias, 1, k)
			for j, v := range one {
				if v != c[r*Panel+j] {
					t.Fatalf("row %d column %d: %v alone, %v among %d rows", r, j, v, c[r*Panel+j], rows)
				}
			}
		}
	})
}

func TestGemmBounds(t *testing.T) {
	each(t, func(t *testing.T, s *Set) {
		full := func(n int) []float32 { return make([]float32, n) }
		for name, f := range map[string]func(){
			"a":    func() { s.Gemm(full(96), 32, full(29), 10, full(320), 32, full(32), 3, 10) },
			"b":    func() { s.Gemm(full(96), 32, full(30), 10, full(319), 32, full(32), 3, 10) },
			"c":    func() { s.Gemm(full(95), 32, full(30), 10, full(320), 32, full(32), 3, 10) },
			"bias": func() { s.Gemm(full(96), 32, full(30), 10, full(320), 32, full(31), 3, 10) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("a short %s went unnoticed", name)
					}
				}()
				f()
			}()
		}
	})
}

func TestGELU(t *testing.T) {
	each(t, func(t *testing.T, s *Set) {
		for _, span := range []float64{1e-3, 1, 6, 40, 1e4} {
			x := make([]float32, 4000)
			for i := range x {
				x[i] = float32(span * (float64(i)/2000 - 1))
			}
			y := append([]float32(nil), x...)
			s.GELU(y)
			for i, v := range x {
				want := 0.5 * float64(v) * math.Erfc(-float64(v)/math.Sqrt2)
				if math.Abs(float64(y[i])-want) > 2e-7*(1+math.Abs(float64(v))) {
					t.Fatalf("GELU(%v) = %v, want %v", v, y[i], want)
				}
			}
		}
	})
}

func TestSoftmax(t *testing.T) {
	each(t, func(t *testing.T, s *Set) {
		rng := rand.New(rand.NewPCG(5, 6))
		for n := 1; n <= 70; n++ {
			for _, spread := range []float64{0.1, 3, 200} {
				x := random(rng, n+Lanes)
				for i := range x {
					x[i] *= float32(spread)
				}
				const scale = 0.25
				want, sum, top := make([]float64, n), 0.0, math.Inf(-1)
				for _, v := range x[:n] {
					top = max(top, float64(v))
				}
				for i, v := range x[:n] {
					want[i] = math.Exp((float64(v) - top) * scale)
					sum += want[i]
				}
				s.Softmax(x, n, scale)
				for i := range n {
					if math.Abs(float64(x[i])-want[i]/sum) > 2e-6 {
						t.Fatalf("n %d spread %v: p[%d] = %v, want %v", n, spread, i, x[i], want[i]/sum)
					}
				}
			}
		}
	})
}

func TestAddNorm(t *testing.T) {
	each(t, func(t *testing.T, s *Set) {
		rng := rand.New(rand.NewPCG(7, 8))
		for n := Lanes; n <= 60; n++ {
			padded := func() []float32 { return append(random(rng, n), make([]float32, roundUp(n)-n)...) }
			x, r, w, b := padded(), padded(), padded(), padded()
			for i := range n {
				x[i] += 30 // a mean far from zero shows a careless variance
			}
			y := make([]float32, roundUp(n)+1)
			y[roundUp(n)] = guard
			const eps = 1e-5
			s.AddNorm(y, x, r, w, b, n, eps)
			var mean, variance float64
			for i := range n {
				mean += (float64(x[i]) + float64(r[i])) / float64(n)
			}
			for i := range n {
				d := float64(x[i]) + float64(r[i]) - mean
				variance += d * d / float64(n)
			}
			for i := range n {
				want := (float64(x[i])+float64(r[i])-mean)/math.Sqrt(variance+eps)*float64(w[i]) + float64(b[i])
				if math.Abs(float64(y[i])-want) > 2e-5 {
					t.Fatalf("n %d: y[%d] = %v, want %v", n, i, y[i], want)
				}
			}
			for i := n; i < roundUp(n); i++ {
				if y[i] != 0 {
					t.Fatalf("n %d: padding %d became %v", n, i, y[i])
				}
			}
			if y[roundUp(n)] != guard {
				t.Fatalf("n %d: wrote past the padding", n)
			}
		}
	})
}

func TestRoundUp(t *testing.T) {
	for n := range 40 {
		if got := roundUp(n); got%Lanes != 0 || got < n || got >= n+Lanes {
			t.Errorf("%d is rounded up to %d", n, got)
		}
	}
}

func BenchmarkGemm(b *testing.B) {
	for _, s := range Sets() {
		for _, shape := range [][2]int{{384, 256}, {768, 256}, {3072, 256}, {32, 20}} {
			b.Run(fmt.Sprintf("%s/k%d-rows%d", s.Name, shape[0], shape[1]), func(b *testing.B) {
				k, rows := shape[0], shape[1]
				rng := rand.New(rand.NewPCG(1, 1))
				x, w, bias, c := random(rng, rows*k), random(rng, k*Panel), random(rng, Panel), make([]float32, rows*Panel)
				for b.Loop() {
					s.Gemm(c, Panel, x, k, w, Panel, bias, rows, k)
				}
				b.ReportMetric(float64(2*rows*k*Panel)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
