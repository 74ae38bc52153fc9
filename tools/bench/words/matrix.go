package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/guard"
)

// A tongue is a language of the matrix: its file, and relatives that are hard to tell from it.
type tongue struct{ language, file, relatives string }

// tongues are languages with a model of words, by script and frequency, as NTREX-128 has them.
var tongues = []tongue{
	{"de", "ref.deu", "nl"}, {"en", "src.eng", ""}, {"es", "ref.spa", "pt ca gl"}, {"fr", "ref.fra", "ca it"},
	{"id", "ref.ind", ""}, {"it", "ref.ita", "es"}, {"pt", "ref.por-BR", "es gl"}, {"tr", "ref.tur", "az"},
	{"vi", "ref.vie", ""}, {"nl", "ref.nld", "de af"}, {"pl", "ref.pol", "cs sk"}, {"ro", "ref.ron", "it"},
	{"sv", "ref.swe", "da no"}, {"cs", "ref.ces", "sk pl"}, {"hu", "ref.hun", "fi"}, {"fi", "ref.fin", "et"},
	{"da", "ref.dan", "no sv"}, {"no", "ref.nob", "da sv"}, {"sk", "ref.slk", "cs pl"}, {"hr", "ref.hrv", "sl"},
	{"sl", "ref.slv", "hr"}, {"lt", "ref.lit", "lv"}, {"lv", "ref.lav", "lt"}, {"et", "ref.est", "fi"},
	{"is", "ref.isl", "da"}, {"ca", "ref.cat", "es fr"}, {"gl", "ref.glg", "pt es"}, {"eu", "ref.eus", "es"},
	{"af", "ref.afr", "nl"}, {"sq", "ref.sqi", "it"}, {"cy", "ref.cym", "ga"}, {"ga", "ref.gle", "cy"},
	{"ms", "ref.msa", ""}, {"tl", "ref.fil", "es"}, {"sw", "ref.swa", ""}, {"az", "ref.aze-Latn", "tr"},
	{"uz", "ref.uzb", "az"}, {"ru", "ref.rus", "uk bg"}, {"uk", "ref.ukr", "ru be"}, {"bg", "ref.bul", "ru mk"},
	{"mk", "ref.mkd", "bg sr"}, {"sr", "ref.srp-Cyrl", "mk ru"}, {"be", "ref.bel", "ru uk"}, {"kk", "ref.kaz", "ru"},
	{"ar", "ref.arb", "fa"}, {"fa", "ref.fas", "ar"}, {"ur", "ref.urd", "fa ar"},
	{"hi", "ref.hin", "mr ne"}, {"mr", "ref.mar", "hi ne"}, {"ne", "ref.nep", "hi mr"},
	{"zh-Hans", "ref.zho-CN", "zh-Hant"}, {"zh-Hant", "ref.zho-TW", "zh-Hans"},
}

// donors are the languages other than relatives that words are put in from.
var donors = strings.Fields("de fr es it pl nl sv fi tr id pt cs ro hu")

const casesEach = 60 // of a language, a class of other ones and a kind

// readTongues reads the news, four lines at a time, without those that have a line as the English source has it: a
// French sentence in it, or what was not translated. The same news is in the same half in every language.
func readTongues(dir string) (map[string][]*answer, error) {
	texts := map[string][]*answer{}
	source, err := readText(filepath.Join(dir, "newstest2019-src.eng.txt"))
	if err != nil {
		return nil, err
	}
	for _, t := range tongues {
		lines, err := readText(filepath.Join(dir, "newstest2019-"+t.file+".txt"))
		if err != nil {
			return nil, err
		}
		for i := 0; i+linesOfAnswer <= min(len(lines), len(source)); i += linesOfAnswer {
			from := source[i : i+linesOfAnswer]
			if slices.ContainsFunc(lines[i:i+linesOfAnswer], func(l string) bool { return slices.Contains(from, l) }) &&
				t.language != "en" {
				continue
			}
			a := &answer{ID: fmt.Sprintf("own-%s-%d", t.language, i), Language: t.language,
				Text: strings.Join(lines[i:i+linesOfAnswer], "\n"), half: halfOf(fmt.Sprintf("own-%d", i))}
			texts[t.language] = append(texts[t.language], a)
		}
	}
	return texts, nil
}

