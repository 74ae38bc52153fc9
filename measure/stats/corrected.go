package stats

import "math"

// Corrected estimates the mean that people would give to every observation
// from an instrument's value of each and people's labels of a sample:
// prediction-powered inference with its optimal weight (Angelopoulos, Duchi and
// Zrnic 2023, PPI++, section 6), for clustered observations and labels that
// were drawn at random within strata. The zero value is empty.
type Corrected struct {
	observations []judged
	strata       map[string]int32
	clusters     map[string]int32
}

type judged struct {
	cluster, stratum int32
	labelled         bool
	value, label     float64
}

// Add records an observation: its cluster, the stratum from which observations
// were drawn for labelling, the instrument's value, and the label, NaN if it
// has none. Both values are on the scale of the bounds.
func (c *Corrected) Add(cluster, stratum string, value, label float64) {
	if c.strata == nil {
		c.strata, c.clusters = map[string]int32{}, map[string]int32{}
	}
	number := func(names map[string]int32, name string) int32 {
		i, known := names[name]
		if !known {
			i = int32(len(names))
			names[name] = i
		}
		return i
	}
	c.observations = append(c.observations, judged{cluster: number(c.clusters, cluster), stratum: number(c.strata, stratum),
		labelled: !math.IsNaN(label), value: value, label: label})
}

// Correction is what Corrected.Estimate finds.
type Correction struct {
	Corrected Estimate // labels and instrument together
	Labels    Estimate // the labels alone
	Weight    float64  // of the instrument's values, in [0, 1]; 0 is the labels alone
	Labelled  int      // observations with a label
}

// unseen is what is added, in squared units of the range of values, to the
// squared residuals of each stratum's labels: labels that all agree do not show
// that the next would.
const unseen = 0.25

// Estimate computes the corrected mean and that of the labels alone, each with
// an interval of the stated level. N and Clusters count what has a label.
//
// With the instrument's values f, labels y of n_h of the N_h observations of
// each stratum h, and a weight w, the estimate is
//
//	w mean(f) + sum_h N_h/N mean_h(y - w f)
//
// where mean_h is over labels. The variance is that of the sums of clusters of
// its linearised parts, so it has both the draw of clusters and that of labels;
// w makes it smallest. The interval is Student's t on the logit scale with the
// number of labelled clusters less the strata as degrees of freedom.
//
// A stratum without labels leaves the figures undefined, with a warning.
// Bounds must be finite.
func (c *Corrected) Estimate(bounds Bounds, level float64) Correction {
	checkLevel(level)
	p := c.parts(bounds)
	var ab, bb float64
	for i, a := range p.labels {
		ab += a * p.values[i]
		bb += p.values[i] * p.values[i]
	}
	w := 0.0
	if bb > 0 {
		w = math.Min(math.Max(-ab/bb, 0), 1)
	}
	return Correction{Corrected: p.estimate(w, bounds, level), Labels: p.estimate(0, bounds, level), Weight: w, Labelled: p.labelled}
}

// parts are the linearised sums of each cluster: the estimate with weight w
// deviates from the truth by the mean of labels + w values.
type parts struct {
	labels, values []float64 // by cluster
	mean           float64   // of the labels, weighted
	gain           float64   // of the mean, for each unit of weight
	n              float64   // observations
	unseen         float64   // variance for what few labels do not show
	kish           float64   // labels that would say as much if drawn without strata
	labelled       int
	clusters       int // with labels
	strata         int
	missing        int // strata without labels
}

func (c *Corrected) parts(b Bounds) parts {
	type stratum struct{ n, labels, label, value float64 }
	strata := make([]stratum, len(c.strata))
	p := parts{labels: make([]float64, len(c.clusters)), values: make([]float64, len(c.clusters)), n: float64(len(c.observations)), strata: len(c.strata)}
	mean := 0.0
	for _, o := range c.observations {
		s := &strata[o.stratum]
		s.n++
		mean += b.unit(o.value) / p.n
		if o.labelled {
			s.labels++
			s.label += b.unit(o.label)
			s.value += b.unit(o.value)
			p.labelled++
		}
	}
	drawn := 0.0 // the mean value, by the labelled observations
	for i := range strata {
		s := &strata[i]
		if s.labels == 0 {
			p.missing++
			continue
		}
		s.label /= s.labels
		s.value /= s.labels
		share := s.n / p.n
		p.mean += share * s.label
		drawn += share * s.value
		p.unseen += share * share * unseen / (s.labels * s.labels)
		p.kish += share * share / s.labels
	}
	p.kish = 1 / p.kish
	p.gain = mean - drawn
	seen := map[int32]struct{}{}
	for _, o := range c.observations {
		s := strata[o.stratum]
		if s.labels == 0 {
			continue
		}
		y, f := s.label-p.mean, b.unit(o.value)-mean-(s.value-drawn)
		if o.labelled {
			seen[o.cluster] = struct{}{}
			weight := s.n / s.labels
			if s.labels > 1 {
				weight *= math.Sqrt(s.labels / (s.labels - 1)) // for the mean is estimated
			}
			y += weight * (b.unit(o.label) - s.label)
			f -= weight * (b.unit(o.value) - s.value)
		}
		p.labels[o.cluster] += y
		p.values[o.cluster] += f
	}
	p.clusters = len(seen)
	return p
}

func (p parts) estimate(w float64, b Bounds, level float64) Estimate {
	e := Estimate{Value: math.NaN(), SE: math.NaN(), DF: math.NaN(), ICC: math.NaN(), N: p.labelled, Clusters: p.clusters,
		Interval: undefined(level, methodCorrected)}
	switch {
	case p.labelled == 0:
		e.Warnings = append(e.Warnings, Warning{Code: Empty})
		return e
	case p.missing > 0:
		e.Warnings = append(e.Warnings, Warning{Code: UndefinedPart, Have: p.missing})
		return e
	}
	e.Warnings = sizeWarnings(p.labelled, p.clusters)
	mean := math.Min(math.Max(p.mean+w*p.gain, 0), 1)
	e.Value = b.back(mean)
	if p.clusters <= p.strata || len(p.labels) < 2 {
		return e
	}
	squares, fourth := make([]float64, len(p.labels)), 0.0
	for i := range squares {
		d := p.labels[i] + w*p.values[i]
		squares[i] = d * d
		fourth += d * d * d * d
	}
	k, sum := float64(len(squares)), sortedSum(squares)
	v := sum/(p.n*p.n)*k/(k-1) + p.unseen
	e.SE = math.Sqrt(v) * (b.High - b.Low)
	e.DF = float64(p.clusters - p.strata)
	if fourth > 0 { // few clusters may have most of the variance
		e.DF = math.Max(math.Min(e.DF, 4*sum*sum/fourth), 1)
	}
	n := p.kish
	if mean > 0 && mean < 1 {
		n = mean * (1 - mean) / v
	}
	t := tQuantile((1+level)/2, e.DF) / normalQuantile((1+level)/2)
	n /= t * t
	i := Interval{Low: mean, High: mean, Level: level, Method: methodCorrected}
	if mean > 0 {
		i.Low = math.Min(mean, betaQuantile((1-level)/2, n*mean+0.5, n*(1-mean)+0.5))
	}
	if mean < 1 {
		i.High = math.Max(mean, betaQuantile((1+level)/2, n*mean+0.5, n*(1-mean)+0.5))
	}
	i.Low, i.High = b.back(i.Low), b.back(i.High)
	e.Interval = i
	return e
}

// methodCorrected names intervals of Corrected.
const methodCorrected = robust + "ppi-effective-n"
