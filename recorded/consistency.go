package recorded

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/table"
	"crosstalk/model/thoughts"
)

// Consistency is an answer to an item of a task in one form.
type Consistency struct {
	Where       string // file:line
	Model       string // empty if the file does not say
	Task        string // empty if the file does not say
	Item        string
	Input       string // the sense of the item's texts: "en", or "en>de" for a rewritten text
	Instruction string // the sense of the instruction
	Run         int    // from 0, for questions that were asked repeatedly
	Labels      map[string]string
	Answer      crosstalk.Answer
}

// Consistency yields the answers of a file, one per row, with the columns
// item, input, instruction and answer, and optionally task, model and run
// (counted from 1). Every other text column becomes a label. Memory does not
// grow with the rows.
func (r Reading) Consistency(path string) iter.Seq2[Consistency, error] {
	every := func(string) bool { return true }
	return rowsOf(r.rows(path, every), path, func(row table.Row) (Consistency, error) {
		v := row.Values
		c := Consistency{Where: fmt.Sprintf("%s:%d", row.File, row.Line), Model: v["model"], Task: v["task"], Item: v["item"], Answer: answers([]string{v["answer"]})[0]}
		if err := require(row, []string{"item", "input", "instruction", "answer"}, "task", "model", "run"); err != nil {
			return c, err
		}
		var err error
		if c.Input, err = senseOf(row, "input"); err != nil {
			return c, err
		}
		if c.Instruction, err = senseOf(row, "instruction"); err != nil {
			return c, err
		}
		if s := strings.TrimSpace(v["run"]); s != "" {
			n, ok := wholeNumber(s)
			if !ok || n < 1 {
				return c, row.Errorf("run is %q; expected a whole number from 1", s)
			}
			c.Run = n - 1
		}
		c.Labels = labelsOf(row, "item", "input", "instruction", "answer", "task", "model", "run")
		return c, nil
	})
}

// Rewriting contains an item's texts in another sense.
type Rewriting struct {
	Where  string // file:line
	Model  string // that rewrote them; empty if the file does not say
	Task   string // empty if the file does not say
	Item   string
	Input  string            // the sense: "en>de", or a language for original texts
	Texts  []string          // the task's fields, in order; nil if they are separate columns
	Fields map[string]string // all columns
}

// ReadRewritings yields the texts of a file, one item and sense per row, with
// the columns item and input, the list texts or a column for each field of the
// task, and optionally task and model.
func ReadRewritings(path string) iter.Seq2[Rewriting, error] {
	return readRows(path, func(row table.Row) (Rewriting, error) {
		v := row.Values
		r := Rewriting{Where: fmt.Sprintf("%s:%d", row.File, row.Line), Model: v["model"], Task: v["task"], Item: v["item"], Texts: row.Lists["texts"], Fields: v}
		if err := require(row, []string{"item", "input"}, "task", "model"); err != nil {
			return r, err
		}
		var err error
		if r.Input, err = senseOf(row, "input"); err == nil && strings.Contains(r.Input, ">") {
			r.withoutThoughts()
		}
		return r, err
	})
}

// withoutThoughts leaves out what the model thought before it wrote the texts.
func (r *Rewriting) withoutThoughts() {
	for i, text := range r.Texts {
		r.Texts[i], _ = thoughts.Split(text)
	}
	for column, text := range r.Fields {
		if !slices.Contains([]string{"item", "input", "task", "model"}, column) {
			r.Fields[column], _ = thoughts.Split(text)
		}
	}
}

// require refuses a row without the needed columns, or with a list instead of
// text.
func require(row table.Row, needed []string, possible ...string) error {
	for _, c := range needed {
		if !row.Has(c) {
			return row.HeaderErrorf("has no column %q; expected %s, and optionally %s", c, strings.Join(needed, ", "), strings.Join(possible, ", "))
		}
	}
	for _, c := range append(slices.Clone(needed), possible...) {
		if _, list := row.Lists[c]; list {
			return row.Errorf("%s is a list; expected text", c)
		}
	}
	if row.Values["item"] == "" {
		return row.Errorf("item is empty; expected the id of an item in the task file")
	}
	return nil
}

// senseOf reads the name of a sense: a language, or several from left to right,
// each rewritten from the previous one.
func senseOf(row table.Row, column string) (string, error) {
	steps := strings.Split(row.Values[column], ">")
	for i := range steps {
		if steps[i] = strings.TrimSpace(steps[i]); steps[i] == "" {
			return "", row.Errorf("%s is %q; expected a language such as en, or en>de for rewritten text", column, row.Values[column])
		}
	}
	return strings.Join(steps, ">"), nil
}

func labelsOf(row table.Row, contents ...string) map[string]string {
	labels := map[string]string{}
	for column, value := range row.Values {
		if value != "" && column != "" && !slices.Contains(contents, column) && !slices.Contains(thoughtColumns, column) {
			labels[column] = value
		}
	}
	return labels
}
