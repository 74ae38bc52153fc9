package main

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"crosstalk/tools/internal/builder"
	"crosstalk/tools/internal/corpus"
)

// readPackages reads the sentences of Debian packages: of those in lists.txt whose names end in ".deb".
func readPackages(in string) (corpus.Texts, error) {
	texts := corpus.Texts{}
	for line := range strings.Lines(listSums) {
		name, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasSuffix(name, ".deb") {
			continue
		}
		path := filepath.Join(in, "debs", name)
		if _, err := builder.ReadFile(path, sum); err != nil {
			return nil, err
		}
		if err := corpus.ReadPackage(path, texts.Add); err != nil {
			return nil, err
		}
	}
	texts.Purge()
	return texts, nil
}

// leastCount is how often a word must occur in texts.
const leastCount = 2

// count returns the words of sentences, the most frequent first, and their shares.
func count(sentences map[string]string) (list []word) {
	counts, total := map[string]int{}, 0
	for text, origin := range sentences {
		if corpus.HeldOut[origin] {
			continue
		}
		for w := range strings.FieldsFuncSeq(text, notInWord) {
			w = strings.ToLower(strings.ReplaceAll(strings.Trim(w, "'’"), "’", "'"))
			if w != "" {
				counts[w]++
				total++
			}
		}
	}
	for _, w := range builder.ByCount(counts) {
		if counts[w] >= leastCount {
			list = append(list, word{w, float64(counts[w]) / float64(total)})
		}
	}
	return list
}

func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’'
}

// cyrillic writes Serbian in Cyrillic letters: each has one or two in Latin script.
var cyrillic = strings.NewReplacer("lj", "љ", "nj", "њ", "dž", "џ", "a", "а", "b", "б", "c", "ц", "č", "ч", "ć", "ћ",
	"d", "д", "đ", "ђ", "e", "е", "f", "ф", "g", "г", "h", "х", "i", "и", "j", "ј", "k", "к", "l", "л", "m", "м", "n", "н",
	"o", "о", "p", "п", "r", "р", "s", "с", "š", "ш", "t", "т", "u", "у", "v", "в", "z", "з", "ž", "ж")

func inCyrillic(list []word) []word {
	list = slices.Clone(list)
	for i := range list {
		list[i].text = cyrillic.Replace(list[i].text)
	}
	return list
}

// untranslated leaves out of words of texts those that English has nearly as often, or more often: translators left
// many words of programs as they were.
func untranslated(list, english []word) []word {
	frequency := map[string]float64{}
	for _, w := range english {
		frequency[w.text] = w.frequency
	}
	return slices.DeleteFunc(list, func(w word) bool {
		x := frequency[w.text]
		return len(w.text) > 3 && x > 1e-6 && x > w.frequency/20
	})
}
