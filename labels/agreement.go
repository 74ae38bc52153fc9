package labels

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// The figures of an agreement. Kappa, alpha and tau-b are at most 1, and 0 for
// agreement as if by chance; the others are shares.
const (
	Rate         = "rate"           // mean value of the labels: for leakage the human Leak-Rate
	Share        = "share"          // of a label, or of a code
	TauB         = "tau-b"          // Kendall's
	CohensKappa  = "kappa"          // Cohen's, of two annotators, or of the instrument and the majority
	Alpha        = "alpha"          // Krippendorff's, nominal, of all annotators
	Sensitivity  = "sensitivity"    // found, of what the majority of people finds
	Specificity  = "specificity"    // not found, of what the majority of people does not find
	SameFindings = "same judgement" // as the majority: found by both or by neither; or the same class
)

// Figure is a figure of an agreement.
type Figure struct {
	Measure  string              `json:"measure"`
	Of       string              `json:"of"` // a label, an annotator, two of them, a similarity, or "people"
	By       map[string]string   `json:"by"` // the condition, or a column; empty: everything
	Value    crosstalk.Value     `json:"value"`
	Interval *crosstalk.Interval `json:"interval"`
	N        int                 `json:"n"` // questions
}

// Cell counts questions: what people say of them, by majority, and what the
// instrument found.
type Cell struct {
	Judge  string            `json:"judge,omitempty"`
	By     map[string]string `json:"by"`
	People string            `json:"people"`
	Found  string            `json:"found"`
	N      int               `json:"n"`
}

// Curve is tau-b of a judge and people at several slacks.
type Curve struct {
	Judge  string            `json:"judge"`
	By     map[string]string `json:"by"`
	N      int               `json:"n"` // questions
	Points []Point           `json:"points"`
}

// Point is a point of a Curve.
type Point struct {
	Slack float64         `json:"slack"`
	Tau   crosstalk.Value `json:"tau_b"`
}

// Disagreement is a question on which people and an instrument disagree.
type Disagreement struct {
	Judge      string            `json:"judge,omitempty"`
	Item       string            `json:"item"`
	Sample     int               `json:"sample"`
	Variant    string            `json:"variant,omitempty"`
	Line       int               `json:"line,omitempty"`
	Link       string            `json:"link,omitempty"` // to the answers of the item, below the address of a server
	Condition  map[string]string `json:"condition"`
	People     []string          `json:"people"` // labels, by annotator's name
	Found      string            `json:"found"`
	Difference crosstalk.Value   `json:"difference"` // of the two similarities
	Topic      string            `json:"topic"`
	Texts      []string          `json:"texts"`
	Gap        float64           `json:"gap"` // between the values of people and of the instrument
}

// Agreement is what people say of a run, and how far they agree with each other
// and with the instrument.
type Agreement struct {
	Question      string         `json:"question"`
	Labels        int            `json:"labels"`
	Questions     int            `json:"questions"` // with a label
	Units         int            `json:"units"`     // that could be asked about
	Annotators    []string       `json:"annotators"`
	Weighted      []string       `json:"weighted_by,omitempty"` // columns by which the sample was drawn
	Slack         float64        `json:"slack"`
	Figures       []Figure       `json:"figures"`
	Curves        []Curve        `json:"curves"`
	Cells         []Cell         `json:"cells"`
	Disagreements []Disagreement `json:"disagreements"`
	Unmatched     int            `json:"unmatched,omitempty"` // labels of answers that the run does not have

	link   func(item string) string // of Options
	short  bool                     // of Options
	groups []string                 // columns of groups that short tables leave out
}

// Options are the settings of Compare.
type Options struct {
	Slack float64                  // similarity differences that differ by no more are tied in tau-b
	By    []string                 // columns by whose values all figures are given too
	Worst int                      // number of disagreements to list for each judge
	Link  func(item string) string // to the answers of an item; nil: none
	Short bool                     // tables fit a screen: what matters most, by group only if By is stated
	Draws int                      // of the bootstrap; 0: 2,000
	Seed  uint64
}

// judgedUnit is a unit with its labels.
type judgedUnit struct {
	*Unit
	labels   map[string]string // by annotator
	majority string
	value    float64 // mean of the labels' values, NaN without any
	stratum  string  // of a stratified sample
	weight   float64 // units of its stratum for each labelled one
}

