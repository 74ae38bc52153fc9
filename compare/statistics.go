package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/measure/stats"
)

func (m *matched) compare(o Options, family int) Comparison {
	p := m.pair
	c := Comparison{Subject: p.subject(), Unit: p.of.Unit, Better: p.of.Better, Signature: p.against.Signature,
		Across: p.across, Paired: true, Of: p.of.Estimate, Against: p.against.Estimate, LeftOut: m.leftOut,
		N: len(m.pairs)}
	var e stats.Estimate
	e, c.Value, c.ReferenceValue = m.estimate(o)
	var test float64
	switch {
	case m.isUnpaired(o):
		c.Paired, c.LeftOut, c.N = false, nil, m.of+m.against
		c.Method, test = "t", e.P(0)
		if of, against, binary := m.rates(); binary {
			c.Method, test = "score", of.PAgainst(against)
		}
	case m.composite != nil:
		a, b, f := m.composite.of, m.composite.against, m.composite.formula()
		c.Method, test = "exchange", staged(family, o.Seed, func(draws int, seed uint64) float64 {
			return stats.Swap(a, b, m.table.bounded.Compare, f, draws, seed)
		})
	default:
		c.Method, test = m.test(o, family)
	}
	c.Clusters = min(e.Clusters, c.N)
	c.Difference, c.P = crosstalk.Value(e.Value), crosstalk.Value(test)
	c.Detectable = crosstalk.Undefined
	// A permutation test with few clusters cannot have a small p-value.
	if alpha := (1 - o.Level) / float64(family); !c.Paired || math.Pow(2, float64(1-c.Clusters)) <= alpha {
		c.Detectable = crosstalk.Value(e.MinDetectable(alpha, power))
	}
	c.Interval, c.Same = e.Interval.Known(), e.SE == 0
	if c.Paired && m.composite == nil && m.differences.bounds() == stats.Difference {
		c.Night = stats.Night{Discordance: m.differences.split(m.average.weights()), N: m.counts.N}
		if c.Better == crosstalk.Lower {
			c.Night.Wins, c.Night.Losses = c.Night.Losses, c.Night.Wins
		}
	}
	together := o
	together.Level = 1 - (1-o.Level)/float64(family+o.Apart)
	strict, _, _ := m.estimate(together)
	c.Together = strict.Interval
	for _, w := range e.Warnings {
		c.Warnings = append(c.Warnings, w.String())
	}
	c.Warnings = append(c.Warnings, m.doubts(c)...)
	if different := p.settings(); different != "" {
		c.Warnings = append(c.Warnings, "settings differ: "+different)
	}
	return c
}

func (m *matched) isUnpaired(o Options) bool {
	return o.Unpaired && 2*len(m.pairs) <= min(m.of, m.against)
}

func (m *matched) estimate(o Options) (e stats.Estimate, of, against crosstalk.Value) {
	switch {
	case m.isUnpaired(o):
		return m.difference(o.Level, min(m.of, m.against), m.everything)
	case m.composite != nil:
		return m.difference(o.Level, len(m.pairs), m.composite)
	}
	// For figures that are linear in their cells: the paired differences within cells.
	d := m.differences
	if len(d.cells) == 0 {
		return stats.Mean(&stats.Clusters{}, stats.Difference, o.Level), crosstalk.Undefined, crosstalk.Undefined
	}
	weights := m.average.weights()
	if len(d.cells) == 1 {
		e = stats.Mean(d.cells[0], d.bounds(), o.Level)
	} else {
		e = stats.Combine(d.cells, func(means []float64) float64 { return dot(weights, means) }, d.bounds(), o.Level)
	}
	switch {
	case d.bounds() != stats.Difference:
	case d.binary:
		m.shares, m.counts = d.split(weights), stats.EffectiveCounts(d.cells, weights, e.SE)
		e.Interval = m.shares.Interval(m.counts, o.Level)
	default:
		m.counts = stats.EffectiveCounts(d.cells, weights, e.SE)
		least, _ := unchanged(d.cells, weights, o.Level)
		e.Interval = asWideAs(least, e)
	}
	f := m.average.formula()
	return e, crosstalk.Value(f(d.means(d.of))), crosstalk.Value(f(d.means(d.against)))
}

// settings lists the settings that differ between the two sides, with both values, the reference's first. It leaves out
// the conditions' columns, which tables show anyway.
func (p pair) settings() string {
	of, against := p.of.side.settings, p.against.side.settings
	if of == nil || against == nil {
		return ""
	}
	names := maps.Clone(of)
	maps.Copy(names, against)
	var different []string
	for _, name := range sorted(names) {
		_, shown := p.of.side.condition[name]
		if against[name] != of[name] && !shown {
			different = append(different, fmt.Sprintf("%s is %s and %s", name, sent(against, name), sent(of, name)))
		}
	}
	return strings.Join(different, "; ")
}

