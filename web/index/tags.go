package index

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/visible"
)

// Found is the column that says what was found in an answer.
const Found = "found"

// What an answer can be found to be, in the column Found, beside the titles of
// findings and a measure's own reasons for not scoring an answer.
const (
	Nothing   = "no finding" // scored, and nothing was found
	NotScored = "not scored"
)

// longestValue is how many bytes a value of a column has at most.
const longestValue = 120

// tag is a value of a column.
type tag struct{ column, value string }

// tags are the columns of an observation, control characters made visible: they
// go into addresses and forms, and come back.
func tags(o *crosstalk.Observation) (list []tag) {
	add := func(column, value string) {
		if value != "" && len(value) <= longestValue && len(column) <= longestValue {
			list = append(list, tag{visible.Line(column), visible.Line(value)})
		}
	}
	for c, v := range o.Condition {
		add(c, v)
	}
	for c, v := range o.Labels {
		if _, both := o.Condition[c]; !both {
			add(c, v)
		}
	}
	for _, t := range o.Texts {
		if t.Role == crosstalk.Topic || t.Role == crosstalk.Fact {
			add(crosstalk.Words(t.Name), t.Text)
		}
	}
	switch {
	case o.Implied:
	case o.NotScored != "":
		add(Found, NotScored)
		add(Found, o.NotScored)
	case o.Finding != "":
		kind := instrument.Of(o.Measure)
		found := kind.Finding(o.Finding)
		for _, title := range found.Titles {
			add(Found, title)
		}
		if found.Fault && kind.Judge != "" {
			add(found.Titles[len(found.Titles)-1]+" by", o.Condition[kind.Judge])
		}
	default:
		add(Found, Nothing)
	}
	return list
}

// answerOf names what an observation is of: two with the same name, near each
// other, are shown as one answer.
func answerOf(o *crosstalk.Observation) (block, answer string) {
	kind := instrument.Of(o.Measure)
	var b strings.Builder
	b.WriteString(o.Item)
	for _, c := range slices.Sorted(maps.Keys(o.Condition)) {
		if !kind.Column(c).Within {
			b.WriteString("\x00" + c + "\x00" + o.Condition[c])
		}
	}
	return b.String(), o.Variant + "\x00" + strconv.Itoa(o.Sample)
}
