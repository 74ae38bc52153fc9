package results

import (
	"fmt"
	"io"
	"math"
	"strings"

	"crosstalk"
	"crosstalk/gate/accept"
	"crosstalk/instrument"
	"crosstalk/measure/stats"
	"crosstalk/report"
)

// AcceptanceFormats are the formats of WriteAcceptance, the first by default.
var AcceptanceFormats = []string{"table", "json"}

// WriteAcceptance writes the verdict of an acceptance, where reading stopped, and the estimated loss.
func WriteAcceptance(w io.Writer, format string, a accept.Result) error {
	if format == "json" {
		return report.WriteJSON(w, format, a, []accept.Result{a})
	}
	_, err := io.WriteString(w, acceptanceText(a))
	return err
}

func acceptanceText(a accept.Result) string {
	s := a.Settings
	label := instrument.Of(s.Measure).Measure(s.Measure).Label
	if instrument.IsFault(s.Measure) {
		label = "share with " + label
	}
	of := fmt.Sprintf("%s of these %d prompts", label, s.Items)
	if s.Target == accept.Prompts {
		of = strings.Replace(of, fmt.Sprintf("these %d", s.Items), "all such", 1)
	}
	claim, what := fmt.Sprintf("at most %s worse than with %s", lossPoints(s.Test.Margin), s.Baseline), "loss     "
	if s.Require != "" {
		claim, what = "as required: "+s.Require, "wrong    "
	}
	is := "is"
	if a.Outcome == stats.Rejected {
		is = "is not"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: the %s %s %s\nstopped after %d of %d prompts", a.Outcome, of, is, claim, a.Read, s.Items)
	if a.Cost > 0 {
		fmt.Fprintf(&b, ", %.2f of %.2f spent", a.Cost, a.Of)
	}
	value := "-"
	if a.Loss.Defined() {
		value = lossPoints(float64(a.Loss))
	}
	fmt.Fprintf(&b, "\n\n%s %s (%g to %g by the confidence sequence, each side %s)\n", what, value,
		round(100*a.Interval.Low), round(100*a.Interval.High), fmt.Sprintf("%g %%", round(100*s.Test.Level)))
	if s.Require == "" {
		fmt.Fprintf(&b, "prompts   %g better, %g worse\n", round(a.Better), round(a.Worse))
	}
	if a.Unchecked > 0 {
		fmt.Fprintf(&b, "unchecked %d, which count against either verdict\n", a.Unchecked)
	}
	fmt.Fprintf(&b, "evidence  %s for accepting, %s for rejecting; %.3g decides\n",
		evidence(a.Evidence[0]), evidence(a.Evidence[1]), 1/(1-s.Test.Level))
	return b.String()
}

func evidence(e crosstalk.Value) string {
	if !e.Defined() {
		return "certainty"
	}
	return fmt.Sprintf("%.3g", e)
}

func round(x float64) float64 { return math.Round(100*x) / 100 }

func lossPoints(x float64) string {
	if x = round(100 * x); math.Abs(x) == 1 {
		return fmt.Sprintf("%g point", x)
	}
	return fmt.Sprintf("%g points", x)
}
