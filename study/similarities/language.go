package similarities

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk/measure/similarity/bertscore"
)

// CheckGloss refuses gloss, which has English words only, for a suite without English items, and names the command
// that fetches a model which serves it. names are similarities as Open reads them; languages are the languages of
// the suite's items, BCP 47; without any, they count as English.
func CheckGloss(names []string, suite string, languages []string) error {
	english := func(language string) bool { return primary(language) == "en" }
	if !slices.Contains(names, "gloss") || len(languages) == 0 || slices.ContainsFunc(languages, english) {
		return nil
	}
	one := primary(languages[0])
	if slices.ContainsFunc(languages, func(l string) bool { return primary(l) != one }) {
		one = "" // the model for all languages, which must be named
	}
	model, name := "bertscore:"+bertscore.ModelFor(one), "bertscore"
	if one == "" {
		name = model
	}
	return fmt.Errorf("gloss compares English only, and the suite %s is in %s. Fetch a model for it with:\n"+
		"  crosstalk models pull %s\n"+
		"Then repeat the command with --similarity %s, or use a provider's embeddings: "+
		"--similarity openai:text-embedding-3-large",
		suite, strings.Join(languages, ", "), model, name)
}

// primary is the language of a tag without script and region, in lower case.
func primary(tag string) string {
	language, _, _ := strings.Cut(tag, "-")
	return strings.ToLower(language)
}

// CommonLanguage returns the one language of these tags, without its region, and English if there are none.
func CommonLanguage(tags []string) (string, error) {
	var languages []string
	for _, tag := range tags {
		if language := primary(tag); language != "" && !slices.Contains(languages, language) {
			languages = append(languages, language)
		}
	}
	switch len(languages) {
	case 0:
		return "en", nil
	case 1:
		return languages[0], nil
	}
	slices.Sort(languages)
	return "", fmt.Errorf("the items are in several languages (%s): "+
		"name one model for all, such as bertscore:bert-base-multilingual-cased", strings.Join(languages, ", "))
}
