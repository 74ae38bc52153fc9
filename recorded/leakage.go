// Package recorded reads answers recorded by other programs or the papers' own scripts. docs/recorded.md describes
// them.
package recorded

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/table"
	"crosstalk/model/settle"
)

// Leakage is one row of recorded leakage answers: an item and the answers to its two prompts, from sample First on.
type Leakage struct {
	Where    string // file:line
	Item     crosstalk.Item
	Model    string
	First    int
	Test     []crosstalk.Answer
	Control  []crosstalk.Answer
	Unusable string // why the row cannot be scored; the other fields may be empty then
}

// Leakage yields the rows of a file (table.Formats). Its columns decide which of three layouts it has:
//
//   - one row per sample: prompt, control_prompt, concept, test, control, and
//     optionally sample (default: rows are counted per model and id);
//   - lists: test_generations and control_generations instead of test and
//     control (JSON Lines);
//   - Smilga's workbooks: prompt, concept, generation_1, generation_2, ...,
//     where a control is a row like any other and n_control is its position,
//     counted from 0.
//
// Every other text column becomes a label of the item.
func (r Reading) Leakage(path string) iter.Seq2[Leakage, error] { return r.leakage(path, true) }

// ReadItems is like Leakage, for files that may lack answers. The column system, or messages, precede both prompts.
func ReadItems(path string) iter.Seq2[Leakage, error] { return Reading{}.leakage(path, false) }

