package confusion

import (
	"slices"

	"crosstalk"
	"crosstalk/measure/estimate"
)

// apart are columns whose values never share a figure: answers in the language of the prompt and in another are
// different tasks, and so is uncertainty at confusion points and elsewhere.
var apart = []string{"task", "at"}

type estimator struct {
	rules  Rules
	groups estimate.Groups[*sum]
}

// Estimator returns an estimator for each condition and task and, if they are in by, for each language, each source
// and both; all of them for each prefix of the other columns in by (estimate.Rollup). A figure over several
// languages is the unweighted mean over them, and a language's the unweighted mean over its sources, as in the
// script of Marchisio et al. (2024). LCPR is the mean over the languages that have a WPR, but of one source see
// harmonicOfSource. For intervals, answers to one prompt in all languages are a cluster. N counts the items that
// were measured, and Counts the answers:
//
//	empty, refused, failed   no text
//	cannot_tell   too little prose, or alike in both languages
//	unchecked     no line was long enough, under the paper's protocols
//	no_reasoning  the part that is scored is missing
//	no_language   the expected language is unknown, or the identifier does not know it
//	full_answer, line   the answer has a line error: in all checked lines, in some
//	word          the answer has a word error
//	line_error    excluded from word-level figures, since the answer has a line error
//
// Faults is the share of all answers alike, whatever their language and source.
// Entropy and NucleusSize are unweighted means over answers (Protocol.PerToken: over tokens), and over all
// languages and sources unless figures are grouped by other columns than By. They
// count "tokens", the "censored" ones, and the answers with "no_logprobs".
func (r Rules) Estimator(by []string) crosstalk.Estimator {
	return &estimator{r, estimate.Groups[*sum]{Grouping: estimate.Grouping{By: by, Crossed: By, Apart: apart},
		New: func(map[string]string) *sum {
			return &sum{r.Protocol, map[cellKey]*cell{}, map[string]int{}}
		},
		Describe: func(name string, _, labels, _ map[string]string) estimate.Figure {
			f := estimate.Figure{By: by, Before: []int{slices.Index(kinds, labels["at"])},
				Unranked: []string{"at"}} // keeps figures of one distribution together
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

func (e *estimator) Add(o crosstalk.Observation) {
	for o := range Kind().WithFault(o) {
		e.add(o)
	}
}

func (e *estimator) add(o crosstalk.Observation) {
	name := rates
	if isUncertainty(o.Measure) {
		name = uncertainties
	}
	cluster := e.groups.Clusters.Number(o.Cluster)
	var shared *cell
	for _, g := range e.groups.Of(o.Condition, o.Labels, name, nil) {
		if g.Labels["language"] == crosstalk.All && g.Labels["source"] == crosstalk.All {
			shared = nil // the first group of those that differ in language and source only
		}
		shared = g.Sum.add(o, cluster, shared)
	}
}

func (e *estimator) Estimates(suites crosstalk.SuiteIDs) []crosstalk.Estimate {
	var estimates []crosstalk.Estimate
	groups := e.groups.Ordered()
	for len(groups) > 0 {
		n := 1
		for n < len(groups) && groups[n].Condition() == groups[0].Condition() {
			n++
		}
		for _, measure := range Kind().Measures {
			for _, g := range groups[:n] {
				if len(g.Sum.cellsOf(measure.Key)) > 0 {
					one := g.Sum.estimate(measure)
					one.By, one.Signature = g.Labels, e.rules.signature(measure.Key, g, suites)
					estimates = append(estimates, one)
				}
			}
		}
		groups = groups[n:]
	}
	return estimates
}
