package stats

// NominalAlpha prepares Krippendorff's alpha of nominal labels (Krippendorff 2011,
// "Computing Krippendorff's Alpha-Reliability") for resamples of units: the function
// returns that of the units at these indexes. It is at most 1, and 0 for agreement
// as if by chance. units[u] has the numbers of the labels that raters gave unit u,
// from 0. Any number of raters may rate each unit; units with fewer than two labels
// are left out. NaN when no unit has two, or when all labels are equal.
func NominalAlpha(units [][]int) func(at []int) float64 {
	labels, disagreement := 0, make([]float64, len(units))
	for u, rated := range units {
		pairs := 0 // ordered, of different labels
		for _, label := range rated {
			labels = max(labels, label+1)
			for _, other := range rated {
				if other != label {
					pairs++
				}
			}
		}
		disagreement[u] = float64(pairs) / float64(len(rated)-1)
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
