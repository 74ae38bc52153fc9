package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/measure/stats"
)

// compare compares two figures in a family of the given number of tests.
func (t *table) compare(p pair, o Options, family int) Comparison {
	c := Comparison{
		Subject: p.subject(), Unit: p.of.Unit,
		Better: p.better(), Signature: p.against.Signature, Across: p.across, Paired: true,
		of: p.of.Estimate, against: p.against.Estimate,
	}
	m := t.match(p)
	c.LeftOut = m.leftOut
	var e stats.Estimate
	var test float64
	switch {
	case o.Unpaired && 2*len(m.pairs) <= min(m.of, m.against):
		c.Paired = false
		e, c.Value, c.ReferenceValue = m.difference(o.Level, min(m.of, m.against), m.everything)
		c.Method, test = "t", e.P(0)
		c.LeftOut = nil
	case len(m.average.measures) > 1:
		e, c.Value, c.ReferenceValue = m.difference(o.Level, len(m.pairs), m.paired)
		c.Method, test = "exchange", m.exchange(o, family)
	default:
		d := m.differences()
		e, c.Value, c.ReferenceValue = m.linear(d, o.Level)
		c.Method, test = m.test(d, o, family)
	}
	c.N, c.Clusters = m.n(c.Paired), min(e.Clusters, m.n(c.Paired))
	c.Difference, c.P = crosstalk.Value(e.Value), crosstalk.Value(test)
	c.Detectable = crosstalk.Undefined
	// A permutation test of few clusters has no small p-value.
	if alpha := (1 - o.Level) / float64(family); !c.Paired || math.Pow(2, float64(1-c.Clusters)) <= alpha {
		c.Detectable = crosstalk.Value(e.MinDetectable(alpha, 0.8))
	}
	c.Interval = e.Interval.Known()
	for _, w := range e.Warnings {
		c.Warnings = append(c.Warnings, w.String())
	}
	c.Warnings = append(c.Warnings, t.doubts(p, c)...)
	if different := p.settings(); different != "" {
		c.Warnings = append(c.Warnings, "settings differ: "+different)
	}
	return c
}

// settings names the settings that differ between the two sides, with both
// values, the reference's first. Columns of the conditions show theirs already.
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
		if a, b := cmp.Or(against[name], "none"), cmp.Or(of[name], "none"); a != b && !shown {
			different = append(different, fmt.Sprintf("%s is %s and %s", name, short(a), short(b)))
		}
	}
	return strings.Join(different, "; ")
}

// short is a setting's value as it fits into a line.
func short(value string) string {
	if r := []rune(value); len(r) > 60 {
		value = string(r[:60]) + "…"
	}
	return strings.Join(strings.Fields(value), " ")
}

func (p pair) subject() Subject {
	return Subject{p.of.Measure, p.of.by(), p.of.side.condition, p.against.side.condition}
}

// doubts are warnings other than those about small samples.
func (t *table) doubts(p pair, c Comparison) (warnings []string) {
	for _, f := range []figure{p.against, p.of} {
		if mean := t.observed(f); f.Value.Defined() && !(math.Abs(float64(f.Value)-mean) <= 1e-6) {
			warnings = append(warnings, fmt.Sprintf("the figure under %s is %.4f; the comparison uses the mean over its items, %.4f", describe(f.side.condition, nil), f.Value, mean))
		}
	}
	if t.unnamed > 0 && c.LeftOut[Unpaired] > 0 {
		warnings = append(warnings, "answers without an id cannot be paired")
	}
	return warnings
}

// by is the figure's group in the terms of figures.
func (f figure) by() map[string]string {
	by := map[string]string{}
	for column, value := range f.By {
		if _, ok := f.side.condition[column]; !ok {
			by[column] = value
		}
	}
	return by
}

// matched are the items of two figures.
type matched struct {
	table       *table
	average     *average
	fraction    bool     // the figure is one
	sides       [2]*side // of, against
	pairs       []int32  // items with a value of the first measure under both
	items       []int32  // of the group
	of, against int      // items with a value under each
	leftOut     map[string]int
}

func (t *table) match(p pair) *matched {
	m := &matched{table: t, average: t.averageOf(p.of), fraction: p.of.Unit == "", sides: [2]*side{p.of.side, p.against.side}, leftOut: map[string]int{}}
	a, b := m.values(0, 0), m.values(1, 0)
	m.items = m.complete(t.among(p.of))
	for _, i := range m.items {
		if a.n(i) > 0 {
			m.of++
		}
		if b.n(i) > 0 {
			m.against++
		}
		switch {
		case a.n(i) > 0 && b.n(i) > 0:
			m.pairs = append(m.pairs, i)
		case a.has(i) && b.has(i):
			reason := a.reasonOf(i)
			if a.n(i) > 0 {
				reason = b.reasonOf(i)
			}
			m.leftOut[t.names[reason]]++
		case a.has(i) || b.has(i):
			m.leftOut[Unpaired]++
		}
	}
	return m
}

// among lists the items of a figure's group.
func (t *table) among(f figure) []int32 {
	key := string(crosstalk.Canonical(f.group))
	if items, ok := t.members[key]; ok {
		return items
	}
	type wanted struct {
		column int
		value  int32
	}
	var columns []wanted
	for column, value := range f.group {
		word, ok := t.words[value]
		if !ok {
			word = -1
		}
		columns = append(columns, wanted{slices.Index(t.columns, column), word})
	}
	var items []int32
	for i := range int32(len(t.items)) {
		if !slices.ContainsFunc(columns, func(w wanted) bool { return t.labelOf(i, w.column) != w.value }) {
			items = append(items, i)
		}
	}
	t.members[key] = items
	return items
}

