package consistency

import (
	"cmp"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
	"crosstalk/measure/translation"
)

// apart lists columns whose values never share a figure.
var apart = []string{"task", "pair", "part"}

type estimator struct {
	rules  Rules
	detail bool // also computes figures by class of answers
	groups estimate.Groups[*sum]
}

// Estimator returns an estimator for each condition, task, pair of senses and part, and for each prefix of the other
// columns in by (estimate.Rollup). The counts:
//
//	invalid   pairs, or answers, without a label
//	flagged   pairs whose rewritten input has a flag
//	empty, no_answer, refused, failed   no text, or no answer in it
//	not_scored   no value for another reason: no recorded answer, no rewriting, no correct class
func (r Rules) Estimator(by []string) crosstalk.Estimator {
	columns := slices.DeleteFunc(slices.Clone(by), func(column string) bool { return column == ByClass })
	e := &estimator{rules: r, detail: slices.Contains(by, ByClass)}
	e.groups.Grouping, e.groups.Describe = estimate.Grouping{By: columns, Apart: apart}, e.describe
	e.groups.New = func(map[string]string) *sum {
		return &sum{bleu: map[stats.Cluster]translation.BLEUStats{}, clusters: &e.groups.Clusters,
			counts: map[string]int{Invalid: 0, "not_scored": 0, "empty": 0, "refused": 0, "failed": 0}}
	}
	return e
}

// ofClass lists the columns of figures by class of answers.
var ofClass = []string{"class", "from", "to"}

// describe sets the order of a task's figures: by measure, the columns in by, pair, part and class.
func (e *estimator) describe(measure string, _, labels, extra map[string]string) estimate.Figure {
	part := labels["part"]
	if of, set := extra["part"]; set {
		part = of
	}
	f := estimate.Figure{By: e.groups.By, Unranked: []string{"pair", "part"}, Before: []int{Kind().Place(measure)},
		After: []int{e.groups.Rank("pair", labels["pair"]), slices.Index(Parts, Part(part))}}
	classes := e.rules.classes(labels["task"])
	for _, column := range ofClass {
		f.After = append(f.After, slices.Index(classes, extra[column]))
	}
	return f
}

func (e *estimator) Add(o crosstalk.Observation) {
	cluster := e.groups.Clusters.Number(o.Cluster)
	for o := range Kind().WithFault(o) {
		for _, s := range e.rules.shares(o, e.detail) {
			for _, g := range e.groups.Of(o.Condition, o.Labels, s.measure, s.labels) {
				g.Sum.add(o, s, cluster)
			}
		}
	}
}

func (e *estimator) Estimates(suites crosstalk.SuiteIDs) []crosstalk.Estimate {
	var estimates []crosstalk.Estimate
	for _, g := range e.groups.Ordered() {
		one := g.Sum.estimate(g.Name)
		one.By, one.Signature = g.Labels, e.rules.signature(g.Name, g.Labels, suites)
		estimates = append(estimates, one)
	}
	return estimates
}

// Measures that only figures have.
const (
	consistencyCorrect   = "consistency_correct"      // over items whose source is answered correctly
	consistencyIncorrect = "consistency_incorrect"    // over items whose source is answered incorrectly
	consistencyBLEU50    = "consistency_bleu50"       // over items with BLEU above 50
	consistencyChange    = "consistency_change"       // change from the source asked again
	AccuracyChange       = "accuracy_change"          // change from the source
	invalidShare         = "invalid"                  // share of answers without a label
	bleuConsistency      = "bleu_consistency_pearson" // correlation of an item's BLEU with its consistency
	bleuAccuracy         = "bleu_accuracy_pearson"    // correlation with its accuracy
	BLEU                 = "bleu"                     // over all rewritten inputs as one corpus; 0 to 1
	labelShare           = "label_share"              // share of a class among the answers
	transition           = "transition"               // share of a class among items of another class in the source
)

// above is the BLEU that items of consistencyBLEU50 exceed.
const above = 0.5

