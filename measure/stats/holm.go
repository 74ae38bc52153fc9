package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Holm adjusts the p-values of a declared family of tests (Holm 1979): to
// reject where the adjusted value is at most alpha keeps the chance of any
// false rejection at most alpha, whatever the dependence. The family is all
// of ps, NaN entries excepted: they were not tested and stay NaN. As in R
// p.adjust(method="holm"). It panics on a p-value outside [0, 1].
func Holm(ps []float64) []float64 {
	out := slices.Repeat([]float64{math.NaN()}, len(ps))
	var order []int
	for i, p := range ps {
		if math.IsNaN(p) {
			continue
		}
		if p < 0 || p > 1 {
			panic(fmt.Sprintf("stats: p-value %v is not between 0 and 1", p))
		}
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	least := 0.0
	for rank, i := range order {
		least = math.Max(least, math.Min(1, float64(len(order)-rank)*ps[i]))
		out[i] = least
	}
	return out
}