// n is the number of items compared.
func (m *matched) n(paired bool) int {
	if paired {
		return len(m.pairs)
	}
	return m.of + m.against
}

// values are those of a measure of the average on one side.
func (m *matched) values(side, measure int) *values {
	return m.sides[side].values[m.average.measures[measure]]
}

func (v *values) has(i int32) bool {
	return v.at(i).state != 0
}

func (v *values) n(i int32) int32 {
	return max(v.at(i).state, 0)
}

// reasonOf is why an item with n of 0 has no value.
func (v *values) reasonOf(i int32) int32 { return -v.at(i).state }

// mean is the mean over the samples of an item with at least one value.
func (v *values) mean(i int32) float64 {
	m := v.at(i)
	return m.sum / float64(m.state)
}

// cluster names the cluster of an item. Of many thousands, some share a name at
// random, as in figures (stats.ClusterNames), unless it is for components of
// variance.
func (t *table) cluster(i int32) string {
	name := "item " + strconv.Itoa(int(i))
	if c := t.items[i].cluster; c != 0 {
		name = strconv.Itoa(int(c))
	}
	if t.sampling {
		return name
	}
	return t.bounded.Name(name)
}

// linear is the difference of figures that are linear in their cells: the
// paired differences within cells.
func (m *matched) linear(d *differences, level float64) (e stats.Estimate, of, against crosstalk.Value) {
	if len(d.cells) == 0 {
		return stats.Mean(&stats.Clusters{}, stats.Difference, level), crosstalk.Undefined, crosstalk.Undefined
	}
	if len(d.cells) == 1 {
		e = stats.Mean(d.cells[0], d.bounds(), level)
	} else {
		weights := m.average.weights()
		e = stats.Combine(d.cells, func(means []float64) (sum float64) {
			for i, w := range weights {
				sum += w * means[i]
			}
			return sum
		}, d.bounds(), level)
	}
	f := m.average.formula()
	return e, crosstalk.Value(f(d.of)), crosstalk.Value(f(d.against))
}

// differences are the paired differences by cell.
type differences struct {
	cells       []*stats.Clusters
	of, against []float64 // means of the cells
	fractions   bool      // all values lie in [0, 1]
	binary      bool      // all are 0 or 1
	independent bool      // no two items share a cluster
	wins, loses int       // pairs in which only the one is larger
}

func (d *differences) bounds() stats.Bounds {
	if d.fractions {
		return stats.Difference
	}
	return stats.Unbounded
}

func (m *matched) differences() *differences {
	d := &differences{fractions: m.fraction, binary: true, independent: true}
	a, b := m.values(0, 0), m.values(1, 0)
	shared := m.shared()
	for _, i := range m.pairs {
		k := m.average.cell(m.table.labels[m.table.items[i].labels], 0)
		if k == len(d.cells) {
			d.cells = append(d.cells, &stats.Clusters{})
			d.of, d.against = append(d.of, 0), append(d.against, 0)
		}
		x, y := a.mean(i), b.mean(i)
		d.of[k] += x
		d.against[k] += y
		d.fractions = d.fractions && min(x, y) >= 0 && max(x, y) <= 1
		d.binary = d.binary && (x == 0 || x == 1) && (y == 0 || y == 1)
		if x > y {
			d.wins++
		} else if x < y {
			d.loses++
		}
		if m.addTo(d.cells[k], shared, i, x-y) {
			d.independent = false
		}
	}
	for k, c := range d.cells {
		d.of[k] /= float64(c.N())
		d.against[k] /= float64(c.N())
	}
	return d
}

// shared says of each cluster whether it has several pairs.
func (m *matched) shared() []bool {
	met := make([]bool, m.table.named+1)
	shared := make([]bool, len(met))
	for _, i := range m.pairs {
		if c := m.table.items[i].cluster; c != 0 {
			shared[c], met[c] = met[c], true
		}
	}
	return shared
}

// addTo adds the value of a pair to others, and reports whether it is of a cluster
// that other pairs share.
func (m *matched) addTo(c *stats.Clusters, shared []bool, pair int32, value float64) (clustered bool) {
	if clustered = shared[m.table.items[pair].cluster]; clustered {
		c.Add(m.table.cluster(pair), value)
	} else {
		c.AddIndependent(value)
	}
	return clustered
}

// test tests a linear difference.
func (m *matched) test(d *differences, o Options, family int) (method string, p float64) {
	if len(d.cells) == 0 {
		return "sign-flip", math.NaN()
	}
	if len(d.cells) == 1 && d.binary && d.independent {
		return "mcnemar", stats.McNemar(d.wins, d.loses)
	}
	weighted := d.cells[0]
	if len(d.cells) > 1 {
		// A figure over cells is also a sum over clusters of differences,
		// each with the weight of its cell.
		weighted = &stats.Clusters{}
		weights, shared := m.average.weights(), m.shared()
		a, b := m.values(0, 0), m.values(1, 0)
		for _, i := range m.pairs {
			k := m.average.cell(m.table.labels[m.table.items[i].labels], 0)
			x := (a.mean(i) - b.mean(i)) * weights[k] / float64(d.cells[k].N())
			m.addTo(weighted, shared, i, x)
		}
	}
	return "sign-flip", staged(family, o.Seed, func(draws int, seed uint64) float64 { return stats.SignFlip(weighted, draws, seed).P })
}
