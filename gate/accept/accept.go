// Package accept decides whether a model is good enough with as few items as possible: it stops as soon as the verdict
// is certain, whatever the number of looks (stats.Sequential).
package accept

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"crosstalk"
	"crosstalk/gate"
	"crosstalk/instrument"
	"crosstalk/measure/stats"
	"crosstalk/run"
	"crosstalk/study"
)

// Acceptance asks the items of a suite in random order, and stops as soon as it is certain whether a model is good
// enough: no more than a margin worse than a baseline on the same items, or within a bound.
type Acceptance struct {
	Target  string `json:"target"`  // one of Targets; "": Suite
	Measure string `json:"measure"` // "": the measure of Require

	// Baseline is a run of the same items and rules, or a second model to ask: the study's first condition.
	Baseline string  `json:"baseline,omitempty"`
	Margin   float64 `json:"-"`
	Require  string  `json:"require,omitempty"` // a gate.Requirement without by and where, instead of a baseline
	Level    float64 `json:"-"`                 // wrong verdicts of each kind have a probability of at most 1-Level
	Seed     uint64  `json:"seed"`              // for the order of items
}

// What a verdict applies to.
const (
	Suite   = "suite"   // the whole suite: its last item decides at the latest
	Prompts = "prompts" // all prompts like these; there may be no verdict
)

// Targets lists all targets.
var Targets = []string{Suite, Prompts}

// Schema names the machine format of a Result.
const Schema = "crosstalk/accept/v1"

// CannotTell is the outcome if everything was read without a verdict.
const CannotTell stats.Outcome = "cannot tell"

// Result is the content of RUN/accept.json and of --format json.
type Result struct {
	Schema   string        `json:"schema"`
	Settings Settings      `json:"settings"`
	Outcome  stats.Outcome `json:"outcome"` // or CannotTell; empty: not finished
	Read     int           `json:"read"`    // items
	Better   float64       `json:"better"`  // sum of the differences on items where the new model is better
	Worse    float64       `json:"worse"`

	Unchecked int `json:"unchecked"` // items with an unchecked answer: the worst for either verdict

	// Loss is how much worse the new model is or, for a bound, its rate of answers on the wrong side. The interval is a
	// confidence sequence: it is valid although the stopping time was not fixed. Each side has the level.
	Loss     crosstalk.Value    `json:"loss"`
	Interval crosstalk.Interval `json:"interval"`
	Evidence [2]crosstalk.Value `json:"evidence"` // for accepting and rejecting; decisive at 1/(1-level); null: certainty
	Cost     float64            `json:"cost,omitempty"`
	Of       float64            `json:"cost_of_all,omitempty"` // cost of all items at the same cost per item
}

// Settings must not change once the first item has been asked.
type Settings struct {
	Acceptance
	Observed string               `json:"baseline_sha256,omitempty"` // of the baseline's observations
	Lower    bool                 `json:"lower_is_better,omitempty"`
	Suite    string               `json:"suite"`
	Items    int                  `json:"items"`
	Units    int                  `json:"units"` // items, or clusters that are read as a whole
	Order    string               `json:"order_sha256"`
	Test     stats.SequentialPlan `json:"test"`
}

// perRound returns how many units are asked at a time: in batches, at least a tenth of all.
func perRound(units int, batched bool) int {
	if batched {
		return max(32, (units+9)/10)
	}
	return 32
}

// Run asks in rounds, replaying earlier answers, and returns the verdict, which it writes beside the settings. The
// settings are written before the first item is asked; it is an error if the run has an acceptance with other settings.
func (a Acceptance) Run(ctx context.Context, s *study.Study, m *study.Measurement) (of Result, err error) {
	settings, old, units, err := a.settings(s)
	if err != nil {
		return of, err
	}
	test, err := stats.NewSequential(settings.Test)
	if err != nil {
		return of, err
	}
	of = Result{Schema: Schema, Settings: settings, Loss: crosstalk.Undefined}
	if err := begin(m.Dir.Path, of); err != nil {
		return of, err
	}
	asked, sum := 0, 0.0
	for chunk := range slices.Chunk(units, perRound(len(units), m.Batched())) {
		answers, err := m.Round(ctx, slices.Concat(chunk...))
		if err != nil {
			return of, err
		}
		asked += len(answers)
		for i := 0; i < len(chunk) && test.Outcome == stats.Open; i++ {
			var accept, reject float64
			for _, number := range chunk[i] {
				x, err := settings.difference(answers[number], old[number])
				if err != nil {
					return of, err
				}
				accept, reject = accept+x.most, reject+x.least
				if of.Read++; x.least != x.most {
					of.Unchecked++
					continue
				}
				sum += x.most
				of.Worse += max(0, x.most)
				of.Better += max(0, -x.most)
			}
			test.Add(len(chunk[i]), accept, reject)
		}
		if test.Outcome != stats.Open {
			break
		}
	}
	of.Outcome = cmp.Or(test.Outcome, CannotTell)
	of.Loss = crosstalk.Value(sum / float64(of.Read-of.Unchecked)) // undefined if none was checked
	low, high := test.Bounds()
	if a.Require != "" {
		low = max(0, low)
	}
	of.Interval = crosstalk.Interval{Low: low, High: high, Level: a.Level, Method: "confidence-sequence"}
	for i, e := range test.Evidence {
		of.Evidence[i] = crosstalk.Value(e)
	}
	spent := m.Session.Stats()
	if of.Cost = spent.Cost + spent.CachedCost; asked > 0 {
		of.Of = of.Cost * float64(settings.Items) / float64(asked)
	}
	return of, write(m.Dir.Path, of)
}

