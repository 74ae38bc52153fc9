package main

import (
	"bufio"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// linesOfAnswer is how many lines of news make an answer.
const linesOfAnswer = 4

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

// takeRun returns k words of an answer that follow each other, in lower case letters, the first one not short. With
// k = 1 the other text must not have the word, with more not all of them.
func takeRun(r *rand.Rand, donor *answer, others map[string]bool, language string, k int) (string, bool) {
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
	if utf8.RuneCountInString(first) < least || strings.IndexFunc(run, func(r rune) bool {
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

func hash64(s string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, s)
	return h.Sum64()
}
