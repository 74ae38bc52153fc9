package accept

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument"
	"crosstalk/measure/stats"
)

// A result is told in the same words for all targets, bounds and outcomes, and in JSON without escapes.
func TestWrite(t *testing.T) {
	all := Result{Outcome: stats.Accepted, Read: 64, Better: 2, Worse: 1.5, Loss: -0.0078,
		Interval: crosstalk.Interval{Low: -.04, High: .0199}, Evidence: [2]crosstalk.Value{20.51, .3},
		Settings: Settings{Acceptance: Acceptance{Target: Suite, Measure: "lpr", Baseline: "runs/old"}, Items: 300,
			Test: stats.SequentialPlan{Margin: .02, Level: .95}}}
	prompts := all
	prompts.Settings.Target, prompts.Settings.Test.Margin, prompts.Outcome = Prompts, .01, stats.Rejected
	prompts.Cost, prompts.Of, prompts.Unchecked = .5, 2.344, 3
	bound := all
	bound.Settings.Require, bound.Settings.Test.Level, bound.Loss = "lpr>=98%", .9, crosstalk.Undefined
	bound.Outcome, bound.Evidence[1] = CannotTell, crosstalk.Undefined
	for _, c := range []struct {
		of   Result
		want string
	}{
		{all, `accepted: the LPR of these 300 prompts is at most 2 points worse than with runs/old
stopped after 64 of 300 prompts

loss      -0.78 points (-4 to 1.99 by the confidence sequence, each side 95 %)
prompts   2 better, 1.5 worse
evidence  20.5 for accepting, 0.3 for rejecting; 20 decides
`},
		{prompts, `rejected: the LPR of all such prompts is not at most 1 point worse than with runs/old
stopped after 64 of 300 prompts, 0.50 of 2.34 spent

loss      -0.78 points (-4 to 1.99 by the confidence sequence, each side 95 %)
prompts   2 better, 1.5 worse
unchecked 3, which count against either verdict
evidence  20.5 for accepting, 0.3 for rejecting; 20 decides
`},
		{bound, `cannot tell: the LPR of these 300 prompts is as required: lpr>=98%
stopped after 64 of 300 prompts

wrong     - (-4 to 1.99 by the confidence sequence, each side 90 %)
evidence  20.5 for accepting, certainty for rejecting; 10 decides
`},
	} {
		var b strings.Builder
		if err := Write(&b, "table", c.of); err != nil || b.String() != c.want {
			t.Errorf("%v, %s\nwant %s", err, &b, c.want)
		}
	}
	var b strings.Builder
	if err := Write(&b, "json", bound); err != nil || !strings.Contains(b.String(), "\n    \"require\": \"lpr>=98%\",\n") {
		t.Errorf("%v, %s", err, &b)
	}
}

// The differences to expect are as many as the baseline's faults, from one in 500 to all, in
// steps of a whole or a half.
func TestExpect(t *testing.T) {
	of := func(list ...float64) (old []score) {
		for _, x := range list {
			v := between{x, x}
			if math.IsNaN(x) {
				v = between{0, 1}
			}
			old = append(old, score{v, 1})
		}
		return old
	}
	unknown := math.NaN()
	for _, c := range []struct {
		old           []score
		step, discord float64
	}{
		{nil, 1, .002},
		{of(unknown), 1, .002},
		{of(1, 1), 1, .002},
		{of(0), 1, 1},
		{of(0, 1, unknown), 1, .5},
		{of(0, 1, 1, 1), 1, .25},
		{of(.5, 1), .5, .25},
		{of(.25, 1), 0, .375},
		{of(.25, .5), 0, .625},
		{[]score{{between{1, 1}, 2}, {between{1, 1}, 1}}, 0, 1. / 3},
		{[]score{{}, {between{0, 0}, 1}}, 1, 1},
	} {
		if step, discord := expect(c.old); step != c.step || math.Abs(discord-c.discord) > 1e-15 {
			t.Errorf("%v: steps of %v, %v to expect; want %v and %v", c.old, step, discord, c.step, c.discord)
		}
	}
}

