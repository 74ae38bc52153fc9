package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
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
	m := newMersenne(1)
	drawn := &dense{1, nil}
	for range 2000 {
		drawn.data = append(drawn.data, m.uniform())
	}
	for name, x := range map[string]struct {
		drawn     *dense
		tolerance float64
	}{"uniform": {drawn, 0}, "normal": {normal(1000, 2, 1), 1e-14}} {
		var every []float64
		for i := 0; i < 2000; i += 250 {
			every = append(every, x.drawn.data[i])
		}
		if name == "normal" {
			every = append(every, x.drawn.data[1999])
		}
		wantNear(t, name, &dense{1, every}, &dense{1, numpyValues(t, name)}, x.tolerance)
	}
}

func TestRotationLikeNumpy(t *testing.T) {
	wantNear(t, "rotation", rotation(5), &dense{5, numpyValues(t, "rotation")}, 1e-14)
	turn := rotation(40)
	wantNear(t, "orthogonal", product(turn, transpose(turn)), identity(40), 1e-14)
}

func TestOrthogonalFactorOfZeroColumn(t *testing.T) {
	a := newDense(2, 2)
	copy(a.data, []float64{0, 1, 0, 2})
	wantNear(t, "factor", orthogonalFactor(a), identity(2), 0)
}
