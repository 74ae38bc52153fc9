package estimate

// Items counts the items with a scored observation without a list of them: an item has at most one observation of
// each sample in a group, so there are as many as the sample that is scored most often. Where every item lacks
// another sample the count is too small. The zero value is ready.
type Items struct{ bySample []int }

// Add counts a scored observation of this sample, 0-based.
func (i *Items) Add(sample int) {
	for len(i.bySample) <= sample {
		i.bySample = append(i.bySample, 0)
	}
	i.bySample[sample]++
}

// N is the number of items.
func (i *Items) N() (n int) {
	for _, count := range i.bySample {
		n = max(n, count)
	}
	return n
}
