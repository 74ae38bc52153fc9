package labels

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// Pilot is what the labels of a run say about one of its figures, for planning
// how many labels it needs.
type Pilot struct {
	Measure  string            `json:"measure"`
	By       map[string]string `json:"by"` // the condition, with the judge
	Labelled int               `json:"labelled"`
	stats.LabelDesign
}

// Pilots returns a pilot for each condition, judge and figure that labels correct:
// the question's and, after ReadWords, WPR and LCPR. It takes the mean and the
// variance of labels for each value that the instrument gives, and the design
// effect of clusters from the instrument's values of all answers. Where no label
// of an answer says whether it passes the figure's first check, it returns an error.
func (s *Sheet) Pilots(d Design, labels []Label) ([]Pilot, error) {
	labels = s.own(labels)
	units, _ := s.judged(d.By(), labels)
	weights := map[string]float64{}
	for _, u := range units {
		weights[u.key] = u.weight
	}
	targets := s.targets(units, labels)
	var pilots []*pilot
	first := map[string]int{} // pilot of a condition; those of its other figures follow
	for i, u := range s.judgements() {
		id := string(crosstalk.Canonical(u.condition))
		at, known := first[id]
		if !known {
			at = len(pilots)
			first[id] = at
			for _, t := range targets {
				pilots = append(pilots, &pilot{target: t, by: u.condition, cells: map[string]*cell{}})
			}
		}
		for t, target := range targets {
			if values, given, ok := target.steps(i, u.by); ok {
				pilots[at+t].add(u.Cluster, values, given, weights[u.key])
			}
		}
	}
	var list []Pilot
	for _, p := range pilots {
		if len(p.values) == 0 {
			continue
		}
		design, err := p.design()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", inWords(p.by), err)
		}
		list = append(list, Pilot{p.measure, p.by, p.labelled, design})
	}
	return list, nil
}

// pilot sums up the answers and labels of a figure.
type pilot struct {
	target
	by       map[string]string
	labelled int
	clusters []string         // of each answer
	values   [][]float64      // the instrument's steps of each answer
	cells    map[string]*cell // by these values
}

// cell is answers to which the instrument gives the same values.
type cell struct {
	values   []float64
	answers  float64
	weighted // labels of its own or, if it has none, of its stratum
}

// weighted is labels with their weights.
type weighted struct {
	labels  [][]float64 // steps
	weights []float64
}

func (p *pilot) add(cluster string, values, given []float64, weight float64) {
	id := fmt.Sprint(values)
	c := p.cells[id]
	if c == nil {
		c = &cell{values: values}
		p.cells[id] = c
	}
	c.answers++
	p.clusters, p.values = append(p.clusters, cluster), append(p.values, values)
	if !math.IsNaN(given[0]) {
		p.labelled++
		c.labels, c.weights = append(c.labels, given), append(c.weights, weight)
	}
}

// moments are the mean and the variance of a function of labels.
func (l weighted) moments(of func(steps []float64) float64) (mean, variance float64) {
	var weight, sum, squares float64
	for i, steps := range l.labels {
		y := of(steps)
		weight += l.weights[i]
		sum += l.weights[i] * y
		squares += l.weights[i] * y * y
	}
	mean = sum / weight
	return mean, math.Max(squares/weight-mean*mean, 0)
}

// design is that of the figure's linear part at the means of the labels: it has the
// figure's value as its mean, and the variance that the delta method sees.
func (p *pilot) design() (stats.LabelDesign, error) {
	d := stats.LabelDesign{Answers: len(p.values), Effect: 1}
	n := float64(d.Answers)
	cells, err := p.filled()
	if err != nil {
		return d, err
	}
	means := make([]float64, len(p.values[0]))
	for k := range means {
		for _, c := range cells {
			mean, _ := c.moments(func(steps []float64) float64 { return steps[k] })
			means[k] += c.answers / n * mean
		}
	}
	linear, low, high := stats.LinearPart(p.of, means)
	var own stats.Clusters
	for i, v := range p.values {
		own.Add(p.clusters[i], (linear(v)-low)/(high-low))
	}
	spread := 0.0
	for _, c := range cells {
		mean, variance := c.moments(linear)
		// A label at an end of the range is added, for few that agree do not show that the next would.
		k := float64(len(c.labels))
		variance = (k*variance + (mean-low)*(high-mean)) / (k + 1)
		value, share := linear(c.values), c.answers/n
		stratum := slices.IndexFunc(cells, func(other *cell) bool { return other.values[0] == c.values[0] })
		d.Parts = append(d.Parts, stats.LabelledBy{Value: value, Share: share, Mean: mean, Variance: variance})
		d.Strata = append(d.Strata, stratum)
		distance := (value-low)/(high-low) - own.Mean()
		spread += share * distance * distance
	}
	if se := stats.Mean(&own, stats.Proportion, estimate.Level).SE; se > 0 && spread > 0 {
		d.Effect = math.Max(1, se*se*n/spread)
	}
	return d, nil
}

