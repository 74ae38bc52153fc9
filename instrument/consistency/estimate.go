package consistency

import (
	"iter"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/measure/stats"
)

// Level is the level of all intervals.
const Level = 0.95

// set columns never share a figure, whatever figures are grouped by.
var set = []string{"task", "pair", "part"}

// ByClass is the column whose presence in by adds the figures that take
// answers apart by class: LabelShare and Transition.
const ByClass = "class"

// Estimate returns the figures of each condition, task, pair of senses and
// part, and for each prefix of the other columns in by (crosstalk.Rollup). The
// counts:
//
//	invalid   pairs, or answers, without a label
//	flagged   pairs whose rewritten input has a flag
//	empty, refused, failed   there was no text
//	not_scored   there is no value for another reason: no answer was recorded, nothing was rewritten, nobody said what is right
func (in *Instrument) Estimate(observations iter.Seq[crosstalk.Observation], by []string) []crosstalk.Estimate {
	return in.Rules().Estimate(observations, by, in.SuiteOf)
}

// Rules are all that figures over the same answers depend on.
type Rules struct {
	Protocol
	Classes   map[string][]string // by task
	Free      string              // the name of what compares free answers
	Quality   string              // the name of the external scorer
	Languages string              // the name of what flags wrong languages
	Rewrites  string              // where rewritten instructions come from, and who looked at them
	Review    string              // of answers
}

// Rules returns the instrument's rules.
func (in *Instrument) Rules() Rules {
	r := Rules{Protocol: in.Protocol, Classes: map[string][]string{}, Rewrites: in.Rewrites, Review: in.Overrides.ID()}
	for _, task := range in.Tasks {
		r.Classes[task.Name] = task.Classes
	}
	if in.Free != nil {
		r.Free = in.Free.Name()
	}
	if in.Quality != nil {
		r.Quality = in.Quality.Name()
	}
	if in.Languages != nil {
		r.Languages = in.Languages.Name()
	}
	return r
}

// Estimate is Instrument.Estimate over observations that an instrument of
// these rules made earlier.
func (r Rules) Estimate(observations iter.Seq[crosstalk.Observation], by []string, suiteOf func(group map[string]string) string) []crosstalk.Estimate {
	b := &book{rules: r, by: by, known: map[string][]*group{}, groups: map[string]*group{}, seen: crosstalk.Ranks{}}
	detail := slices.Contains(by, ByClass)
	for o := range observations {
		for _, s := range r.shares(o, detail) {
			for _, g := range b.groupsOf(o, s) {
				g.add(o, s, b.names.Name(o.Cluster))
			}
		}
	}
	ordered := slices.SortedFunc(maps.Values(b.groups), func(a, b *group) int { return slices.Compare(a.places, b.places) })
	estimates := make([]crosstalk.Estimate, len(ordered))
	for i, g := range ordered {
		estimates[i] = g.estimate()
		estimates[i].Signature = r.signature(g.figure, g.labels, suiteOf)
	}
	return estimates
}

// book keeps the groups of observations, a group for each figure.
type book struct {
	rules  Rules
	by     []string
	known  map[string][]*group // by figure, condition and columns
	groups map[string]*group   // by figure and labels
	seen   crosstalk.Ranks
	names  stats.ClusterNames
	key    []byte
}

// groupsOf returns the groups that an observation's share belongs to.
func (b *book) groupsOf(o crosstalk.Observation, s share) []*group {
	b.key = append(b.key[:0], s.figure...)
	add := func(value string) { b.key = append(append(b.key, 0), value...) }
	for _, name := range slices.Sorted(maps.Keys(o.Condition)) {
		add(name)
		add(o.Condition[name])
	}
	for _, columns := range [][]string{set, b.by} {
		for _, column := range columns {
			add(o.Labels[column])
		}
	}
	for _, column := range ofClass {
		add(s.labels[column])
	}
	groups, ok := b.known[string(b.key)]
	if !ok {
		groups = b.newGroups(o, s)
		b.known[string(b.key)] = groups
	}
	return groups
}

// ofClass are the columns of figures that take answers apart by class.
var ofClass = []string{"class", "from", "to", "part"}

func (b *book) newGroups(o crosstalk.Observation, s share) (groups []*group) {
	condition := map[string]string{"task": o.Labels["task"]}
	maps.Copy(condition, o.Condition)
	var within []string // the columns that part a form's figures
	for _, column := range b.by {
		if _, constant := condition[column]; !constant && column != ByClass && !slices.Contains(set, column) && !slices.Contains(within, column) {
			within = append(within, column)
		}
	}
	rank := b.seen.Rank(string(crosstalk.Canonical(condition)))
	for _, labels := range crosstalk.Rollup(o.Labels, within) {
		places := []int{rank, slices.Index(figures, s.figure)}
		for _, column := range within {
			places = append(places, b.seen.Rank(column, labels[column]))
		}
		maps.Copy(labels, condition)
		for _, column := range []string{"pair", "part"} {
			if value := o.Labels[column]; value != "" {
				labels[column] = value
			}
		}
		maps.Copy(labels, s.labels)
		places = append(places, b.seen.Rank("pair", labels["pair"]), slices.Index(Parts, Part(labels["part"])))
		for _, column := range ofClass[:3] {
			places = append(places, slices.Index(b.rules.classes(o), labels[column]))
		}
		key := s.figure + string(crosstalk.Canonical(labels))
		if b.groups[key] == nil {
			b.groups[key] = newGroup(s.figure, labels, places)
		}
		groups = append(groups, b.groups[key])
	}
	return groups
}
