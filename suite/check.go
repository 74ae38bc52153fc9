package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"crosstalk"
	"crosstalk/measure/langid"
	"crosstalk/measure/similarity/gloss"
	"crosstalk/recorded"
)

// Clusters counts the clusters of items: those that share a prompt (for leakage, the control). Items of one cluster
// are not independent.
func (s *Suite) Clusters() int {
	seen := map[string]bool{}
	for _, item := range s.Items.All() {
		seen[item.Cluster] = true
	}
	return len(seen)
}

// ClusterNoun returns the plural noun for clusters of the suite's instrument: "controls".
func (s *Suite) ClusterNoun() string { return s.reader().clusters }

// Languages returns the languages of the items' labels or texts, sorted.
func (s *Suite) Languages() []string {
	seen := map[string]bool{}
	for _, item := range s.Items.All() {
		if l := item.Labels["language"]; l != "" {
			seen[l] = true
		}
		if item.Input != nil {
			for l := range item.Input.Texts {
				seen[l] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

type findings []string

func (r *findings) add(format string, args ...any) { *r = append(*r, fmt.Sprintf(format, args...)) }

func (r *findings) addIf(strange bool, format string, args ...any) {
	if strange {
		r.add(format, args...)
	}
}

// Check lists likely mistakes, and properties that make figures less reliable. It is empty for a good suite.
func Check(s *Suite) []string {
	found := findings(slices.Concat(s.Unusable, s.remarks))
	for _, tag := range slices.Compact(slices.Sorted(slices.Values(append(s.Languages(), s.Language, s.Begins)))) {
		_, _, err := recorded.LanguageOf(tag)
		found.addIf(tag != "" && err != nil, "%v", err)
	}
	s.reader().check(s, &found)
	clusters, items := s.Clusters(), s.Items.Len()
	found.addIf(clusters < fewestControls, "%d %s: intervals need at least %d", clusters, s.ClusterNoun(), fewestControls)
	found.addIf(items < 30, "%d items: intervals need at least 30", items)
	return found
}

// Limits lists what a suite's figures cannot tell, even if nothing in it is wrong.
func Limits(s *Suite) (limits []string) {
	if s.Instrument != "leakage" {
		return nil
	}
	controls, items := map[string]map[string]bool{}, map[string]int{}
	for _, item := range s.Items.All() {
		category := item.Labels["category"]
		if controls[category] == nil {
			controls[category] = map[string]bool{}
		}
		controls[category][item.Cluster] = true
		items[category]++
	}
	if len(controls) < 2 {
		return nil
	}
	var few []string
	for _, category := range slices.Sorted(maps.Keys(controls)) {
		if n := len(controls[category]); n < fewestControls {
			few = append(few, fmt.Sprintf("%s (%d)", category, n))
		}
	}
	if len(few) > 0 {
		limits = append(limits, fmt.Sprintf("too few controls for an interval of the category, which needs at least %d: %s",
			fewestControls, strings.Join(few, ", ")))
	}
	categories, bySize := slices.Sorted(maps.Keys(items)), func(a, b string) int { return items[a] - items[b] }
	least, most := slices.MinFunc(categories, bySize), slices.MaxFunc(categories, bySize)
	if items[most] > unbalanced*items[least] {
		limits = append(limits, fmt.Sprintf("unbalanced categories: %d items in %s, %d in %s; the figure over all depends "+
			"mostly on the large ones", items[most], most, items[least], least))
	}
	return limits
}

const (
	fewestControls = 5 // for an interval
	unbalanced     = 3 // ratio of the items in one category to those in another
)

func checkPrompts(s *Suite, found *findings) {
	asked := map[[2]string]string{}
	cells := map[[3]string]int{}
	for _, item := range s.Items.All() {
		key := [2]string{item.Prompt.Language, item.Prompt.Text}
		before, again := asked[key]
		found.addIf(again, "%s: same prompt as %s", item.ID, before)
		asked[key] = item.ID
		if item.Labels["task"] == "monolingual" {
			is, other := otherLanguage(item.Prompt.Text, item.Prompt.Language)
			found.addIf(other, "%s: the prompt is in %s; expected %s", item.ID, is, item.Prompt.Language)
		}
		language, _ := langid.Canonical(item.Labels["language"])
		cells[[3]string{item.Labels["task"], item.Labels["source"], language}]++
	}
	byName := func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }
	for _, cell := range slices.SortedFunc(maps.Keys(cells), byName) {
		n := cells[cell]
		name := slices.DeleteFunc(cell[:], func(s string) bool { return s == "" })
		found.addIf(n < 5, "%s: too few items for a reliable figure (%d)", strings.Join(name, " "), n)
	}
	if len(s.Demonstrations) > 0 {
		for _, l := range s.Languages() {
			code, _, err := recorded.LanguageOf(l)
			found.addIf(err == nil && len(s.Demonstrations[code]) == 0, "%s: no demonstrations, unlike other languages", l)
		}
	}
}

func checkTasks(s *Suite, found *findings) {
	for _, t := range s.Tasks {
		for _, language := range slices.Sorted(maps.Keys(t.Instructions)) {
			for _, class := range t.Classes {
				found.addIf(!asksFor(t.Instructions[language], class),
					"task %s: instruction %s has no answer word for the class %s", t.Name, language, class)
			}
		}
		met := map[string]bool{}
		asked := map[string]string{}
		noGold, differing, placeholders := 0, 0, 0
		for _, item := range s.Items.All() {
			if item.Input.Task != t.Name {
				continue
			}
			for _, language := range slices.Sorted(maps.Keys(item.Input.Texts)) {
				texts := item.Input.Texts[language]
				key := language + "\x00" + strings.Join(texts, "\x00")
				before, again := asked[key]
				found.addIf(again, "%s: same text in %s as %s", item.ID, language, before)
				asked[key] = item.ID
				is, other := otherLanguage(strings.Join(texts, "\n"), language)
				found.addIf(other, "%s: the text in %s is in %s", item.ID, language, is)
			}
			golds := map[string]bool{}
			for _, class := range item.Input.Gold {
				met[class], golds[class] = true, true
			}
			if len(golds) == 0 {
				noGold++
			} else if len(golds) > 1 && len(t.Classes) > 0 { // free answers depend on the language
				differing++
			}
			if item.Labels["placeholder"] != "" {
				placeholders++
			}
		}
		found.addIf(noGold > 0, "task %s: no gold class, and so no accuracy, for %d of the items", t.Name, noGold)
		found.addIf(differing > 0, "task %s: the gold class differs between languages for %d of the items", t.Name, differing)
		found.addIf(placeholders > 0, "task %s: the placeholder %s replaces a text in %d of the items (see the column "+
			"placeholder)", t.Name, placeholder, placeholders)
		for _, class := range t.Classes {
			found.addIf(len(met) > 0 && !met[class], "task %s: no item has the gold class %s", t.Name, class)
		}
	}
}

// asksFor reports whether the instruction's text, if known, contains a word for the class.
func asksFor(i crosstalk.Instruction, class string) bool {
	return len(i.Parts) == 0 || slices.ContainsFunc(i.Words, func(w crosstalk.AnswerWord) bool {
		for _, text := range i.Parts {
			if w.Class == class && strings.Contains(strings.ToLower(text), strings.ToLower(w.Word)) {
				return true
			}
		}
		return false
	})
}

// The least continuations that the reference model needs for a useful measurement.
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
	checkPairLanguages(s, found)
}

// endings returns the ends of a pair's prompts, which must be the same: their last sentences, or the last words if
// the last sentence has the concept. If open, prompts ask for a text and may end in the concept.
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

// withoutInstruction removes an instruction with which both prompts begin, such as "Complete the sentence: ". It
// would be in the last sentence of a control of one sentence, but not in that of its test.
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
