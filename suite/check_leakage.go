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

func checkPairs(s *Suite, found *findings) {
	tests := map[string]string{}
	for _, item := range s.Items.All() {
		p := item.Pair
		key := p.Test
		if p.Context != nil {
			key = string(p.Context.Carrier) + "\x00" + key
		}
		before, again := tests[key]
		found.addIf(again, "%s: same test prompt as %s", item.ID, before)
		tests[key] = item.ID
		found.addIf(mentions(p.Control, p.Concept, item.Labels["language"]),
			"%s: the control mentions the concept %q", item.ID, p.Concept)
		inTest := func(text string) bool {
			return unspaced(text) || strings.Contains(strings.ToLower(p.Test), strings.ToLower(text))
		}
		found.addIf(len(p.Remove) > 0 && !slices.ContainsFunc(p.Remove, inTest),
			"%s: the test has nothing of what remove lists: %s", item.ID, strings.Join(p.Remove, ", "))
		test, control, ok := endings(p, s.Windows != "")
		found.addIf(!ok, "%s: test and control end differently (%q, %q)", item.ID, test, control)
	}
	checkConcepts(s, found)
	checkContinuations(s, found)
	checkControls(s, found)
	checkPairLanguages(s, found)
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

func checkConcepts(s *Suite, found *findings) {
	asked := map[string]bool{}
	for _, item := range s.Items.All() {
		concept := item.Pair.Concept
		if asked[concept] {
			continue
		}
		asked[concept] = true
		letters := strings.ContainsFunc(concept, unicode.IsLetter)
		found.addIf(!letters, "%s: no similarity can score the concept %q: it has no letters", item.ID, concept)
		found.addIf(letters && strings.HasPrefix(s.Language, "en") && !known(concept),
			"%s: gloss knows no word of the concept %q, and cannot score it", item.ID, concept)
	}
}

func known(text string) bool {
	v, err := gloss.Load()
	return err != nil || slices.ContainsFunc(v.Lemmas(text), func(lemma string) bool { return lemma != "" })
}

func checkContinuations(s *Suite, found *findings) {
	none := func(i crosstalk.Item) bool { return len(i.Pair.Leaks) == 0 && len(i.Pair.Neutral) == 0 }
	if s.Items.Select(func(i crosstalk.Item) bool { return !none(i) }).Len() == 0 {
		found.add("no item lists leaks and neutral continuations, so reference:leaky cannot answer it")
		return
	}
	for _, item := range s.Items.All() {
		p := item.Pair
		found.addIf(len(p.Leaks) < fewestLeaks,
			"%s: too few leaks (%d); expected at least %d", item.ID, len(p.Leaks), fewestLeaks)
		found.addIf(len(p.Neutral) < fewestNeutral,
			"%s: too few neutral continuations (%d); expected at least %d", item.ID, len(p.Neutral), fewestNeutral)
		for i, leak := range p.Leaks {
			found.addIf(slices.Contains(p.Neutral, leak), "%s: %q is both a leak and neutral", item.ID, leak)
			found.addIf(slices.Contains(p.Leaks[:i], leak), "%s: duplicate leak %q", item.ID, leak)
		}
		for i, text := range p.Neutral {
			found.addIf(slices.Contains(p.Neutral[:i], text), "%s: duplicate neutral continuation %q", item.ID, text)
		}
	}
}

func checkControls(s *Suite, found *findings) {
	var ids, controls []string
	met := map[string]bool{}
	for _, item := range s.Items.All() {
		if control := item.Pair.Control; !met[control] {
			met[control] = true
			ids, controls = append(ids, item.ID), append(controls, control)
		}
	}
	for _, near := range nearDuplicates(controls) {
		found.add("%s: nearly the same control as %s", ids[near[1]], ids[near[0]])
	}
}

func checkPairLanguages(s *Suite, found *findings) {
	met := map[string]bool{}
	check := func(id, what, language, text string) {
		if key := language + "\x00" + text; !met[key] {
			met[key] = true
			is, other := otherLanguage(text, language)
			found.addIf(other, "%s: the %s is in %s; expected %s", id, what, is, language)
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
