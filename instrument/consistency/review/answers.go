package review

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/read"
	"crosstalk/internal/table"
)

// Doubt is an answer that people should review, with its frequency.
type Doubt struct {
	consistency.Answered
	Class      string // as it was read; "" for none
	Rule       string
	Confidence read.Confidence
	Count      int
	Reviewed   *consistency.Override // nil: not yet
}

// Doubts are the answers without a label, with an uncertain one, or that people
// have reviewed already, most frequent first.
func Doubts(observations iter.Seq2[crosstalk.Observation, error], reviewed consistency.Overrides) ([]Doubt, error) {
	found := map[consistency.Answered]*Doubt{}
	for o, err := range observations {
		if err != nil {
			return nil, err
		}
		d := Doubt{Class: o.Text(consistency.ClassText), Rule: o.Text(consistency.RuleText), Answered: consistency.Answered{
			Task: o.Labels["task"], Instruction: o.Text(consistency.SenseText), Text: o.Text(consistency.AnswerText)}}
		again := o.Condition[consistency.ReadingColumn] == consistency.Reviewed
		if o.Measure != consistency.Accuracy || d.Rule == "" || again {
			continue
		}
		if err := d.Confidence.UnmarshalText([]byte(o.Text(consistency.Confidence))); err != nil {
			return nil, err
		}
		if o, known := reviewed[d.Answered]; known {
			d.Reviewed = &o
		} else if d.Confidence > read.Low {
			continue
		}
		if found[d.Answered] == nil {
			found[d.Answered] = &d
		}
		found[d.Answered].Count++
	}
	doubts := make([]Doubt, 0, len(found))
	for _, d := range found {
		doubts = append(doubts, *d)
	}
	slices.SortFunc(doubts, func(a, b Doubt) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Task, b.Task),
			cmp.Compare(a.Instruction, b.Instruction), cmp.Compare(a.Text, b.Text))
	})
	return doubts, nil
}

var answerColumns = []string{"task", "instruction", "answer", "count", "class", "rule", "confidence",
	"reviewed_class", "reviewer", "reason"}

// WriteDoubts writes a table in which people fill in reviewed_class, reviewer
// and reason.
func WriteDoubts(w io.Writer, doubts []Doubt) error {
	rows := [][]string{answerColumns}
	for _, d := range doubts {
		reviewed := []string{"", "", ""}
		if r := d.Reviewed; r != nil {
			reviewed = []string{cmp.Or(r.Class, None), r.Reviewer, r.Reason}
		}
		rows = append(rows, append([]string{d.Task, d.Instruction, d.Text, strconv.Itoa(d.Count),
			d.Class, d.Rule, d.Confidence.String()}, reviewed...))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// None in reviewed_class means no class.
const None = "none"

// ReadOverrides reads the table that people filled in. Rows without a
// reviewed_class change nothing.
func ReadOverrides(path string, tasks []crosstalk.Task) (consistency.Overrides, error) {
	overrides, where := consistency.Overrides{}, map[consistency.Answered]string{}
	for row, err := range table.Read(path) {
		if err != nil {
			return nil, err
		}
		v := row.Values
		for _, column := range []string{"task", "instruction", "answer", "reviewed_class", "reviewer", "reason"} {
			if !row.Has(column) {
				return nil, row.HeaderErrorf("has no column %q; expected %s", column, strings.Join(answerColumns, ", "))
			}
		}
		class := strings.TrimSpace(v["reviewed_class"])
		if class == "" {
			continue
		}
		t := slices.IndexFunc(tasks, func(t crosstalk.Task) bool { return t.Name == v["task"] })
		switch {
		case t < 0:
			return nil, row.Errorf("unknown task %q", v["task"])
		case class != None && len(tasks[t].Classes) > 0 && !slices.Contains(tasks[t].Classes, class):
			return nil, row.Errorf("reviewed_class is %q; choose one of: %s, %s",
				class, strings.Join(tasks[t].Classes, ", "), None)
		case strings.TrimSpace(v["reviewer"]) == "" || strings.TrimSpace(v["reason"]) == "":
			return nil, row.Errorf("a reviewed_class needs a reviewer and a reason")
		}
		if class == None {
			class = ""
		}
		at := consistency.Answered{Task: v["task"], Instruction: v["instruction"], Text: v["answer"]}
		override := consistency.Override{Class: class, Reviewer: v["reviewer"], Reason: v["reason"]}
		if before, again := overrides[at]; again && before.Class != override.Class {
			return nil, row.Errorf("conflicting class for this answer (first classified in %s)", where[at])
		}
		overrides[at], where[at] = override, fmt.Sprintf("%s:%d", row.File, row.Line)
	}
	return overrides, nil
}
