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

// Found is the column of findings.
const Found = "found"

// Values of the column Found, besides the titles of findings and a measure's
// reasons for not scoring an answer.
const (
	Nothing   = "no finding" // scored, and nothing was found
	NotScored = "not scored"
)

// longestValue is the maximum length of a value of a column in bytes.
const longestValue = 120

// tag is a value of a column.
type tag struct{ column, value string }

// tags are the columns of an observation, with control characters made visible:
// they are used in URLs and forms.
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

// answerOf names the answer of an observation: observations near each other with
// the same name are shown as one answer.
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
