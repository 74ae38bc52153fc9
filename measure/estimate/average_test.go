package estimate

import (
	"math"
	"testing"

	"crosstalk"
)

// Cells are (measure, language, source); the figures are worked out by hand.
func TestFormula(t *testing.T) {
	nan := math.NaN()
	over := crosstalk.Average{Over: []string{"language", "source"}}
	harmonic := crosstalk.Average{Over: over.Over, HarmonicOf: []string{"lpr", "wpr"}}
	one := harmonic
	one.EmptyIsOne = true
	two := []Cell{{0, []int{0, 0}}, {0, []int{0, 1}}, {0, []int{1, 0}}} // de/a, de/b, ja/a
	pairs := []Cell{{0, []int{0, 0}}, {1, []int{0, 0}}, {0, []int{1, 0}}, {1, []int{1, 0}}, {0, []int{2, 0}}}
	for _, c := range []struct {
		name  string
		of    crosstalk.Average
		cells []Cell
		means []float64
		want  float64
	}{
		{"nothing", over, nil, nil, nan},
		{"of its own measure", crosstalk.Average{}, []Cell{{0, nil}}, []float64{0.25}, 0.25},
		{"a mean of means", over, two, []float64{1, 0.5, 0.25}, (0.75 + 0.25) / 2},
		{"an undefined cell is left out", over, two, []float64{1, nan, 0.25}, (1 + 0.25) / 2},
		{"an undefined language is left out", over, two, []float64{1, 0.5, nan}, 0.75},
		{"all undefined", over, two, []float64{nan, nan, nan}, nan},
		{"harmonic, of languages with both measures", harmonic, pairs, []float64{0.5, 1, 1, 1, 0.125}, (2.0/3 + 1) / 2},
		{"the second is unknown", harmonic, pairs[:2], []float64{0.5, nan}, 2.0 / 3},
		{"nothing left to the second", harmonic, pairs, []float64{0, nan, 1, 1, 0.125}, 0.5},
		{"nothing to measure in a language", harmonic, pairs, []float64{nan, nan, 1, 0.5, 1}, 2.0 / 3},
		{"empty is one", one, pairs, []float64{nan, nan, 1, 0.5, 1}, (1 + 2.0/3) / 2},
		{"of two measures without columns", crosstalk.Average{HarmonicOf: harmonic.HarmonicOf}, []Cell{{0, nil}, {1, nil}}, []float64{0.5, 1}, 2.0 / 3},
		{"of two measures, one missing", crosstalk.Average{HarmonicOf: harmonic.HarmonicOf}, []Cell{{0, nil}}, []float64{0.5}, nan},
	} {
		got := FormulaOf(c.of, c.cells)(c.means)
		if !(math.Abs(got-c.want) < 1e-15) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
