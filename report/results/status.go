package results

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"crosstalk/internal/visible"
	"crosstalk/report"
	"crosstalk/run/watch"
)

// mostShards is how many shards WriteStatus lists unless it lists all.
const mostShards = 20

// WriteStatus writes the progress of runs: each run, and below it all shards, or the 20 that matter most.
func WriteStatus(w io.Writer, runs []watch.Run, all bool) error {
	for i, r := range runs {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := writeRun(w, r, all); err != nil {
			return err
		}
	}
	return nil
}

func writeRun(w io.Writer, r watch.Run, all bool) error {
	fmt.Fprintf(w, "%s: %s\n", report.Line(r.Path), r.State)
	if len(r.Models) > 0 {
		models := strings.Join(r.Models[:min(3, len(r.Models))], ", ")
		if more := len(r.Models) - 3; more > 0 {
			models += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprintf(w, "  %s, %s\n", report.Line(r.Suite), report.Line(models))
	}
	fmt.Fprintf(w, "  %s\n", r.Amounts())
	if r.Shards == 0 {
		for _, p := range r.Parts {
			if p.Error != "" {
				fmt.Fprintf(w, "  cannot be read: %s\n", visible.Message(report.Line(p.Error)))
			}
		}
		return nil
	}
	counts := map[watch.State]int{}
	for _, p := range r.Parts {
		counts[p.State]++
	}
	parts := []string{}
	for _, s := range []watch.State{watch.Finished, watch.Running, watch.Quiet, watch.Cut, watch.Broken} {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	if n := len(r.Missing); n > 0 {
		parts = append(parts, fmt.Sprintf("%d not begun", n))
	}
	fmt.Fprintf(w, "  %d shards: %s\n", r.Shards, strings.Join(parts, ", "))
	return writeShards(w, r.Parts, all)
}

func writeShards(w io.Writer, list []watch.Part, all bool) error {
	if !all {
		list = slices.DeleteFunc(slices.Clone(list), func(p watch.Part) bool {
			return p.State == watch.Finished &&
				p.Failed == 0
		})
		slices.SortStableFunc(list, func(a, b watch.Part) int { return int(b.Left - a.Left) }) // the slowest first
	}
	more := 0
	if !all && len(list) > mostShards {
		list, more = list[:mostShards], len(list)-mostShards
	}
	var rows [][]string
	for _, p := range list {
		what := string(p.State)
		switch {
		case p.Slow:
			what = "slow"
		case p.Error != "":
			what = "cannot be read: " + visible.Message(report.Line(p.Error))
		case p.State == watch.Quiet && !p.Last.IsZero():
			what = "no answer since " + p.Last.Local().Format("2006-01-02 15:04")
		case p.State == watch.Quiet && p.Requests > 0:
			what = "no answer yet"
		case p.State == watch.Quiet: // it scores recorded answers, or is planning
			what = "not finished"
		}
		rows = append(rows, []string{fmt.Sprintf("  %v", p.Shard), p.Amounts(), what})
	}
	if err := report.WriteRows(w, rows, 3); err != nil {
		return err
	}
	if more > 0 {
		fmt.Fprintf(w, "  and %d more (--all)\n", more)
	}
	return nil
}
