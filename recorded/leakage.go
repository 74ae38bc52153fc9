// Package recorded reads answers that were recorded elsewhere: by another
// program, or by the papers' own scripts. The layouts are described in
// docs/recorded.md.
package recorded

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/table"
)

// Leakage is one row of recorded leakage answers: an item and the answers to
// its two prompts, sample First and those after it.
type Leakage struct {
	Where    string // file:line
	Item     crosstalk.Item
	Model    string
	First    int
	Test     []crosstalk.Answer
	Control  []crosstalk.Answer
	Unusable string // why the row cannot be scored; the other fields may be empty then
}

// ReadLeakage yields the rows of a file (table.Formats). Three layouts are
// told apart by their columns:
//
//   - one row a sample: prompt, control_prompt, concept, test, control, and
//     sample, or samples are counted per model and id;
//   - lists: test_generations and control_generations instead of test and
//     control (JSON Lines);
//   - Smilga's workbooks: prompt, concept, generation_1, generation_2, ...,
//     where a control is a row like any other and n_control is its position,
//     counted from 0.
//
// Every other column that holds text becomes a label of the item.
func ReadLeakage(path string) iter.Seq2[Leakage, error] { return readLeakage(path, true) }

// ReadItems is ReadLeakage for files that need not hold answers.
func ReadItems(path string) iter.Seq2[Leakage, error] { return readLeakage(path, false) }

func readLeakage(path string, answered bool) iter.Seq2[Leakage, error] {
	return func(yield func(Leakage, error) bool) {
		var read func(table.Row) (Leakage, error)
		var workbook []table.Row
		for row, err := range table.Read(path) {
			if err != nil {
				yield(Leakage{}, err)
				return
			}
			if row.Has("n_control") && !row.Has("control_prompt") {
				workbook = append(workbook, row)
				continue
			}
			if read == nil {
				if err := requireColumns(row, "prompt", "control_prompt", "concept"); err != nil {
					yield(Leakage{}, err)
					return
				}
				read = newRowReader(answered)
			}
			l, err := read(row)
			if !yield(l, err) || err != nil {
				return
			}
		}
		if workbook != nil {
			readPositions(workbook, answered, yield)
			return
		}
		if read == nil {
			yield(Leakage{}, fmt.Errorf("%s: holds no rows", path))
		}
	}
}

func requireColumns(row table.Row, columns ...string) error {
	for _, c := range columns {
		if !row.Has(c) {
			return row.Errorf("has no column %q; expected %s, and the answers in test and control, in test_generations and control_generations, or in generation_1, generation_2, ...",
				c, strings.Join(columns, ", "))
		}
	}
	return nil
}

// Columns that are not labels.
var contents = []string{"id", "prompt", "control_prompt", "test", "control", "sample", "model", "prompt_raw", "concept_raw"}

// newRowReader returns a reader of rows that hold both prompts. It refuses a
// sample that was there before.
func newRowReader(answered bool) func(table.Row) (Leakage, error) {
	type place struct {
		dataset, model, id string
	}
	next := map[place]int{}  // the sample to expect
	seen := map[string]int{} // place and sample -> line
	return func(row table.Row) (Leakage, error) {
		v := row.Values
		l := Leakage{Where: fmt.Sprintf("%s:%d", row.File, row.Line), Model: v["model"],
			Item: item(row, v["id"], v["concept"], v["prompt"], v["control_prompt"])}
		test, lists := row.Lists["test_generations"]
		control := row.Lists["control_generations"]
		if !lists && (answered || row.Has("test")) {
			if !row.Has("test") || !row.Has("control") {
				return l, row.Errorf("has neither test and control nor test_generations and control_generations")
			}
			test, control = []string{v["test"]}, []string{v["control"]}
		}
		at := place{v["dataset"], l.Model, l.Item.ID}
		l.First = next[at]
		if s := v["sample"]; s != "" {
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 {
				return l, row.Errorf("sample is %q; expected a whole number from 0", s)
			}
			l.First = n
		}
		key := fmt.Sprintf("%q %d", at, l.First)
		if first, again := seen[key]; again {
			return l, row.Errorf("item %q, sample %d of model %q stands in line %d already", at.id, l.First, at.model, first)
		}
		seen[key] = row.Line
		next[at] = l.First + max(len(test), len(control))
		l.Test, l.Control = answers(test), answers(control)
		l.Unusable = unusable(l.Item.Pair)
		return l, nil
	}
}

