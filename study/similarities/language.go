package similarities

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"crosstalk"
)

// CommonLanguage returns the one language of items, without its region, and
// English if they do not say.
func CommonLanguage(items iter.Seq2[crosstalk.Item, error]) (string, error) {
	var languages []string
	for item, err := range items {
		if err != nil {
			return "", err
		}
		if language := primary(item.Labels["language"]); language != "" && !slices.Contains(languages, language) {
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
