package main

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ownFiles are the translations of NTREX-128 (Federmann, Kocmi and Xin 2022; CC BY-SA 4.0): the same news in every
// language, line by line.
var ownFiles = map[string]string{
	"ar": "ref.arb", "de": "ref.deu", "en": "src.eng", "es": "ref.spa", "fr": "ref.fra", "hi": "ref.hin",
	"id": "ref.ind", "it": "ref.ita", "ja": "ref.jpn", "ko": "ref.kor", "pt": "ref.por-BR", "ru": "ref.rus",
	"tr": "ref.tur", "vi": "ref.vie", "zh": "ref.zho-CN",
}

// linesOfAnswer is how many lines of news make an answer.
const linesOfAnswer = 4

// ownSizes are the numbers of words put in, and ownCases how many cases of each a pair of languages has: more where
// words are hard to tell apart.
var ownSizes = []int{1, 2, 4, 8}

func ownCases(a, b string) int {
	classes := classesOf(a, b)
	switch {
	case slices.Contains(classes, "zh-ja"):
		return 300
	case slices.Contains(classes, "romance"):
		return 100
	case slices.Contains(classes, "same script"):
		return 40
	}
	return 10
}

// makeOwn makes data of the form of ../shared/data/words, and by its rules, from translated news: clean answers, and
// answers with runs of words of another language put in at a word boundary or in place of as many words. The same texts
// give the same data. Nobody has read the news for words that are truly foreign, so that false runs are an upper bound.
func makeOwn(dir string) (s set, err error) {
	texts := map[string][]*answer{}
	vocabulary := map[string]map[string]bool{} // words of a language and half, or pairs of characters
	for _, language := range languages {
		lines, err := readText(filepath.Join(dir, "newstest2019-"+ownFiles[language]+".txt"))
		if err != nil {
			return s, err
		}
		for i := 0; i+linesOfAnswer <= len(lines); i += linesOfAnswer {
			a := &answer{ID: fmt.Sprintf("own-%s-%d", language, i), Language: language,
				Kind: "clean", Text: strings.Join(lines[i:i+linesOfAnswer], "\n")}
			// The same news is in the same half in every language.
			a.from = fmt.Sprintf("own-%d", i)
			a.half = halfOf(a.from)
			texts[language] = append(texts[language], a)
			key := language + a.half
			if vocabulary[key] == nil {
				vocabulary[key] = map[string]bool{}
			}
			for _, p := range partsOf(a.Text, language) {
				vocabulary[key][strings.ToLower(p.text(a.Text))] = true
			}
		}
		s.clean = append(s.clean, texts[language]...)
	}
	for _, a := range languages {
		for _, b := range languages {
			if a == b {
				continue
			}
			frequent := mostFrequent(texts[b], b)
			for n := range ownCases(a, b) {
				for _, k := range ownSizes {
					seed := fmt.Sprintf("%s %s %d %d", a, b, n, k)
					r := rand.New(rand.NewPCG(uint64(len(seed)), hash64(seed)))
					s.inserted = append(s.inserted, putIn(r, texts, vocabulary, frequent, a, b, k))
				}
			}
		}
	}
	for a := range s.all() {
		from, half := a.from, a.half
		a.prepare()
		a.from, a.half = from, half
	}
	return s, nil
}

func readText(path string) (lines []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(scanner.Text(), "\ufeff")))
	}
	return lines, scanner.Err()
}

// part is a word between spaces, without the punctuation around it, or two letters of Chinese or Japanese that follow
// each other.
type part struct{ start, end int }

func (p part) text(text string) string { return text[p.start:p.end] }

func unspaced(language string) bool { return strings.HasPrefix(language, "zh") || language == "ja" }

func partsOf(text, language string) (all []part) {
	if unspaced(language) {
		last := -1
		before := 0 // bytes of the letter before
		for i, r := range text {
			n := utf8.RuneLen(r)
			if !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) && r != 'ー' {
				continue
			}
			if last == i {
				all = append(all, part{i - before, i + n})
			}
			last, before = i+n, n
		}
		return all
	}
	for at := 0; at < len(text); {
		n := strings.IndexFunc(text[at:], unicode.IsSpace)
		if n < 0 {
			n = len(text) - at
		}
		word := text[at : at+n]
		if lo := strings.IndexFunc(word, unicode.IsLetter); lo >= 0 {
			hi := strings.LastIndexFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) })
			_, size := utf8.DecodeRuneInString(word[hi:])
			all = append(all, part{at + lo, at + hi + size})
		}
		_, size := utf8.DecodeRuneInString(text[min(at+n, len(text)):])
		at += n + max(size, 1)
	}
	return all
}

