// Package accept decides whether a model is good enough with as few items as can be: it
// stops as soon as the verdict is certain, at any number of looks (stats.Sequential).
package accept

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/gate"
	"crosstalk/measure/stats"
	"crosstalk/run"
	"crosstalk/study"
)

// Acceptance asks the items of a suite in random order, and stops as soon as it is certain
// whether a model is good enough: no more than a margin worse than a baseline on the same
// items, or within a bound. The answers are those of a run: running the study as a whole in
// the same directory asks what is left.
type Acceptance struct {
	// Target is what the verdict is about. Suite: what the whole suite would say, which its
	// last item decides at the latest. Prompts: all prompts such as these, which may end
	// without a verdict.
	Target  Target
	Measure string // "" with Require

	Baseline string // a run of the same suite and rules, a model that is asked too (the first condition), or ""
	Margin   float64
	Require  string // a gate.Requirement without by and where, in place of a baseline

	Level float64 // wrong acceptances and wrong rejections each have a probability of at most 1-Level
	Seed  uint64  // of the order
	Round int     // items that are asked at a time; 0: 32, or a tenth of the suite in batches

	// Settings for a baseline run. See Resolve.
	old *baseline
}

// Target is what a verdict is about.
type Target string

// The targets.
const (
	Suite   Target = "suite"
	Prompts Target = "prompts"
)

// Targets are all targets.
var Targets = []string{string(Suite), string(Prompts)}

// Schema names the machine format of a Result.
const Schema = "crosstalk/accept/v1"

// Result is the result of an acceptance: the content of RUN/accept.json and of --format
// json.
type Result struct {
	Schema   string   `json:"schema"`
	Settings Settings `json:"settings"`
	Outcome  string   `json:"outcome"` // accepted, rejected, cannot tell; empty: not finished
	Read     int      `json:"read"`    // items
	Better   float64  `json:"better"`  // items on which the new model is better; of a mean over answers, the sum of the differences
	Worse    float64  `json:"worse"`

	Unchecked int `json:"unchecked"` // items with an answer that could not be checked: worst for both sides

	// Loss is how much worse the new model is, or the rate on the wrong side of a bound. Its
	// interval is a confidence sequence: valid though the end was not fixed. Each side has
	// the level.
	Loss     crosstalk.Value    `json:"loss"`
	Interval crosstalk.Interval `json:"interval"`
	Evidence [2]crosstalk.Value `json:"evidence"` // for accepting and rejecting, of 1/(1-level); null: certainty
	Cost     float64            `json:"cost,omitempty"`
	Of       float64            `json:"cost_of_all,omitempty"`
}

// Settings are what must not change once the first item was asked.
type Settings struct {
	Target   Target               `json:"target"`
	Measure  string               `json:"measure"`
	Baseline string               `json:"baseline,omitempty"`
	Observed string               `json:"baseline_sha256,omitempty"` // of the baseline's observations
	Require  string               `json:"require,omitempty"`
	Lower    bool                 `json:"lower_is_better,omitempty"`
	Suite    string               `json:"suite"`
	Items    int                  `json:"items"`
	Units    int                  `json:"units"` // items, or clusters that are read as a whole
	Seed     uint64               `json:"seed"`
	Order    string               `json:"order_sha256"`
	Test     stats.SequentialPlan `json:"test"`
}

