package fasttext

import "math"

// ranking keeps the k best labels in a binary heap, the worst on top. Which of
// equal scores stay, and in which order, depends on how the heap is kept:
// this one does as libstdc++'s push_heap, pop_heap and sort_heap.
type ranking struct {
	items []ranked
	k     int
}

type ranked struct {
	score float32
	label int32
}

func (r *ranking) full() bool     { return len(r.items) == r.k }
func (r *ranking) least() float32 { return r.items[0].score }

func (r *ranking) put(score float32, label int32) {
	r.items = append(r.items, ranked{})
	r.up(len(r.items)-1, 0, ranked{score, label})
	if len(r.items) > r.k {
		r.pop(len(r.items))
		r.items = r.items[:r.k]
	}
}

// putAll puts the labels of at least that probability. Of the labels of a full
// ranking, it takes the logarithm of those only that may be among the best.
func (r *ranking) putAll(probabilities []float32, threshold float32) {
	var hopeless float64 // less than this, with logp's 1e-5, is worse than all in a full ranking
	for i, p := range probabilities {
		if p < threshold || float64(p)+1e-5 < hopeless {
			continue
		}
		score := logp(p)
		if r.full() && score < r.least() {
			continue
		}
		r.put(score, int32(i))
		if r.full() {
			hopeless = math.Exp(float64(r.least())) * (1 - 1e-5) // more than rounding takes
		}
	}
}

// sorted returns the labels, best first, and destroys the heap.
func (r *ranking) sorted() []ranked {
	for n := len(r.items); n > 1; n-- {
		r.pop(n)
	}
	return r.items
}

// up puts item into the hole or, while the parent is better, the parent there.
func (r *ranking) up(hole, top int, item ranked) {
	for hole > top {
		parent := (hole - 1) / 2
		if r.items[parent].score <= item.score {
			break
		}
		r.items[hole] = r.items[parent]
		hole = parent
	}
	r.items[hole] = item
}

// pop moves the worst of the first n items behind the others: the hole at the
// top sinks to the bottom, then the last item rises from there.
func (r *ranking) pop(n int) {
	n--
	item := r.items[n]
	r.items[n] = r.items[0]
	hole, child := 0, 0
	for child < (n-1)/2 {
		child = 2 * (child + 1)
		if r.items[child].score > r.items[child-1].score {
			child--
		}
		r.items[hole] = r.items[child]
		hole = child
	}
	if n%2 == 0 && child == (n-2)/2 {
		child = 2*child + 1
		r.items[hole] = r.items[child]
		hole = child
	}
	r.up(hole, 0, item)
}