// sent shows a setting that was sent, none if it was not. A text that would read as none is quoted.
func sent(settings map[string]string, name string) string {
	value, there := settings[name]
	switch {
	case !there:
		return "none"
	case value == "none" && (name == crosstalk.ParamSystem || name == "prefix"):
		return strconv.Quote(value)
	}
	return short(value)
}

// short shortens a setting's value to fit into a line.
func short(value string) string {
	if r := []rune(value); len(r) > 60 {
		value = string(r[:60]) + "…"
	}
	return strings.Join(strings.Fields(value), " ")
}

func (p pair) subject() Subject {
	return Subject{p.of.Measure, p.of.by(), p.of.side.condition, p.against.side.condition}
}

// doubts returns warnings other than those about small samples.
func (m *matched) doubts(c Comparison) (warnings []string) {
	for _, f := range []figure{m.pair.against, m.pair.of} {
		if mean := m.table.observed(f); f.Value.Defined() && !(math.Abs(float64(f.Value)-mean) <= 1e-6) {
			over := "-"
			if !math.IsNaN(mean) {
				over = fmt.Sprintf("%.4f", mean)
			}
			warnings = append(warnings, fmt.Sprintf("the figure under %s is %.4f; the comparison uses the mean over its "+
				"items, %s", Describe(f.side.condition, nil), f.Value, over))
		}
	}
	if m.table.unnamed > 0 && c.LeftOut[unpaired] > 0 {
		warnings = append(warnings, "answers without an id cannot be paired")
	}
	return warnings
}

// by returns the figure's group with figures' names of columns.
func (f figure) by() map[string]string {
	by := map[string]string{}
	for column, value := range f.By {
		if _, ok := f.side.condition[column]; !ok {
			by[column] = value
		}
	}
	return by
}

type matched struct {
	pair
	table       *table
	average     *average
	fraction    bool     // the figure is a fraction
	sides       [2]*side // of, against
	pairs       []int32  // items that have a value of the first measure on both sides
	shared      []bool   // clusters with several pairs
	of, against int      // items with a value on each side
	leftOut     map[string]int
	differences *differences     // differences of the pairs, by cell; nil if the figure is composite
	composite   *sums            // sums of the pairs; nil if the figure is not composite
	everything  *sums            // sums of all items; nil if the pairs suffice
	equal       []stats.Clusters // differences of the pairs by measure, if sums are compared

	shares stats.Discordance // shares of pairs, if values are 0 or 1
	counts stats.Counts      // effective counts of those pairs, or of others that do not differ
}

func (t *table) match(p pair, o Options) *matched {
	m := &matched{pair: p, table: t, average: t.averageOf(p.of), fraction: p.of.Unit == "",
		sides: [2]*side{p.of.side, p.against.side}, leftOut: map[string]int{}, shared: make([]bool, 1+t.named)}
	group := m.complete(t.among(p.of))
	var items []int32
	met := make([]bool, len(m.shared))
	a, b := m.values(0, 0), m.values(1, 0)
	for i := range int32(len(t.items)) {
		if !group[t.items[i].labels] {
			continue
		}
		items = append(items, i)
		of, against := a.state(i), b.state(i)
		if of > 0 {
			m.of++
		}
		if against > 0 {
			m.against++
		}
		switch {
		case of > 0 && against > 0:
			m.pairs = append(m.pairs, i)
			if c := t.items[i].cluster; c != 0 {
				m.shared[c], met[c] = met[c], true
			}
		case of > 0 && against < 0:
			m.leftOut[t.texts[-against]]++
		case of < 0 && against != 0:
			m.leftOut[t.texts[-of]]++
		case of != 0 || against != 0:
			m.leftOut[unpaired]++
		}
	}
	if len(m.average.measures) > 1 {
		m.composite = m.sums(m.pairs)
	} else {
		m.differences = m.pairDifferences()
	}
	if o.Unpaired {
		m.everything = m.sums(items)
	}
	if o.Unpaired || m.composite != nil {
		m.equal = make([]stats.Clusters, len(m.average.measures))
		for measure := range m.equal {
			a, b := m.values(0, measure), m.values(1, measure)
			for _, i := range m.pairs {
				if a.state(i) > 0 && b.state(i) > 0 {
					m.addTo(&m.equal[measure], i, a.mean(i)-b.mean(i))
				}
			}
		}
	}
	return m
}

// among marks the labels that items in the figure's group have.
func (t *table) among(f figure) []bool {
	group := make([]bool, len(t.labels))
	for k, labels := range t.labels {
		group[k] = true
		for column, value := range f.group {
			word, known := t.words[value]
			group[k] = group[k] && known && labels[slices.Index(t.columns, column)] == word
		}
	}
	return group
}