// settings fixes the order and the test. old are the values of a baseline run, by the numbers of items.
func (a Acceptance) settings(s *study.Study) (of Settings, old []score, units [][]int, err error) {
	a.Target = cmp.Or(a.Target, Suite)
	if _, err := crosstalk.Chosen("target", a.Target, Targets); err != nil {
		return of, nil, nil, err
	}
	var required gate.Requirement
	if a.Require != "" {
		if required, err = gate.Parse(a.Require); err != nil {
			return of, nil, nil, crosstalk.BadOption("require", ": %w", err)
		}
		a.Measure = required.Measure
	}
	of = Settings{Acceptance: a, Suite: s.Suite.ID(), Items: s.Suite.Items.Len(),
		Test: stats.SequentialPlan{Margin: a.Margin, Level: a.Level, Discord: a.Margin, Together: 1}}
	manifest, err := run.ReadManifest(a.Baseline)
	isRun, conditions := a.Baseline != "" && err == nil, 1
	if a.Baseline != "" && !isRun {
		conditions = 2
	}
	if len(s.Protocols) != 1 || len(s.Protocols[0].Conditions) != conditions {
		return of, nil, nil, errors.New("an acceptance is of one model, one setting and one protocol; expected no sweep")
	}
	better, err := direction(s.Protocols[0].Rules, a.Measure)
	if err != nil {
		return of, nil, nil, err
	}
	of.Lower = better == crosstalk.Lower
	old = make([]score, of.Items)
	switch {
	case isRun:
		old, err = of.read(s, manifest)
	case a.Require != "":
		of.Test.Margin, err = slack(required, better)
		of.Test.Discord = of.Test.Margin
	}
	if err != nil {
		return of, nil, nil, err
	}
	units = s.Shuffled(a.Seed, a.Target == Prompts)
	of.Units, of.Order = len(units), fmt.Sprintf("%x", sha256.Sum256(crosstalk.Canonical(units)))
	for _, unit := range units {
		of.Test.Together = max(of.Test.Together, len(unit))
	}
	least := int(math.Ceil(3 / of.Test.Margin))
	switch {
	case a.Target == Suite:
		of.Test.Population = of.Items
	case of.Test.Together > 1 && len(units) < least:
		err = fmt.Errorf("the %d items are in %d clusters; a verdict about all such prompts with a margin of %g %% "+
			"needs %d or more: use --target suite", of.Items, len(units), math.Round(1e4*of.Test.Margin)/100, least)
	}
	return of, old, units, err
}

// slack is the share of answers that a bound allows on its wrong side.
func slack(r gate.Requirement, better crosstalk.Direction) (float64, error) {
	value, err := r.Value.Of("")
	op, example, rest := ">=", "98%", 1-value
	if better == crosstalk.Lower {
		op, example, rest = "<=", "60%", value
	}
	switch {
	case err != nil:
	case len(r.By)+len(r.Where) > 0:
		err = errors.New("by and where are for gate: an acceptance is of all items")
	case r.Op != op || value <= 0 || value >= 1:
		err = fmt.Errorf("%q: expected a bound such as %s%s%s", r.Text, r.Measure, op, example)
	}
	if err != nil {
		return 0, crosstalk.BadOption("require", ": %w", err)
	}
	return rest, nil
}

// direction returns which values of a measure are better, according to its instrument's figures.
func direction(rules crosstalk.Rules, measure string) (crosstalk.Direction, error) {
	e := rules.Estimator(nil)
	e.Add(crosstalk.Observation{Measure: measure, Item: "a", Value: 1, Condition: map[string]string{}})
	for _, figure := range e.Estimates(crosstalk.SuiteIDs{}) {
		if figure.Measure == measure && figure.Better != "" && figure.Unit == "" && figure.N == 1 &&
			!instrument.Of(measure).Measure(measure).LeavesOut {
			return figure.Better, nil
		}
	}
	return "", unfit(measure)
}