// mostFrequent returns the 100 most frequent words of a language.
func mostFrequent(texts []*answer, language string) map[string]bool {
	count := map[string]int{}
	for _, a := range texts {
		for _, p := range partsOf(a.Text, language) {
			count[strings.ToLower(p.text(a.Text))]++
		}
	}
	var sorted []string
	for w := range count {
		sorted = append(sorted, w)
	}
	slices.SortFunc(sorted, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	frequent := map[string]bool{}
	for _, w := range sorted[:100] {
		frequent[w] = true
	}
	return frequent
}

// putIn makes an answer in language a with k words of language b, or twice as many letters of Chinese or Japanese.
func putIn(r *rand.Rand, texts map[string][]*answer,
	vocabulary map[string]map[string]bool, frequent map[string]bool, a, b string, k int) *answer {
	for {
		base := texts[a][r.IntN(len(texts[a]))]
		other := "a"
		if base.half == "a" {
			other = "b"
		}
		donor := texts[b][r.IntN(len(texts[b]))]
		if donor.half != base.half {
			continue
		}
		run, ok := takeRun(r, donor, vocabulary[a+other], frequent, b, k)
		if !ok {
			continue
		}
		all := partsOf(base.Text, a)
		at := 1 + r.IntN(len(all)-1)
		if start := strings.LastIndexByte(base.Text[:all[at].start], '\n') + 1; all[at-1].start < start {
			continue // before the first word of a line
		}
		start, end := all[at].start, all[at].start
		if r.IntN(2) == 0 { // in place of as many words
			last := at + k - 1
			if unspaced(a) {
				last = at + 2*k - 2
			}
			if last >= len(all) || strings.ContainsAny(base.Text[start:all[last].end], "\n.,;:!?。、，！？「」()（）\"“”") {
				continue
			}
			end = all[last].end
		} else if !unspaced(a) && !unicode.IsSpace(rune(base.Text[start-1])) {
			continue
		}
		spaced := !unspaced(a) || !unspaced(b) && r.IntN(2) == 0
		before, after := base.Text[:start], base.Text[end:]
		if last, _ := utf8.DecodeLastRuneInString(before); spaced && last != ' ' || !unspaced(b) && wordRune(last) {
			before += " "
		}
		if next, _ := utf8.DecodeRuneInString(after); spaced && unicode.IsLetter(next) || !unspaced(b) && wordRune(next) {
			after = " " + after
		}
		return &answer{
			ID: fmt.Sprintf("%s-%s-%d", base.ID, b, k), Language: a, Kind: "insert", K: k, Text: before + run + after,
			Foreign: []known{{Start: len(before), End: len(before) + len(run), Language: b}}, from: base.from, half: base.half,
		}
	}
}

// takeRun returns k words of an answer that follow each other, in lower case letters, the first one neither short nor
// frequent. With k = 1 the other language must not have the word, with more not all of them.
func takeRun(r *rand.Rand, donor *answer, others, frequent map[string]bool, language string, k int) (string, bool) {
	all := partsOf(donor.Text, language)
	if unspaced(language) {
		k = 2*k - 1
	}
	if len(all) <= k {
		return "", false
	}
	at := r.IntN(len(all) - k)
	run := donor.Text[all[at].start:all[at+k-1].end]
	shared := 0
	for i := at; i < at+k; i++ {
		if others[strings.ToLower(all[i].text(donor.Text))] {
			shared++
		}
	}
	if shared == k {
		return "", false
	}
	if unspaced(language) {
		return run, utf8.RuneCountInString(run) == k+1
	}
	least := 3
	if language == "ko" {
		least = 2
	}
	first := all[at].text(donor.Text)
	if frequent[first] || utf8.RuneCountInString(first) < least || strings.IndexFunc(run, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != ' ' && r != '\'' && r != '’' ||
			unicode.IsUpper(r) && language != "de"
	}) >= 0 {
		return "", false
	}
	if r, _ := utf8.DecodeRuneInString(first); unicode.IsUpper(r) {
		return "", false
	}
	return run, scriptsOf(run) == 1
}

// scriptsOf counts the scripts of a run, where all but Latin are one.
func scriptsOf(run string) (n int) {
	isLatin := func(r rune) bool { return unicode.Is(unicode.Latin, r) }
	if strings.IndexFunc(run, isLatin) >= 0 {
		n++
	}
	if strings.IndexFunc(run, func(r rune) bool { return unicode.IsLetter(r) && !isLatin(r) }) >= 0 {
		n++
	}
	return n
}

// wordRune reports whether a letter or digit joins those beside it to a word.
func wordRune(r rune) bool {
	return unicode.IsDigit(r) || unicode.IsLetter(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

func hash64(s string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, s)
	return h.Sum64()
}