// comparison computes an Agreement.
type comparison struct {
	q      Question
	o      Options
	names  []string // of labels
	units  []judgedUnit
	result Agreement
}

// Compare compares labels with each other and with the instrument. Shares, rates,
// sensitivity and specificity are weighted so that they are those of the whole
// run where the sample was stratified. Intervals have a level of 95 %: those of
// stats.Mean for means, of a percentile bootstrap over clusters for the rest.
func (s *Sheet) Compare(d Design, labels []Label, o Options) (Agreement, error) {
	if math.IsNaN(o.Slack) || o.Slack < 0 {
		return Agreement{}, crosstalk.BadOption("slack", " is %v; expected a number that is not negative", o.Slack)
	}
	if err := s.CheckBy(o.By); err != nil {
		return Agreement{}, err
	}
	labels = s.own(labels)
	c := comparison{q: s.Question, o: o}
	var unmatched int
	c.units, unmatched = s.judged(d.By(), labels)
	c.result = Agreement{Question: s.Question.Name, Labels: len(labels) - unmatched, Questions: len(c.units), Units: len(s.Units),
		Annotators: annotators(c.units), Weighted: d.By(), Slack: o.Slack, Curves: []Curve{}, Cells: []Cell{}, Disagreements: []Disagreement{}, Unmatched: unmatched, link: o.Link, short: o.Short}
	if len(c.units) == 0 {
		return c.result, nil
	}
	c.names = labelNames(s.Question, c.units)
	c.people()
	c.annotators()
	c.judges()
	return c.result, nil
}

// judged returns the units that have labels, in the sheet's order, and the
// number of labels that belong to none.
func (s *Sheet) judged(by []string, labels []Label) (units []judgedUnit, unmatched int) {
	at := map[int]map[string]string{}
	for _, l := range labels {
		i, known := s.At[l.Key()]
		if !known {
			unmatched++
			continue
		}
		if at[i] == nil {
			at[i] = map[string]string{}
		}
		at[i][l.Annotator] = l.Label
	}
	all, labelled := map[string]float64{}, map[string]float64{}
	for i, u := range s.Units {
		name := u.stratum(by)
		all[name]++
		if at[i] != nil {
			labelled[name]++
		}
	}
	for _, i := range slices.Sorted(maps.Keys(at)) {
		u := judgedUnit{Unit: &s.Units[i], labels: at[i], weight: 1, value: s.Question.mean(at[i]), majority: s.Question.majority(at[i])}
		if len(by) > 0 {
			u.stratum = u.Unit.stratum(by)
			u.weight = all[u.stratum] / labelled[u.stratum]
		}
		units = append(units, u)
	}
	return units, unmatched
}

