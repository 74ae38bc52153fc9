package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"syscall"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/report"
	"crosstalk/run"

	"github.com/spf13/cobra"
)

type reporting struct {
	output
	by      []string
	html    string
	figures string
}

func reportCommand() *cobra.Command {
	r := &reporting{}
	c := &cobra.Command{
		Use:   "report RUN",
		Short: "Print the figures of a run, and make a page of it",
		Long: `Print the figures of a run directory, from its observations, and write
RUN/report.html: one page with what was measured, the figures with their
intervals, and every answer beside the figure that it is in. The page loads
nothing and has no script. Nothing is asked or scored.`,
		Example: `  crosstalk report runs/leakage-en-leaky-1a2b3c4d
  crosstalk report RUN --by category --format latex
  crosstalk report RUN --html page.html --figures paper/`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return r.run(c, args[0]) },
	}
	c.Flags().StringSliceVar(&r.by, "by", nil, "group figures by columns of the suite or the recorded data (default: as they were)")
	c.Flags().StringVar(&r.html, "html", "", "where to write the page: a file, - for stdout in place of the figures, none (default RUN/report.html)")
	c.Flags().StringVar(&r.figures, "figures", "", "a directory for the figures as SVG, PDF and PNG and the tables as CSV, markdown and LaTeX")
	r.output.flags(c)
	c.Flags().SortFlags = false
	return c
}

func (r *reporting) run(c *cobra.Command, path string) error {
	if err := report.CheckFormat(r.format); err != nil {
		return err
	}
	var columns []string // nil: as they were
	if c.Flags().Changed("by") {
		var err error
		if columns, err = cleanColumns(r.by); err != nil {
			return err
		}
	}
	estimates, err := estimatesOf(c, path, columns)
	if err != nil {
		return err
	}
	if r.html != "-" {
		if err := report.Write(c.OutOrStdout(), r.format, estimates); err != nil {
			return err
		}
	}
	return r.draw(c, path, estimates)
}

// estimatesOf sums up a run's observations, grouped as --by says, or as they
// were when they were measured.
func estimatesOf(c *cobra.Command, path string, by []string) ([]crosstalk.Estimate, error) {
	return estimatesBy(path, by, func(known columns) error { return known.check(c, by) })
}

// estimatesBy is estimatesOf with a check of the columns that there are.
func estimatesBy(path string, by []string, check func(columns) error) ([]crosstalk.Estimate, error) {
	manifest, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	stored, err := run.ReadEstimates(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not finished: the command that began it goes on with it", path)
	}
	if err != nil || by == nil {
		return stored, err
	}
	known, estimates := columns{}, []crosstalk.Estimate{}
	if manifest.Plan.Instrument == "consistency" {
		known[consistency.ByClass] = true
	}
	for _, scoring := range manifest.Scoring {
		in, err := instrumentOf(manifest.Plan.Instrument, scoring, stored)
		if err != nil {
			return nil, fmt.Errorf("%s: cannot read the rules it was scored with: %w", path, err)
		}
		var failed error
		estimates = append(estimates, in.Estimate(func(yield func(crosstalk.Observation) bool) {
			for o, err := range run.ReadObservations(path) {
				if failed = err; err != nil {
					return
				}
				known.add(o.Labels)
				known.add(o.Condition)
				if cmp.Or(o.Condition["protocol"], scoring.Protocol) == scoring.Protocol && !yield(o) {
					return
				}
			}
		}, by)...)
		if failed != nil {
			return nil, failed
		}
	}
	for _, e := range stored {
		if n := e.Counts[notMeasured]; n > 0 { // which no observation tells
			markUnmeasured(estimates, n, "of the items were not measured")
			break
		}
	}
	return estimates, check(known)
}

// readManifest reads the manifest of a run.
func readManifest(path string) (run.Manifest, error) {
	manifest, err := run.ReadManifest(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return manifest, fmt.Errorf("%s holds no run: expected a directory that 'crosstalk run' wrote", path)
	}
	return manifest, err
}

// notMeasured counts items that a limit kept from being measured.
const notMeasured = "not_measured"

// markUnmeasured says in every figure how many items it lacks.
func markUnmeasured(estimates []crosstalk.Estimate, n int, why string) {
	for i := range estimates {
		e := &estimates[i]
		if e.Counts == nil {
			e.Counts = map[string]int{}
		}
		e.Counts[notMeasured] = n
		e.Warnings = append(e.Warnings, fmt.Sprintf("%d %s", n, why))
	}
}

// estimator sums up observations as an instrument does.
type estimator interface {
	Estimate(observations iter.Seq[crosstalk.Observation], by []string) []crosstalk.Estimate
}

// instrumentOf is the instrument of a run as it was set for a scoring, able to
// sum up what it observed.
func instrumentOf(name string, scoring run.Scoring, stored []crosstalk.Estimate) (estimator, error) {
	text, err := json.Marshal(scoring.Rules)
	if err != nil {
		return nil, err
	}
	switch name {
	case "confusion":
		in := &confusionRules{suiteOf: suiteOfModel(stored)}
		return in, json.Unmarshal(text, &in.Rules)
	case "consistency":
		in := &consistencyRules{suiteOf: suiteOfModel(stored)}
		return in, json.Unmarshal(text, &in.Rules)
	}
	in := &leakage.Instrument{SuiteOf: suiteOf(stored)}
	return in, json.Unmarshal(text, &in.Protocol)
}

// confusionRules is the part of the confusion instrument that is left in a
// manifest.
type confusionRules struct {
	confusion.Rules
	suiteOf func(map[string]string) string
}

func (in *confusionRules) Estimate(observations iter.Seq[crosstalk.Observation], by []string) []crosstalk.Estimate {
	return in.Rules.Estimate(observations, by, in.suiteOf)
}

// consistencyRules is the part of the consistency instrument that is left in a
// manifest.
type consistencyRules struct {
	consistency.Rules
	suiteOf func(map[string]string) string
}

func (in *consistencyRules) Estimate(observations iter.Seq[crosstalk.Observation], by []string) []crosstalk.Estimate {
	return in.Rules.Estimate(observations, by, in.suiteOf)
}

// suiteOfModel reads the suites that models answered off the signatures of
// stored estimates.
func suiteOfModel(stored []crosstalk.Estimate) func(map[string]string) string {
	suites := map[string]string{}
	for _, e := range stored {
		for field := range strings.SplitSeq(e.Signature, "|") {
			if id, ok := strings.CutPrefix(field, "suite:"); ok {
				suites[e.By["model"]] = id
			}
		}
	}
	return func(group map[string]string) string { return cmp.Or(suites[group["model"]], "-") }
}

// suiteOf reads the suites of groups off the signatures of stored estimates,
// since a recorded suite's hash cannot be made again of observations.
func suiteOf(stored []crosstalk.Estimate) func(map[string]string) string {
	whole, datasets := "-", map[string]string{}
	for _, e := range stored {
		for _, field := range strings.Split(e.Signature, "|") {
			id, ok := strings.CutPrefix(field, "suite:")
			if !ok {
				continue
			}
			if d := e.By["dataset"]; d != "" && d != crosstalk.All {
				datasets[d] = id
			} else {
				whole = id
			}
		}
	}
	return func(group map[string]string) string {
		if id, ok := datasets[group["dataset"]]; ok {
			return id
		}
		return whole
	}
}