func (r Reading) leakage(path string, answered bool) iter.Seq2[Leakage, error] {
	return func(yield func(Leakage, error) bool) {
		var read func(table.Row) (Leakage, error)
		var workbook []table.Row
		for row, err := range r.rows(path, hasMeaning) {
			if err == nil {
				if err = refuseLists(row, leakageTexts); err != nil {
					err = fmt.Errorf("%w (only test_generations and control_generations can be lists)", err)
				} else {
					err = refuseObjects(row)
				}
			}
			if err != nil {
				yield(Leakage{}, err)
				return
			}
			if workbook != nil || read == nil && row.Has("n_control") && !row.Has("control_prompt") {
				workbook = append(workbook, row)
				continue
			}
			if row.Blank() {
				continue
			}
			if err := require(row, answersOf, "prompt", "control_prompt", "concept"); err != nil {
				yield(Leakage{}, err)
				return
			}
			if read == nil {
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
			yield(Leakage{}, fmt.Errorf("%s: has no rows", path))
		}
	}
}

const answersOf = "the answers in test and control, in test_generations and control_generations, " +
	"or in generation_1, generation_2, ..."

// require refuses a row without one of the columns.
func require(row table.Row, besides string, columns ...string) error {
	for _, c := range columns {
		if !row.Has(c) {
			return row.HeaderErrorf("has no column %q; expected %s, and %s", c, strings.Join(columns, ", "), besides)
		}
	}
	return nil
}

// Columns that do not become labels.
var contents = []string{"id", "prompt", "control_prompt", "test", "control", "sample", "model", "remove", "prompt_raw",
	"concept_raw"}

// hasMeaning reports whether a column is more than a label.
func hasMeaning(column string) bool {
	return slices.Contains(contents, column) || strings.HasPrefix(column, "generation_") ||
		slices.Contains([]string{"concept", "test_generations", "control_generations", "n_control", "is_control_item",
			"language"}, column)
}

// Columns that cannot be lists.
var leakageTexts = []string{
	"id", "model", "concept", "prompt", "control_prompt", "sample", "test", "control", "n_control"}

// newRowReader returns a reader of rows with both prompts. It refuses duplicate samples, and an id shared by two
// items.
func newRowReader(answered bool) func(table.Row) (Leakage, error) {
	type place struct{ dataset, model, id string }
	type sample struct {
		place
		number int
	}
	type meaning struct {
		pair uint64
		line int
	}
	next := map[place]int{}         // the next sample, if unnumbered
	seen := map[sample]int{}        // their lines
	meanings := map[place]meaning{} // items by model and id
	seed := maphash.MakeSeed()
	return func(row table.Row) (Leakage, error) {
		v := row.Values
		l := Leakage{Where: where(row), Model: v["model"],
			Item: item(row, v["id"], v["concept"], v["prompt"], v["control_prompt"])}
		if l.Unusable = unusable(l.Item.Pair); l.Unusable != "" {
			return l, nil
		}
		if !answered { // recorded answers were given to the prompts alone
			var err error
			if l.Item.Pair.Before, err = precede(row); err != nil {
				return l, err
			}
			delete(l.Item.Labels, system)
		}
		at := place{v["dataset"], l.Model, l.Item.ID}
		pair := maphash.Bytes(seed, crosstalk.Canonical(l.Item.Pair))
		if m, again := meanings[at]; !again {
			meanings[at] = meaning{pair, row.Line}
		} else if m.pair != pair {
			return l, row.Errorf("item %q differs from line %d in its prompt, concept or control: give each item its own id",
				at.id, m.line)
		}
		test, control, err := rowAnswers(row, answered)
		if err != nil {
			return l, err
		}
		number, stated, err := numberIn(row, "sample", 0)
		if err != nil {
			return l, err
		}
		if l.First = next[at]; stated {
			l.First = number
		}
		n := max(len(test), len(control))
		for k := l.First; k < l.First+n; k++ {
			if first, again := seen[sample{at, k}]; again {
				return l, row.Errorf("duplicate answer: item %q, sample %d, model %q (first used in line %d)",
					at.id, k, l.Model, first)
			}
			seen[sample{at, k}] = row.Line
		}
		next[at] = l.First + n
		l.Test, l.Control = answers(test), answers(control)
		return l, nil
	}
}

// rowAnswers returns the answers to the two prompts of a row; none if the row has none and answered is false.
func rowAnswers(row table.Row, answered bool) (test, control []string, err error) {
	test, tests := row.Lists["test_generations"]
	control, controls := row.Lists["control_generations"]
	switch {
	case tests && controls:
	case tests || controls:
		return nil, nil, row.Errorf("has only one of the lists test_generations and control_generations")
	case row.Has("test") && row.Has("control"):
		test, control = []string{row.Values["test"]}, []string{row.Values["control"]}
	case answered || row.Has("test") || row.Has("control"):
		return nil, nil, row.Errorf("has neither test and control nor the lists test_generations and control_generations")
	}
	return test, control, nil
}

func item(row table.Row, id, concept, prompt, control string) crosstalk.Item {
	labels := labelsOf(row.Values, contents)
	maps.DeleteFunc(labels, func(column, _ string) bool { return strings.HasPrefix(column, "generation_") })
	remove := row.Lists["remove"]
	if phrase := row.Values["remove"]; phrase != "" {
		remove = []string{phrase}
	}
	prompt, control = strings.TrimSpace(prompt), strings.TrimSpace(control)
	return crosstalk.Item{ID: cmp.Or(id, prompt), Cluster: control, Labels: labels, Pair: &crosstalk.Pair{
		Concept: strings.TrimSpace(concept), Test: prompt, Control: control, Remove: remove}}
}

func unusable(p *crosstalk.Pair) string {
	switch {
	case p.Test == "":
		return "the prompt is empty"
	case p.Control == "":
		return "the control prompt is empty"
	case p.Concept == "":
		return "the concept is empty"
	case p.Test == p.Control:
		return "prompt and control prompt are the same"
	}
	return ""
}

// Answer makes an answer from a recorded text as a run does: without thoughts, and with status empty if no text is
// left.
func Answer(text string) crosstalk.Answer {
	return settle.Recorded(crosstalk.Answer{Status: settle.Kind(text), Text: text})
}

func answers(texts []string) []crosstalk.Answer {
	list := make([]crosstalk.Answer, len(texts))
	for i, text := range texts {
		list[i] = Answer(text)
	}
	return list
}

// readPositions yields the rows of a workbook whose controls are identified by row position.
func readPositions(rows []table.Row, answered bool, yield func(Leakage, error) bool) {
	required := []string{"prompt", "concept", "n_control"}
	if answered {
		required = append(required, "generation_1")
	}
	if err := require(rows[0], answersOf, required...); err != nil {
		yield(Leakage{}, err)
		return
	}
	isControl := map[int]bool{}
	positions := make([]int, len(rows))
	for i, row := range rows {
		n, err := position(row, len(rows))
		if err == nil && n == i {
			err = row.Errorf("n_control is %d, the row's own position", n)
		}
		if err != nil {
			yield(Leakage{}, err)
			return
		}
		positions[i], isControl[n] = n, true
	}
	for i, row := range rows {
		l := Leakage{Where: where(row), Model: row.Values["model"]}
		switch n := positions[i]; {
		case n >= 0:
			l.Item = item(row, fmt.Sprintf("row-%d", i), row.Values["concept"], row.Values["prompt"], rows[n].Values["prompt"])
			l.Test, l.Control = answers(generations(row)), answers(generations(rows[n]))
			l.Unusable = unusable(l.Item.Pair)
		case isControl[i] || row.Blank():
			continue
		case saysTrue(row.Values["is_control_item"]):
			l.Unusable = "no test has this control"
		default:
			l.Unusable = "n_control names no control"
		}
		if !yield(l, nil) {
			return
		}
	}
}

// saysTrue parses a truth value as written by workbooks and data frames.
func saysTrue(s string) bool {
	n, _ := wholeNumber(strings.TrimSpace(s))
	return n == 1 || strings.EqualFold(strings.TrimSpace(s), "true")
}

// position reads n_control; -1 if there is none.
func position(row table.Row, rows int) (int, error) {
	s := strings.TrimSpace(row.Values["n_control"])
	if s == "" || strings.EqualFold(s, "none") {
		return -1, nil
	}
	if n, ok := wholeNumber(s); ok && n < rows {
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
