package main

import (
	"fmt"

	"crosstalk/labels"

	"github.com/spf13/cobra"
)

// runLabels plans labels: power --width.
func (p *powerFlags) runLabels(c *cobra.Command) error {
	if name := anyGiven(c, "difference", "items", "samples", "discordant", "within", "comparisons", "target-power"); name != "" {
		return fmt.Errorf("--width and --%s cannot be combined: --width plans labels, --%[1]s a comparison", name)
	}
	widths, err := fractions("width", p.widths)
	if err != nil {
		return err
	}
	studies, notes, err := p.labelStudies(c)
	if err != nil {
		return err
	}
	plan, err := labels.PlanLabels(studies, widths, p.level)
	if err != nil {
		return err
	}
	plan.Notes = notes
	return plan.Write(c.OutOrStdout(), p.format)
}

// labelStudies are those of the pilot, or the one that the flags describe.
func (p *powerFlags) labelStudies(c *cobra.Command) (studies []labels.Pilot, notes []string, err error) {
	stated := anyGiven(c, "rate", "sensitivity", "specificity", "answers", "cluster-size", "icc")
	switch {
	case len(p.pilot) > 0 && stated != "":
		return nil, nil, fmt.Errorf("--pilot and --%s cannot be combined: the pilot replaces it", stated)
	case len(p.pilot) > 1:
		return nil, nil, fmt.Errorf("--width needs one pilot, found %d", len(p.pilot))
	case len(p.pilot) == 1:
		return labels.PilotsOf(p.pilot[0])
	}
	var rates [3]float64
	for i, flag := range []struct{ name, text, example string }{
		{"rate", p.rate, "0.2"}, {"sensitivity", p.sensitivity, "0.8"}, {"specificity", p.specificity, "0.95"},
	} {
		if flag.text == "" {
			return nil, nil, fmt.Errorf("expected --pilot RUN, a run with labels, or --%s, such as %s", flag.name, flag.example)
		}
		if rates[i], err = fraction(flag.name, flag.text); err != nil {
			return nil, nil, err
		}
	}
	if p.answers == 0 {
		return nil, nil, fmt.Errorf("expected --answers, the number of answers in the run, such as 1000")
	}
	study, err := labels.Stated(rates[0], rates[1], rates[2], p.answers, p.clusterSize, p.icc)
	return []labels.Pilot{study}, nil, err
}
