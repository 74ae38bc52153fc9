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

// excuse returns the reason why words of another language are no confusion, or "".
func (c *check) excuse(run []words.Word, language string) prose.Kind {
	start, end := run[0].Start, run[len(run)-1].End
	line := c.line(start)
	if _, ok := c.paired(start); ok {
		return Gloss
	}
	switch {
	case end-start <= 60 && c.gloss(start, end, line):
		return Gloss
	case end-start <= 60 && mentions(c.want.base, c.text[line.Start:line.End], language):
		return Mention
	case c.titled(run):
		return Name
	case c.want.base == "ko" && c.hanja(start, end):
		return Loan
	case len(run) <= 2 && latin(c.text[start:end]) && all(run, func(w words.Word) bool { return w.Loan }), c.term(run):
		return Loan
	}
	return ""
}

// term reports whether up to three words look like a term that speakers of the expected language use: they are in Latin
// script, and none of them is among the frequent words of English, from where most are, or a word of another language.
func (c *check) term(run []words.Word) bool {
	const listed = 1e-6
	frequentEnglish := 2e-4
	switch {
	case c.want.base == "hi":
		frequentEnglish = 5e-4 // everyday Hindi is full of English nouns
	case run[0].Foreign:
		frequentEnglish = 5e-5 // the lists of other scripts do not have the borrowed ones
	}
	return len(run) <= 3 && latin(c.text[run[0].Start:run[0].End]) && all(run, func(w words.Word) bool {
		if c.want.base != "en" && w.English >= max(listed, w.Share/50) {
			return w.English < frequentEnglish
		}
		return w.Share < listed
	})
}

func latin(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.Is(unicode.Latin, r)
}

// mentions reports whether a line names a language, or, since short words of other scripts are hard to tell apart, one
// of the same script.
func mentions(base, line, language string) bool {
	if names(base, line, language) {
		return true
	}
	for _, g := range words.Groups[1:] {
		if slices.Contains(g.Languages, language) {
			return slices.ContainsFunc(g.Languages, func(l string) bool { return l != base && names(base, line, l) })
		}
	}
	return false
}

// hanja reports whether a part is a word of at most four Chinese characters as Koreans write them: traditional ones.
func (c *check) hanja(start, end int) bool {
	simplified, traditional := chinese.Count(c.text[start:end])
	return utf8.RuneCountInString(c.text[start:end]) <= 4 && simplified == 0 && traditional > 0
}

// titled reports whether words look like a name, a title or the label of a button: those of another script with a
// capital at the front, or of the same script and inside a sentence with a capital on every other word.
func (c *check) titled(run []words.Word) bool {
	names := 0
	for _, w := range run {
		if w.Name {
			names++
		}
	}
	inside := !c.starts(run[0].Start)
	switch {
	case names == len(run):
		return len(run) <= 8 && (run[0].Foreign || inside)
	case !run[0].Name || !inside:
		return false
	case run[0].Foreign && (len(run) <= 4 || faults[strings.ToLower(c.text[run[0].Start:run[0].End])]):
		return true
	}
	return 2*names >= len(run) || faults[strings.ToLower(c.text[run[0].Start:run[0].End])]
}

// faults begin messages of programs, which people quote without marks.
var faults = map[string]bool{"error": true, "warning": true, "exception": true, "fatal": true, "failed": true}

func all(run []words.Word, is func(words.Word) bool) bool {
	for _, w := range run {
		if !is(w) {
			return false
		}
	}
	return true
}

// nearby is how far the text around words is looked at, in bytes.
const nearby = 300

// line returns the line around a byte, as far as it is nearby.
func (c *check) line(at int) words.Range {
	start, end := max(0, at-nearby), min(len(c.text), at+nearby)
	start += strings.LastIndexByte(c.text[start:at], '\n') + 1
	if n := strings.IndexByte(c.text[at:end], '\n'); n >= 0 {
		end = at + n
	}
	return words.Range{Start: start, End: end}
}

// starts reports whether a sentence starts at a byte.
func (c *check) starts(at int) bool {
	before := strings.TrimRight(c.text[:at], " *_\"'“«„(¿¡")
	if before == "" {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return strings.ContainsRune(".!?:\n。！？।؟", r)
}

// gloss reports whether words are in parentheses behind prose, or before prose in parentheses, as translations are.
func (c *check) gloss(start, end int, line words.Range) bool {
	before := c.text[min(line.Start, start):start]
	after := strings.TrimLeft(c.text[end:max(end, line.End)], " \"”»'*?!.。？！,")
	if open := strings.LastIndexAny(before, "(（"); open >= 0 && !strings.ContainsAny(before[open:], ")）") &&
		strings.IndexFunc(before[:open], unicode.IsLetter) >= 0 && strings.ContainsAny(c.text[end:max(end, line.End)], ")）") {
		return true
	}
	return (strings.HasPrefix(after, "(") || strings.HasPrefix(after, "（")) && end-start > 8
}

// separators stand between a word and its translation.
var separators = []string{":", "：", " – ", " — ", " - ", "=", "→"}

// pair is a line of a list that has a part in the expected language and one in another, with a separator between.
type pair struct{ line, foreign words.Range }

// paired returns the foreign part of the line around a byte, in a text with a list of words and their translations.
func (c *check) paired(at int) (words.Range, bool) {
	if c.pairs == nil {
		c.pairs = c.findPairs()
	}
	i := sort.Search(len(c.pairs), func(i int) bool { return c.pairs[i].line.End > at })
	if len(c.pairs) < 2 || i == len(c.pairs) || c.pairs[i].line.Start > at {
		return words.Range{}, false
	}
	return c.pairs[i].foreign, true
}

func (c *check) findPairs() []pair {
	pairs := []pair{}
	for _, b := range c.doc.Blocks {
		if b.Form == prose.Heading || b.Form == prose.Cell || b.Form == prose.Paragraph && len(c.doc.Blocks) < 4 {
			continue
		}
		s := c.text[b.Start:min(b.End, b.Start+nearby)]
		for _, sep := range separators {
			at := strings.Index(s, sep)
			if at <= 0 {
				continue
			}
			one := words.Range{Start: b.Start, End: b.Start + at}
			other := words.Range{Start: b.Start + at + len(sep), End: b.End}
			first, second := c.analysis.Weigh(one), c.analysis.Weigh(other)
			if (first.LogRatio > 2) != (second.LogRatio > 2) && first.Words > 0 && second.Words > 0 {
				if second.LogRatio > 2 {
					one, first, second = other, second, first
				}
				if first.Words > 2*second.Words+2 {
					break // a label, and what it is about
				}
				pairs = append(pairs, pair{words.Range{Start: b.Start, End: b.End}, one})
			}
			break
		}
	}
	return pairs
}
