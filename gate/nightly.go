package gate

import (
	"fmt"
	"maps"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/measure/stats"
	"crosstalk/report"
)

// Nightly is the evidence of several nights that runs are worse than a reference.
type Nightly struct {
	Nights   int             `json:"nights"`
	Luck     crosstalk.Value `json:"luck"`     // standard deviation of the reference's figure from its own answers
	Margin   crosstalk.Value `json:"margin"`   // that was tested: the stated one, at least twice the luck
	Evidence crosstalk.Value `json:"evidence"` // that the loss is more than the margin (stats.NightlyEvidence)
	Limit    crosstalk.Value `json:"limit"`    // from which the check fails
	Since    int             `json:"since"`    // the night of the largest evidence, from 1

	nights []stats.Night
	faults float64 // the expected share of items that differ
}

// nightly returns the evidence for the last night's comparison, given all nights',
// in order. It is nil where the figure is no paired mean of fractions.
func nightly(last compare.Comparison, all []compare.Comparison, margin float64) *Nightly {
	condition := func(c compare.Comparison) map[string]string {
		rest := maps.Clone(c.Condition)
		delete(rest, compare.RunColumn)
		return rest
	}
	var nights []stats.Night
	for _, c := range all {
		same := c.Measure == last.Measure && maps.Equal(c.By, last.By) && maps.Equal(condition(c), condition(last))
		if same && c.Night.N > 0 {
			nights = append(nights, c.Night)
		}
	}
	if last.Night.N == 0 {
		return nil
	}
	reference := last.Against
	faults := float64(last.ReferenceValue)
	if last.Better == crosstalk.Higher {
		faults = 1 - faults
	}
	luck := stats.Luck(nights, max(1, float64(reference.Observations)/float64(max(1, reference.N))))
	margin = max(margin, 2*luck)
	n := &Nightly{Nights: len(nights), Luck: crosstalk.Value(luck), Margin: crosstalk.Value(margin), nights: nights,
		faults: faults}
	if margin < 1 {
		evidence, since := stats.NightlyEvidence(nights, margin, n.faults)
		n.Evidence, n.Since = crosstalk.Value(evidence), since
	}
	return n
}

func (c *Check) decideNightly(limit float64) {
	n := c.Nightly
	n.Limit = crosstalk.Value(limit)
	c.Passed = float64(n.Evidence) < limit
	text := fmt.Sprintf("evidence of a loss of more than %s: %.2g of %.3g after %d nights", points(100*float64(n.Margin)),
		float64(n.Evidence), limit, n.Nights)
	if n.Nights == 1 {
		text = text[:len(text)-1]
	}
	if !c.Passed {
		c.Reason = fmt.Sprintf("%s, since night %d", text, n.Since)
		return
	}
	if float64(n.Margin) > c.margin+slack {
		text += fmt.Sprintf("; the margin is twice %s, the standard deviation of the reference run's luck",
			report.Percent(n.Luck))
	}
	c.Remarks = append([]string{text}, c.Remarks...)
}