// unfit returns the error for a measure whose figure is not a mean over all answers.
func unfit(measure string) error {
	return crosstalk.BadOption("measure", " is %q; expected one that each answer has and that can be better or worse: "+
		"lpr, line_accuracy, leak_rate, consistency, accuracy, or faults for any fault of an answer. Others leave out "+
		"answers with another fault (as wpr does) or combine figures (as lcpr does), so that no answer decides alone",
		measure)
}

// between bounds a value between 0, wrong, and 1, right, or a difference.
type between struct{ least, most float64 }

// score sums up the values of an item's observations.
type score struct {
	between
	n int // observations
}

// mean returns the mean over the observations; any value is possible if there are none.
func (s score) mean() between {
	if s.n == 0 {
		return between{0, 1}
	}
	return between{s.least / float64(s.n), s.most / float64(s.n)}
}

// difference returns how much worse the new model is on an item: the mean over its observations of 1 if the old model
// was right and the new one wrong, and -1 the other way around. For a bound, it is how wrong the new one is. answers
// are the observations under each condition.
func (of Settings) difference(answers [][]crosstalk.Observation, old score) (between, error) {
	newly, err := of.score(answers[len(answers)-1])
	if err == nil && len(answers) > 1 {
		old, err = of.score(answers[0])
	}
	if err != nil {
		return between{}, err
	}
	was, now := old.mean(), newly.mean()
	if of.Require != "" {
		was.least = 1
	}
	x := between{was.least - now.most, was.most - now.least}
	step := of.Test.Step
	if step > 0 && (math.Mod(x.least, step) != 0 || math.Mod(x.most, step) != 0) {
		return x, fmt.Errorf("a difference is %v; expected a multiple of %v, as those of the baseline are", x.most, step)
	}
	return x, nil
}

// score sums up the values of an item's first sample.
func (of Settings) score(observations []crosstalk.Observation) (s score, err error) {
	for _, o := range observations {
		if err := of.add(&s, o); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (of Settings) add(s *score, o crosstalk.Observation) error {
	if kind := instrument.Of(of.Measure); kind.Faults.Measure == of.Measure {
		o, _ = kind.Fault(o)
	}
	if o.Measure != of.Measure || o.Sample > 0 {
		return nil
	}
	v := between{float64(o.Value), float64(o.Value)}
	switch {
	case !o.Value.Defined():
		v = between{0, 1}
	case o.Value < 0 || o.Value > 1:
		return crosstalk.BadOption("measure", " is %s, with a value of %v; expected values from 0 to 1",
			of.Measure, o.Value)
	case of.Lower:
		v = between{1 - v.most, 1 - v.least}
	}
	*s = score{between{s.least + v.least, s.most + v.most}, s.n + 1}
	return nil
}

// read reads a baseline run, which must have the study's items and rules, and adds the expected differences to the
// settings.
func (of *Settings) read(s *study.Study, m run.Manifest) ([]score, error) {
	if _, err := run.ReadEstimates(of.Baseline); err != nil {
		return nil, err
	}
	if len(m.Plan.Conditions) != 1 || len(m.Scoring) != 1 {
		return nil, fmt.Errorf("%s has several conditions or protocols; expected a run of one model under one setting",
			of.Baseline)
	}
	was, now := m.Scoring[0], s.Protocols[0].Scoring
	was.By, was.Samples, was.Rules = now.By, now.Samples, crosstalk.Canonical(was.Rules)
	if field := was.Difference(now); field != "" {
		return nil, fmt.Errorf("%s was scored by other rules: its %s: give its settings after --", of.Baseline, field)
	}
	if was, now := m.Plan.Suite, s.Plan().Suite; was != now {
		return nil, fmt.Errorf("%s is of the items %s, not %s: give its --suite, --items or --language after --",
			of.Baseline, was, now)
	}
	if m.Observations != nil {
		of.Observed = m.Observations.SHA256
	}
	byItem := map[string]score{}
	for o, err := range run.ReadValues(of.Baseline) {
		if err != nil {
			return nil, err
		}
		one := byItem[o.Item]
		if err := of.add(&one, o); err != nil {
			return nil, err
		}
		byItem[o.Item] = one
	}
	var old []score
	for _, item := range s.Suite.Items.All() {
		old = append(old, byItem[item.ID])
	}
	of.Test.Step, of.Test.Discord = expect(old)
	return old, nil
}

// expect returns the step of differences to a baseline, 0 if they have none, and the expected share of items that
// differ: as many as its faults.
func expect(old []score) (step, discord float64) {
	step, faults, n := 1.0, 0.0, 0.0
	for _, s := range old {
		switch {
		case s.n > 1 || math.Mod(2*s.least, 1) != 0:
			step = 0
		case math.Mod(s.least, 1) != 0:
			step = min(step, .5)
		}
		if s.least == s.most {
			faults, n = faults+float64(s.n)-s.least, n+float64(s.n)
		}
	}
	return step, min(1, max(.002, faults/max(n, 1)))
}
