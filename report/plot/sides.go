package plot

import (
	"math"
	"slices"
	"strings"

	"crosstalk"
)

// sides are the observations that say which of two answers is nearer to
// something: the test answer (1), the control answer (0), neither (0.5).
type sides struct {
	rows []*sideRow
	by   map[string]*sideRow
}

// sideRow is a bar of the figure.
type sideRow struct {
	set, judge  string
	model       string
	counts      [3]float64   // control, neither, test
	differences [3][]float64 // of the similarities, absolute
}

func (s *sides) add(o crosstalk.Observation, judge string) {
	side := slices.Index([]float64{0, 0.5, 1}, float64(o.Value))
	_, scored := o.Numbers["test"]
	if side < 0 || o.NotScored != "" || !scored && judge != "people" {
		return
	}
	var set []string
	for _, c := range sortedKeys(o.Condition) {
		if c != "model" && c != "similarity" {
			set = append(set, words(c)+" "+o.Condition[c])
		}
	}
	for _, c := range []string{"dataset", "language"} {
		if v := o.Labels[c]; v != "" {
			set = append(set, c+" "+v)
		}
	}
	row := sideRow{set: strings.Join(set, " · "), judge: judge, model: o.Condition["model"]}
	key := strings.Join([]string{row.set, row.judge, row.model}, "\x00")
	if s.by[key] == nil {
		if s.by == nil {
			s.by = map[string]*sideRow{}
		}
		s.by[key] = &row
		s.rows = append(s.rows, &row)
	}
	s.by[key].counts[side]++
	if scored {
		s.by[key].differences[side] = append(s.by[key].differences[side], math.Abs(o.Numbers["test"]-o.Numbers["control"]))
	}
}

// figures are bars of the shares, one figure for each set of conditions.
func (s *sides) figures() (figures []Figure) {
	var sets []string
	judges := map[string]bool{}
	for _, r := range s.rows {
		judges[r.judge] = true
		if !slices.Contains(sets, r.set) {
			sets = append(sets, r.set)
		}
	}
	for _, set := range sets[:min(len(sets), most)] {
		shares := Shares{Parts: []string{"control", "neither", "test"}, Middle: 1}
		var all []float64
		var rows []*sideRow
		for _, r := range s.rows {
			if r.set == set {
				rows = append(rows, r)
				for _, list := range r.differences {
					all = append(all, list...)
				}
			}
		}
		strongest := upper(all)
		slices.SortStableFunc(rows, func(a, b *sideRow) int { return strings.Compare(a.model, b.model) })
		for _, r := range rows {
			row := ShareRow{Label: r.model, Counts: r.counts[:], Depths: make([][]float64, 3)}
			if len(judges) > 1 {
				row.Label += ", " + r.judge
			}
			row.Depths[0] = depthsOf(r.differences[0], strongest)
			slices.Reverse(row.Depths[0])
			row.Depths[2] = depthsOf(r.differences[2], strongest)
			shares.Rows = append(shares.Rows, row)
		}
		figures = append(figures, titled(shares.Draw(), "which answer is nearer to the concept", part{of: set},
			"The fuller a bar, the larger the difference of the two similarities (full: as in the strongest tenth); what people said is full."))
	}
	return figures
}

// upper is what a tenth of the differences exceed.
func upper(differences []float64) float64 {
	if len(differences) == 0 {
		return 0
	}
	slices.Sort(differences)
	return differences[len(differences)*9/10]
}

// depthsOf returns the means of up to 32 equal parts of the sorted differences,
// relative to the strong ones.
func depthsOf(differences []float64, strongest float64) []float64 {
	if len(differences) == 0 || strongest == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(differences))
	n := min(32, len(sorted))
	depths := make([]float64, n)
	for i := range depths {
		from, to := i*len(sorted)/n, (i+1)*len(sorted)/n
		for _, d := range sorted[from:to] {
			depths[i] += d / strongest / float64(to-from)
		}
	}
	return depths
}