// mean is the mean value of labels, NaN if none has a value.
func (q Question) mean(labels map[string]string) float64 {
	sum, n := 0.0, 0.0
	for _, annotator := range slices.Sorted(maps.Keys(labels)) {
		if v := q.value(labels[annotator]); !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return sum / n
}

// majority is the most frequent label; a tie is undecided.
func (q Question) majority(labels map[string]string) string {
	counts := map[string]int{}
	for _, l := range labels {
		counts[l]++
	}
	best, most := q.Undecided, 0
	order := q.Labels()
	if q.Several {
		order = slices.Sorted(maps.Keys(counts))
	}
	for _, l := range order {
		switch n := counts[l]; {
		case n > most:
			best, most = l, n
		case n == most && n > 0:
			best = q.Undecided
		}
	}
	return best
}

func annotators(units []judgedUnit) []string {
	names := map[string]bool{}
	for _, u := range units {
		for a := range u.labels {
			names[a] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// group is units that share a condition or the value of a column.
type group struct {
	by    map[string]string
	units []judgedUnit
}

// groups are the units by a key, in order of first use.
func groups(units []judgedUnit, by func(judgedUnit) map[string]string) (list []group) {
	at := map[string]int{}
	for _, u := range units {
		columns := by(u)
		k := string(crosstalk.Canonical(columns))
		i, known := at[k]
		if !known {
			i = len(list)
			at[k] = i
			list = append(list, group{by: columns})
		}
		list[i].units = append(list[i].units, u)
	}
	return list
}

// apart are the columns of a unit that no figure mixes.
func (q Question) apart(u *Unit) map[string]string {
	columns := maps.Clone(u.Condition)
	if columns == nil {
		columns = map[string]string{}
	}
	for _, c := range q.Apart {
		if value, known := u.Columns[c]; known {
			columns[c] = value
		}
	}
	return columns
}

// grouped are the groups of figures: all that may be mixed, then each value of
// each column of by.
func (c *comparison) grouped(apart func(judgedUnit) map[string]string) (list []group) {
	for _, g := range groups(c.units, apart) {
		list = append(list, g)
		for _, column := range c.o.By {
			if _, there := g.by[column]; there {
				continue
			}
			parts := groups(g.units, func(u judgedUnit) map[string]string { return map[string]string{column: u.Column(column)} })
			slices.SortFunc(parts, func(a, b group) int { return compareNumbered(a.by[column], b.by[column]) })
			for _, p := range parts {
				maps.Copy(p.by, g.by)
				list = append(list, p)
			}
		}
	}
	return list
}

// people adds the figures of what people say.
func (c *comparison) people() {
	for _, g := range c.grouped(func(u judgedUnit) map[string]string { return c.q.apart(u.Unit) }) {
		rated := valued(g.units)
		c.addMean(Rate, "people", g.by, rated, func(u judgedUnit) float64 { return u.value })
		if len(c.result.Annotators) > 1 {
			for _, a := range c.result.Annotators {
				own := filter(rated, func(u judgedUnit) bool { return !math.IsNaN(c.value(u, a)) })
				c.addMean(Rate, a, g.by, own, func(u judgedUnit) float64 { return c.value(u, a) })
			}
		}
		for _, label := range c.names {
			if !slices.ContainsFunc(g.units, func(u judgedUnit) bool { return u.Choices == nil || slices.Contains(u.Choices, label) }) {
				continue // nobody could choose it
			}
			c.addMean(Share, label, g.by, g.units, func(u judgedUnit) float64 {
				n := 0.0
				for _, l := range u.labels {
					if l == label || c.q.Several && slices.Contains(strings.Split(l, "; "), label) {
						n++
					}
				}
				return n / float64(len(u.labels))
			})
		}
	}
}

// value is that of an annotator's label, NaN without one.
func (c *comparison) value(u judgedUnit, annotator string) float64 {
	label, given := u.labels[annotator]
	if !given {
		return math.NaN()
	}
	return c.q.value(label)
}

// addMean adds the mean of a value of these units, with the interval of all
// means; a weighted one has that of the bootstrap.
func (c *comparison) addMean(measure, of string, by map[string]string, units []judgedUnit, value func(judgedUnit) float64) {
	if len(units) == 0 {
		return
	}
	values := each(units, value)
	if slices.ContainsFunc(units, func(u judgedUnit) bool { return u.weight != units[0].weight }) {
		c.add(measure, of, by, units, func(at []int) float64 {
			sum, n := 0.0, 0.0
			for _, i := range at {
				sum += units[i].weight * values[i]
				n += units[i].weight
			}
			return sum / n
		}, stats.Proportion)
		return
	}
	var clusters stats.Clusters
	var names stats.ClusterNames
	for i, u := range units {
		clusters.Add(names.Number(u.Cluster), values[i])
	}
	c.result.Figures = append(c.result.Figures, Figure{Measure: measure, Of: of, By: by, N: len(units), Value: crosstalk.Value(clusters.Mean()),
		Interval: stats.Mean(&clusters, stats.Proportion, estimate.Level).Interval.Known()})
}

// addShare adds a share of units of a group: of those that are of a kind, how many the
// judge finds right, as sensitivity and specificity. In a sample by finding some units
// weigh much more than others, and the bootstrap does not see that few or none of them
// was drawn, so that the interval also contains that of the strata. Labels of other
// groups count in the strata, too.
func (j judge) addShare(measure string, g group, labelled []judgedUnit, kind, right func(judgedUnit) bool) {
	own := filter(g.units, kind)
	j.addMean(measure, j.of, g.by, own, oneIf(right))
	if len(j.result.Weighted) == 0 || len(own) == 0 {
		return
	}
	strata := [2]map[string]stats.Stratum{{}, {}} // misses and hits
	count := func(units []judgedUnit, add stats.Stratum) {
		for _, u := range units {
			side := strata[int(oneIf(right)(u))]
			s := side[u.stratum]
			side[u.stratum] = stats.Stratum{N: s.N + add.N*u.weight, Labels: s.Labels + add.Labels, Count: s.Count + add.Count}
		}
	}
	count(labelled, stats.Stratum{N: 1, Labels: 1})
	count(own, stats.Stratum{Count: 1})
	var lists [2][]stats.Stratum
	for side := range lists {
		for _, name := range slices.Sorted(maps.Keys(strata[side])) {
			lists[side] = append(lists[side], strata[side][name])
		}
	}
	_, i := stats.StratifiedShare(lists[1], lists[0], estimate.Level)
	f := &j.result.Figures[len(j.result.Figures)-1]
	if f.Interval != nil {
		i.Low, i.High = min(i.Low, f.Interval.Low), max(i.High, f.Interval.High)
	}
	f.Interval = i.Known()
}

// pairsPerFigure bounds the pairs of units in all resamples of a tau-b.
const pairsPerFigure = 3e8

// statistic is one of some units, given by their indexes, with repeats.
type statistic func(at []int) float64

// of is the statistic of all n units.
func (s statistic) of(n int) float64 {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return s(all)
}

// fewestResampled is how many units a bootstrap takes: the resamples of fewer have few
// values.
const fewestResampled = 10

// add adds a figure of these units, with the interval of a bootstrap over their
// clusters. There is none of few units, and none where one resample in ten has no
// value or where the ends are equal.
func (c *comparison) add(measure, of string, by map[string]string, units []judgedUnit, stat statistic, bounds stats.Bounds) {
	if len(units) == 0 {
		return
	}
	if by == nil {
		by = map[string]string{}
	}
	f := Figure{Measure: measure, Of: of, By: by, N: len(units), Value: crosstalk.Value(stat.of(len(units)))}
	clusters := clustersOf(units)
	if f.Value.Defined() && len(units) >= fewestResampled && len(clusters) > 1 {
		draws := cmp.Or(c.o.Draws, 2000)
		if measure == TauB {
			draws = min(draws, max(200, int(pairsPerFigure/float64(len(units)*len(units)/2+1))))
		}
		b := stats.UnitBootstrap(len(clusters), func(drawn []int) float64 {
			list := make([]int, 0, 2*len(units))
			for _, i := range drawn {
				list = append(list, clusters[i]...)
			}
			return stat(list)
		}, stats.BootstrapOptions{Draws: draws, Level: estimate.Level, Seed: c.o.Seed, Bounds: bounds})
		if b.Interval.Low < b.Interval.High && b.Skipped <= draws/10 {
			f.Interval = b.Interval.Known()
		}
	}
	c.result.Figures = append(c.result.Figures, f)
}

// clustersOf are the indexes of the units of each cluster, in order of first use.
func clustersOf(units []judgedUnit) (list [][]int) {
	at := map[string]int{}
	for i, u := range units {
		k, known := at[u.Cluster]
		if !known {
			k = len(list)
			at[u.Cluster] = k
			list = append(list, nil)
		}
		list[k] = append(list[k], i)
	}
	return list
}

func valued(units []judgedUnit) []judgedUnit {
	return filter(units, func(u judgedUnit) bool { return !math.IsNaN(u.value) })
}

func filter(units []judgedUnit, keep func(judgedUnit) bool) (list []judgedUnit) {
	for _, u := range units {
		if keep(u) {
			list = append(list, u)
		}
	}
	return list
}

// each is a property of each unit.
func each[T any](units []judgedUnit, of func(judgedUnit) T) []T {
	list := make([]T, len(units))
	for i, u := range units {
		list[i] = of(u)
	}
	return list
}

// pick is the elements at these indexes.
func pick[T any](list []T, at []int) []T {
	picked := make([]T, len(at))
	for k, i := range at {
		picked[k] = list[i]
	}
	return picked
}

// tau is tau-b of two values of units, the second with slack.
func tau(units []judgedUnit, a, b func(judgedUnit) float64, slack float64) statistic {
	x, y := each(units, a), each(units, b)
	return func(at []int) float64 { return stats.KendallTauB(pick(x, at), pick(y, at), 0, slack) }
}
