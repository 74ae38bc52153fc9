package guard

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

// Limits of excuses.
const (
	fewBytes  = 60   // of words that can be a translation, or an example of the language named in their line
	nearby    = 300  // bytes of the text around words to look at
	manyTerms = 3    // English terms: a text with so many uses them freely
	met       = 1e-6 // least share of a word in a language that uses it
)

// A rule is a reason why words in another language are not a confusion.
type rule struct {
	name    string // as in the rule book, docs/confusion.md, which has the same order
	excuse  prose.Kind
	applies func(*check, run) bool
}

// rules excuse words in another language within a line: the first one that applies decides.
var rules = []rule{
	{"list of translations", Gloss, func(c *check, r run) bool { _, ok := c.paired(r.start); return ok }},
	{"brackets", Gloss, (*check).bracketed},
	{"language named", Mention, (*check).mentioned},
	{"words of the user", Mention, func(c *check, r run) bool { // to ask about them or request them
		return r.end-r.start <= fewBytes && strings.Contains(c.prompt, strings.ToLower(r.text))
	}},
	{"menu path", Name, (*check).path},
	{"capitals", Name, func(c *check, r run) bool { return c.titled(r.words) }},
	{"address", Name, func(c *check, r run) bool { // a name after a number
		before := strings.TrimRight(c.text[:r.start], " .,")
		return before != "" && '0' <= before[len(before)-1] && before[len(before)-1] <= '9' && !r.words[0].Foreign &&
			slices.ContainsFunc(r.words, func(w words.Word) bool { return w.Name })
	}},
	{"announced", prose.Quote, (*check).cited},
	{"hanja", Loan, func(c *check, r run) bool { // as written in Korean: traditional characters
		simplified, traditional := chinese.Count(r.text)
		return c.want.base == "ko" && utf8.RuneCountInString(r.text) <= 4 && simplified == 0 && traditional > 0
	}},
	{"kanji", Loan, (*check).kanji},
	{"Latin phrase", Loan, func(c *check, r run) bool { // common in many languages, or the end of one
		before := strings.ToLower(c.before(r.start))
		return all(r.words, func(w words.Word) bool { return latins[strings.ToLower(c.text[w.Start:w.End])] }) &&
			(len(r.words) > 1 && r.end-r.start > 5 || latins[before] && len(before) > 3)
	}},
	{"word of both", Loan, func(_ *check, r run) bool { return len(r.words) == 1 && own(r.words[0]) }},
	{"joined terms", Loan, func(c *check, r run) bool { // "call to action"
		return c.joins(r) && min(r.words[0].Own, r.words[2].Own) >= met
	}},
	{"function word", "", (*check).functional}, // never excused as a loan
	{"word of most", Loan, func(_ *check, r run) bool {
		return len(r.words) <= 2 && latin(r.text) &&
			all(r.words, func(w words.Word) bool { return w.Loan && w.Share < function })
	}},
	{"term", Loan, func(c *check, r run) bool { return c.term(r.words) }},
	{"hyphen", Loan, func(_ *check, r run) bool { // "know-how"
		return latin(r.text) && strings.Contains(r.text, "-") &&
			!strings.ContainsFunc(r.text, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) })
	}},
}

func (c *check) excuse(r run) prose.Kind {
	for _, rule := range rules {
		if rule.applies(c, r) {
			return rule.excuse
		}
	}
	return ""
}

// excuseAlike excuses runs because of the rest of the text: words of a language that it mentions, terms if it has many,
// English terms if it has code, and short runs among dishes or names.
func (c *check) excuseAlike(found []run) {
	if len(found) == 1 && c.alone(found[0]) {
		found[0].excuse = ""
		return
	}
	if !slices.ContainsFunc(found, func(r run) bool { return r.excuse == "" }) {
		return
	}
	spokenOf := map[string]bool{}
	for _, s := range c.excused {
		if s.Excuse == Mention {
			spokenOf[s.Language] = true
		}
	}
	terms, short, dishes, foreign, languages := map[string]bool{}, 0, 0, 0, map[string]bool{}
	for _, r := range found {
		if r.excuse == Mention {
			spokenOf[r.language] = true
		}
		foreign += len(r.words)
		if c.longest(r) > 4 {
			continue
		}
		if c.dish(r) {
			dishes++
		}
		if !r.words[0].Foreign && r.excuse != prose.Quote {
			short++
			languages[r.language] = true
		}
		if c.termlike(r) && !r.words[0].Name {
			terms[r.text] = true
		}
	}
	many := len(terms) >= manyTerms || c.borrows()
	coding := c.has(prose.Code)
	few := 3*foreign <= c.analysis.Count(0, len(c.text))
	mixed := short >= 3 && len(languages) >= 2 && few
	for i := range found {
		switch r := &found[i]; {
		case r.excuse != "":
		case spokenOf[r.language] && r.end-r.start <= fewBytes:
			r.excuse = Mention
		case (many || coding && r.language == "en") && len(r.words) <= 3 && c.termlike(*r):
			r.excuse = Loan
		case mixed && c.longest(*r) <= 4 && !r.words[0].Foreign && (len(r.words) > 1 || !c.functional(*r)),
			few && dishes >= 2 && c.dish(*r):
			r.excuse = Name
		}
	}
}

