package index

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/visible"
)

// Found is the column that says what was found in an answer.
const Found = "found"

// What an answer can be found to be, in the column Found. A reason of its own
// that a measure has for not scoring an answer, or its own name of a finding,
// stands there as it is.
const (
	Leaked        = "leaked"
	Tie           = "tie"
	NotLeaked     = "not leaked"
	WrongLanguage = "wrong language"
	WrongWord     = "wrong word"
	Nothing       = "no finding" // scored, and without a fault
	NotScored     = "not scored"
)

// notLooked is why an observation has no value when another of the same answer
// says all: it is no gap.
const notLooked = "line error"

// findings are names of findings that are clear beside those of other
// instruments.
var findings = map[string][]string{
	"full answer": {WrongLanguage, "all in a wrong language"},
	"line":        {WrongLanguage},
	"word":        {WrongWord},
}

// short are texts of observations that are worth a column.
var short = []string{"concept", "class", "source_class", "gold", "rule", "confidence", "flags"}

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
	for _, c := range short {
		add(strings.ReplaceAll(c, "_", " "), o.Texts[c])
	}
	_, compared := o.Numbers["control"]
	switch {
	case o.NotScored == notLooked:
	case o.NotScored != "":
		add(Found, NotScored)
		add(Found, o.NotScored)
	case o.Finding != "":
		for _, f := range findingsOf(o) {
			add(Found, f)
		}
	case compared:
		add(Found, map[crosstalk.Value]string{1: Leaked, 0.5: Tie, 0: NotLeaked}[o.Value])
		if o.Value == 1 {
			add("leaked by", o.Condition["similarity"])
		}
	default:
		add(Found, Nothing)
	}
	return list
}

func findingsOf(o *crosstalk.Observation) []string {
	if list, ok := findings[o.Finding]; ok {
		return list
	}
	if o.Measure != "rewriting" {
		return []string{o.Finding}
	}
	var flags []string // what is doubtful about a rewritten text
	for flag := range strings.SplitSeq(o.Finding, ", ") {
		flags = append(flags, "rewriting: "+flag)
	}
	return flags
}

// within are columns of conditions whose observations are of the same answer.
var within = map[string]bool{"similarity": true, "at": true, "distribution": true, "reading": true, "class": true, "from": true, "to": true}

// answerOf names what an observation is of: two with the same name, near each
// other, are shown as one answer.
func answerOf(o *crosstalk.Observation) (block, answer string) {
	var b strings.Builder
	b.WriteString(o.Item)
	for _, c := range slices.Sorted(maps.Keys(o.Condition)) {
		if !within[c] {
			b.WriteString("\x00" + c + "\x00" + o.Condition[c])
		}
	}
	return b.String(), cmp.Or(o.Labels["pair"], "-") + "\x00" + cmp.Or(o.Labels["part"], "-") + "\x00" + strconv.Itoa(o.Sample)
}
