package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

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
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != sum {
			return nil, fmt.Errorf("%s: SHA-256 is %s, expected %s", path, got, sum)
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
	for _, w := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
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
