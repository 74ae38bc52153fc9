package calibrate

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"crosstalk"
	"crosstalk/report"
)

// calibrated is the range that a 95 % interval's coverage must lie in, as far as the seeds can tell.
var calibrated = [2]float64{0.93, 0.97}

// Verdict is an error if an interval's coverage is significantly too low or too high.
func Verdict(results []Result) error {
	for _, r := range results {
		if r.Certainty.High < calibrated[0] || r.Certainty.Low > calibrated[1] {
			return fmt.Errorf("%s: the 95 %% interval of %s covers the truth in %.1f %% of %d seeds; expected 93 to 97 %%",
				r.Model, r.Measure, 100*r.Coverage, r.Seeds)
		}
	}
	return nil
}

// Formats lists the formats of Write.
var Formats = []string{"table", "json"}

// Write writes results as a table or as JSON (crosstalk/calibration/v1).
func Write(w io.Writer, format string, results []Result) error {
	if _, err := crosstalk.Chosen("format", format, Formats); err != nil {
		return err
	}
	if format == "json" {
		document := struct {
			Schema  string   `json:"schema"`
			Results []Result `json:"results"`
		}{"crosstalk/calibration/v1", results}
		return report.WriteJSON(w, format, document, results)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "model\tmeasure\tof\ttruth %\tmeasured %\t95 % interval\tmean %\tseeds\tcoverage %\tmean width")
	for _, r := range results {
		e := r.Estimate
		interval := "-"
		if e.Interval != nil {
			low, high := crosstalk.Value(e.Interval.Low), crosstalk.Value(e.Interval.High)
			interval = report.Percent(low) + " to " + report.Percent(high)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", r.Model, r.Measure,
			cmp.Or(e.By["similarity"], e.By["task"], "-"),
			report.Percent(crosstalk.Value(r.Truth)), report.Percent(e.Value), interval,
			report.Percent(crosstalk.Value(r.Mean)), r.Seeds, report.Percent(crosstalk.Value(r.Coverage)),
			report.Percent(crosstalk.Value(r.Width)))
	}
	return t.Flush()
}
