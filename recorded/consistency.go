package recorded

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/table"
	"crosstalk/measure/thoughts"
)

// Consistency is an answer to one form of a task's item.
type Consistency struct {
	Where       string // file:line
	Model       string // empty if not in the file
	Task        string // empty if not in the file
	Item        string
	Input       string // the sense of the item's texts: "en", or "en>de" for a rewritten text
	Instruction string // the sense of the instruction
	Run         int    // from 0, for questions asked repeatedly
	Labels      map[string]string
	Answer      crosstalk.Answer
}

// Consistency yields the answers of a file, one per row, with the columns item, input, instruction and answer, and
// optionally task, model and run (from 1). Other text columns become labels. Memory does not grow with the rows.
func (r Reading) Consistency(path string) iter.Seq2[Consistency, error] {
	every := func(string) bool { return true }
	return rowsOf(r.rows(path, every), path, func(row table.Row) (Consistency, error) {
		v := row.Values
		c := Consistency{Where: where(row), Model: v["model"], Task: v["task"], Item: v["item"],
			Answer: Answer(v["answer"])}
		needed, possible := []string{"item", "input", "instruction", "answer"}, []string{"task", "model", "run"}
		err := withItem(row, needed, possible)
		if err != nil {
			return c, err
		}
		if c.Input, err = senseOf(row, "input"); err != nil {
			return c, err
		}
		if c.Instruction, err = senseOf(row, "instruction"); err != nil {
			return c, err
		}
		run, stated, err := numberIn(row, "run", 1)
		if stated {
			c.Run = run - 1
		}
		c.Labels = labelsOf(v, slices.Concat(needed, possible))
		return c, err
	})
}

// Rewriting contains an item's texts in another sense.
type Rewriting struct {
	Where  string // file:line
	Model  string // the model that rewrote them; empty if not in the file
	Task   string // empty if not in the file
	Item   string
	Input  string            // the sense: "en>de", or a language for original texts
	Texts  []string          // the task's fields, in order; nil if they are separate columns
	Fields map[string]string // all columns
}

// ReadRewritings yields the texts of a file, one item and sense per row, with the columns item and input, the list
// texts or a column for each field of the task, and optionally task and model.
func ReadRewritings(path string) iter.Seq2[Rewriting, error] {
	return rowsOf(table.Read(path), path, func(row table.Row) (Rewriting, error) {
		v := row.Values
		r := Rewriting{Where: where(row), Model: v["model"], Task: v["task"], Item: v["item"],
			Texts: row.Lists["texts"], Fields: v}
		if err := withItem(row, []string{"item", "input"}, []string{"task", "model"}); err != nil {
			return r, err
		}
		var err error
		if r.Input, err = senseOf(row, "input"); !strings.Contains(r.Input, ">") {
			return r, err
		}
		for i, text := range r.Texts { // without the model's thoughts before it wrote them
			r.Texts[i], _ = thoughts.Split(text)
		}
		for column, text := range r.Fields {
			if !slices.Contains([]string{"item", "input", "task", "model"}, column) {
				r.Fields[column], _ = thoughts.Split(text)
			}
		}
		return r, err
	})
}

// withItem refuses a row without the needed columns, or with a list instead of text.
func withItem(row table.Row, needed, possible []string) error {
	if err := require(row, "optionally "+strings.Join(possible, ", "), needed...); err != nil {
		return err
	}
	if err := cmp.Or(refuseLists(row, slices.Concat(needed, possible)), refuseObjects(row)); err != nil {
		return err
	}
	if row.Values["item"] == "" {
		return row.Errorf("item is empty; expected the id of an item in the task file")
	}
	return nil
}

// senseOf reads the name of a sense: a language, or several from left to right, each rewritten from the one before.
func senseOf(row table.Row, column string) (string, error) {
	steps := strings.Split(row.Values[column], ">")
	for i := range steps {
		if steps[i] = strings.TrimSpace(steps[i]); steps[i] == "" {
			return "", row.Errorf("%s is %q; expected a language such as en, or en>de for rewritten text",
				column, row.Values[column])
		}
	}
	return strings.Join(steps, ">"), nil
}