// termlike reports whether words look like a term: they are in Latin script, and function words only join other words.
func (c *check) termlike(r run) bool { return latin(r.text) && (!c.functional(r) || c.joins(r)) }

// dish reports whether words look like the name of a dish, a song or a place in small letters: a few that are not
// English, and neither begin nor end with a function word.
func (c *check) dish(r run) bool {
	n := len(r.words)
	return n >= 2 && n <= 4 && r.language != "en" && r.excuse != prose.Quote && latin(r.text) &&
		max(r.words[0].Share, r.words[n-1].Share) < function && !c.starts(r.start)
}

// alone reports whether the only foreign part of a text is one English word that is not rare and, in Latin script,
// exists in English alone. It is hardly a loan: a text that uses English terms has more of them.
func (c *check) alone(r run) bool {
	const share = 1e-5
	w := r.words[0]
	return r.excuse == Loan && len(r.words) == 1 && !w.Name && !w.Loan && w.English >= share && c.want.base != "hi" &&
		(w.Foreign || w.Native && w.Own == 0 && c.analysis.Borrowed() == 0) &&
		!c.has(prose.Code, prose.Quote, prose.Label)
}

func (c *check) has(kinds ...prose.Kind) bool {
	return slices.ContainsFunc(c.masks, func(m prose.Span) bool { return slices.Contains(kinds, m.Kind) })
}

// borrows reports whether a text is full of words that its language borrowed from English.
func (c *check) borrows() bool {
	n := c.analysis.Borrowed()
	return n >= manyTerms && 12*n >= c.analysis.Count(0, len(c.text))
}

// longest returns the number of words in the longest part of a run between commas.
func (c *check) longest(r run) (most int) {
	n := 0
	for i, w := range r.words {
		if i > 0 && strings.Contains(c.text[r.words[i-1].End:w.Start], ",") {
			n = 0
		}
		n++
		most = max(most, n)
	}
	return most
}

// term reports whether up to three words look like a term that speakers of the expected language use: they are in Latin
// script, and each is an English word, as most terms are, that is not frequent or that the expected language also uses;
// or it is hardly a word of any language.
func (c *check) term(run []words.Word) bool {
	const (
		listed = 1e-7
		rare   = met
	)
	frequentEnglish := 2e-4
	switch {
	case c.want.base == "hi":
		frequentEnglish = 5e-4 // everyday Hindi is full of English nouns
	case run[0].Foreign:
		frequentEnglish = 1e-4 // lists of other scripts lack the borrowed words
	}
	return len(run) <= 3 && latin(c.text[run[0].Start:run[0].End]) && all(run, func(w words.Word) bool {
		if c.want.base != "en" && w.English >= max(listed, w.Share/50) {
			return w.English < frequentEnglish || w.Own >= rare
		}
		return w.Share < rare || w.Foreign && words.Thin(w.Language) // its list contains software terms
	})
}

// joins reports whether a run is two words and one between them that joins nouns.
func (c *check) joins(r run) bool {
	return len(r.words) == 3 && joins[strings.ToLower(c.text[r.words[1].Start:r.words[1].End])] &&
		!c.functional(run{words: r.words[:1]}) && !c.functional(run{words: r.words[2:]})
}

func latin(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.Is(unicode.Latin, r)
}

// mentions reports whether a line names a language, or one in the same script: short words are hard to tell apart.
func mentions(base, line, language string) bool {
	alike := words.Frequent(language)
	if slices.Contains(alike, "en") || !slices.Contains(alike, language) {
		return names(base, line, language)
	}
	return names(base, line, append(others(alike, base), language)...)
}

// mentioned reports whether the line around words refers to them: it names their language; or it names any language in
// Latin script, and they are a single Latin word in a text in another script, whose language is hard to tell; or it is
// about languages or writing, and they are a few words in a script other than Latin, such as a name.
func (c *check) mentioned(r run) bool {
	if r.end-r.start > fewBytes {
		return false
	}
	line := c.line(r.start)
	text := c.text[line.Start:line.End]
	switch first := r.words[0]; {
	case mentions(c.want.base, text, r.language):
		return true
	case !first.Foreign:
		return false
	case latin(r.text):
		return len(r.words) == 1 && names(c.want.base, text, words.Frequent("en")...)
	}
	return r.end-r.start <= 40 && len(r.words) <= 4 && metalinguistic(c.want.base, text)
}