// Run asks round after round, replaying what was answered before, and returns the verdict,
// which it writes beside the settings. The settings are written before the first item; an
// acceptance in the run with other settings is an error.
func (a Acceptance) Run(ctx context.Context, s *study.Study, m *study.Measurement) (of Result, err error) {
	settings, units, err := a.settings(s)
	if err != nil {
		return of, err
	}
	of = Result{Schema: Schema, Settings: settings, Loss: crosstalk.Undefined}
	if err := begin(m.Dir.Path, of); err != nil {
		return of, err
	}
	test, err := stats.NewSequential(settings.Test)
	if err != nil {
		return of, err
	}
	round := a.Round
	if round == 0 {
		if round = 32; m.Batched() {
			round = max(round, (len(units)+9)/10)
		}
	}
	asked, sum := 0, 0.0
	for chunk := range slices.Chunk(units, round) {
		numbers := slices.Concat(chunk...)
		answers, err := m.Round(ctx, numbers)
		if err != nil {
			return of, err
		}
		asked += len(numbers)
		for _, unit := range chunk {
			accept, reject := make([]float64, len(unit)), make([]float64, len(unit))
			for i, number := range unit {
				one, err := a.difference(settings, answers[number], number)
				if err != nil {
					return of, err
				}
				accept[i], reject[i] = one.most, one.least
				of.Read++
				if one.least != one.most {
					of.Unchecked++
				} else if sum += one.most; one.most > 0 {
					of.Worse += one.most
				} else {
					of.Better -= one.most
				}
			}
			if test.Add(accept, reject); test.Outcome() != stats.Open {
				break
			}
		}
		if test.Outcome() != stats.Open {
			break
		}
	}
	of.Outcome = cmp.Or(string(test.Outcome()), CannotTell)
	if n := of.Read - of.Unchecked; n > 0 {
		of.Loss = crosstalk.Value(sum / float64(n))
	}
	of.Interval.Low, of.Interval.High = test.Bounds()
	if settings.Require != "" {
		of.Interval.Low = max(0, of.Interval.Low)
	}
	of.Interval.Level, of.Interval.Method = settings.Test.Level, "confidence-sequence"
	for i, e := range test.Evidence() {
		of.Evidence[i] = crosstalk.Value(e)
	}
	if of.Cost = m.Session.Stats().Cost; asked > 0 {
		of.Of = of.Cost * float64(settings.Items) / float64(asked)
	}
	return of, write(m.Dir.Path, of)
}

// CannotTell is the outcome of an acceptance that read everything without a verdict.
const CannotTell = "cannot tell"

// settings fixes the order and the test.
func (a *Acceptance) settings(s *study.Study) (of Settings, units [][]int, err error) {
	if len(s.Protocols) != 1 {
		return of, nil, errors.New("an acceptance is of one protocol")
	}
	conditions := s.Protocols[0].Conditions
	bounds, asksOld := a.Require != "", a.old == nil && a.Baseline != ""
	if want := 1; len(conditions) != want && !asksOld || asksOld && len(conditions) != 2 {
		return of, nil, fmt.Errorf("an acceptance is of one model under one setting; expected no sweep")
	}
	of = Settings{Target: cmp.Or(a.Target, Suite), Measure: a.Measure, Baseline: a.Baseline, Require: a.Require,
		Seed: a.Seed, Suite: s.Suite.ID(), Items: s.Suite.Items.Len()}
	better, err := direction(s.Protocols[0].Rules, a.Measure)
	if err != nil {
		return of, nil, err
	}
	of.Lower = better == crosstalk.Lower
	if _, err := crosstalk.Chosen("target", string(of.Target), Targets); err != nil {
		return of, nil, err
	}
	of.Test = stats.SequentialPlan{Margin: a.Margin, Level: a.Level, Discord: a.Margin, Together: 1}
	if a.old != nil {
		of.Observed = a.old.sha256
		of.Test.Discord = min(1, max(.002, a.old.faults()))
		of.Test.Step = a.old.step
	}
	if bounds {
		r, err := gate.Parse(a.Require)
		if err != nil {
			return of, nil, crosstalk.BadOption("require", ": %w", err)
		}
		if of.Test.Margin, err = slack(r, better); err != nil {
			return of, nil, crosstalk.BadOption("require", ": %w", err)
		}
		of.Test.Discord = of.Test.Margin
	}
	units = s.Shuffled(a.Seed, of.Target == Prompts)
	of.Units = len(units)
	for _, unit := range units {
		of.Test.Together = max(of.Test.Together, len(unit))
	}
	if of.Target == Suite {
		of.Test.Population = of.Items
	} else if least := int(math.Ceil(3 / of.Test.Margin)); of.Test.Together > 1 && len(units) < least {
		return of, nil, fmt.Errorf("the %d items are in %d clusters; a verdict about all such prompts with a margin of %s needs %d "+
			"or more: use --target suite", of.Items, len(units), percent(of.Test.Margin), least)
	}
	of.Order = sumOf(crosstalk.Canonical(units))
	return of, units, nil
}