// Losses, wins and what could not be checked add up, and so does what was spent.
func TestSums(t *testing.T) {
	t.Parallel()
	const items = 96
	old := baselineRun(t, items, "line=0.3&word=0&seed=1")
	prices := ask.Prices{}
	for _, seed := range []string{"2", "3"} {
		prices["confused?line=0.3&word=0&seed="+seed] = ask.Price{Input: 1e6, Output: 1e6}
	}
	for name, c := range map[string]struct {
		a     Acceptance
		model string
	}{
		"both sides": {Acceptance{Measure: "lpr", Baseline: old, Margin: .3}, "line=0.3&word=0&seed=2"},
		"a bound":    {Acceptance{Require: "lpr>=60%"}, "line=0.3&word=0&seed=3"},
	} {
		c.a.Level, c.a.Seed = .95, 5
		got, err := acceptIn(t, c.a, confused(t, items, c.model), filepath.Join(t.TempDir(), "new"),
			ask.Options{Budget: ask.Budget{Prices: prices, Cost: 1e9}})
		if err != nil {
			t.Fatal(err)
		}
		n, bound := float64(got.Read-got.Unchecked), c.a.Require != ""
		if loss := (got.Worse - got.Better) / n; math.Abs(float64(got.Loss)-loss) > 1e-12 || got.Worse == 0 ||
			(got.Better == 0) != bound || bound && (got.Interval.Low < 0 || loss < 0) || !bound && got.Interval.Low >= 0 {
			t.Errorf("%s: %+v; the loss is %v", name, got, loss)
		}
		// Asked are whole rounds of 32, of which the verdict may need only a part.
		asked := min(items, float64((got.Read+31)/32*32))
		if got.Cost <= 0 || math.Abs(got.Of-got.Cost*items/asked) > 1e-9 {
			t.Errorf("%s: %v spent of %v, after %d", name, got.Cost, got.Of, got.Read)
		}
	}
}

// A verdict about all prompts needs three clusters over the margin, and not one more.
func TestFewestClusters(t *testing.T) {
	t.Parallel()
	s := leaky(t, "rate=0&seed=1")
	units := len(s.Shuffled(1, true))
	for more, enough := range map[float64]bool{-.5: true, .5: false} {
		require := fmt.Sprintf("leak_rate<=%v", 3/(float64(units)+more))
		of, _, list, err := Acceptance{Require: require, Level: .95, Target: Prompts}.settings(s)
		if (err == nil) != enough || enough && (len(list) != units || of.Test.Population != 0 || of.Units != units) {
			t.Errorf("%d clusters, %v more wanted: %+v, %v", units, more, of, err)
		}
	}
}

// The seed decides the order: every item once, and clusters together where they count.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := leaky(t, "rate=0&seed=1")
	orders := map[string]bool{}
	for _, target := range Targets {
		for _, seed := range []uint64{1, 2, 1} {
			of, _, units, err := Acceptance{Require: "leak_rate<=60%", Level: .95, Target: target, Seed: seed}.settings(s)
			if err != nil {
				t.Fatal(err)
			}
			orders[of.Order] = true
			together := 1
			for _, u := range units {
				together = max(together, len(u))
			}
			all := slices.Sorted(slices.Values(slices.Concat(units...)))
			if len(all) != of.Items || all[0] != 0 || len(slices.Compact(all)) != of.Items || of.Test.Together != together ||
				(together > 1) != (target == Prompts) || (of.Test.Population == of.Items) != (target == Suite) {
				t.Errorf("%s: %+v", target, of)
			}
		}
	}
	if len(orders) != 4 {
		t.Errorf("%d orders of two seeds and targets: %v", len(orders), slices.Collect(maps.Keys(orders)))
	}
}