// kanji reports whether Chinese characters in Japanese look like a name or a compound: they are next to others, their
// sentence does not have Chinese characters only, and they include no character that nearly every Chinese sentence has
// and that Japanese writes differently.
func (c *check) kanji(r run) bool {
	simplified, _ := chinese.Count(r.text)
	n := utf8.RuneCountInString(r.text)
	before, _ := utf8.DecodeLastRuneInString(c.text[:r.start])
	after, _ := utf8.DecodeRuneInString(c.text[r.end:])
	if c.want.base != "ja" || r.language != "zh" || n < 4 || 4*simplified > n || // Japanese shares some of them
		!unicode.Is(unicode.Han, before) && !unicode.Is(unicode.Han, after) ||
		strings.ContainsAny(r.text, "的了是我你您们這这請请和吗嗎呢把被就都也很還还沒没什么麼") {
		return false
	}
	line := c.line(r.start)
	text := c.text[line.Start:max(r.end, line.End)]
	return !strings.ContainsAny(text, "。！？") || strings.ContainsFunc(text, isKana)
}

func isKana(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) }

// functional reports whether one of the words is an English function word or adverb, and so not a term.
func (c *check) functional(r run) bool {
	return slices.ContainsFunc(r.words, func(w words.Word) bool {
		word := strings.ToLower(c.text[w.Start:w.End])
		if w.Start > 0 && c.text[w.Start-1] == '-' || w.End < len(c.text) && c.text[w.End] == '-' {
			return false // a part of a noun: "check-in"
		}
		return english[word] || len(word) >= 7 && strings.HasSuffix(word, "ly") && w.English > 0
	})
}

func all(run []words.Word, is func(words.Word) bool) bool {
	return !slices.ContainsFunc(run, func(w words.Word) bool { return !is(w) })
}

// line returns the line around a byte, limited to nearby bytes.
func (c *check) line(at int) prose.Span {
	start, end := max(0, at-nearby), min(len(c.text), at+nearby)
	start += strings.LastIndexByte(c.text[start:at], '\n') + 1
	if n := strings.IndexByte(c.text[at:end], '\n'); n >= 0 {
		end = at + n
	}
	return prose.Span{Start: start, End: end}
}

// bracketed reports whether words are in parentheses after prose, or before prose in parentheses, like translations.
func (c *check) bracketed(r run) bool {
	start, end, line := r.start, r.end, c.line(r.start)
	if end-start > fewBytes {
		return false
	}
	before, after := c.text[min(line.Start, start):start], c.text[end:max(end, line.End)]
	open := strings.LastIndexAny(before, "(（")
	if open >= 0 && !strings.ContainsAny(before[open:], ")）") && strings.ContainsAny(after, ")）") &&
		strings.ContainsFunc(before[:open], unicode.IsLetter) {
		return true
	}
	after = strings.TrimLeft(after, " \"”»'*?!.。？！,")
	return (strings.HasPrefix(after, "(") || strings.HasPrefix(after, "（")) && end-start > 7
}

// pair is a line in a list that has a part in the expected language and one in another, with a separator between them.
type pair struct{ line, foreign prose.Span }

// paired returns the foreign part of the line around a byte, in a text with a list of words and their translations.
func (c *check) paired(at int) (prose.Span, bool) {
	pairs := c.pairs()
	i := sort.Search(len(pairs), func(i int) bool { return pairs[i].line.End > at })
	if len(pairs) < 2 || i == len(pairs) || pairs[i].line.Start > at {
		return prose.Span{}, false
	}
	return pairs[i].foreign, true
}

func (c *check) findPairs() (pairs []pair) {
	for _, b := range c.blocks {
		if b.Kind == prose.Heading || b.Kind == prose.Cell || b.Kind == prose.Paragraph && len(c.blocks) < 4 {
			continue
		}
		s := c.text[b.Start:min(b.End, b.Start+nearby)]
		for _, sep := range []string{":", "：", " – ", " — ", " - ", "=", "→"} { // a word, and its translation
			at := strings.Index(s, sep)
			if at <= 0 {
				continue
			}
			one := prose.Span{Start: b.Start, End: b.Start + at}
			other := prose.Span{Start: b.Start + at + len(sep), End: b.End}
			first, second := c.analysis.Weigh(one), c.analysis.Weigh(other)
			if (first.LogRatio > 2) != (second.LogRatio > 2) && first.Words > 0 && second.Words > 0 {
				if second.LogRatio > 2 {
					one, first, second = other, second, first
				}
				if first.Words > 2*second.Words+2 {
					break // a label, and its text
				}
				pairs = append(pairs, pair{b, one})
			}
			break
		}
	}
	return pairs
}
