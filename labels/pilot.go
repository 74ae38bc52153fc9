package labels

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"crosstalk"
	"crosstalk/instrument"
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

// Pilots returns a pilot for each condition and judge. It takes the mean and the
// variance of labels for each value that the instrument gives, and the design
// effect of clusters from the instrument's values of all answers. A value none of
// whose answers has a label is an error.
func (s *Sheet) Pilots(d Design, labels []Label) ([]Pilot, error) {
	given := map[string]judgedUnit{}
	units, _ := s.judged(d.By(), labels)
	for _, u := range units {
		given[u.key] = u
	}
	judge := instrument.Named(s.Question.Instrument).Judge
	var pilots []*pilot
	at := map[string]*pilot{}
	for i := range s.Units {
		u := &s.Units[i]
		for _, j := range u.Judged {
			by := s.Question.apart(u)
			if judge != "" {
				by[judge] = j.Judge
			}
			id := string(crosstalk.Canonical(by))
			p := at[id]
			if p == nil {
				p = &pilot{by: by, parts: map[float64]*part{}}
				at[id] = p
				pilots = append(pilots, p)
			}
			p.add(u.Cluster, j.Value, given[u.key])
		}
	}
	list := make([]Pilot, len(pilots))
	for i, p := range pilots {
		design, err := p.design()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", inWords(p.by), err)
		}
		list[i] = Pilot{s.Question.Measure, p.by, p.labelled, design}
	}
	return list, nil
}

// pilot sums up the answers and labels of a figure.
type pilot struct {
	by       map[string]string
	values   stats.Clusters // the instrument's
	labelled int
	parts    map[float64]*part // by the instrument's value
}

// part is answers of the same value; sums of labels are weighted.
type part struct {
	answers, labels      float64
	weight, sum, squares float64
}

func (p *pilot) add(cluster string, value float64, u judgedUnit) {
	p.values.Add(cluster, value)
	x := p.parts[value]
	if x == nil {
		x = &part{}
		p.parts[value] = x
	}
	x.answers++
	if u.Unit == nil || math.IsNaN(u.value) {
		return
	}
	p.labelled++
	x.labels++
	x.weight += u.weight
	x.sum += u.weight * u.value
	x.squares += u.weight * u.value * u.value
}

func (p *pilot) design() (stats.LabelDesign, error) {
	d := stats.LabelDesign{Answers: p.values.N()}
	n, value, spread := float64(d.Answers), p.values.Mean(), 0.0
	for _, v := range slices.SortedFunc(maps.Keys(p.parts), func(a, b float64) int { return cmp.Compare(b, a) }) {
		x := p.parts[v]
		if x.labels == 0 {
			return d, fmt.Errorf("no answer that the instrument gives the value %g has a label", v)
		}
		mean := x.sum / x.weight
		// A label of 0 or 1 is added, for few that agree do not show that the next would.
		variance := (x.labels*math.Max(x.squares/x.weight-mean*mean, 0) + mean*(1-mean)) / (x.labels + 1)
		d.Parts = append(d.Parts, stats.LabelledBy{Value: v, Share: x.answers / n, Mean: mean, Variance: variance})
		spread += x.answers / n * (v - value) * (v - value)
	}
	if se := stats.Mean(&p.values, stats.Proportion, estimate.Level).SE; se > 0 && spread > 0 {
		d.Effect = math.Max(1, se*se*n/spread)
	} else {
		d.Effect = 1
	}
	return d, nil
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
