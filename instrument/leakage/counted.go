package leakage

import (
	"hash/fnv"
	"strings"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// counted are the figures of the answers to test prompts alone (Smilga 2025, section 4): how often they repeat the
// concept, and how often different concepts get the same answer. They have no similarity; of several only the first
// one's observations are counted, which are of the same answers.
type counted struct {
	groups       estimate.Groups[*tally]
	similarities map[string]string // the first, by condition
}

// add counts an observation of the Leak-Rate.
func (c *counted) add(o crosstalk.Observation) {
	condition := with(o.Condition, SimilarityColumn, "")
	delete(condition, SimilarityColumn)
	name := string(crosstalk.Canonical(condition))
	first, known := c.similarities[name]
	if !known {
		first = o.Condition[SimilarityColumn]
		c.similarities[name] = first
	}
	if first != o.Condition[SimilarityColumn] {
		return
	}
	cluster := c.groups.Clusters.Number(o.Cluster)
	for _, g := range c.groups.Of(condition, o.Labels, MeasureRepeated, nil) {
		g.Sum.add(o, cluster)
	}
}

func (c *counted) estimates(r Rules, suites crosstalk.SuiteIDs) (list []crosstalk.Estimate) {
	for _, measure := range []string{MeasureRepeated, MeasureSame} {
		for _, g := range c.groups.Ordered() {
			list = append(list, g.Sum.estimate(measure, r, g.Labels, suites))
		}
	}
	return list
}

// tally is the answers to test prompts behind the figures of a group. It keeps
// hashes, since another concept's answer may turn out to be the same.
type tally struct {
	items    estimate.Items
	counts   map[string]int
	repeated stats.Clusters
	controls map[uint64]*control // by a hash
}

// control is the answers to the tests with one control.
type control struct {
	cluster stats.Cluster
	answers []struct{ concept, text uint64 }
}

func (t *tally) add(o crosstalk.Observation, cluster stats.Cluster) {
	text := o.Text(Test)
	if text == "" {
		t.counts[reasonOf(o)]++
		return
	}
	t.items.Add(o.Sample)
	concept := o.Text(Concept)
	repeats := remove(text, []string{concept}) != strings.Join(strings.Fields(text), " ")
	t.repeated.Add(cluster, float64(share(repeats)))
	key := hash(o.Cluster)
	if t.controls[key] == nil {
		t.controls[key] = &control{cluster: cluster}
	}
	of := t.controls[key]
	of.answers = append(of.answers, struct{ concept, text uint64 }{hash(concept), hash(normal(text))})
}

// normal is a text without case, white space and the marks around it.
func normal(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	return strings.TrimFunc(text, func(r rune) bool { return !isWord(r) })
}

func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// same are, for each answer to a test whose control has tests with several
// concepts, whether another concept got the answer too.
func (t *tally) same() *stats.Clusters {
	var values stats.Clusters
	for _, of := range t.controls {
		first, shared := map[uint64]uint64{}, map[uint64]bool{} // the concept of an answer, and whether it has another
		several := false
		for _, a := range of.answers {
			if _, again := first[a.text]; !again {
				first[a.text] = a.concept
			}
			shared[a.text] = shared[a.text] || first[a.text] != a.concept
			several = several || a.concept != of.answers[0].concept
		}
		for _, a := range of.answers {
			if several {
				values.Add(of.cluster, float64(share(shared[a.text])))
			}
		}
	}
	return &values
}

func (t *tally) estimate(measure string, r Rules, by map[string]string, suites crosstalk.SuiteIDs) crosstalk.Estimate {
	values := &t.repeated
	if measure == MeasureSame {
		values = t.same()
	}
	mean := stats.Mean(values, stats.Proportion, estimate.Level)
	e := crosstalk.Estimate{Measure: measure, N: min(t.items.N(), mean.N), Observations: mean.N,
		Clusters: mean.Clusters, Counts: t.counts, Better: crosstalk.Lower, By: by,
		Signature: estimate.Signature(by, measure, "suite:"+suites.Of(by), r.fields()[0])}
	estimate.Set(&e, mean.Value, mean.Interval, mean.Warnings)
	return e
}
