package confusion

import (
	"fmt"
	"slices"

	"crosstalk"
	"crosstalk/measure/estimate"
)

// By are the columns that averages are taken over, and that figures are
// grouped by unless the user says otherwise.
var By = []string{"language", "source"}

// apart are columns that never share a figure: answers in the language of the
// prompt and in another are two tasks, and uncertainty at confusion points and
// elsewhere two things.
var apart = []string{"task", "at"}

// measures are in the order of their figures.
var measures = []string{LPR, WPR, LCPR, LineAccuracy, LatinWPR, Entropy, NucleusSize}

// Rules are all that figures over the same answers depend on.
type Rules struct {
	Protocol
	Identifier string // its name
	Words      string // the name of the English list
	Candidates int    `json:",omitempty"` // asked for at each token; 0: none
}

// Rules returns the instrument's rules.
func (in *Instrument) Rules() Rules {
	return Rules{in.Protocol, in.Identifier.Name(), in.Words.Name(), in.Prompting.Logprobs}
}

// estimator implements crosstalk.Estimator.
type estimator struct {
	rules  Rules
	groups estimate.Groups[*sum]
}

// Estimator returns an estimator of each condition and task and, where by names
// them, of each language, each source and both, all that for each prefix of the
// other columns in by (estimate.Rollup). A figure over several languages is the
// plain mean over them, and a language's the plain mean over its sources
// (Marchisio et al. 2024, section 3.3). LCPR is the mean over the languages
// that have a WPR. Intervals take answers to one prompt, in whatever language,
// as a cluster. N counts items, and Counts the answers:
//
//	empty, refused, failed   there was no text
//	unchecked     no line was long enough
//	full_answer, line   the answer has a line error: in all checked lines, in some
//	word          it has a word error
//	line_error    it is not in the word-level figure, since it has a line error
//
// Entropy and NucleusSize are plain means over answers, and over all languages
// and sources unless figures are grouped otherwise than by By. They count
// "tokens", those of them "censored" and the answers with "no_logprobs".
func (r Rules) Estimator(by []string) crosstalk.Estimator {
	return &estimator{r, estimate.Groups[*sum]{Grouping: estimate.Grouping{By: by, Crossed: By, Apart: apart},
		New: func(map[string]string) *sum { return &sum{cells: map[cellKey]*cell{}} },
		Describe: func(name string, _, labels, _ map[string]string) estimate.Figure {
			f := estimate.Figure{By: by, Before: []int{slices.Index(kinds, labels["at"])},
				Unranked: []string{"at"}} // figures of one distribution come together
			if name == uncertainties && slices.Equal(by, By) {
				f.By = nil
			}
			return f
		}}}
}

// Names of the figures that share their groups.
const (
	rates         = "rates"
	uncertainties = "uncertainties"
)

// Add implements crosstalk.Estimator.
func (e *estimator) Add(o crosstalk.Observation) {
	name := rates
	if isUncertainty(o.Measure) {
		name = uncertainties
	}
	cluster := e.groups.Cluster(o.Cluster)
	for _, g := range e.groups.Of(o.Condition, o.Labels, name, nil) {
		g.Sum.add(o, cluster)
	}
}

// Estimates implements crosstalk.Estimator.
func (e *estimator) Estimates(suites crosstalk.SuiteIDs) []crosstalk.Estimate {
	var estimates []crosstalk.Estimate
	groups := e.groups.Ordered()
	for len(groups) > 0 {
		n := 1
		for n < len(groups) && groups[n].Condition() == groups[0].Condition() {
			n++
		}
		for _, measure := range measures {
			for _, g := range groups[:n] {
				if g.Sum.has(measure) {
					one := g.Sum.estimate(e.rules.Protocol, measure)
					one.By, one.Signature = g.Labels, e.rules.signature(measure, g, suites)
					estimates = append(estimates, one)
				}
			}
		}
		groups = groups[n:]
	}
	return estimates
}

func (s *sum) estimate(p Protocol, measure string) crosstalk.Estimate {
	e := crosstalk.Estimate{Measure: measure, Unit: units[measure], Counts: map[string]int{}}
	if isUncertainty(measure) {
		s.uncertainty(&e)
	} else {
		e.Better = crosstalk.Higher
		s.average(&e, p)
	}
	for _, c := range s.cellsOf(measure) {
		e.N += c.items.N()
		e.Observations += c.values.N()
		for reason, n := range c.counts {
			e.Counts[reason] += n
		}
	}
	e.Clusters = min(e.Clusters, e.Observations) // LCPR has each answer in two parts
	return e
}

func (r Rules) signature(measure string, g *estimate.Group[*sum], suites crosstalk.SuiteIDs) string {
	fields := append([]string{measure, "suite:" + suites.Of(g.Labels), "lid:" + r.Identifier}, r.lineFields()...)
	fields = append(fields, "segment:"+Segmenters)
	switch {
	case isUncertainty(measure):
		fields = append(append(fields, r.wordFields(r.Words)...), fmt.Sprintf("top:%d", r.Candidates), g.Labels["distribution"])
		if measure == NucleusSize {
			fields = append(fields, fmt.Sprintf("p=%g", g.Sum.cells[cellKey{measure: measure}].topP))
		}
	case measure == WPR || measure == LCPR:
		fields = append(fields, r.wordFields(r.Words)...)
	}
	return estimate.Signature(fields...)
}
