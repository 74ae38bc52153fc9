package stats

import "math"

// LabelDesign describes a study whose figure is corrected by labels, for planning
// how many it needs. Values are in [0, 1].
type LabelDesign struct {
	Answers int          `json:"answers"` // all of them, labelled or not
	Effect  float64      `json:"effect"`  // design effect of clustering on a mean over all answers; 0 means 1
	Parts   []LabelledBy `json:"parts"`   // shares add up to 1
}

// LabelledBy is the answers to which the instrument gives the same value, and
// what people say of them.
type LabelledBy struct {
	Value    float64 `json:"value"` // the instrument's
	Share    float64 `json:"share"` // of all answers
	Mean     float64 `json:"mean"`  // of labels
	Variance float64 `json:"variance"`
}

// Drawing is how answers are drawn for labelling.
type Drawing int

const (
	// AtRandom draws from all answers.
	AtRandom Drawing = iota
	// ByFinding draws as many answers of each value of the instrument.
	ByFinding
	// AloneAtRandom draws from all answers, and does not use the instrument.
	AloneAtRandom
)

// Mean is what people would say of all answers on average.
func (d LabelDesign) Mean() (mean float64) {
	for _, p := range d.Parts {
		mean += p.Share * p.Mean
	}
	return mean
}

// StdErr is the standard error of a figure with n labels,
//
//	sqrt(effect var(y)/N + sum_h (N_h/N)^2 (1/n_h - 1/N_h) var_h(y - w f))
//
// over strata h, where w makes the variance smallest (Angelopoulos, Duchi and
// Zrnic 2023, PPI++, section 6). NaN unless n is from 1 to the number of answers.
func (d LabelDesign) StdErr(n int, how Drawing) float64 {
	all := float64(d.Answers)
	if n < 1 || n > d.Answers {
		return math.NaN()
	}
	mean := d.Mean()
	var value, y, f, yf float64 // moments of labels and the instrument's values
	for _, p := range d.Parts {
		value += p.Share * p.Value
	}
	for _, p := range d.Parts {
		y += p.Share * (p.Variance + (p.Mean-mean)*(p.Mean-mean))
		f += p.Share * (p.Value - value) * (p.Value - value)
		yf += p.Share * (p.Mean - mean) * (p.Value - value)
	}
	v := math.Max(d.Effect, 1) * y / all
	switch how {
	case AloneAtRandom:
		v += y * (1/float64(n) - 1/all)
	case AtRandom:
		w := 0.0
		if f > 0 {
			w = math.Min(math.Max(yf/f, 0), 1)
		}
		v += math.Max(y-2*w*yf+w*w*f, 0) * (1/float64(n) - 1/all)
	case ByFinding:
		for i, k := range d.equally(n) {
			p := d.Parts[i]
			v += p.Share * p.Share * p.Variance * math.Max(1/k-1/(p.Share*all), 0)
		}
	}
	return math.Sqrt(v)
}

// equally divides n labels among the parts. What a small part does not have goes
// to the others.
func (d LabelDesign) equally(n int) []float64 {
	given := make([]float64, len(d.Parts))
	left, open := float64(n), len(d.Parts)
	for open > 0 && left > 1e-9 {
		each := left / float64(open)
		left, open = 0, 0
		for i, p := range d.Parts {
			has := p.Share * float64(d.Answers)
			if given[i] >= has {
				continue
			}
			given[i] += each
			if given[i] >= has {
				left += given[i] - has
				given[i] = has
			} else {
				open++
			}
		}
	}
	return given
}

// Width is the expected width of the interval of a figure with n labels: Jeffreys'
// with as many observations as give its standard error. NaN as for StdErr.
func (d LabelDesign) Width(n int, how Drawing, level float64) float64 {
	checkLevel(level)
	se, mean := d.StdErr(n, how), d.Mean()
	if !(mean > 0 && mean < 1 && se > 0) {
		return math.NaN()
	}
	size := mean * (1 - mean) / (se * se)
	quantile := func(p float64) float64 { return betaQuantile(p, size*mean+0.5, size*(1-mean)+0.5) }
	return quantile((1+level)/2) - quantile((1-level)/2)
}

// Labels is the smallest number of labels with which the interval is expected to
// be at most as wide. NaN if labels of all answers are too few.
func (d LabelDesign) Labels(width float64, how Drawing, level float64) float64 {
	low, high := 0, d.Answers+1 // too few, enough
	for high-low > 1 {
		if n := low + (high-low)/2; d.Width(n, how, level) <= width {
			high = n
		} else {
			low = n
		}
	}
	if high > d.Answers {
		return math.NaN()
	}
	return float64(high)
}
