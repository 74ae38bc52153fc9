package overview

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"crosstalk"
	"crosstalk/report"
	"crosstalk/run"
)

// WriteForecast writes a forecast for people, with the run directory: a list for one condition, else a table, using
// names.
func WriteForecast(w io.Writer, f run.Forecast, names report.Names, directory string) error {
	const unknown = "unknown (needs --prices FILE)"
	if len(f.Each) == 1 {
		cost := price(f.Total, unknown)
		if f.Total.Priced {
			cost = "at most " + cost
		}
		sent := f.Each[0].Name[crosstalk.SentColumn]
		if sent != "" {
			sent = "\nsent       " + sent
		}
		_, err := fmt.Fprintf(w, `model      %s%s
requests   %d
tokens     about %d in, at most %d out
cost       %s
directory  %s
`, f.Each[0].Model, sent, f.Total.Asks, f.Total.Worst.Prompt, f.Total.Worst.Completion, cost, directory)
		return err
	}
	rows := [][]string{{"condition", "requests", "tokens in", "max tokens out", "max cost"}}
	row := func(name string, c run.Count, unknown string) {
		rows = append(rows, []string{name, strconv.Itoa(c.Asks), strconv.Itoa(c.Worst.Prompt),
			strconv.Itoa(c.Worst.Completion), price(c, unknown)})
	}
	conditions := make([]map[string]string, len(f.Each))
	for i, of := range f.Each {
		conditions[i] = names.By(of.Name)
	}
	for i, name := range report.Shorten(conditions, 0) {
		text := name["model"]
		for _, column := range slices.Sorted(maps.Keys(name)) {
			if column != "model" {
				text += ", " + column + " " + name[column]
			}
		}
		row(text, f.Each[i].Count, "unknown")
	}
	row("all, each request once", f.Total, unknown)
	if err := report.WriteRows(w, rows, 1); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\ndirectory  %s\n", directory)
	return err
}

func price(c run.Count, unknown string) string {
	if c.Priced {
		return fmt.Sprintf("%.4f", c.Cost)
	}
	return unknown
}