// cell returns the number of an item's cell.
func (t *table) cell(a *average, i int32, measure int) int {
	return a.cell(t.labels[t.items[i].labels], measure)
}

func (m *matched) values(side, measure int) *values {
	return m.sides[side].values[m.average.measures[measure]]
}

func dot(weights, means []float64) (sum float64) {
	for i, w := range weights {
		sum += w * means[i]
	}
	return sum
}

// unchanged returns the interval of a difference if no item differs: a few items tell little about others.
func unchanged(cells []*stats.Clusters, weights []float64, level float64) (stats.Interval, stats.Counts) {
	counts := stats.EffectiveCounts(cells, weights, 0)
	return stats.Discordance{}.Interval(counts, level), counts
}

// asWideAs widens an estimate's interval to at least the width, on each side, of the interval of no difference, but not
// across 0. Otherwise a few items that differ would have a narrower interval than none, and a run with one more wrong
// answer could pass where one without it would not.
func asWideAs(unchanged stats.Interval, e stats.Estimate) stats.Interval {
	i := e.Interval
	low, high := math.Max(e.Value+unchanged.Low, -1), math.Min(e.Value+unchanged.High, 1)
	if i.Low > 0 {
		low = math.Max(low, 0)
	}
	if i.High < 0 {
		high = math.Min(high, 0)
	}
	if !(i.Low < low) { // or if it is undefined
		i.Low = low
	}
	if !(i.High > high) {
		i.High = high
	}
	return i
}

// differences are the paired differences, by cell.
type differences struct {
	cells       []*stats.Clusters
	of, against []float64 // sums per cell
	better      []float64 // sums per cell of the differences above 0
	fractions   bool      // all values are in [0, 1]
	binary      bool      // all values are 0 or 1
	independent bool      // no two items share a cluster
}

func (d *differences) bounds() stats.Bounds {
	if d.fractions {
		return stats.Difference
	}
	return stats.Unbounded
}

// split returns the weighted means of the differences above and below 0, with a weight for each cell.
func (d *differences) split(weights []float64) (s stats.Discordance) {
	for k, w := range weights {
		n := float64(d.cells[k].N())
		s.Wins += w * d.better[k] / n
		s.Losses += w * max(0, d.better[k]+d.against[k]-d.of[k]) / n
	}
	return s
}

func (d *differences) means(sums []float64) []float64 {
	means := slices.Clone(sums)
	for k, c := range d.cells {
		means[k] /= float64(c.N())
	}
	return means
}

func (m *matched) pairDifferences() *differences {
	d := &differences{fractions: m.fraction, binary: true, independent: true}
	a, b := m.values(0, 0), m.values(1, 0)
	for _, i := range m.pairs {
		k := m.table.cell(m.average, i, 0)
		if k == len(d.cells) {
			d.cells = append(d.cells, &stats.Clusters{})
			d.of, d.against, d.better = append(d.of, 0), append(d.against, 0), append(d.better, 0)
		}
		x, y := a.mean(i), b.mean(i)
		d.of[k] += x
		d.against[k] += y
		d.better[k] += max(x-y, 0)
		d.fractions = d.fractions && min(x, y) >= 0 && max(x, y) <= 1
		d.binary = d.binary && (x == 0 || x == 1) && (y == 0 || y == 1)
		d.independent = m.addTo(d.cells[k], i, x-y) && d.independent
	}
	return d
}

// addTo adds the value of a pair to c, and reports whether no other pair shares its cluster.
func (m *matched) addTo(c *stats.Clusters, pair int32, value float64) (independent bool) {
	if independent = !m.shared[m.table.items[pair].cluster]; independent {
		c.AddIndependent(value)
	} else {
		c.Add(m.table.cluster(pair), value)
	}
	return independent
}

func (m *matched) test(o Options, family int) (method string, p float64) {
	d := m.differences
	if len(d.cells) == 0 {
		return "sign-flip", math.NaN()
	}
	if len(d.cells) == 1 && d.binary && d.independent {
		return "mcnemar", m.shares.P(m.counts)
	}
	weighted := d.cells[0]
	if len(d.cells) > 1 {
		// A figure over cells is also a sum over clusters of differences, each with the weight of its cell.
		weighted = &stats.Clusters{}
		for k, w := range m.average.weights() {
			weighted.AddAll(d.cells[k], w/float64(d.cells[k].N()))
		}
	}
	return "sign-flip", staged(family, o.Seed, func(draws int, seed uint64) float64 {
		return stats.SignFlip(weighted, draws, seed)
	})
}