// filled are the cells, those with larger values first. A cell without labels gets
// those of its stratum: of the answers with the same first value, which samples by
// finding do not tell apart.
func (p *pilot) filled() ([]*cell, error) {
	cells := slices.SortedFunc(maps.Values(p.cells), func(a, b *cell) int { return slices.Compare(b.values, a.values) })
	strata := map[float64]weighted{}
	for _, c := range cells {
		s := strata[c.values[0]]
		s.labels, s.weights = append(s.labels, c.labels...), append(s.weights, c.weights...)
		strata[c.values[0]] = s
	}
	for _, c := range cells {
		if len(c.labels) == 0 {
			c.weighted = strata[c.values[0]]
		}
		if len(c.labels) == 0 {
			return nil, fmt.Errorf("no answer that the instrument gives the value %g has a label", c.values[0])
		}
	}
	return cells, nil
}

// Stated is the pilot of an instrument with stated errors, in a study of this many
// answers: rate is the share of answers with a fault, as people see it;
// sensitivity the share of them in which the instrument finds one, specificity the
// share of the others in which it finds none. Clusters have clusterSize answers, of
// which two correlate by icc, 0 to 1.
func Stated(rate, sensitivity, specificity float64, answers int, clusterSize, icc float64) (Pilot, error) {
	p := Pilot{By: map[string]string{}}
	for name, x := range map[string]float64{"the rate": rate, "the sensitivity": sensitivity, "the specificity": specificity} {
		if !(x >= 0 && x <= 1) {
			return p, fmt.Errorf("%s is %g; expected a number from 0 to 1", name, x)
		}
	}
	if answers < 1 {
		return p, fmt.Errorf("the number of answers is %d; expected 1 or more", answers)
	}
	if !(icc >= 0 && icc <= 1) || !(clusterSize >= 1) {
		return p, fmt.Errorf("the correlation within clusters is %g and their size %g; expected 0 to 1, and 1 or more", icc, clusterSize)
	}
	found := rate*sensitivity + (1-rate)*(1-specificity)
	p.LabelDesign = stats.LabelDesign{Answers: answers, Effect: 1 + (clusterSize-1)*icc}
	for _, part := range []struct{ value, share, faults float64 }{{1, found, rate * sensitivity}, {0, 1 - found, rate * (1 - sensitivity)}} {
		if part.share > 0 {
			mean := part.faults / part.share
			p.Parts = append(p.Parts, stats.LabelledBy{Value: part.value, Share: part.share, Mean: mean, Variance: mean * (1 - mean)})
		}
	}
	return p, nil
}

// LabelPlan is how many labels an interval of this width needs.
type LabelPlan struct {
	Study     int             `json:"study"` // index
	Width     float64         `json:"width"`
	AtRandom  crosstalk.Value `json:"at_random"`  // drawn from all answers
	ByFinding crosstalk.Value `json:"by_finding"` // as many from each value of the instrument
	Alone     crosstalk.Value `json:"alone"`      // drawn from all answers, without the instrument
}

// Needed plans how many labels intervals of this width and level need. It is
// undefined where labels of all answers are too few.
func (p Pilot) Needed(study int, width, level float64) LabelPlan {
	labels := func(how stats.Drawing) crosstalk.Value { return crosstalk.Value(p.Labels(width, how, level)) }
	return LabelPlan{study, width, labels(stats.AtRandom), labels(stats.ByFinding), labels(stats.AloneAtRandom)}
}
