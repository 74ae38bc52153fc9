package stats

import (
	"encoding/binary"
	"math"
	"slices"
)

type cells struct {
	list []labelCell
	unit float64 // of the values of cells: the range of f's linear part
}

// labelCell is observations of a stratum with the same value.
type labelCell struct {
	n, labels    float64
	sum, squares float64 // of the labels, in [0, 1]
	stratum      int32
}

// cells returns one cell for every stratum or, for the corrected figure, for every stratum and value.
func (l linear) cells(byValue bool) cells {
	low, high, at := 0.0, 0.0, 0.0 // a label passes no step, the first, the first two, ...
	for _, s := range l.slope {
		at += s
		low, high = math.Min(low, at), math.Max(high, at)
	}
	c := cells{unit: high - low}
	index := map[string]int{}
	key := make([]byte, 4+l.steps)
	for i, o := range l.observations {
		values := l.values[i*l.steps : (i+1)*l.steps]
		for k, v := range values {
			if byValue {
				key[4+k] = byte(math.Round(4 * l.bounds.unit(v)))
			}
		}
		binary.LittleEndian.PutUint32(key, uint32(o.stratum))
		at, known := index[string(key)]
		if !known {
			at = len(c.list)
			index[string(key)] = at
			c.list = append(c.list, labelCell{stratum: o.stratum})
		}
		x := &c.list[at]
		x.n++
		if o.labelled {
			y := (l.of(l.labels[i*l.steps:(i+1)*l.steps]) - low) / c.unit
			x.labels++
			x.sum += y
			x.squares += y * y
		}
	}
	c.merge()
	return c
}

// merge adds cells without labels to the one of their stratum that has most.
func (c *cells) merge() {
	most := map[int32]*labelCell{}
	for i := range c.list {
		x := &c.list[i]
		if m := most[x.stratum]; m == nil || x.labels > m.labels {
			most[x.stratum] = x
		}
	}
	for _, x := range c.list {
		if x.labels == 0 {
			most[x.stratum].n += x.n
		}
	}
	c.list = slices.DeleteFunc(c.list, func(x labelCell) bool { return x.labels == 0 })
}

// mean is the labels' mean. Labels all at one end of the range reach it up to rounding: slopes are numeric.
func (c labelCell) mean() float64 {
	switch m := c.sum / c.labels; {
	case m < 1e-9:
		return 0
	case m > 1-1e-9:
		return 1
	default:
		return m
	}
}

// variance is that of labels; a label of 0 or 1 is added, for few that agree do not show that the next would.
func (c labelCell) variance() float64 {
	m := c.mean()
	return (math.Max(c.squares-c.labels*m*m, 0) + m*(1-m)) / (c.labels + 1)
}

// interval bounds the mean, if each label counts as 1/effect: Jeffreys' and, of a cell alone in which all labels
// agree, Clopper and Pearson's (Brown, Cai and DasGupta 2001, section 4.1).
func (c labelCell) interval(effect, level float64, alone bool) (low, high float64) {
	m, n := c.mean(), c.labels/effect
	if alone && (m == 0 || m == 1) {
		i := ClopperPearson(n*m, n, level)
		return i.Low, i.High
	}
	if v := c.variance(); v > 0 && m > 0 && m < 1 {
		n *= m * (1 - m) / v
	}
	low, high = m, m
	if m > 0 {
		low = math.Min(m, betaQuantile((1-level)/2, n*m+0.5, n*(1-m)+0.5))
	}
	if m < 1 {
		high = math.Max(m, betaQuantile((1+level)/2, n*m+0.5, n*(1-m)+0.5))
	}
	return low, high
}

// mover is how far the interval extends below and above the estimate, whose variance is more than that of the labels of
// cells: observations and clusters were drawn too, and the estimate is linear in the instrument's values. Each label
// counts as 1/effect.
func (c cells) mover(variance, effect, level float64) (below, above float64) {
	n, rest := 0.0, variance/(c.unit*c.unit)
	for _, x := range c.list {
		n += x.n
	}
	for _, x := range c.list {
		rest -= x.n / n * x.n / n * x.variance() / math.Max(x.labels-1, 1)
	}
	z := NormalQuantile((1 + level) / 2)
	below = z * z * effect * math.Max(rest, 0)
	above = below
	for _, x := range c.list {
		share, m := x.n/n, x.mean()
		low, high := x.interval(effect, level, len(c.list) == 1)
		below += share * share * (m - low) * (m - low)
		above += share * share * (high - m) * (high - m)
	}
	return c.unit * math.Sqrt(below), c.unit * math.Sqrt(above)
}
