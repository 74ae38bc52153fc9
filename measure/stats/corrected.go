package stats

import (
	"encoding/binary"
	"math"
	"slices"
)

// Corrected estimates the mean that people would give to every observation from an instrument's value of each and
// people's labels of a sample: prediction-powered inference with its optimal weight (Angelopoulos, Duchi and Zrnic
// 2023, PPI++, section 6), for clustered observations and labels drawn at random within strata.
type Corrected struct {
	observations []judged
	values       []float64 // steps of each observation
	labels       []float64
	steps        int
	strata       map[string]int32
	clusters     map[string]int32
}

type judged struct {
	cluster, stratum int32
	labelled         bool
}

// Add records an observation: its cluster, the stratum from which observations were drawn for labelling, the
// instrument's values, and the labels, all NaN if it has none, on the scale of the bounds. Several values are steps,
// each at most the one before, such as whether an answer passes a first check and a second one too. Every observation
// has as many. It panics if the lengths differ.
func (c *Corrected) Add(cluster, stratum string, values, labels []float64) {
	checkPairs(len(values), len(labels))
	if c.strata == nil {
		c.strata, c.clusters, c.steps = map[string]int32{}, map[string]int32{}, len(values)
	}
	checkPairs(len(values), c.steps)
	number := func(names map[string]int32, name string) int32 {
		i, known := names[name]
		if !known {
			i = int32(len(names))
			names[name] = i
		}
		return i
	}
	c.observations = append(c.observations, judged{number(c.clusters, cluster), number(c.strata, stratum),
		!math.IsNaN(labels[0])})
	c.values, c.labels = append(c.values, values...), append(c.labels, labels...)
}

// Correction is the result of Corrected.Estimate.
type Correction struct {
	Corrected Estimate // labels and instrument together
	Labels    Estimate // the labels alone
	Weight    float64  // of the instrument's values, in [0, 1]; 0 is the labels alone
	Labelled  int      // observations with a label
}

// Estimate computes a smooth function f of the means of the steps, such as the second over the first: corrected, and of
// the labels alone, each with an interval of the stated level (delta method). N and Clusters count what has a label.
// The bounds apply to every step and to f.
//
// With values f, labels y of n_h of the N_h observations of each stratum h, and a weight w, the estimate is
//
//	w mean(f) + sum_h N_h/N mean_h(y - w f)
//
// where mean_h is over labels. The weight makes the variance of the sums of clusters smallest.
//
// The interval puts together those of cells, the observations of a stratum to which the instrument gives the same value
// (in quarters of the bounds): few labels show little of a cell in which they all agree. Each cell has Jeffreys'
// interval. The distances of its ends from the cell's mean are added as squares (the MOVER of Zou and Donner 2008), and
// the normal ones of the variance that cells do not have: observations and clusters were drawn too. Where labels share
// clusters, they count as fewer, by the squared ratio of Student's t for as many clusters to that for as many labels.
// The command in tools/bench/stats prints the coverage. Which interval is taken does not depend on the labels: the
// corrected one can be wider than the labels' own, where the instrument tells little.
//
// A stratum without labels leaves the figures undefined, with a warning. Bounds must be finite.
func (c *Corrected) Estimate(f func(means []float64) float64, bounds Bounds, level float64) Correction {
	checkLevel(level)
	s := c.sample(bounds)
	s.f = func(unit []float64) float64 {
		means := make([]float64, len(unit))
		for i, u := range unit {
			means[i] = bounds.Low + u*(bounds.High-bounds.Low) // not cut: f has slopes at the ends
		}
		return bounds.unit(f(means))
	}
	r := Correction{Labelled: s.labelled}
	if s.labelled == 0 || s.missing > 0 {
		r.Corrected = s.empty(level)
		r.Labels = r.Corrected
		return r
	}
	alone := s.linear(gradient(s.f, s.means(0)))
	r.Labels = alone.estimate(0, false, level)
	first := alone.weight()
	corrected := s.linear(gradient(s.f, s.means(first)))
	r.Weight = corrected.weight()
	r.Corrected = corrected.estimate(r.Weight, true, level)
	return r
}

// sample is observations and labels, summed up by stratum.
type sample struct {
	*Corrected
	bounds   Bounds
	f        func(unit []float64) float64
	strata   []stratum
	mean     []float64 // of the labels, weighted, by step
	gain     []float64 // of the mean, for each unit of weight
	labelled int
	clusters int // with labels
	missing  int // strata without labels
}

// stratum is the observations that labels were drawn from.
type stratum struct {
	n, labels    float64
	label, value []float64 // means of the labelled ones, by step
}

func (c *Corrected) sample(b Bounds) sample {
	s := sample{Corrected: c, bounds: b, strata: make([]stratum, len(c.strata)), mean: make([]float64, c.steps),
		gain: make([]float64, c.steps)}
	for i := range s.strata {
		s.strata[i].label, s.strata[i].value = make([]float64, c.steps), make([]float64, c.steps)
	}
	n, seen := float64(len(c.observations)), map[int32]struct{}{}
	for i, o := range c.observations {
		h := &s.strata[o.stratum]
		h.n++
		if o.labelled {
			h.labels++
			s.labelled++
			seen[o.cluster] = struct{}{}
		}
		for k := range c.steps {
			value := b.unit(c.values[i*c.steps+k])
			s.gain[k] += value / n
			if o.labelled {
				h.label[k] += b.unit(c.labels[i*c.steps+k])
				h.value[k] += value
			}
		}
	}
	s.clusters = len(seen)
	for _, h := range s.strata {
		if h.labels == 0 {
			s.missing++
		}
		for k := range c.steps {
			h.label[k] /= h.labels
			h.value[k] /= h.labels
			s.mean[k] += h.n / n * h.label[k]
			s.gain[k] -= h.n / n * h.value[k]
		}
	}
	return s
}

