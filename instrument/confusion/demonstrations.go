package confusion

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"crosstalk"
)

// Demonstrations precede prompts, by the language that a prompt asks for.
type Demonstrations struct {
	Name string // in signatures, such as other@1a2b3c4d; "": in the expected language

	Monolingual, Crosslingual map[string][]crosstalk.Demonstration
}

// Before returns the demonstrations before an item's prompt.
func (d Demonstrations) Before(item crosstalk.Item) []crosstalk.Demonstration {
	if item.Labels[TaskColumn] == crosslingual {
		return d.Crosslingual[item.Prompt.Language]
	}
	return d.Monolingual[item.Prompt.Language]
}

// crosslingual is the task of prompts in another language than that of their answers.
const crosslingual = "crosslingual"

// Fingerprint returns a short hash of what is shown.
func (d Demonstrations) Fingerprint() string {
	hash := sha256.Sum256(crosstalk.Canonical([]any{d.Monolingual, d.Crosslingual}))
	return fmt.Sprintf("%x", hash[:4])
}

// InOtherLanguages draws demonstrations for each target language.
func InOtherLanguages(all map[string][]crosstalk.Demonstration, targets []string) Demonstrations {
	of := Demonstrations{Monolingual: map[string][]crosstalk.Demonstration{},
		Crosslingual: map[string][]crosstalk.Demonstration{}}
	for _, target := range targets {
		of.Monolingual[target], _ = Draw(all, target, false)
		of.Crosslingual[target], _ = Draw(all, target, true)
	}
	return of
}

// Draw draws for a target language from demonstrations by their language, so that they show the task and not the
// language to answer in (Marchisio et al. 2024, footnote 21): one of each other language, then the next of each. The
// order of the languages depends on the target alone. Before cross-lingual prompts, the questions are the cross-lingual
// ones, and demonstrations without one are left out. languages are those of the demonstrations.
func Draw(all map[string][]crosstalk.Demonstration, target string,
	crosslingual bool) (shown []crosstalk.Demonstration, languages []string) {
	others := slices.DeleteFunc(slices.Collect(maps.Keys(all)), func(language string) bool { return language == target })
	place := func(language string) string {
		hash := sha256.Sum256([]byte("demonstrations\x00" + target + "\x00" + language))
		return string(hash[:])
	}
	slices.SortFunc(others, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	most := 0
	for _, language := range others {
		most = max(most, len(all[language]))
	}
	for i := range most {
		for _, language := range others {
			if i >= len(all[language]) {
				continue
			}
			d := all[language][i]
			if crosslingual {
				d.Question = d.Crosslingual
			}
			if d.Question != "" {
				shown, languages = append(shown, d), append(languages, language)
			}
		}
	}
	return shown, languages
}
