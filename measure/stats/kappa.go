package stats

import (
	"math"
	"slices"
)

// CohenKappa is the chance-corrected agreement of two raters on nominal labels
// (Cohen 1960), in [-1, 1]. NaN without items or when both raters use one and the
// same label only. As in statsmodels cohens_kappa. It panics if the lengths
// differ.
func CohenKappa[L comparable](a, b []L) float64 {
	checkPairs(len(a), len(b))
	ofA, ofB, both := map[L]int{}, map[L]int{}, map[L]int{}
	var labels []L // by first use: the order of sums
	for i := range a {
		for _, label := range []L{a[i], b[i]} {
			if ofA[label]+ofB[label] == 0 && !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
		}
		ofA[a[i]]++
		ofB[b[i]]++
		if a[i] == b[i] {
			both[a[i]]++
		}
	}
	if len(labels) < 2 {
		return math.NaN()
	}
	n := float64(len(a))
	var observed, expected float64
	for _, label := range labels {
		observed += float64(both[label]) / n
		expected += float64(ofA[label]) / n * (float64(ofB[label]) / n)
	}
	return (observed - expected) / (1 - expected)
}