// A baseline that is not finished or was changed is refused, and so is a directory that cannot be written.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	const items = 20
	for want, spoil := range map[string]func(path string) error{
		"is not finished": func(path string) error { return os.Remove(filepath.Join(path, "estimates.json")) },
		"observations.jsonl": func(path string) error {
			return os.WriteFile(filepath.Join(path, "observations.jsonl"), []byte("{}x\n"), 0o600)
		},
	} {
		old := baselineRun(t, items, "seed=1")
		if err := spoil(old); err != nil {
			t.Fatal(err)
		}
		a := Acceptance{Measure: "lpr", Baseline: old, Margin: .1, Level: .95}
		_, err := acceptIn(t, a, confused(t, items, "seed=2"), filepath.Join(t.TempDir(), "new"), ask.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if err := begin(filepath.Join(t.TempDir(), "none"), Result{}); err == nil {
		t.Error("settings are written into a directory that is not there")
	}
}

// Only values from 0 to 1 are right or wrong to some degree.
func TestValues(t *testing.T) {
	of := Settings{Acceptance: Acceptance{Measure: "lpr"}}
	for value, wrong := range map[float64]bool{-.01: true, 0: false, 1: false, 1.01: true} {
		x := crosstalk.Observation{Measure: "lpr", Value: crosstalk.Value(value)}
		if _, err := of.score([]crosstalk.Observation{x}); (err != nil) != wrong {
			t.Errorf("a value of %v: %v", value, err)
		}
	}
}

// The size of a round, and the settings that an acceptance can begin with.
func TestBegun(t *testing.T) {
	for units, want := range map[int]int{1: 32, 320: 32, 321: 33, 330: 33, 1000: 100} {
		if got := perRound(units, true); got != want || perRound(units, false) != 32 {
			t.Errorf("%d units: %d; want %d", units, got, want)
		}
	}
	dir := t.TempDir()
	of := Result{Settings: Settings{Acceptance: Acceptance{Baseline: filepath.Join(dir, ".")}}}
	if err := begin(dir, of); err == nil || err.Error() != dir+" is the baseline itself: its answers would be taken for those of the "+
		"model: use another --out" {
		t.Errorf("%v", err)
	}
	for _, baseline := range []string{"a:model", t.TempDir()} {
		of.Settings.Baseline = baseline
		out := t.TempDir()
		if err := begin(out, of); err != nil {
			t.Fatal(err)
		}
		if err := begin(out, of); err != nil {
			t.Errorf("again: %v", err)
		}
		other := of
		other.Settings.Seed, other.Settings.Test.Population = 7, 9
		if err := begin(out, other); err == nil || err.Error() != filepath.Join(out, "accept.json")+": an acceptance with other "+
			"settings was begun: its seed is 0, not 7. A second one is a second chance to be wrong: continue that one, or ask for new "+
			"answers with another --out" {
			t.Errorf("%v", err)
		}
		other.Settings.Seed = 0
		if err := begin(out, other); err == nil || !strings.Contains(err.Error(), " is 0, not 9. ") {
			t.Errorf("%v", err)
		}
	}
	out := t.TempDir()
	if err := write(out, Result{Cost: math.NaN()}); err == nil {
		t.Error("a cost that is no number is written")
	}
	if files, _ := os.ReadDir(out); len(files) > 0 {
		t.Errorf("%v", files)
	}
	for _, format := range []string{"table", "json"} {
		if err := Write(full{}, format, Result{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", format, err)
		}
	}
	label := Result{Settings: Settings{Acceptance: Acceptance{Measure: "faults", Target: Suite, Require: "faults<=5%"}, Items: 3}}
	var text strings.Builder
	if Write(&text, "table", label); !strings.HasPrefix(text.String(), ": the share with any fault of these 3 prompts is as required: faults<=5%\n") {
		t.Errorf("%s", &text)
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// The measures that can be accepted, and their better direction.
func TestDirections(t *testing.T) {
	var got []string
	for _, kind := range instrument.Kinds() {
		for _, m := range kind.Measures {
			s := map[string]crosstalk.Rules{"leakage": leaky(t, "seed=1").Protocols[0].Rules,
				"confusion": confused(t, 3, "seed=1").Protocols[0].Rules}[kind.Name]
			if s == nil {
				continue
			}
			if better, err := direction(s, m.Key); err == nil {
				got = append(got, fmt.Sprint(m.Key, " ", better))
			} else if err.Error() != unfit(m.Key).Error() {
				t.Errorf("%v", err)
			}
		}
	}
	if want := []string{"leak_rate lower", "leak_rate_max lower", "leak_rate_mean lower", "copied lower", "copied_control lower",
		"copied_difference lower", "leaks lower", "concept_repeated lower", "same_answer lower", "lpr higher",
		"line_accuracy higher", "word_accuracy higher", "first_line higher", "faults lower"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

// A difference between two steps of the baseline's is refused at both ends.
func TestOffTheSteps(t *testing.T) {
	of := Settings{Acceptance: Acceptance{Measure: "lpr"}, Test: stats.SequentialPlan{Step: 1}}
	o := func(value crosstalk.Value) crosstalk.Observation {
		return crosstalk.Observation{Measure: "lpr", Item: "a", Value: value}
	}
	for _, known := range []crosstalk.Value{0, 1} {
		answers := [][]crosstalk.Observation{{o(known), o(crosstalk.Undefined)}}
		if x, err := of.difference(answers, score{between{1, 1}, 1}); err == nil ||
			!strings.HasSuffix(err.Error(), "; expected a multiple of 1, as those of the baseline are") {
			t.Errorf("%v: %v, %v", known, x, err)
		}
	}
}
