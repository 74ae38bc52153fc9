package stats

import (
	"math"
	"slices"
)

// Scale says how far apart two labels are for Krippendorff's alpha.
type Scale int

const (
	// Nominal labels agree or differ.
	Nominal Scale = iota
	// Ordinal labels differ by the ranks between them.
	Ordinal
	// IntervalScale labels differ by the square of their difference.
	IntervalScale
)

// Krippendorff is Krippendorff's alpha (Krippendorff 2011, "Computing
// Krippendorff's Alpha-Reliability"), at most 1, 0 for agreement as if by
// chance. units[u] has the values that raters gave unit u in any order;
// NaN marks a missing rating, and units with fewer than two ratings are left
// out. Any number of raters may rate each unit. NaN when no unit has two
// ratings, when all ratings are equal, or when one is infinite.
func Krippendorff(units [][]float64, scale Scale) float64 {
	var pairable [][]float64
	var all []float64
	for _, u := range units {
		rated := slices.DeleteFunc(slices.Clone(u), math.IsNaN)
		if len(rated) >= 2 {
			pairable = append(pairable, rated)
			all = append(all, rated...)
		}
	}
	slices.Sort(all)
	n := float64(len(all))
	if len(all) == 0 || math.IsInf(all[0], 0) || math.IsInf(all[len(all)-1], 0) {
		return math.NaN()
	}
	// A label's place is such that the squared distance of two places is the
	// squared difference on the scale.
	place := func(v float64) float64 { return v }
	if scale == Ordinal {
		// Half of both labels and all between: the distance of mean ranks.
		place = func(v float64) float64 {
			lo, _ := slices.BinarySearch(all, v)
			hi := len(all)
			if v < all[len(all)-1] {
				hi, _ = slices.BinarySearch(all, math.Nextafter(v, math.Inf(1)))
			}
			return float64(lo+hi) / 2
		}
	}
	disagreement := func(values []float64) float64 {
		if scale == Nominal {
			return unequalPairs(values)
		}
		return squaredPairs(values, place)
	}
	var observed float64
	for _, u := range pairable {
		observed += disagreement(u) / float64(len(u)-1)
	}
	return 1 - quotient(observed/n, disagreement(all)/(n*(n-1)))
}

// NominalAlpha prepares Krippendorff's alpha for resamples of units: the function
// returns that of the units at these indexes, as Krippendorff does for Nominal.
// units[u] has the numbers of the labels that raters gave unit u, from 0.
func NominalAlpha(units [][]int) func(at []int) float64 {
	labels, disagreement := 0, make([]float64, len(units))
	for u, rated := range units {
		values := make([]float64, len(rated))
		for i, label := range rated {
			labels, values[i] = max(labels, label+1), float64(label)
		}
		disagreement[u] = unequalPairs(values) / float64(len(rated)-1)
	}
	return func(at []int) float64 {
		counts, n, observed := make([]int, labels), 0, 0.0
		for _, u := range at {
			if len(units[u]) < 2 {
				continue
			}
			for _, label := range units[u] {
				counts[label]++
			}
			n += len(units[u])
			observed += disagreement[u]
		}
		pairs := n * n // of different labels
		for _, c := range counts {
			pairs -= c * c
		}
		return 1 - quotient(observed/float64(n), float64(pairs)/float64(n*(n-1)))
	}
}

// unequalPairs counts ordered pairs of different values.
func unequalPairs(values []float64) float64 {
	count := make(map[float64]int)
	for _, v := range values {
		count[v]++
	}
	pairs := len(values) * len(values)
	for _, c := range count {
		pairs -= c * c
	}
	return float64(pairs)
}

// squaredPairs sums squared distances of places over ordered pairs:
// 2n times the sum of squares about the mean.
func squaredPairs(values []float64, place func(float64) float64) float64 {
	first := place(values[0])
	var sum, mean float64
	for _, v := range values {
		mean += (place(v) - first) / float64(len(values))
	}
	for _, v := range values {
		d := place(v) - first - mean
		sum += d * d
	}
	if slices.Max(values) == slices.Min(values) {
		return 0
	}
	return 2 * float64(len(values)) * sum
}
