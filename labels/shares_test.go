package labels

import (
	"testing"
)

// Every answer weighs the same, however many people labelled it.
func TestSaid(t *testing.T) {
	s := open(t, newRun(t, pairs(t)[:2], false))
	var given []Label
	for i, annotators := range [][]string{{"ann", "bob"}, {"ann"}} {
		for _, a := range annotators {
			given = append(given, Label{Question: "leakage", Place: s.Units[i].Place,
				Annotator: a, Label: Test})
		}
	}
	weights := map[string]float64{}
	for _, said := range s.said(Design{}, given) {
		weights[said.Item] += said.Weight
	}
	if len(weights) != 2 || weights[s.Units[0].Item] != 1.5 || weights[s.Units[1].Item] != 1.5 {
		t.Errorf("the weights are %v; want 1.5 for each answer, together the number of labels", weights)
	}
}
