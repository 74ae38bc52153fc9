package main

const (
	contextPower = 0.85 // smooths the distribution of contexts
	contextMin   = 10   // rows that must visit a context lemma for it to be kept
)

// ppmi returns the positive pointwise mutual information of row lemmas and context lemmas, given how often walks from
// the former visit the latter: max(0, ln p(context|row) - ln p(context)), with p(context) smoothed by contextPower
// (Levy, Goldberg and Dagan 2015, section 3.2).
func ppmi(visits *sparse) *sparse {
	total := make([]float64, visits.columns)
	rows := make([]int, visits.columns)
	sums := make([]float64, visits.rows())
	for i := range visits.rows() {
		for _, e := range visits.row(i) {
			sums[i] += e.value
		}
		for _, e := range visits.row(i) {
			total[e.column] += e.value / sums[i]
			rows[e.column]++
		}
	}
	smoothed := 0.0
	for _, t := range total {
		if t > 0 {
			smoothed += pow(t, contextPower)
		}
	}
	columns := 0
	kept := make([]int32, visits.columns)
	logContext := make([]float64, visits.columns)
	for i, t := range total {
		kept[i] = -1
		if rows[i] >= contextMin {
			kept[i] = int32(columns)
			logContext[i] = float64(contextPower*ln(t)) - ln(smoothed)
			columns++
		}
	}
	out := make([][]entry, visits.rows())
	parallelRows(len(out), func(from, to int) {
		for i := from; i < to; i++ {
			for _, e := range visits.row(i) {
				if kept[e.column] < 0 {
					continue
				}
				if x := ln(e.value/sums[i]) - logContext[e.column]; x > 0 {
					out[i] = append(out[i], entry{kept[e.column], x})
				}
			}
		}
	})
	return newSparse(out, columns)
}
