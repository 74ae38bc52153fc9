package labels

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
)

// Overrides are the readings that the majority of people gives answers, from the
// labels of a sheet of Reading. What people cannot tell, or not agree on, is left
// out.
func (s *Sheet) Overrides(labels []Label) consistency.Overrides {
	overrides := consistency.Overrides{}
	given := byUnit(s.own(labels))
	for _, u := range s.Units {
		list := given[u.key]
		if len(list) == 0 {
			continue
		}
		said := map[string]string{}
		var comments []string
		for _, l := range list {
			said[l.Annotator] = l.Label
			if l.Comment != "" {
				comments = append(comments, l.Comment)
			}
		}
		class := s.Question.majority(said)
		if class == CannotTell {
			continue
		}
		agreed := 0
		for _, label := range said {
			if label == class {
				agreed++
			}
		}
		if class == NoClass {
			class = ""
		}
		reason := append([]string{fmt.Sprintf("labelled so by %d of %d", agreed, len(said))}, comments...)
		overrides[u.answered] = consistency.Override{Class: class, Reviewer: strings.Join(slices.Sorted(maps.Keys(said)), ", "),
			Reason: strings.Join(reason, "; ")}
	}
	return overrides
}

// PairCodes returns what people say of inconsistent pairs of answers: the codes
// that at least half of them gave a pair, and their comments.
func PairCodes(labels []Label) func(crosstalk.Observation) (codes, note string) {
	given := map[string][]Label{}
	for key, list := range byUnit(labels) {
		if list[0].Question == Codes {
			given[key] = list
		}
	}
	return func(o crosstalk.Observation) (string, string) {
		list := given[key(Codes, o.Item, o.Sample, o.Variant, o.Condition, 0)]
		counts := map[string]int{}
		var comments []string
		for _, l := range list {
			for code := range strings.SplitSeq(l.Label, "; ") {
				counts[code]++
			}
			if l.Comment != "" {
				comments = append(comments, l.Comment)
			}
		}
		maps.DeleteFunc(counts, func(_ string, n int) bool { return 2*n < len(list) })
		return strings.Join(slices.Sorted(maps.Keys(counts)), "; "), strings.Join(comments, "; ")
	}
}

// byUnit are labels by what they are about.
func byUnit(labels []Label) map[string][]Label {
	units := map[string][]Label{}
	for _, l := range labels {
		units[l.Key()] = append(units[l.Key()], l)
	}
	return units
}
