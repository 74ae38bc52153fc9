package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext/prng"
)

// numpyValues reads a line of testdata/numpy.txt, whose head says what they are.
func numpyValues(t *testing.T, name string) []float64 {
	t.Helper()
	content, err := os.ReadFile("testdata/numpy.txt")
	if err != nil {
		t.Fatal(err)
	}
	var values []float64
	for line := range strings.Lines(string(content)) {
		f := strings.Fields(line)
		if f[0] != name {
			continue
		}
		for _, x := range f[1:] {
			value, err := strconv.ParseFloat(x, 64)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
	}
	return values
}

// The values lie beyond the 624 words after which the generator renews its state.
func TestRandomLikeNumpy(t *testing.T) {
	generator := prng.NewMT19937()
	generator.Seed(1)
	var drawn []float64
	for range 2000 {
		drawn = append(drawn, uniform(generator))
	}
	for name, x := range map[string]struct {
		drawn     []float64
		tolerance float64
	}{"uniform": {drawn, 0}, "normal": {normal(1000, 2, 1).RawMatrix().Data, 1e-14}} {
		var every []float64
		for i := 0; i < 2000; i += 250 {
			every = append(every, x.drawn[i])
		}
		if name == "normal" {
			every = append(every, x.drawn[1999])
		}
		want := numpyValues(t, name)
		wantNear(t, name, mat.NewDense(1, len(every), every), mat.NewDense(1, len(want), want), x.tolerance)
	}
}

func TestRotationLikeNumpy(t *testing.T) {
	wantNear(t, "rotation", rotation(5), mat.NewDense(5, 5, numpyValues(t, "rotation")), 1e-14)
	turn := rotation(40)
	wantNear(t, "orthogonal", product(turn, turn.T()), identity(40), 1e-14)
}
