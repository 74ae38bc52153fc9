package main

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"crosstalk/tools/internal/corpus"
)

type sentence struct {
	text, origin string
	order        uint64
}

// shuffled returns the sentences in an order that depends on
// nothing but themselves, so that a change of one leaves the others in place.
func shuffled(texts map[string]string) []sentence {
	all := make([]sentence, 0, len(texts))
	for text, origin := range texts {
		h := fnv.New64a()
		h.Write([]byte(text))
		all = append(all, sentence{text, origin, h.Sum64()})
	}
	slices.SortFunc(all, func(a, b sentence) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.text, b.text))
	})
	return all
}

// Of a language's lines at most this share is from one origin while others
// have more, and a sentence is seen at most so many times.
const (
	originShare = 0.4
	repeats     = 4
)

// sampler makes training lines, the same each time.
type sampler struct {
	rng     *rand.Rand
	english [][]string // for mixing: words of sentences
}

// lines returns the training lines of a language, labelled.
func (s *sampler) lines(language string, all []sentence) []string {
	want := target(language)
	taken := map[string]int{}
	var picked, rest []string
	for _, x := range all {
		switch {
		case corpus.HeldOut[x.origin]:
		case taken[x.origin] < int(originShare*float64(want)):
			taken[x.origin]++
			picked = append(picked, x.text)
		default:
			rest = append(rest, x.text)
		}
	}
	picked = append(picked, rest[:min(len(rest), max(want-len(picked), 0))]...)
	s.rng.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })

	lines := make([]string, 0, want)
	for i := range min(want, repeats*len(picked)) {
		line := s.view(picked[i%len(picked)], language)
		if corpus.Scripts[language] != nil && s.chance(0.12) {
			line = s.mix(line, language)
		}
		if s.chance(0.06) {
			line = string("123456789"[s.rng.IntN(9)]) + " " + line
		}
		lines = append(lines, "__label__"+language+" "+line+"\n")
	}
	return lines
}

func (s *sampler) chance(p float64) bool { return s.rng.Float64() < p }

// span picks at random where to begin and how much to take of n.
func (s *sampler) span(n, least, most int) (from, to int) {
	k := least + s.rng.IntN(max(min(most, n)-least, 0)+1)
	k = min(k, n)
	from = s.rng.IntN(n - k + 1)
	return from, from + k
}

// view is a sentence, or a part of it, as a line of an answer may look.
func (s *sampler) view(text, language string) string {
	if !s.chance(0.1) {
		text = normalise(text)
	}
	if corpus.Unspaced[language] {
		runes := []rune(text)
		if len(runes) > 8 && s.chance(0.5) {
			from, to := s.span(len(runes), 6, 40)
			runes = runes[from:to]
		}
		return string(runes)
	}
	words := strings.Fields(text)
	if len(words) > 4 && s.chance(0.5) {
		from, to := s.span(len(words), 3, 12)
		words = words[from:to]
	}
	text = strings.Join(words, " ")
	switch p := s.rng.Float64(); {
	case p < 0.15:
		return strings.ToLower(text)
	case p < 0.18:
		return strings.ToUpper(text)
	case p < 0.23:
		return titleCase(text)
	}
	return text
}

// mix puts a few English words into a line of another script, where they do not change its language.
func (s *sampler) mix(line, language string) string {
	words, separator := units(line, language)
	phrase := s.english[s.rng.IntN(len(s.english))]
	from, to := s.span(len(phrase), 1, min(8, max(len(words)/2, 1)))
	foreign := strings.Join(phrase[from:to], " ")
	if s.chance(0.3) {
		foreign = titleCase(foreign)
	}
	at := 0
	switch p := s.rng.Float64(); {
	case p < 0.3:
		at = len(words)
	case p < 0.6:
		at = s.rng.IntN(len(words) + 1)
	}
	return strings.TrimSpace(strings.Join(words[:at], separator) + " " +
		foreign + " " + strings.Join(words[at:], separator))
}

// units cuts a line into words, or into pairs of characters where the language
// puts no space between words, and returns what to join them with.
func units(line, language string) (words []string, separator string) {
	if !corpus.Unspaced[language] {
		return strings.Fields(line), " "
	}
	for pair := range slices.Chunk([]rune(line), 2) {
		words = append(words, string(pair))
	}
	return words, ""
}

func titleCase(s string) string {
	first := true
	return strings.Map(func(r rune) rune {
		defer func() { first = r == ' ' }()
		if first {
			return unicode.ToUpper(r)
		}
		return r
	}, s)
}

// normalise does to a line what the confusion protocols do before they look at its language.
func normalise(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r < 0x80 && (unicode.IsPunct(r) || unicode.IsSymbol(r)), r == '،':
			return -1
		case r == '—':
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
