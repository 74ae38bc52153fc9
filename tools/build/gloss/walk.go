package main

import "slices"

const (
	walkSteps = 5
	walkDecay = 0.85    // what a step counts against the step before
	walkStart = 0.5     // what the start itself counts
	walkPrune = 0.00025 // probability below which a path is given up
)

// walk returns, for each start lemma, how often random walks from it pass each lemma: the sum over steps of decayed
// probabilities.
func walk(g *sparse, starts []int32, words int) *sparse {
	rows := make([][]entry, len(starts))
	parallelRows(len(starts), func(from, to int) {
		w := &walker{graph: g, words: int32(words),
			here: newTally(g.columns), there: newTally(g.columns), visits: newTally(words)}
		for i := from; i < to; i++ {
			rows[i] = w.from(starts[i])
		}
	})
	return newSparse(rows, words)
}

// walker holds the working memory of one goroutine.
type walker struct {
	graph       *sparse
	words       int32
	here, there *tally // probabilities of being at a node
	visits      *tally // decayed, of lemmas
}

func (w *walker) from(start int32) []entry {
	w.here.add(start, 1)
	w.visits.add(start, walkStart)
	decay := 1.0
	for range walkSteps {
		for _, node := range w.here.touched {
			p := w.here.value[node]
			if p < walkPrune {
				continue
			}
			for _, e := range w.graph.row(int(node)) {
				w.there.add(e.column, p*e.value)
			}
		}
		decay *= walkDecay
		for _, node := range w.there.touched {
			if p := w.there.value[node]; p >= walkPrune && node < w.words {
				w.visits.add(node, p*decay)
			}
		}
		w.here.reset()
		w.here, w.there = w.there, w.here
	}
	row := make([]entry, 0, len(w.visits.touched))
	for _, lemma := range w.visits.touched {
		row = append(row, entry{lemma, w.visits.value[lemma]})
	}
	w.visits.reset()
	w.here.reset()
	return slices.Clip(row)
}

// tally is a sparse vector with fast access.
type tally struct {
	value   []float64
	touched []int32 // in the order of first touch
}

func newTally(n int) *tally { return &tally{value: make([]float64, n)} }

// add adds x > 0 at i.
func (t *tally) add(i int32, x float64) {
	if t.value[i] == 0 {
		t.touched = append(t.touched, i)
	}
	t.value[i] += float64(x)
}

func (t *tally) reset() {
	for _, i := range t.touched {
		t.value[i] = 0
	}
	t.touched = t.touched[:0]
}
