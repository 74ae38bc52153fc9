package leakage

import (
	"math"
	"testing"

	"crosstalk"
)

func TestCounted(t *testing.T) {
	answered := func(item, concept, cluster, category, similarity, answer, reason string,
		sample int) crosstalk.Observation {
		o := scored(item, 1, "category", category)
		o.Cluster, o.Sample, o.NotScored = cluster, sample, reason
		o.Condition = map[string]string{"model": "m", "similarity": similarity}
		o.Texts = append(sides(answer, "b"), crosstalk.NamedText{Name: Concept, Text: concept})
		return o
	}
	p := Protocols[0]
	p.Counts = true
	var observations []crosstalk.Observation
	for _, similarity := range []string{"s", "t"} { // of the same answers
		observations = append(observations,
			answered("a", "red", "c", "x", similarity, "A red bus.", "", 0),
			answered("b", "blue", "c", "x", similarity, "a  RED bus", "", 0),
			answered("b", "blue", "c", "x", similarity, "A hat.", "", 1),
			answered("b2", "blue", "c", "x", similarity, "A hat.", "", 0), // another wording of the same concept
			answered("d", "green", "c", "x", similarity, "Greenish.", "no vector", 0),
			answered("e", "pink", "d", "y", similarity, "A red bus", "", 0), // alone with its control
			answered("f", "grey", "c", "y", similarity, "", "empty", 0))
	}
	byName := map[string]crosstalk.Estimate{}
	for _, e := range estimatesOf(p, []string{"category"}, crosstalk.SuiteIDs{}, observations...) {
		byName[e.Measure+" "+e.By["category"]+" "+e.By["similarity"]] = e
	}
	for name, want := range map[string]struct {
		value           float64
		n, observations int
	}{
		"concept_repeated all ": {1.0 / 6, 5, 6}, // of a alone
		"concept_repeated x ":   {1.0 / 5, 4, 5},
		"concept_repeated y ":   {0, 1, 1},
		"same_answer all ":      {2.0 / 5, 5, 5}, // of a and b
		"same_answer x ":        {2.0 / 5, 4, 5},
		"same_answer y ":        {math.NaN(), 0, 0},
	} {
		e, ok := byName[name]
		if !ok || !(math.Abs(float64(e.Value)-want.value) < 1e-12 || math.IsNaN(want.value) && !e.Value.Defined()) ||
			e.N != want.n || e.Observations != want.observations {
			t.Errorf("%s: %v of %d, %d observations; want %+v", name, e.Value, e.N, e.Observations, want)
		}
	}
	if e := byName["concept_repeated all "]; e.Counts["empty"] != 1 || e.Interval == nil || e.Signature != "concept_repeated|suite:-|post:sentence|v"+crosstalk.Version {
		t.Errorf("%+v", e)
	}
	for _, e := range estimatesOf(Protocols[0], nil, crosstalk.SuiteIDs{}, observations...) {
		if e.Measure != Measure {
			t.Errorf("%s was not asked for", e.Measure)
		}
	}
}