// slack is the share of answers that may be on the wrong side of a bound.
func slack(r gate.Requirement, better crosstalk.Direction) (float64, error) {
	value, err := r.Value.Of("")
	switch {
	case err != nil:
		return 0, err
	case len(r.By)+len(r.Where) > 0:
		return 0, errors.New("by and where are for gate: an acceptance is of all items")
	case better == crosstalk.Higher && r.Op == ">=" && value > 0 && value < 1:
		return 1 - value, nil
	case better == crosstalk.Lower && r.Op == "<=" && value > 0 && value < 1:
		return value, nil
	}
	want := "at least something, as in " + r.Measure + ">=98%"
	if better == crosstalk.Lower {
		want = "at most something, as in " + r.Measure + "<=60%"
	}
	return 0, fmt.Errorf("%q: expected %s, and less than 100 %%", r.Text, want)
}

// direction is which values of a measure are better, by the figures of its instrument.
func direction(rules crosstalk.Rules, measure string) (crosstalk.Direction, error) {
	e := rules.Estimator(nil)
	e.Add(crosstalk.Observation{Measure: measure, Item: "a", Value: 1, Condition: map[string]string{}})
	for _, figure := range e.Estimates(crosstalk.SuiteIDs{}) {
		if figure.Measure == measure && figure.Better != "" && figure.Unit == "" && figure.N == 1 {
			return figure.Better, nil
		}
	}
	return "", crosstalk.BadOption("measure", " is %q; expected one that each answer has and that can be better or worse, "+
		"such as lpr, leak_rate or consistency", measure)
}

// between is what a difference may be.
type between struct{ least, most float64 }

// difference is how much worse the new model is on an item: the mean over its observations,
// 1 where the old one was right and the new one wrong, and -1 the other way. With a bound,
// it is how wrong the new one is.
func (a Acceptance) difference(of Settings, answers [][]crosstalk.Observation, number int) (between, error) {
	last := len(answers) - 1
	newly, err := goodness(of, answers[last])
	if err != nil {
		return between{}, err
	}
	var old map[string]between
	switch {
	case of.Require != "":
		old = map[string]between{}
		for key := range newly {
			old[key] = between{1, 1}
		}
	case a.old != nil:
		old = a.old.items[a.old.ids[number]]
	default:
		if old, err = goodness(of, answers[0]); err != nil {
			return between{}, err
		}
	}
	sum, n := between{}, 0.0
	unknown := between{0, 1}
	all := maps.Clone(newly)
	maps.Copy(all, old)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		was, found := old[key]
		if !found {
			was = unknown
		}
		now, found := newly[key]
		if !found {
			now = unknown
		}
		sum.least += was.least - now.most
		sum.most += was.most - now.least
		n++
	}
	if n == 0 { // nothing is known of the item
		sum, n = between{-1, 1}, 1
		if of.Require != "" {
			sum.least = 0
		}
	}
	x := between{sum.least / n, sum.most / n}
	if step := of.Test.Step; step > 0 && (math.Mod(x.least, step) != 0 || math.Mod(x.most, step) != 0) {
		return x, fmt.Errorf("a difference of %v, but those of the baseline are multiples of %v", x.most, step)
	}
	return x, nil
}