// matrix prints, for each language, what is found of words, sentences and lines that are put into translated news, and
// how much of the news is flagged.
func matrix(o options) error {
	texts, err := readTongues(o.own)
	if err != nil {
		return err
	}
	for _, half := range o.halves {
		fmt.Printf("\nHalf %s: found, and in brackets verdict wrong, %%; %d cases each\n", half, casesEach)
		fmt.Printf("%-4s%9s%7s", "", "clean", "runs")
		for _, class := range []string{"English", "others", "relatives"} {
			for _, k := range []string{"1", "2", "4", "sent.", "line"} {
				fmt.Printf("%10s", cmp.Or(map[string]string{"1": class + " 1"}[k], k))
			}
		}
		fmt.Println()
		for _, t := range tongues {
			if err := t.row(texts, half); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t tongue) row(texts map[string][]*answer, half string) error {
	var own []*answer
	flagged, runs, words := 0, 0, 0
	for _, a := range texts[t.language] {
		if a.half != half {
			continue
		}
		own = append(own, a)
		j, err := guard.Check(a.Text, t.language)
		if err != nil {
			return err
		}
		words += len(strings.Fields(a.Text))
		runs += len(j.Spans)
		if j.Verdict == guard.Wrong {
			flagged++
		}
	}
	fmt.Printf("%-4s%9.1f%7.1f", t.language, 100*float64(flagged)/float64(len(own)), 1000*float64(runs)/float64(words))
	classes := [][]string{{"en"}, slices.DeleteFunc(slices.Clone(donors), func(l string) bool {
		return strings.Contains(t.relatives, l)
	}), strings.Fields(t.relatives)}
	for _, class := range classes {
		class = slices.DeleteFunc(slices.Clone(class), func(l string) bool { return l == t.language })
		for _, kind := range []string{"1", "2", "4", "sentence", "line"} {
			found, wrong, n := 0, 0, 0
			r := rand.New(rand.NewPCG(hash64(t.language+half+kind), hash64(strings.Join(class, " "))))
			for n < casesEach && len(class) > 0 {
				other := class[r.IntN(len(class))]
				a := plant(r, own, texts[other], half, kind)
				if a == nil {
					continue
				}
				n++
				j, err := guard.Check(a.Text, t.language)
				if err != nil {
					return err
				}
				in := 0
				for _, s := range j.Spans {
					in += max(0, min(s.End, a.Foreign[0].End)-max(s.Start, a.Foreign[0].Start))
				}
				if 2*in >= a.Foreign[0].End-a.Foreign[0].Start {
					found++
				}
				if j.Verdict == guard.Wrong {
					wrong++
				}
			}
			if n == 0 {
				fmt.Printf("%10s", "-")
				continue
			}
			fmt.Printf("%10s", fmt.Sprintf("%.0f (%.0f)", 100*float64(found)/float64(n), 100*float64(wrong)/float64(n)))
		}
	}
	fmt.Println()
	return nil
}

// plant puts words of another language, a sentence of it, or a line, into a text. It returns nil if what it picked does
// not suit.
func plant(r *rand.Rand, own, others []*answer, half, kind string) *answer {
	base, donor := own[r.IntN(len(own))], others[r.IntN(len(others))]
	if donor.half != half || base.ID[len("own-")+len(base.Language):] == donor.ID[len("own-")+len(donor.Language):] {
		return nil
	}
	line := strings.Split(donor.Text, "\n")[r.IntN(linesOfAnswer)]
	switch kind {
	case "line", "sentence":
		n := len(strings.Fields(line))
		if unspaced(donor.Language) {
			n = utf8.RuneCountInString(line) / 2
		}
		if n < 5 || n > 25 {
			return nil
		}
		at := strings.IndexByte(base.Text, '\n')
		separator := map[string]string{"line": "\n", "sentence": " "}[kind]
		return &answer{Text: base.Text[:at] + separator + line + base.Text[at:],
			Foreign: []known{{Start: at + 1, End: at + 1 + len(line)}}}
	}
	k := int(kind[0] - '0')
	own1 := map[string]bool{}
	for _, w := range strings.Fields(strings.ToLower(base.Text)) {
		own1[w] = true
	}
	run, ok := takeRun(r, donor, own1, donor.Language, k)
	if !ok {
		return nil
	}
	all := partsOf(base.Text, base.Language)
	at := all[1+r.IntN(len(all)-1)].start
	if unspaced(base.Language) && unspaced(donor.Language) {
		return &answer{Text: base.Text[:at] + run + base.Text[at:], Foreign: []known{{Start: at, End: at + len(run)}}}
	}
	if base.Text[at-1] != ' ' && !unspaced(base.Language) {
		return nil
	}
	return &answer{Text: base.Text[:at] + run + " " + base.Text[at:],
		Foreign: []known{{Start: at, End: at + len(run)}}}
}

// linesOfAnswer is the number of lines of news in an answer.
const linesOfAnswer = 4

func readText(path string) (lines []string, err error) {
	data, err := os.ReadFile(path)
	for line := range strings.Lines(string(data)) {
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")))
	}
	return lines, err
}

// part is a word between spaces, without the punctuation around it, or two letters of Chinese or Japanese that follow
// each other.
type part struct{ start, end int }

func (p part) text(text string) string { return text[p.start:p.end] }

func unspaced(language string) bool { return strings.HasPrefix(language, "zh") || language == "ja" }

// wordPattern is what partsOf takes from between spaces: from the first letter to the last letter or mark.
var wordPattern = regexp.MustCompile(`\pL(?:[^\pZ\s\v\x{85}]*[\pL\pM])?`)

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
	for _, at := range wordPattern.FindAllStringIndex(text, -1) {
		all = append(all, part{at[0], at[1]})
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
	letters := func(latin bool) bool {
		return strings.IndexFunc(run, func(r rune) bool {
			return unicode.IsLetter(r) && unicode.Is(unicode.Latin, r) == latin
		}) >= 0
	}
	return run, letters(true) != letters(false)
}

func hash64(s string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, s)
	return h.Sum64()
}
