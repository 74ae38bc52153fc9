package stats

import "math"

// Stratum is labels drawn at random from a part of all answers.
type Stratum struct {
	N      float64 // answers of the part
	Labels float64 // how many of them have a label, more than 0
	Count  float64 // labels of the kind that is counted
}

// StratifiedShare is the share A / (A+M) of the hits A and misses M that labels of all answers would count,
// estimated from strata with hits and others with misses. The interval returns an interval for the ratio M / A of
// two independent sums (MOVER-R; Donner and Zou 2012), from Jeffreys' limits of each stratum: 0 if none is counted,
// all if all are. It covers where no label of a large stratum is a miss, which a bootstrap does not see. It takes
// labels as independent. The share is biased upwards where misses are rare. Undefined without hits and misses.
func StratifiedShare(hits, misses []Stratum, level float64) (share float64, i Interval) {
	i = undefined(level, "mover-r-jeffreys")
	a, lowA, highA := stratifiedTotal(hits, level)
	m, lowM, highM := stratifiedTotal(misses, level)
	share = a / (a + m)
	if math.IsNaN(share) {
		return share, i
	}
	i.Low, i.High = 0, 1
	x := a * m
	if y := lowA * (2*a - lowA); y > 0 {
		i.Low = 1 / (1 + (x+math.Sqrt(math.Max(0, x*x-highM*(2*m-highM)*y)))/y)
	}
	if y := lowM * (2*m - lowM); y > 0 { // the usual formula, but for its division by 2a - highA
		i.High = 1 / (1 + y/(x+math.Sqrt(math.Max(0, x*x-highA*(2*a-highA)*y))))
	}
	return share, i
}

// stratifiedTotal is how many of all answers would be counted, with limits.
func stratifiedTotal(strata []Stratum, level float64) (total, low, high float64) {
	var below, above float64
	for _, s := range strata {
		share := s.Count / s.Labels
		least := math.Min(share, betaQuantile((1-level)/2, s.Count+0.5, s.Labels-s.Count+0.5))
		most := math.Max(share, betaQuantile((1+level)/2, s.Count+0.5, s.Labels-s.Count+0.5))
		total += s.N * share
		below += s.N * s.N * (share - least) * (share - least)
		above += s.N * s.N * (most - share) * (most - share)
	}
	return total, math.Max(0, total-math.Sqrt(below)), total + math.Sqrt(above)
}
