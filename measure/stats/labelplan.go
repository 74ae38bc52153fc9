package stats

import "math"

// LabelDesign describes a study whose figure is corrected by labels, for planning
// how many it needs. Values are in [0, 1], or the LinearPart of a figure.
type LabelDesign struct {
	Answers int          `json:"answers"`          // all of them, labelled or not
	Effect  float64      `json:"effect"`           // design effect of clustering on a mean over all answers; 0 means 1
	Parts   []LabelledBy `json:"parts"`            // shares add up to 1
	Strata  []int        `json:"strata,omitempty"` // parts with the same number are drawn as one; nil: each part is drawn apart
}

// LabelledBy is the answers to which the instrument gives the same value, and
// what people say of them.
type LabelledBy struct {
	Value    float64 `json:"value"` // the instrument's
	Share    float64 `json:"share"` // of all answers
	Mean     float64 `json:"mean"`  // of labels
	Variance float64 `json:"variance"`
}

// LinearPart is a smooth function f of the means of several steps as a function
// that is linear in the steps of an observation: its mean is f(means), and its
// variance that of the delta method. Steps are from 0 to 1, each at most the one
// before; low and high are the ends of its values. One mean is linear itself.
func LinearPart(f func(means []float64) float64, means []float64) (of func(steps []float64) float64, low, high float64) {
	if len(means) == 1 {
		return f, f([]float64{0}), f([]float64{1})
	}
	value, slope := f(means), gradient(f, means)
	of = func(steps []float64) float64 {
		x := value
		for k, step := range steps {
			x += slope[k] * (step - means[k])
		}
		return x
	}
	steps := make([]float64, len(means)) // passes no step, the first, the first two, ...
	low, high = of(steps), of(steps)
	for k := range steps {
		steps[k] = 1
		low, high = math.Min(low, of(steps)), math.Max(high, of(steps))
	}
	return of, low, high
}

// Drawing is how answers are drawn for labelling.
type Drawing int

const (
	// AtRandom draws from all answers.
	AtRandom Drawing = iota
	// ByFinding draws as many answers of each stratum.
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
	_, y, _, _ := partMoments(d.Parts)
	v := math.Max(d.Effect, 1) * y / all
	strata := [][]LabelledBy{d.Parts}
	if how == ByFinding {
		strata = d.strata()
	}
	var labels, values, both float64 // variances and covariance that drawing labels adds
	for h, k := range d.equally(n, strata) {
		share, y, f, yf := partMoments(strata[h])
		weight := share * share * math.Max(1/k-1/(share*all), 0)
		labels += weight * y
		values += weight * f
		both += weight * yf
	}
	w := 0.0
	if how != AloneAtRandom && values > 0 {
		w = math.Min(math.Max(both/values, 0), 1)
	}
	return math.Sqrt(v + math.Max(labels-2*w*both+w*w*values, 0))
}

// partMoments are the share of parts, the variances of labels and of the instrument's
// values in them, and their covariance.
func partMoments(parts []LabelledBy) (share, y, f, yf float64) {
	var label, value float64
	for _, p := range parts {
		share += p.Share
		label += p.Share * p.Mean
		value += p.Share * p.Value
	}
	label, value = label/share, value/share
	for _, p := range parts {
		y += p.Share / share * (p.Variance + (p.Mean-label)*(p.Mean-label))
		f += p.Share / share * (p.Value - value) * (p.Value - value)
		yf += p.Share / share * (p.Mean - label) * (p.Value - value)
	}
	return share, y, f, yf
}

// strata are the parts that are drawn as one.
func (d LabelDesign) strata() (strata [][]LabelledBy) {
	at := map[int]int{}
	for i, p := range d.Parts {
		number := i
		if d.Strata != nil {
			number = d.Strata[i]
		}
		h, known := at[number]
		if !known {
			h = len(strata)
			at[number] = h
			strata = append(strata, nil)
		}
		strata[h] = append(strata[h], p)
	}
	return strata
}

// equally divides n labels among strata. What a small one does not have goes to
// the others.
func (d LabelDesign) equally(n int, strata [][]LabelledBy) []float64 {
	given, has := make([]float64, len(strata)), make([]float64, len(strata))
	for h, parts := range strata {
		for _, p := range parts {
			has[h] += p.Share * float64(d.Answers)
		}
	}
	left, open := float64(n), len(strata)
	for open > 0 && left > 1e-9 {
		each := left / float64(open)
		left, open = 0, 0
		for h := range strata {
			if given[h] >= has[h] {
				continue
			}
			given[h] += each
			if given[h] >= has[h] {
				left += given[h] - has[h]
				given[h] = has[h]
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
