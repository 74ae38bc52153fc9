package stats

import "math"

// Kappa is Cohen's kappa with what it is made of. Observed and Expected are
// shares of agreement; SE is the large-sample standard error of Value, and P
// the two-sided p-value of the null that kappa is 0.
type Kappa struct {
	Value, SE, P       float64
	Observed, Expected float64
	N                  int
	Interval           Interval
}

// CohenKappa is the chance-corrected agreement of two raters on nominal labels
// (Cohen 1960), in [-1, 1]. The standard error is that of Fleiss, Cohen and
// Everitt (1969); the interval is Value ± z SE cut to [-1, 1], for large N and
// independent items. Undefined without items or when both raters use one
// and the same label only. As in statsmodels cohens_kappa. It panics if the
// lengths differ.
func CohenKappa[L comparable](a, b []L, level float64) Kappa {
	checkLevel(level)
	checkPairs(len(a), len(b))
	k := Kappa{
		Value: math.NaN(), SE: math.NaN(), P: math.NaN(), Observed: math.NaN(), Expected: math.NaN(),
		N: len(a), Interval: undefined(level, "kappa-normal"),
	}
	if k.N == 0 {
		return k
	}
	id := make(map[L]int)
	number := func(l L) int {
		if _, ok := id[l]; !ok {
			id[l] = len(id)
		}
		return id[l]
	}
	type pair struct{ a, b int }
	table := make(map[pair]int)
	for i := range a {
		table[pair{number(a[i]), number(b[i])}]++
	}
	n := float64(k.N)
	row, col, diagonal := make([]float64, len(id)), make([]float64, len(id)), make([]float64, len(id))
	for p, m := range table { // counts first, whose sums do not depend on the order
		row[p.a] += float64(m)
		col[p.b] += float64(m)
		if p.a == p.b {
			diagonal[p.a] = float64(m) / n
		}
	}
	var po, pe, null float64
	for l := range row {
		row[l] /= n
		col[l] /= n
		po += diagonal[l]
		pe += row[l] * col[l]
		null += row[l] * col[l] * (row[l] + col[l])
	}
	k.Observed, k.Expected = po, pe
	if len(id) == 1 {
		return k // expected agreement is 1
	}
	k.Value = (po - pe) / (1 - pe)
	// Terms of the variance: the diagonal, the off-diagonal, the correction.
	d := 1 - k.Value
	var on, off float64
	for l, p := range diagonal {
		t := 1 - (row[l]+col[l])*d
		on += p * t * t
	}
	cells := make([]float64, 0, len(table))
	for p, m := range table {
		if p.a != p.b {
			t := col[p.a] + row[p.b]
			cells = append(cells, float64(m)/n*t*t*d*d)
		}
	}
	off = sortedSum(cells)
	rest := k.Value - pe*d
	k.SE = math.Sqrt(math.Max(on+off-rest*rest, 0)/n) / (1 - pe)
	k.P = 2 * normalCDF(-math.Abs(k.Value)*(1-pe)/math.Sqrt((pe+pe*pe-null)/n))
	r := normalQuantile((1+level)/2) * k.SE
	k.Interval.Low, k.Interval.High = math.Max(-1, k.Value-r), math.Min(1, k.Value+r)
	return k
}

// FleissKappa is the chance-corrected agreement of a fixed number of raters
// per item on nominal labels (Fleiss 1971), at most 1. counts[i][l] is the
// number of raters who gave item i label l; every item needs the same number
// of raters, at least 2, and the raters may differ between items. NaN where
// this fails, without items, or when one label only was used. As in statsmodels
// fleiss_kappa. For missing ratings use Krippendorff.
func FleissKappa(counts [][]int) float64 {
	if len(counts) == 0 {
		return math.NaN()
	}
	raters := 0
	for _, c := range counts[0] {
		raters += c
	}
	share := make([]float64, len(counts[0]))
	var agree float64
	for _, item := range counts {
		total, pairs := 0, 0
		if len(item) != len(share) {
			return math.NaN()
		}
		for l, c := range item {
			if c < 0 {
				return math.NaN()
			}
			total += c
			pairs += c * (c - 1)
			share[l] += float64(c)
		}
		if total != raters || raters < 2 {
			return math.NaN()
		}
		agree += float64(pairs) / float64(raters*(raters-1))
	}
	n := float64(len(counts))
	var expected float64
	used := 0
	for _, s := range share {
		if s > 0 {
			used++
		}
		p := s / (n * float64(raters))
		expected += p * p
	}
	if used == 1 {
		return math.NaN()
	}
	return (agree/n - expected) / (1 - expected)
}
