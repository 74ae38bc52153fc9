package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/tools/internal/builder"
	"crosstalk/tools/internal/corpus"
)

// A word of a list with its relative frequency.
type word struct {
	text      string
	frequency float64
}

// readList reads a word list of wordfreq: a gzip file of MessagePack with a list of lists, of which number n has the
// words of frequency 10^(-n/100). The file must have the given SHA-256 sum.
func readList(path, sum string) ([]word, error) {
	packed, err := builder.ReadFile(path, sum)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	words, err := unpackList(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return words, nil
}

// dictionaries are the dictionaries of languages whose lists are short.
var dictionaries = map[string]string{"tr": "zemberek-nlp/morphology/src/main/resources/tr/master-dictionary.dict"}

// dictionaryShare is the share of a language's words that one has which a dictionary has and no list: less than the
// lists' rarest, one in a million.
const dictionaryShare = 2e-7

// dictionary returns the words of a language's dictionary that are not in a list.
func dictionary(list []word, in, language string) ([]word, error) {
	name := dictionaries[language]
	data, err := builder.ReadFile(filepath.Join(in, name), sumOf(filepath.Base(name)))
	if err != nil {
		return nil, err
	}
	return unlistedWords(string(data), list), nil
}

// unlistedWords returns the words of a dictionary of Zemberek that are not in a list: it has a word and, in brackets,
// its properties on a line; verbs end in -mak or -mek, without which they are stems.
func unlistedWords(dictionary string, list []word) (added []word) {
	have := map[string]bool{}
	for _, w := range list {
		have[w.text] = true
	}
	add := func(w string) {
		if !have[w] && utf8.RuneCountInString(w) >= shortestStem && written(w, []*unicode.RangeTable{unicode.Latin}) &&
			strings.ToLower(w) == w {
			have[w] = true
			added = append(added, word{w, dictionaryShare})
		}
	}
	for line := range strings.Lines(dictionary) {
		w, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		add(w)
		for _, infinitive := range []string{"mak", "mek"} {
			if stem, ok := strings.CutSuffix(w, infinitive); ok {
				add(stem)
			}
		}
	}
	return added
}

// sumOf returns the SHA-256 sum of a file in lists.txt, "" if it is not there.
func sumOf(file string) string {
	for line := range strings.Lines(listSums) {
		if name, sum, _ := strings.Cut(strings.TrimSpace(line), " "); name == file {
			return sum
		}
	}
	return ""
}

func unpackList(data []byte) (words []word, err error) {
	r := packReader{data: string(data)}
	defer func() {
		if e := recover(); e != nil {
			words, err = nil, fmt.Errorf("byte %d: %v", r.at, e)
		}
	}()
	levels := r.length(0x90, 0xdc)
	for range 2 * r.length(0x80, 0xde) { // the header: format and version
		r.skip()
	}
	for level := range levels - 1 {
		for range r.length(0x90, 0xdc) {
			words = append(words, word{r.text(), math.Pow(10, -float64(level)/100)})
		}
	}
	return words, nil
}

// packReader reads what wordfreq uses of MessagePack. It panics at the end of the data and at other types.
type packReader struct {
	data string
	at   int
}

func (r *packReader) number(size int) (n int) {
	for range size {
		n = n<<8 | int(r.data[r.at])
		r.at++
	}
	return n
}

// length reads the head of an array or map: short has its length in four bits, long announces two or four bytes.
func (r *packReader) length(short, long int) int {
	switch head := r.number(1); {
	case head&0xf0 == short:
		return head & 0xf
	case head == long:
		return r.number(2)
	case head == long+1:
		return r.number(4)
	default:
		panic(fmt.Sprintf("unexpected type %#x", head))
	}
}

func (r *packReader) text() string {
	n := 0
	switch head := r.number(1); {
	case head&0xe0 == 0xa0:
		n = head & 0x1f
	case head == 0xd9:
		n = r.number(1)
	case head == 0xda:
		n = r.number(2)
	default:
		panic(fmt.Sprintf("unexpected type %#x, expected text", head))
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

// skip passes a short text or number of the header.
func (r *packReader) skip() {
	if r.data[r.at] < 0x80 {
		r.at++
		return
	}
	r.text()
}

// keep returns the words that are written in the scripts alone, at most n, the most frequent first.
func keep(words []word, scripts []*unicode.RangeTable, n int) []word {
	var kept []word
	for _, w := range words {
		if len(kept) < n && utf8.RuneCountInString(w.text) <= 30 && written(w.text, scripts) {
			kept = append(kept, w)
		}
	}
	return kept
}

func written(w string, scripts []*unicode.RangeTable) bool {
	return strings.IndexFunc(w, func(r rune) bool {
		return !unicode.In(r, scripts...) && !unicode.IsMark(r) && r != '\'' && r != 'ー' && r != '\u200c' && r != '\u200d'
	}) < 0 && strings.IndexFunc(w, unicode.IsLetter) >= 0
}

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
