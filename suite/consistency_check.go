package suite

import (
	"maps"
	"slices"
	"strings"

	"crosstalk"
)

// checkTasks lists likely mistakes in tasks and their inputs.
func checkTasks(s *Suite, remark func(string, ...any)) {
	for _, t := range s.Tasks {
		for _, language := range slices.Sorted(maps.Keys(t.Instructions)) {
			for _, class := range t.Classes {
				if !asksFor(t.Instructions[language], class) {
					remark("task %s: instruction %s has no answer word for the class %s", t.Name, language, class)
				}
			}
		}
		met := map[string]bool{}
		asked := map[string]string{}
		noGold, differing, placeholders := 0, 0, 0
		for _, item := range s.Items.All() {
			if item.Input.Task != t.Name {
				continue
			}
			for language, texts := range item.Input.Texts {
				key := language + "\x00" + strings.Join(texts, "\x00")
				if other, again := asked[key]; again {
					remark("%s: same text in %s as %s", item.ID, language, other)
				}
				asked[key] = item.ID
				if found, other := otherLanguage(strings.Join(texts, "\n"), language); other {
					remark("%s: the text in %s is in %s", item.ID, language, found)
				}
			}
			golds := map[string]bool{}
			for _, class := range item.Input.Gold {
				met[class], golds[class] = true, true
			}
			switch len(golds) {
			case 0:
				noGold++
			case 1:
			default:
				if len(t.Classes) > 0 { // free answers are in the language
					differing++
				}
			}
			if item.Labels["placeholder"] != "" {
				placeholders++
			}
		}
		if noGold > 0 {
			remark("task %s: no gold class, and so no accuracy, for %d of the items", t.Name, noGold)
		}
		if differing > 0 {
			remark("task %s: the gold class differs between languages for %d of the items", t.Name, differing)
		}
		if placeholders > 0 {
			remark("task %s: the placeholder %s replaces a text in %d of the items (see the column placeholder)",
				t.Name, placeholder, placeholders)
		}
		for _, class := range t.Classes {
			if len(met) > 0 && !met[class] {
				remark("task %s: no item has the gold class %s", t.Name, class)
			}
		}
	}
}

// asksFor reports whether the instruction's text, if known, contains a word of
// the class.
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
