package compare

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/report"
)

// The shares of conditions, clusters, items and samples are those with which values were drawn.
func TestVariances(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	r := &recorded{}
	conditions := []columns{{"model": "a"}, {"model": "b"}, {"model": "c"}}
	for side, condition := range conditions {
		shift := []float64{-1, 0, 1}[side] // a variance of 1
		for cluster := range 1500 {
			c := rng.NormFloat64()
			for item := range 4 {
				i := rng.NormFloat64() * math.Sqrt2
				for k := range 2 {
					r.add("score", fmt.Sprint(4*cluster+item), fmt.Sprint(cluster), shift+c+i+2*rng.NormFloat64(), condition, nil)
					r.observations[len(r.observations)-1].Sample = k
				}
			}
		}
	}
	run := r.run(t)
	for i := range run.Estimates {
		run.Estimates[i].Value = crosstalk.Value(i - 1)
	}
	all, err := variances([]Run{run}, Options{})
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	s := all[0]
	near(t, "condition", float64(s.Condition), 1./8, 0.02)
	near(t, "cluster", float64(s.Cluster), 1./8, 0.02)
	near(t, "item", float64(s.Item), 2./8, 0.03)
	near(t, "sample", float64(s.Sample), 4./8, 0.03)
	near(t, "icc", float64(s.ICC), 1./7, 0.02)
	if s.Conditions != 3 || s.Items != 6000 || s.Measure != "score" {
		t.Errorf("%+v", s)
	}
}

// What cannot be told apart is undefined: one condition, no clusters, one answer to each item.
func TestVarianceUnknown(t *testing.T) {
	r := &recorded{}
	for i := range 50 {
		r.add("lpr", fmt.Sprint(i), "", float64(i%2), first, nil)
	}
	all, err := variances([]Run{r.run(t)}, Options{})
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	if s := all[0]; s.Condition.Defined() || s.Cluster.Defined() || s.Sample.Defined() || s.ICC.Defined() ||
		math.Abs(float64(s.Item)-1) > 1e-12 {
		t.Errorf("%+v", s)
	}
	harmonic := &recorded{}
	if _, err := variances([]Run{harmonic.run(t)}, Options{}); err == nil {
		t.Error("no figures")
	}
	for _, format := range report.Formats {
		var b bytes.Buffer
		if err := writeVariances(&b, format, all); err != nil || b.Len() == 0 {
			t.Errorf("%s: %v", format, err)
		}
	}
	var b bytes.Buffer
	if err := writeVariances(&b, "table", all); err != nil || !strings.Contains(b.String(), "100.0") || !strings.Contains(b.String(), "ICC") {
		t.Errorf("%v\n%s", err, &b)
	}
}