// share is an observation's contribution to a figure.
type share struct {
	measure string
	labels  map[string]string // besides the observation's labels
	value   float64
	with    float64 // the number to correlate value with
	reason  string  // why there is no value
}

// shares returns an observation's shares in figures. With detail, they include figures by class.
func (r Rules) shares(o crosstalk.Observation, detail bool) []share {
	own := share{measure: o.Measure, value: float64(o.Value), reason: o.NotScored}
	switch o.Measure {
	case Consistency:
		return r.consistencyShares(o, own, detail)
	case Accuracy:
		return r.answerShares(o, own, detail)
	case itemBLEU:
		corpus := own
		corpus.measure = BLEU
		return []share{corpus, own}
	}
	return []share{own}
}

func (r Rules) consistencyShares(o crosstalk.Observation, own share, detail bool) []share {
	shares := []share{own}
	add := func(measure string, value, with float64) {
		shares = append(shares, share{measure: measure, value: value, with: with, reason: own.reason})
	}
	sourceRight, judged := o.Numbers[sourceCorrect]
	switch {
	case judged && sourceRight == 1:
		add(consistencyCorrect, own.value, 0)
	case judged:
		add(consistencyIncorrect, own.value, 0)
	}
	right, rightKnown := o.Numbers[correct]
	if judged && rightKnown { // an answer without a label is wrong, with or without a pair
		shares = append(shares, share{measure: AccuracyChange, value: right - sourceRight})
	}
	if repeat, ok := o.Numbers[repeated]; ok {
		add(consistencyChange, own.value-repeat, 0)
	}
	if bleu, ok := o.Numbers[bleuNumber]; ok {
		if bleu > above {
			add(consistencyBLEU50, own.value, 0)
		}
		add(bleuConsistency, own.value, bleu)
		if rightKnown {
			shares = append(shares, share{measure: bleuAccuracy, value: right, with: bleu})
		}
	}
	if detail && (own.reason == "" || own.reason == Invalid) {
		from := cmp.Or(o.Text(sourceClass), Invalid)
		for _, to := range r.classes(o.Labels["task"]) {
			shares = append(shares, share{measure: transition, labels: map[string]string{"from": from, "to": to},
				value: float64(VerdictOf(cmp.Or(o.Text(classText), Invalid) == to))})
		}
	}
	return shares
}

func (r Rules) answerShares(o crosstalk.Observation, own share, detail bool) []share {
	invalid := share{measure: invalidShare, value: float64(VerdictOf(o.Finding == Invalid)), reason: o.NotScored}
	if o.NotScored == noGold || o.NotScored == undefined {
		invalid.reason = ""
	}
	shares := []share{own, invalid}
	if !detail {
		return shares
	}
	byClass := func(found string, part Part, reason string) {
		for _, class := range r.classes(o.Labels["task"]) {
			labels := map[string]string{"class": class, "part": string(part)}
			value := float64(VerdictOf(found == class))
			shares = append(shares, share{measure: labelShare, labels: labels, value: value, reason: reason})
		}
	}
	part := Part(o.Labels["part"])
	byClass(cmp.Or(o.Text(classText), Invalid), part, invalid.reason)
	if gold := o.Text(goldText); gold != "" && part == Source && o.Sample == 0 {
		byClass(gold, Gold, "")
	}
	return shares
}

// classes returns the classes of a task, and Invalid.
func (r Rules) classes(task string) []string {
	if len(r.Classes[task]) == 0 {
		return nil
	}
	return append(slices.Clip(r.Classes[task]), Invalid)
}

// sum contains the observations behind one figure. It keeps sums per cluster, and for a correlation the pairs of
// values.
type sum struct {
	counts map[string]int
	items  estimate.Items

	values        stats.Clusters
	better, worse int       // for changes
	x, y          []float64 // for correlations
	bleu          map[stats.Cluster]translation.BLEUStats
	clusters      *stats.ClusterNames
}

