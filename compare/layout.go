package compare

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/report"
)

// layout starts a table with a row for each subject. Common values form the
// heading; values that differ form columns.
func layout(subjects []Subject) (t report.Table) {
	subjects = withoutRun(subjects)
	var columns []func(Subject) string
	several := func(text func(Subject) string) bool {
		return slices.ContainsFunc(subjects, func(s Subject) bool { return text(s) != text(subjects[0]) })
	}
	column := func(name string, text func(Subject) string, constant string) {
		if several(text) {
			t.Header = append(t.Header, name)
			columns = append(columns, text)
		} else if constant != "" {
			t.Heading = append(t.Heading, constant)
		}
	}
	first := subjects[0]
	column("measure", func(s Subject) string { return crosstalk.Words(s.Measure) }, crosstalk.Words(first.Measure))
	var conditions, groups []map[string]string
	for _, s := range subjects {
		conditions, groups = append(conditions, s.Condition), append(groups, s.By)
	}
	own := map[string]string{} // values common to the conditions but not to the references
	for _, name := range report.Columns(conditions) {
		text := func(s Subject) string { return cmp.Or(s.Condition[name], "-") }
		reference := func(s Subject) string { return cmp.Or(s.Reference[name], "-") }
		constant := name + " " + text(first)
		if len(first.Reference) > 0 && (several(reference) || reference(first) != text(first)) {
			constant = "" // shown beside its reference
		}
		column(name, text, constant)
		if constant == "" && !several(text) {
			own[name] = first.Condition[name]
		}
	}
	against := func(s Subject) string { return describe(s.Reference, s.Condition) }
	switch mine := describe(own, nil); {
	case several(against):
		if mine != "" {
			t.Heading = append(t.Heading, mine)
		}
		column("against", against, "")
	case against(first) != "":
		t.Heading = append(t.Heading, strings.TrimSpace(mine+" against "+against(first)))
	}
	for _, name := range report.Columns(groups) {
		text := func(s Subject) string { return cmp.Or(s.By[name], crosstalk.All) }
		constant := name + " " + text(first)
		if text(first) == crosstalk.All {
			constant = ""
		}
		column(name, text, constant)
	}
	if columns == nil {
		t.Header, columns = []string{""}, []func(Subject) string{func(Subject) string { return crosstalk.All }}
	}
	t.Left = len(t.Header)
	for _, s := range subjects {
		var row []string
		for _, text := range columns {
			row = append(row, text(s))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// named gives the values of the subjects' columns the names that tables show.
func named(subjects []Subject, names report.Names) []Subject {
	rows := make([]map[string]string, 0, 2*len(subjects)) // conditions and references are named alike
	for _, s := range subjects {
		rows = append(rows, names.By(s.Condition), names.By(s.Reference))
	}
	rows = report.Shorten(rows, 0)
	list := slices.Clone(subjects)
	for i := range list {
		list[i].Condition, list[i].Reference, list[i].By = rows[2*i], rows[2*i+1], names.By(list[i].By)
	}
	return list
}

// withoutRun omits the names of the runs if the other columns distinguish the conditions.
func withoutRun(subjects []Subject) []Subject {
	without := func(condition map[string]string) map[string]string {
		condition = maps.Clone(condition)
		delete(condition, RunColumn)
		return condition
	}
	whole := map[string]string{} // conditions by their remaining columns
	short := make([]Subject, len(subjects))
	for i, s := range subjects {
		short[i] = s
		short[i].Condition, short[i].Reference = without(s.Condition), without(s.Reference)
		for _, c := range [][2]map[string]string{{s.Condition, short[i].Condition}, {s.Reference, short[i].Reference}} {
			with, left := string(crosstalk.Canonical(c[0])), string(crosstalk.Canonical(c[1]))
			if other, ok := whole[left]; ok && other != with {
				return subjects
			}
			whole[left] = with
		}
	}
	return short
}
