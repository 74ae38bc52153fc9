package fasttext

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

// putAll puts the labels of at least that probability.
func (r *ranking) putAll(probabilities []float32, threshold float32) {
	for i, p := range probabilities {
		if p < threshold {
			continue
		}
		score := logp(p)
		if r.full() && score < r.least() {
			continue
		}
		r.put(score, int32(i))
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
