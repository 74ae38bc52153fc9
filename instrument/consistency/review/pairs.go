package review

import (
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/internal/table"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

var pairColumns = []string{"model", "task", "item", "pair", "part", "sample", "source_class", "class", "source_answer", "answer", "source_input", "input", "flags", "code", "note"}

// WritePairs writes the inconsistent pairs of answers in a table in which
// people fill in code (several separated by ;) and note. What coded says of a pair
// is filled in.
func WritePairs(w io.Writer, observations iter.Seq2[crosstalk.Observation, error], coded func(crosstalk.Observation) (codes, note string)) error {
	var rows [][]string
	for o, err := range observations {
		if err != nil {
			return err
		}
		if o.Measure != consistency.Consistency || o.Finding != consistency.Inconsistent || o.Condition[consistency.ReadingColumn] == consistency.AsRead {
			continue
		}
		codes, note := coded(o)
		rows = append(rows, []string{o.Condition["model"], o.Labels["task"], o.Item, o.Labels["pair"], o.Labels["part"], strconv.Itoa(o.Sample),
			o.Text(consistency.SourceClass), o.Text(consistency.ClassText), o.Text(consistency.SourceAnswer), o.Text(consistency.AnswerText), o.Text(consistency.SourceInput), o.Text(consistency.InputText), o.Text(consistency.FlagsText), codes, note})
	}
	return writeCSV(w, pairColumns, rows)
}

// Code is the figure of a code's share among coded pairs.
const Code = consistency.CodeShare

// Codes summarises what people filled in: the share of each code among the
// coded rows of the files, in total and by each prefix of the columns in by. A
// row with several codes counts for each of them.
func Codes(paths []string, by []string) ([]crosstalk.Estimate, error) {
	type coded struct {
		labels  map[string]string
		cluster string
		codes   []string
	}
	var rows []coded
	var codes []string
	for _, path := range paths {
		for row, err := range table.Read(path) {
			if err != nil {
				return nil, err
			}
			for _, column := range append([]string{"code", "item"}, by...) {
				if !row.Has(column) {
					return nil, row.HeaderErrorf("has no column %q; expected %s", column, strings.Join(pairColumns, ", "))
				}
			}
			r := coded{labels: row.Values, cluster: row.Values["task"] + "/" + row.Values["item"]}
			for code := range strings.SplitSeq(row.Values["code"], ";") {
				if code = strings.TrimSpace(code); code == "" || slices.Contains(r.codes, code) {
					continue
				}
				r.codes = append(r.codes, code)
				if !slices.Contains(codes, code) {
					codes = append(codes, code)
				}
			}
			rows = append(rows, r)
		}
	}
	slices.Sort(codes)
	type group struct {
		labels  map[string]string
		values  map[string]*stats.Clusters // by code
		items   map[string]bool
		uncoded int
	}
	groups, order := map[string]*group{}, []string{}
	var clusters stats.ClusterNames
	for _, r := range rows {
		for _, labels := range estimate.Rollup(r.labels, by) {
			key := string(crosstalk.Canonical(labels))
			g := groups[key]
			if g == nil {
				g = &group{labels: labels, values: map[string]*stats.Clusters{}, items: map[string]bool{}}
				for _, code := range codes {
					g.values[code] = &stats.Clusters{}
				}
				groups[key] = g
				order = append(order, key)
			}
			g.items[r.cluster] = true
			if len(r.codes) == 0 {
				g.uncoded++
				continue
			}
			for _, code := range codes {
				value := 0.0
				if slices.Contains(r.codes, code) {
					value = 1
				}
				g.values[code].Add(clusters.Number(r.cluster), value)
			}
		}
	}
	var estimates []crosstalk.Estimate
	for _, key := range order {
		g := groups[key]
		for _, code := range codes {
			mean := stats.Mean(g.values[code], stats.Proportion, estimate.Level)
			e := crosstalk.Estimate{Measure: Code, N: len(g.items), Observations: mean.N, Clusters: mean.Clusters,
				Counts: map[string]int{consistency.Coded: int(mean.Value*float64(mean.N) + 0.5), consistency.Uncoded: g.uncoded},
				By:     map[string]string{"code": code}, Signature: estimate.Signature(nil, Code)}
			maps.Copy(e.By, g.labels)
			estimate.Set(&e, mean.Value, mean.Interval, mean.Warnings)
			estimates = append(estimates, e)
		}
	}
	return estimates, nil
}
