package main

import (
	"context"
	"errors"
	"testing"

	"crosstalk"
	"crosstalk/measure/similarity"
	"crosstalk/measure/stats"
	"crosstalk/model/reference"
)

// What has no figure or no interval counts against the coverage, but in no mean.
func TestSum(t *testing.T) {
	figure := func(value, low, high float64) crosstalk.Estimate {
		return crosstalk.Estimate{Value: crosstalk.Value(value), Interval: &crosstalk.Interval{Low: low, High: high}}
	}
	undefined := crosstalk.Estimate{Value: crosstalk.Undefined}
	for _, c := range []struct {
		of                    []crosstalk.Estimate
		mean, width, coverage float64
	}{
		{[]crosstalk.Estimate{figure(0.25, 0, 0.5), undefined, figure(0.75, 0.5, 0.75), {Value: 0.5}}, 0.5, 0.375, 0.5},
		{[]crosstalk.Estimate{figure(0.25, 0.25, 0.375), figure(0.5, 0.5625, 1)}, 0.375, 0.28125, 0},
		{[]crosstalk.Estimate{undefined}, 0, 0, 0},
	} {
		r := Result{Truth: 0.5}
		r.sum(c.of)
		certainty := stats.ClopperPearson(c.coverage*float64(len(c.of)), float64(len(c.of)), 0.99)
		if r.Mean != c.mean || r.Width != c.width || r.Coverage != c.coverage || r.Seeds != len(c.of) ||
			r.Certainty != certainty || r.Estimate.Interval != c.of[0].Interval {
			t.Errorf("%+v: %+v", c.of, r)
		}
	}
}

// A calibration ends with the first error of a seed.
func TestErrorsOfSeeds(t *testing.T) {
	broken := errors.New("broken")
	c := calibration{sittings: func(seed uint64) ([]sitting, error) {
		if seed == 2 {
			return nil, broken
		}
		return nil, nil
	}, rules: (&consistencyRules).Rules()}
	if _, err := c.run(bg, 3); err != broken {
		t.Error(err)
	}
	if results, err := c.run(bg, 2); results != nil || err != nil {
		t.Errorf("%v, %v", results, err)
	}
	in := instrument(failing{contains, broken})
	if _, err := coverLeakage(bg, in, items(1), 0.5, 0, 1); !errors.Is(err, broken) {
		t.Error(err)
	}
	stopped, stop := context.WithCancel(bg)
	stop()
	of := reference.Inconsistency{Flip: 0.2}
	if _, err := coverConsistency(stopped, consistencyInstrument(0), inputs(3), of, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

var consistencyRules = consistencyInstrument(0)

// failing is a similarity that breaks.
type failing struct {
	similarity.Similarity
	err error
}

func (f failing) Scores(context.Context, []similarity.Pair) ([]float64, error) { return nil, f.err }

func TestVerdictText(t *testing.T) {
	err := Verdict([]Result{{Model: "m", Measure: "lpr", Coverage: 0.8755, Seeds: 200, Certainty: stats.Interval{High: 0.92}}})
	const want = "m: the 95 % interval of lpr covers the truth in 87.5 % of 200 seeds; expected 93 to 97 %"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
