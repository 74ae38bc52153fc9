package suite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/recorded"
)

// Clusters counts the prompts that items share (for leakage, the controls). Items of one cluster are not independent.
func (s *Suite) Clusters() int {
	seen := map[string]bool{}
	for _, item := range s.Items.All() {
		seen[item.Cluster] = true
	}
	return len(seen)
}

// ClusterNoun is what the clusters of the suite's instrument are called, in the plural: "controls".
func (s *Suite) ClusterNoun() string { return s.reader().clusters }

// Languages are the languages of the items' labels or texts, sorted.
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

// Check lists likely mistakes and what makes figures less reliable. It is empty for a good suite.
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

// Limits lists what figures of a suite cannot tell, though nothing in it is wrong.
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
	fewestControls = 5 // of an interval
	unbalanced     = 3 // times as many items in one category as in another
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
		cells[[3]string{item.Labels["task"], item.Labels["source"], item.Labels["language"]}]++
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
			} else if len(golds) > 1 && len(t.Classes) > 0 { // free answers are in the language
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

// asksFor reports whether the instruction's text, if known, contains a word of the class.
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