func (s sample) means(w float64) []float64 {
	means := make([]float64, s.steps)
	for k := range means {
		means[k] = math.Min(math.Max(s.mean[k]+w*s.gain[k], 0), 1)
	}
	return means
}

func (s sample) empty(level float64) Estimate {
	e := Estimate{Value: math.NaN(), SE: math.NaN(), DF: math.NaN(), ICC: math.NaN(), N: s.labelled, Clusters: s.clusters,
		Interval: undefined(level, methodCorrected)}
	if s.labelled == 0 {
		e.Warnings = []Warning{{Code: Empty}}
	} else if s.missing > 0 {
		e.Warnings = []Warning{{Code: UndefinedPart, Have: s.missing}}
	}
	return e
}

// linear is a sample in which each observation has one value and one label: its steps' values, weighted by the slopes
// of f. With weight w, the estimate deviates from the truth by the mean of label + w value of the residuals.
type linear struct {
	sample
	slope              []float64
	ofLabels, ofValues []float64 // residuals, summed by cluster
}

// of is the sum of an observation's steps times the slopes.
func (l linear) of(steps []float64) (x float64) {
	for k, v := range steps {
		x += l.slope[k] * l.bounds.unit(v)
	}
	return x
}

// dot is of for steps in [0, 1].
func (l linear) dot(unit []float64) (x float64) {
	for k, v := range unit {
		x += l.slope[k] * v
	}
	return x
}

func (s sample) linear(slope []float64) linear {
	l := linear{sample: s, slope: slope, ofLabels: make([]float64, len(s.Corrected.clusters)),
		ofValues: make([]float64, len(s.Corrected.clusters))}
	mean, gain := l.dot(s.mean), l.dot(s.gain)
	for i, o := range s.observations {
		h := s.strata[o.stratum]
		label, value := l.dot(h.label), l.dot(h.value)
		own := l.of(s.values[i*s.steps : (i+1)*s.steps])
		y, f := label-mean, own-value-gain
		if o.labelled {
			weight := h.n / h.labels
			if h.labels > 1 {
				weight *= math.Sqrt(h.labels / (h.labels - 1)) // for the mean is estimated
			}
			y += weight * (l.of(s.labels[i*s.steps:(i+1)*s.steps]) - label)
			f -= weight * (own - value)
		}
		l.ofLabels[o.cluster] += y
		l.ofValues[o.cluster] += f
	}
	return l
}

// weight makes the variance smallest.
func (l linear) weight() float64 {
	var products, squares float64
	for i, y := range l.ofLabels {
		products += y * l.ofValues[i]
		squares += l.ofValues[i] * l.ofValues[i]
	}
	if !(squares > 0) {
		return 0
	}
	return math.Min(math.Max(-products/squares, 0), 1)
}

func (l linear) estimate(w float64, byValue bool, level float64) Estimate {
	e := l.empty(level)
	e.Warnings = sizeWarnings(l.labelled, l.clusters)
	if l.clusters >= MinClusters && l.clusters < fewClusters && l.clusters < l.labelled {
		e.Warnings = append(e.Warnings, Warning{FewClusters, l.clusters, fewClusters})
	}
	mean := l.f(l.means(w))
	e.Value = l.bounds.back(mean)
	k := float64(len(l.ofLabels))
	if math.IsNaN(mean) || l.clusters <= len(l.strata) || k < 2 {
		return e
	}
	squares := make([]float64, len(l.ofLabels))
	for i := range squares {
		d := l.ofLabels[i] + w*l.ofValues[i]
		squares[i] = d * d
	}
	n := float64(len(l.observations))
	variance := sortedSum(squares) / (n * n) * k / (k - 1)
	e.SE = math.Sqrt(variance) * (l.bounds.High - l.bounds.Low)
	e.DF = float64(l.clusters - len(l.strata))
	quantile := func(n int) float64 { return tQuantile((1+level)/2, float64(n-len(l.strata))) }
	t := quantile(l.clusters) / quantile(l.labelled)
	below, above := l.cells(byValue).mover(variance, t*t, level)
	e.Interval.Low = l.bounds.back(math.Max(mean-below, 0))
	e.Interval.High = l.bounds.back(math.Min(mean+above, 1))
	return e
}

// fewClusters labelled clusters make intervals that cover less than they claim: with ten very different ones, 91 %
// instead of 95 %.
const fewClusters = 12

// methodCorrected names intervals of Corrected.
const methodCorrected = robust + "ppi-mover"

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
	// Cells without labels are added to the one of their stratum that has most.
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
	return c
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

// variance is the variance of labels; a label of 0 or 1 is added, for few that agree do not show that the next would.
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

// mover is how far the interval extends below and above the estimate, whose variance is more than that of cells'
// labels: observations and clusters were drawn, and it is linear in the values. Each label counts as 1/effect.
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
