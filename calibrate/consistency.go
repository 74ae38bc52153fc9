package calibrate

import (
	"context"
	"fmt"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/model/reference"
)

// coverConsistency calibrates the consistency of whole tasks (T), their accuracy in the new sense, and its change, on
// items with reference:inconsistent, over seeds. Each seed is a complete measurement: rewriting, answering in both
// senses, journal (in memory), reading, figures.
//
// The model answers all items alike, so the suite's items can be treated as a
// sample of a population. in names one source language and one sense.
func coverConsistency(ctx context.Context, in consistency.Instrument, items []crosstalk.Item,
	truth reference.Inconsistency, seeds int) ([]Result, error) {
	in.Senses.Parts = []consistency.Part{consistency.Both}
	in.Prompting.API, in.Rewriting.Prompting.API = crosstalk.Chat, crosstalk.Chat
	sense := consistency.Sense(in.Senses.From[0]).To(in.Senses.To[0])
	var results []Result
	for _, task := range in.Tasks {
		for _, r := range consistencyTruth(in.Protocol, len(task.Classes), truth) {
			r.Model = fmt.Sprintf("%s:inconsistent?flip=%g&invalid=%g&wrong=%g",
				reference.Provider, truth.Flip, truth.Invalid, truth.Wrong)
			r.Estimate.By = map[string]string{"task": task.Name, "pair": string(sense), "part": string(consistency.Both)}
			results = append(results, r)
		}
	}
	c := calibration{in: &in, rules: in.Rules(), results: results,
		sittings: func(seed uint64) ([]sitting, error) {
			m, err := reference.NewInconsistent(in.Tasks, items, truth, seed)
			return []sitting{{m, items}}, err
		}}
	return c.run(ctx, seeds)
}

// consistencyTruth returns the expected figures of a task with this number of classes.
func consistencyTruth(p consistency.Protocol, classes int, truth reference.Inconsistency) []Result {
	valid, same := 1-truth.Invalid, 1-truth.Flip
	consistent := same
	if p.InvalidIsClass {
		consistent = truth.Invalid*truth.Invalid + valid*valid*same
	}
	source := valid * (1 - truth.Wrong)
	// A wrong answer that flips falls on the right class by chance.
	right := valid * ((1-truth.Wrong)*same + truth.Wrong*truth.Flip/float64(classes-1))
	return []Result{{Measure: consistency.Consistency, Truth: consistent}, {Measure: consistency.Accuracy, Truth: right},
		{Measure: consistency.AccuracyChange, Truth: right - source}}
}