func (g *sum) add(o crosstalk.Observation, s share, cluster stats.Cluster) {
	if o.Text(flagsText) != "" {
		g.counts["flagged"]++
	}
	switch s.reason {
	case "":
		if o.Finding == Invalid || o.Measure == Consistency && (o.Text(classText) == "" || o.Text(sourceClass) == "") {
			g.counts[Invalid]++
		}
	case Invalid, string(crosstalk.Empty), string(crosstalk.Refused), string(crosstalk.Failed):
		g.counts[s.reason]++
		return
	case string(crosstalk.NoAnswer):
		g.counts[crosstalk.Unanswering]++
		return
	default:
		g.counts["not_scored"]++
		return
	}
	g.items.Add(o.Sample)
	g.values.Add(cluster, s.value)
	switch s.measure {
	case consistencyChange, AccuracyChange:
		g.better += int(max(s.value, 0))
		g.worse += int(max(-s.value, 0))
	case bleuConsistency, bleuAccuracy:
		g.x, g.y = append(g.x, s.with), append(g.y, s.value)
	case BLEU:
		total := g.bleu[cluster]
		total.Add(bleuStats(o.Numbers))
		g.bleu[cluster] = total
	}
}

func (g *sum) estimate(measure string) crosstalk.Estimate {
	of := Kind().Measure(measure)
	e := crosstalk.Estimate{Measure: measure, Unit: of.Unit, Better: of.Better,
		N: g.items.N(), Observations: g.values.N(), Clusters: g.values.Len(), Counts: g.counts}
	switch measure {
	case bleuConsistency, bleuAccuracy:
		c := stats.Pearson(g.x, g.y, estimate.Level)
		estimate.Set(&e, c.Value, c.Interval, nil)
		e.Test = &crosstalk.Test{Method: "t", Statistic: crosstalk.Undefined,
			DF: crosstalk.Value(len(g.x) - 2), P: crosstalk.Value(c.P)}
		if e.Clusters < e.Observations {
			e.Warnings = append(e.Warnings, "interval and p treat all pairs of values as independent")
		}
	case BLEU:
		g.corpus(&e)
	case consistencyChange, AccuracyChange:
		g.mean(&e, stats.Difference)
		// McNemar's exact test if each cluster has one observation, otherwise flipping the signs of clusters.
		e.Test = &crosstalk.Test{Method: "mcnemar", Statistic: crosstalk.Undefined, DF: crosstalk.Undefined}
		if g.values.N() == g.values.Len() {
			e.Test.P = crosstalk.Value(stats.McNemar(g.better, g.worse))
		} else {
			e.Test.Method, e.Test.P = "sign-flip", crosstalk.Value(stats.SignFlip(&g.values, draws, seed))
		}
	case Quality:
		g.mean(&e, stats.Unbounded)
	default:
		g.mean(&e, stats.Proportion)
	}
	return e
}

func (g *sum) mean(e *crosstalk.Estimate, bounds stats.Bounds) {
	mean := stats.Mean(&g.values, bounds, estimate.Level)
	estimate.Set(e, mean.Value, mean.Interval, mean.Warnings)
}

// draws is the number of resamples. The seed is fixed: the same observations have the same figures.
const (
	draws = 2000
	seed  = 1
)

// corpus computes the BLEU of all texts together, with an interval from resampling clusters.
func (g *sum) corpus(e *crosstalk.Estimate) {
	clusters := slices.SortedFunc(maps.Keys(g.bleu), g.clusters.Compare)
	corpus := func(units []int) float64 {
		total := translation.BLEUStats{}
		for _, i := range units {
			total.Add(g.bleu[clusters[i]])
		}
		return total.Score() / 100
	}
	b := stats.UnitBootstrap(len(clusters), corpus, draws, estimate.Level, seed)
	b.Interval.Range = [2]float64{0, 1}
	estimate.Set(e, b.Value, b.Interval, b.Warnings)
}
