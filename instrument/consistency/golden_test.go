package consistency

import (
	"context"
	"fmt"
	"math"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/multisense"
	"crosstalk/internal/testing/shared"
	"crosstalk/measure/similarity"
)

// TestGolden compares every cell of the tables that the authors' data give.
func TestGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("checks figures, one after another")
	}
	data := multisense.Read(t)
	protocol, _ := ProtocolNamed("ohmer-2023")
	comet := recordedScores{}
	in := &Instrument{Protocol: protocol, Tasks: []crosstalk.Task{data.Task}, Condition: map[string]string{"model": "m"},
		Quality: comet}
	estimates := map[[4]string]crosstalk.Estimate{}
	for _, e := range sumUp(in.Rules(), func(yield func(crosstalk.Observation) bool) {
		for i, item := range data.Items {
			answers, rewritten := Answers{}, map[Sense]Rewritten{}
			for _, c := range data.Conditions {
				form := Form{Sense(c.X), Sense(c.I)}
				answers[form] = append(answers[form], crosstalk.Answer{Status: crosstalk.Text, Text: data.Answers[i][c.Name]})
			}
			for name, texts := range data.Rewritten[i] {
				sense := Sense(name)
				rewritten[sense] = Rewritten{Texts: texts}
				for k, score := range data.COMET[i][name] {
					comet[similarity.Pair{A: texts[k], B: item.Input.Texts[sense.Target()][k],
						Source: item.Input.Texts[string(sense.Origin())][k]}] = score
				}
			}
			observations, err := in.Score(t.Context(), nil, item, answers, rewritten)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range observations {
				yield(o)
			}
		}
	}, []string{ByClass}) {
		estimates[[4]string{e.Measure, e.By["pair"], e.By["part"], e.By["class"]}] = e
	}
	figures := multisense.Figures(t)
	if len(figures) != 119 {
		t.Errorf("%d cells, want 119", len(figures))
	}
	for _, f := range figures {
		e, ok := estimates[[4]string{f.Measure, f.Pair, f.Part, f.Class}]
		if !ok {
			t.Errorf("table %s, %s: there is no such figure", f.Table, f.Cell)
			continue
		}
		got := float64(e.Value)
		if f.Share {
			got = float64(e.Observations) / float64(len(data.Items))
		}
		if !(math.Abs(got-f.Want) <= 1e-11) || f.Observations > 0 && e.Observations != f.Observations {
			t.Errorf("table %s, %s: %.14g of %d, want %.14g of %d", f.Table, f.Cell, got, e.Observations, f.Want, f.Observations)
		}
		if f.Stored > 0 && math.Abs(got-f.Stored) > 5e-4 {
			t.Errorf("table %s, %s: %.14g, in the authors' data %.14g", f.Table, f.Cell, got, f.Stored)
		}
	}
}

// recordedScores is an external scorer, as recorded.
type recordedScores map[similarity.Pair]float64

func (recordedScores) Name() string { return "comet" }

func (s recordedScores) Scores(_ context.Context, pairs []similarity.Pair) ([]float64, error) {
	scores := make([]float64, len(pairs))
	for i, p := range pairs {
		score, ok := s[p]
		if !ok {
			return nil, fmt.Errorf("there is no score of %q", p)
		}
		scores[i] = score
	}
	return scores, nil
}

// TestGoldenPrompts compares the prompts with the authors' prompts.
func TestGoldenPrompts(t *testing.T) {
	data := multisense.Read(t)
	byName := map[string]multisense.Condition{}
	for _, c := range data.Conditions {
		byName[c.Name] = c
	}
	rows := shared.Lines[struct {
		Cond   string
		I      int
		Prompt string
	}](t, "multisense/prompts.paws-x.jsonl.gz")
	if len(rows) != 160 {
		t.Fatalf("%d prompts, want 160", len(rows))
	}
	for _, row := range rows {
		c := byName[row.Cond]
		texts := data.Items[row.I].Input.Texts[c.X]
		if Sense(c.X).Rewritten() {
			texts = data.Rewritten[row.I][c.X]
		}
		if got := data.Task.Prompt(data.Task.Instructions[c.I], texts); got != row.Prompt {
			t.Errorf("%s, item %d:\n%s\nwant\n%s", row.Cond, row.I, got, row.Prompt)
		}
	}
}