func item(row table.Row, id, concept, prompt, control string) crosstalk.Item {
	labels := map[string]string{}
	for column, value := range row.Values {
		if value != "" && !slices.Contains(contents, column) && !strings.HasPrefix(column, "generation_") {
			labels[column] = value
		}
	}
	prompt, control = strings.TrimSpace(prompt), strings.TrimSpace(control)
	if id == "" {
		id = prompt
	}
	return crosstalk.Item{ID: id, Cluster: control, Labels: labels, Pair: &crosstalk.Pair{
		Concept: strings.TrimSpace(concept), Test: prompt, Control: control, Remove: row.Lists["remove"]}}
}

func unusable(p *crosstalk.Pair) string {
	switch {
	case p.Test == "":
		return "the prompt is empty"
	case p.Control == "":
		return "the control prompt is empty"
	case p.Concept == "":
		return "the concept is empty"
	}
	return ""
}

// answers makes answers of recorded texts; one that holds nothing is empty,
// as it would be if it were asked for.
func answers(texts []string) []crosstalk.Answer {
	list := make([]crosstalk.Answer, len(texts))
	for i, t := range texts {
		list[i] = crosstalk.Answer{Status: crosstalk.Text, Text: t}
		if strings.TrimSpace(t) == "" {
			list[i].Status = crosstalk.Empty
		}
	}
	return list
}

// readPositions yields the rows of a workbook whose controls are rows, named
// by position.
func readPositions(rows []table.Row, answered bool, yield func(Leakage, error) bool) {
	required := []string{"prompt", "concept", "n_control"}
	if answered {
		required = append(required, "generation_1")
	}
	if err := requireColumns(rows[0], required...); err != nil {
		yield(Leakage{}, err)
		return
	}
	isControl := map[int]bool{}
	positions := make([]int, len(rows))
	for i, row := range rows {
		n, err := position(row, len(rows))
		if err != nil {
			yield(Leakage{}, err)
			return
		}
		if positions[i] = n; n >= 0 {
			isControl[n] = true
		}
	}
	for i, row := range rows {
		where := fmt.Sprintf("%s:%d", row.File, row.Line)
		l := Leakage{Where: where}
		switch n := positions[i]; {
		case n >= 0:
			l.Item = item(row, fmt.Sprintf("row-%d", i), row.Values["concept"], row.Values["prompt"], rows[n].Values["prompt"])
			l.Test, l.Control = answers(generations(row)), answers(generations(rows[n]))
			l.Unusable = unusable(l.Item.Pair)
		case isControl[i] || row.Values["is_control_item"] == "1":
			continue
		default:
			l.Unusable = "it names no control (n_control)"
		}
		if !yield(l, nil) {
			return
		}
	}
}

// position reads n_control: -1 where there is none.
func position(row table.Row, rows int) (int, error) {
	s := strings.TrimSpace(row.Values["n_control"])
	if s == "" || strings.EqualFold(s, "none") {
		return -1, nil
	}
	f, err := strconv.ParseFloat(s, 64) // a workbook may say 12.0
	if n := int(f); err == nil && float64(n) == f && n >= 0 && n < rows {
		return n, nil
	}
	return 0, row.Errorf("n_control is %q; expected the position of a row, 0 to %d, or none", s, rows-1)
}

func generations(row table.Row) []string {
	var texts []string
	for k := 1; row.Has(fmt.Sprintf("generation_%d", k)); k++ {
		texts = append(texts, row.Values[fmt.Sprintf("generation_%d", k)])
	}
	return texts
}
