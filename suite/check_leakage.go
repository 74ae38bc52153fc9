package suite

import (
	"slices"
	"strings"
	"unicode"

	"crosstalk"
	"crosstalk/measure/similarity/gloss"
)

// The continuations that the reference model needs for a useful measurement.
const (
	fewestLeaks   = 2
	fewestNeutral = 6
)

// checkPairs lists likely mistakes in pairs of prompts.
func checkPairs(s *Suite, remark func(string, ...any)) {
	tests := map[string]string{}
	for _, item := range s.Items.All() {
		p := item.Pair
		key := p.Test
		if p.Context != nil {
			key = string(p.Context.Carrier) + "\x00" + key
		}
		if other, again := tests[key]; again {
			remark("%s: same test prompt as %s", item.ID, other)
		}
		tests[key] = item.ID
		if mentions(p.Control, p.Concept, item.Labels["language"]) {
			remark("%s: the control mentions the concept %q", item.ID, p.Concept)
		}
		inTest := func(text string) bool {
			return unspaced(text) || strings.Contains(strings.ToLower(p.Test), strings.ToLower(text))
		}
		if len(p.Remove) > 0 && !slices.ContainsFunc(p.Remove, inTest) {
			remark("%s: the test has nothing of what remove lists: %s", item.ID, strings.Join(p.Remove, ", "))
		}
		if test, control, ok := endings(p, s.Windows != ""); !ok {
			remark("%s: test and control end differently (%q, %q)", item.ID, test, control)
		}
	}
	checkConcepts(s, remark)
	checkContinuations(s, remark)
	checkControls(s, remark)
	checkPairLanguages(s, remark)
}

// endings returns the ends of a pair's prompts, which must be the same: their last sentences, or the last words where
// the concept is in the last sentence. What asks for a text, as open-ended prompts do, may end in the concept.
func endings(p *crosstalk.Pair, open bool) (test, control string, ok bool) {
	if p.Context != nil {
		return "", "", true // the same question
	}
	asked, askedControl := withoutInstruction(p.Test, p.Control)
	before, test := cutLast(asked)
	_, control = cutLast(askedControl)
	if before == "" || strings.Contains(strings.ToLower(test), strings.ToLower(p.Concept)) {
		if open {
			return "", "", true
		}
		test, control = lastWords(p.Test, 1), lastWords(p.Control, 1)
	}
	return test, control, test == control || strings.HasSuffix(control, test) && unspaced(test)
}

// withoutInstruction returns two prompts without the instruction that both begin with, as in "Complete the sentence: ".
// It would be part of the last sentence of a control of one sentence, but not of its test's.
func withoutInstruction(test, control string) (string, string) {
	if i := strings.Index(control, ": "); i >= 0 && strings.HasPrefix(test, control[:i+2]) {
		return test[i+2:], control[i+2:]
	}
	return test, control
}

// checkConcepts lists concepts that cannot be compared with anything.
func checkConcepts(s *Suite, remark func(string, ...any)) {
	asked := map[string]bool{}
	for _, item := range s.Items.All() {
		concept := item.Pair.Concept
		if asked[concept] {
			continue
		}
		asked[concept] = true
		if !strings.ContainsFunc(concept, unicode.IsLetter) {
			remark("%s: no similarity can score the concept %q: it has no letters", item.ID, concept)
		} else if strings.HasPrefix(s.Language, "en") && !known(concept) {
			remark("%s: gloss knows no word of the concept %q, and cannot score it", item.ID, concept)
		}
	}
}

// known reports whether gloss has a vector of a text.
func known(text string) bool {
	v, err := gloss.Load()
	return err != nil || slices.ContainsFunc(v.Lemmas(text), func(lemma string) bool { return lemma != "" })
}

// checkContinuations lists items that the reference model cannot answer well.
func checkContinuations(s *Suite, remark func(string, ...any)) {
	none := func(i crosstalk.Item) bool { return len(i.Pair.Leaks) == 0 && len(i.Pair.Neutral) == 0 }
	if s.Items.Select(func(i crosstalk.Item) bool { return !none(i) }).Len() == 0 {
		remark("no item lists leaks and neutral continuations, so reference:leaky cannot answer it")
		return
	}
	for _, item := range s.Items.All() {
		p := item.Pair
		if n := len(p.Leaks); n < fewestLeaks {
			remark("%s: too few leaks (%d); expected at least %d", item.ID, n, fewestLeaks)
		}
		if n := len(p.Neutral); n < fewestNeutral {
			remark("%s: too few neutral continuations (%d); expected at least %d", item.ID, n, fewestNeutral)
		}
		for i, leak := range p.Leaks {
			if slices.Contains(p.Neutral, leak) {
				remark("%s: %q is both a leak and neutral", item.ID, leak)
			}
			if slices.Contains(p.Leaks[:i], leak) {
				remark("%s: duplicate leak %q", item.ID, leak)
			}
		}
		for i, text := range p.Neutral {
			if slices.Contains(p.Neutral[:i], text) {
				remark("%s: duplicate neutral continuation %q", item.ID, text)
			}
		}
	}
}

// checkControls lists controls that are nearly the same.
func checkControls(s *Suite, remark func(string, ...any)) {
	var ids, controls []string
	met := map[string]bool{}
	for _, item := range s.Items.All() {
		if control := item.Pair.Control; !met[control] {
			met[control] = true
			ids, controls = append(ids, item.ID), append(controls, control)
		}
	}
	for _, near := range nearDuplicates(controls) {
		remark("%s: nearly the same control as %s", ids[near[1]], ids[near[0]])
	}
}

// checkPairLanguages lists prompts and continuations in another language than the item's.
func checkPairLanguages(s *Suite, remark func(string, ...any)) {
	met := map[string]bool{}
	check := func(id, what, language, text string) {
		if key := language + "\x00" + text; !met[key] {
			met[key] = true
			if found, other := otherLanguage(text, language); other {
				remark("%s: the %s is in %s; expected %s", id, what, found, language)
			}
		}
	}
	for _, item := range s.Items.All() {
		p, language := item.Pair, item.Labels["language"]
		for _, side := range []struct{ what, text string }{{"test", p.Test}, {"control", p.Control}} {
			if s.Begins == "" {
				check(item.ID, side.what, language, side.text)
				continue
			}
			begin, end := cutLast(side.text)
			check(item.ID, "beginning of the "+side.what, s.Begins, begin)
			check(item.ID, "end of the "+side.what, language, end)
		}
		check(item.ID, "list of neutral continuations", language, strings.Join(p.Neutral, ", "))
	}
}
