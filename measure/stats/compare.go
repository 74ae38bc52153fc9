package stats

// Comparison is a paired difference with its test and what the data could have
// shown. MinDetectable is the true difference found with 80 % power at the
// interval's level; NaN where no variance shows.
type Comparison struct {
	Estimate
	P             float64
	MinDetectable float64
}

// Compare judges paired differences (first condition minus second, one per
// item, clustered as the items are) by the default methods: Mean with bounds
// for the interval and SignFlip for the p-value. Differences of values in
// [0, 1] have the bounds Difference. Adjust P over the family with Holm.
func Compare(diffs *Clusters, bounds Bounds, level float64, draws int, seed uint64) Comparison {
	e := Mean(diffs, bounds, level)
	return Comparison{
		Estimate:      e,
		P:             SignFlip(diffs, draws, seed).P,
		MinDetectable: e.MinDetectable(1-level, 0.8),
	}
}
