package review

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/internal/table"
)

var answerColumns = []string{"task", "instruction", "answer", "count", "class", "rule", "confidence",
	"reviewed_class", "reviewer", "reason"}

// none in reviewed_class means no class.
const none = "none"

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
		case class != none && len(tasks[t].Classes) > 0 && !slices.Contains(tasks[t].Classes, class):
			return nil, row.Errorf("reviewed_class is %q; choose one of: %s, %s",
				class, strings.Join(tasks[t].Classes, ", "), none)
		case strings.TrimSpace(v["reviewer"]) == "" || strings.TrimSpace(v["reason"]) == "":
			return nil, row.Errorf("a reviewed_class needs a reviewer and a reason")
		}
		if class == none {
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
