package confusion

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/stats"
)

// Level is the level of all intervals.
const Level = 0.95

// set columns never share a figure, whatever figures are grouped by: answers
// in the language of the prompt and in another are two tasks, and doubt at
// confusion points and elsewhere two things.
var set = []string{"task", "at"}

// measures are in the order of their figures.
var measures = []string{LPR, WPR, LCPR, LineAccuracy, LatinWPR, Entropy, NucleusSize}

// By are the columns that averages are taken over, and that figures are
// grouped by unless the user says otherwise.
var By = []string{"language", "source"}

// Estimate returns the figures over all observations of each condition and
// task and, where by names them, for each language, each source and both, all
// that for each prefix of the other columns in by (crosstalk.Rollup). A figure
// over several languages is the plain mean over them, and a language's the
// plain mean over its sources (Marchisio et al. 2024, section 3.3). LCPR is
// the mean over the languages that have a WPR. Intervals take answers to one
// prompt, in whatever language, as a cluster. N counts items, and Counts the
// answers:
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
func (in *Instrument) Estimate(observations iter.Seq[crosstalk.Observation], by []string) []crosstalk.Estimate {
	return in.Rules().Estimate(observations, by, in.SuiteOf)
}

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

// Estimate is Instrument.Estimate over observations that an instrument of
// these rules made earlier.
func (r Rules) Estimate(observations iter.Seq[crosstalk.Observation], by []string, suiteOf func(group map[string]string) string) []crosstalk.Estimate {
	b := &book{by: by, known: map[string][]*group{}, groups: map[string]*group{}, seen: crosstalk.Ranks{}}
	for o := range observations {
		for _, g := range b.groupsOf(o) {
			g.add(o, b.clusters.Name(o.Cluster))
		}
	}
	groups := slices.SortedFunc(maps.Values(b.groups), func(a, b *group) int { return slices.Compare(a.places, b.places) })
	var estimates []crosstalk.Estimate
	for len(groups) > 0 {
		n := 1
		for n < len(groups) && groups[n].places[0] == groups[0].places[0] {
			n++
		}
		for _, measure := range measures {
			for _, g := range groups[:n] {
				if g.has(measure) {
					e := g.estimate(r.Protocol, measure)
					e.Signature = r.signature(measure, g, suiteOf)
					estimates = append(estimates, e)
				}
			}
		}
		groups = groups[n:]
	}
	return estimates
}

// book keeps the groups of observations.
type book struct {
	by       []string
	known    map[string][]*group // by the observation's condition and columns
	groups   map[string]*group   // by their labels
	seen     crosstalk.Ranks
	clusters stats.ClusterNames
	key      []byte
}

// groupsOf returns the groups that an observation belongs to.
func (b *book) groupsOf(o crosstalk.Observation) []*group {
	b.key = b.key[:0]
	for _, name := range slices.Sorted(maps.Keys(o.Condition)) {
		b.key = append(append(append(append(b.key, name...), 0), o.Condition[name]...), 0)
	}
	for _, columns := range [][]string{set, b.by} {
		for _, column := range columns {
			b.key = append(append(b.key, o.Labels[column]...), 0)
		}
	}
	groups, ok := b.known[string(b.key)]
	if !ok {
		groups = b.newGroups(o)
		b.known[string(b.key)] = groups
	}
	return groups
}

func (b *book) newGroups(o crosstalk.Observation) (groups []*group) {
	condition := map[string]string{}
	maps.Copy(condition, o.Condition)
	for _, column := range set {
		if value := o.Labels[column]; value != "" {
			condition[column] = value
		}
	}
	by := b.by
	if isDoubt(o.Measure) && slices.Equal(by, By) {
		by = nil
	}
	apart := maps.Clone(condition)
	delete(apart, "at") // figures of one distribution stand together
	rank := b.seen.Rank(string(crosstalk.Canonical(apart)))
	for _, labels := range parts(by, o.Labels, condition) {
		places := []int{rank, slices.Index(kinds, condition["at"])}
		for _, column := range by {
			places = append(places, b.seen.Rank(column, labels[column]))
		}
		maps.Copy(labels, condition)
		key := string(crosstalk.Canonical(labels))
		if b.groups[key] == nil {
			b.groups[key] = &group{labels: labels, places: places, cells: map[place]*cell{}}
		}
		groups = append(groups, b.groups[key])
	}
	return groups
}

// parts returns the labels of the groups within a condition that an
// observation with these labels belongs to.
func parts(by []string, of, condition map[string]string) (parts []map[string]string) {
	var within []string
	for _, column := range by {
		if _, constant := condition[column]; !constant && !slices.Contains(By, column) && !slices.Contains(within, column) {
			within = append(within, column)
		}
	}
	for _, labels := range crosstalk.Rollup(of, within) {
		crossed := []map[string]string{labels}
		for _, column := range By {
			for _, labels := range crossed {
				labels[column] = crosstalk.All
				if value := of[column]; value != "" && value != crosstalk.All && slices.Contains(by, column) {
					one := maps.Clone(labels)
					one[column] = value
					crossed = append(crossed, one)
				}
			}
		}
		parts = append(parts, crossed...)
	}
	return parts
}

func (g *group) estimate(p Protocol, measure string) crosstalk.Estimate {
	figure, warnings := g.figure(p, measure)
	e := crosstalk.Estimate{Measure: measure, Value: crosstalk.Value(figure.Value), Unit: units[measure], Counts: map[string]int{},
		By: g.labels, Warnings: warnings}
	if !isDoubt(measure) {
		e.Average, e.Better = averageOf(measure), crosstalk.Higher
	}
	for _, c := range g.cellsOf(measure) {
		e.N += c.items.n
		e.Observations += c.values.N()
		for reason, n := range c.counts {
			e.Counts[reason] += n
		}
	}
	e.Clusters = min(figure.Clusters, e.Observations) // LCPR has each answer in two parts
	if i := figure.Interval; i.Defined() {
		e.Interval = &crosstalk.Interval{Low: i.Low, High: i.High, Level: i.Level, Method: i.Method}
	}
	return e
}

func (r Rules) signature(measure string, g *group, suiteOf func(map[string]string) string) string {
	suite := "-"
	if suiteOf != nil {
		suite = strings.NewReplacer("|", "_", "\n", "_", "\r", "_").Replace(suiteOf(g.labels)) // it may be a file's name
	}
	parts := []string{measure, "suite:" + suite, "lid:" + r.Identifier, r.lineRules(), "segment:" + Segmenters}
	switch {
	case isDoubt(measure):
		parts = append(parts, r.wordRules(r.Words), fmt.Sprintf("top:%d", r.Candidates), g.labels["distribution"])
		if measure == NucleusSize {
			parts = append(parts, fmt.Sprintf("p=%g", g.cells[place{measure: measure}].topP))
		}
	case measure == WPR || measure == LCPR:
		parts = append(parts, r.wordRules(r.Words))
	}
	return strings.Join(append(parts, "v"+crosstalk.Version), "|")
}