// goodness are the values of a measure in the first sample, by what distinguishes those of
// an item: 1 is right.
func goodness(of Settings, observations []crosstalk.Observation) (map[string]between, error) {
	good := map[string]between{}
	for _, o := range observations {
		if o.Measure != of.Measure || o.Sample > 0 {
			continue
		}
		if o.Implied {
			return nil, crosstalk.BadOption("measure", " is %s, whose figure leaves out answers with another fault: "+
				"choose a measure of all answers", of.Measure)
		}
		v := between{float64(o.Value), float64(o.Value)}
		switch {
		case !o.Value.Defined():
			v = between{0, 1}
		case o.Value < 0 || o.Value > 1:
			return nil, crosstalk.BadOption("measure", " is %s, and a value is %v; expected values from 0 to 1", of.Measure, o.Value)
		case of.Lower:
			v = between{1 - v.most, 1 - v.least}
		}
		good[study.Same(o)] = v
	}
	return good, nil
}

// baseline is what an earlier run found, by item.
type baseline struct {
	sha256 string
	items  map[string]map[string]between
	ids    []string // of the suite's items, by number
	step   float64
}

// Resolve reads a baseline run, which must be of the suite and the rules of the study. It
// comes before Run.
func (a *Acceptance) Resolve(s *study.Study) error {
	if a.Require != "" {
		r, err := gate.Parse(a.Require)
		if err != nil {
			return crosstalk.BadOption("require", ": %w", err)
		}
		a.Measure = r.Measure
		return nil
	}
	manifest, err := run.ReadManifest(a.Baseline)
	if err != nil {
		return nil // a model; the study has it
	}
	if _, err := run.ReadEstimates(a.Baseline); err != nil {
		return err
	}
	if len(manifest.Plan.Conditions) != 1 || len(manifest.Scoring) != 1 {
		return fmt.Errorf("%s has several conditions or protocols; expected a run of one model under one setting", a.Baseline)
	}
	if len(s.Protocols) != 1 {
		return errors.New("an acceptance is of one protocol")
	}
	was, now := manifest.Scoring[0], s.Protocols[0].Scoring
	was.By, was.Samples, was.Similarities = now.By, now.Samples, now.Similarities
	was.Rules, now.Rules = crosstalk.Canonical(was.Rules), crosstalk.Canonical(now.Rules)
	if field := was.Difference(now); field != "" {
		return fmt.Errorf("%s was scored by other rules: its %s: give its settings after --", a.Baseline, field)
	}
	if was, now := manifest.Plan.Suite, s.Plan().Suite; was != now {
		return fmt.Errorf("%s is of the items %s, not %s: give its --suite, --items or --language after --", a.Baseline, was, now)
	}
	of := Settings{Measure: a.Measure}
	better, err := direction(s.Protocols[0].Rules, a.Measure)
	if err != nil {
		return err
	}
	of.Lower = better == crosstalk.Lower
	old := &baseline{items: map[string]map[string]between{}, step: 1}
	if manifest.Observations != nil {
		old.sha256 = manifest.Observations.SHA256
	}
	for o, err := range run.ReadValues(a.Baseline) {
		if err != nil {
			return err
		}
		good, err := goodness(of, []crosstalk.Observation{o})
		if err != nil {
			return err
		}
		if old.items[o.Item] == nil {
			old.items[o.Item] = map[string]between{}
		}
		maps.Copy(old.items[o.Item], good)
	}
	for _, item := range s.Suite.Items.All() {
		old.ids = append(old.ids, item.ID)
		good := old.items[item.ID]
		for _, v := range good {
			for _, x := range []float64{v.least, v.most} {
				switch {
				case len(good) > 1 || math.Mod(2*x, 1) != 0:
					old.step = 0
				case math.Mod(x, 1) != 0:
					old.step = min(old.step, .5)
				}
			}
		}
	}
	a.old = old
	return nil
}

// faults is the mean fault of what was checked.
func (b *baseline) faults() float64 {
	sum, n := 0.0, 0.0
	for _, id := range b.ids {
		for _, v := range b.items[id] {
			if v.least == v.most {
				sum += 1 - v.least
				n++
			}
		}
	}
	return sum / max(n, 1)
}

// percent is a fraction in percent.
func percent(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.2f", 100*x), ".00") + " %" }
