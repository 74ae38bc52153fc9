package leakage

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/gloss/lexicon"
	"crosstalk/internal/lazyregexp"
)

// Post is a way to trim an answer before it is scored.
type Post string

const (
	None         Post = "none"          // nothing (Smilga's notebook)
	Period       Post = "period"        // cut everything after the first period
	PromptPeriod Post = "prompt-period" // Period, and cut every repetition of the prompt (Gonen et al. 2024, section 3.1)
	Stop         Post = "stop"          // cut everything after the first . ! or ? (Smilga 2025)
	Sentence     Post = "sentence"      // cut a repeated prompt at the start, then everything after the first sentence
)

// Posts lists all values of Post.
var Posts = []Post{None, Period, PromptPeriod, Stop, Sentence}

// instruction may precede a prompt without being part of it.
const instruction = "Complete the sentence:"

// apply returns the scored part of answer, without white space around it. prompt is the item's prompt, prefix the text
// sent before it.
func (p Post) apply(answer, prompt, prefix string) string {
	bare := bareOf(prompt)
	switch p {
	case Period:
		answer = cutAfter(answer, ".")
	case PromptPeriod:
		if bare != "" {
			answer = strings.ReplaceAll(answer, instruction+" "+bare, "")
			answer = strings.ReplaceAll(answer, bare, "")
		}
		answer = cutAfter(answer, ".")
	case Stop:
		answer = cutAfter(answer, ".!?")
	case Sentence:
		answer = firstSentence(cutPrompt(answer, bare, prefix))
	}
	return strings.TrimSpace(answer)
}

// bareOf returns a prompt without instruction.
func bareOf(prompt string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(prompt), instruction))
}

// cutPrompt cuts a repeated prompt off the start of an answer, with the instruction before it and marks after it.
func cutPrompt(answer, bare, prefix string) string {
	for _, repeated := range []string{instruction, strings.TrimSpace(prefix), bare} {
		answer = strings.TrimLeftFunc(answer, quoting)
		answer = cutRepeated(answer, repeated)
	}
	return strings.TrimLeftFunc(answer, leading)
}

// cutAfter cuts s after the first of the marks.
func cutAfter(s, marks string) string {
	if i := strings.IndexAny(s, marks); i >= 0 {
		return s[:i+1]
	}
	return s
}

// quoting reports whether r may precede an answer's text: space, direction or quotation marks, emphasis.
func quoting(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cf) || strings.ContainsRune("\"'“”„‘’«»*_>「『", r)
}

// leading reports whether r may separate a repeated prompt from the text that continues it.
func leading(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cf) || strings.ContainsRune(".…,:;-–—*_。，、：；।،؛", r)
}

// cutRepeated cuts text off the start of answer, ignoring case. If it ends within a word of the answer ("He works as a"
// in "He works as an actor"), that word is kept whole.
func cutRepeated(answer, text string) string {
	end := len(text)
	if end == 0 || end > len(answer) || !strings.EqualFold(answer[:end], text) {
		return answer
	}
	if last, size := utf8.DecodeLastRuneInString(answer[:end]); !boundary(last, firstRune(answer[end:])) {
		for end -= size; end > 0; end -= size {
			if last, size = utf8.DecodeLastRuneInString(answer[:end]); !isWord(last) {
				break
			}
		}
	}
	return strings.TrimSpace(answer[end:])
}

// Abbreviations with a period that does not end a sentence.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "mt": true, "vs": true, "approx": true,
	"bzw": true, "ca": true, "sr": true, "sra": true, "srta": true, "dra": true, "ул": true, "им": true, "डॉ": true,
}

// Abbreviations with a period that ends a sentence only before a capital.
var closing = map[string]bool{"etc": true, "inc": true, "ltd": true, "co": true, "jr": true, "usw": true}

// Abbreviations before a number.
var numbering = map[string]bool{"no": true, "nr": true}

// Marks that end a sentence: those that need white space or a closing mark after them, and those that do not.
const (
	spacedStops   = ".!?…"
	unspacedStops = "。！？｡।॥؟۔"
)

// firstSentence cuts s after its first sentence: at a line break, at a Chinese, Japanese, Hindi, Urdu or Arabic stop,
// or at . ! ? … before white space, a closing mark or the end, or after a script without spaces, unless the period
// belongs to an initial, an abbreviation, the number of a list's first entry or an ellipsis that continues in lower
// case or in a script without case.
func firstSentence(s string) string {
	for i, r := range s {
		if r == '\n' || r == '\r' {
			return s[:i]
		}
		if !strings.ContainsRune(spacedStops+unspacedStops, r) {
			continue
		}
		before, after := s[:i], s[i+utf8.RuneLen(r):]
		next, following := firstRune(after), firstRune(strings.TrimLeftFunc(after, unicode.IsSpace))
		last, _ := utf8.DecodeLastRuneInString(before)
		switch {
		case next != utf8.RuneError && strings.ContainsRune(spacedStops+unspacedStops, next):
			continue // the last mark of a run decides
		case strings.ContainsRune(unspacedStops, r):
		case after != "" && !unicode.IsSpace(next) && !unicode.In(next, unicode.Pe, unicode.Pf, unicode.Po) &&
			!unicode.In(last, unspaced...):
			continue
		case r == '.' && after != "" && isAbbreviation(before, after, following):
			continue
		case (r == '…' || r == '.' && strings.HasSuffix(before, "..")) && unicode.In(following, unicode.Ll, unicode.Lo):
			continue
		}
		return s[:len(s)-len(after)]
	}
	return s
}

// isAbbreviation reports whether a period between before and after does not end a sentence; following is the next
// letter.
func isAbbreviation(before, after string, following rune) bool {
	previous, word := "", before
	edge := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("(\"'“‘„«", r) }
	if i := strings.LastIndexFunc(before, edge); i >= 0 {
		_, size := utf8.DecodeRuneInString(before[i:])
		previous, word = strings.TrimSpace(before[:i]), before[i+size:]
	}
	switch lower := strings.ToLower(word); {
	case abbreviations[lower]:
		return true
	case closing[lower]:
		return !unicode.IsUpper(following)
	case numbering[lower]:
		return unicode.IsDigit(following)
	case word != "" && word == before && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsDigit(r) }):
		return true // "1. A carrot 2. ..."
	case abbreviatedPair().MatchString(word + "." + after): // z. B.
		return true
	case !unicode.IsUpper(firstRune(word)) && // т. е.
		abbreviatedPair().MatchString(previous[strings.LastIndexByte(previous, ' ')+1:]+" "+word+"."):
		return !unicode.IsUpper(following)
	}
	letters := strings.Split(word, ".") // J of J. K., p.m, P.E, z.B
	for _, l := range letters {
		if r, size := utf8.DecodeRuneInString(l); size != len(l) || !unicode.IsLetter(r) {
			return false
		}
	}
	first := firstRune(word)
	return len(letters) > 1 || unicode.IsUpper(first) || unicode.Is(unicode.Lo, first) && !unicode.In(first, unspaced...)
}

// abbreviatedPair matches an abbreviation of two words: z. B., d. h., т. е., p. ej.
var abbreviatedPair = lazyregexp.New(`^\pL\.[ \x{a0}\x{202f}](?:\pL|\p{Ll}{2,3})\.`)

// remove cuts every occurrence of the words out of text, as whole words in any case, with a possessive 's. Stories
// repeat the child's name, and the name is the concept (Gonen et al. 2024, section 7).
func remove(text string, words []string) string {
	if len(words) == 0 {
		return text
	}
	for _, w := range words {
		if w = strings.Join(strings.Fields(strings.ToValidUTF8(w, "")), " "); w != "" {
			text = removeWord(text, w)
		}
	}
	return strings.Join(strings.Fields(text), " ")
}

func removeWord(text, word string) string {
	var kept strings.Builder
	pattern, known := patterns.Load(word)
	if !known {
		pattern = regexp.MustCompile(`(?i)` + strings.ReplaceAll(regexp.QuoteMeta(word), " ", `\s+`))
		patterns.Store(word, pattern)
	}
	done, from := 0, 0
	for {
		at := pattern.(*regexp.Regexp).FindStringIndex(text[from:])
		if at == nil {
			break
		}
		start, end := from+at[0], from+at[1]
		last, _ := utf8.DecodeLastRuneInString(text[:end])
		previous, _ := utf8.DecodeLastRuneInString(text[:start])
		begins := start == 0 || boundary(previous, firstRune(text[start:]))
		if !begins || end < len(text) && !boundary(last, firstRune(text[end:])) {
			_, size := utf8.DecodeRuneInString(text[start:])
			from = start + size
			continue
		}
		for _, possessive := range []string{"'s", "’s", "'S", "’S"} {
			if rest, ok := strings.CutPrefix(text[end:], possessive); ok && !isWord(firstRune(rest)) {
				end = len(text) - len(rest)
			}
		}
		kept.WriteString(text[done:start])
		done, from = end, end
	}
	return kept.String() + text[done:]
}

// boundary reports whether a word can end between two characters: one is not a letter, or the script has no spaces.
func boundary(before, after rune) bool {
	return !isWord(before) || !isWord(after) || unicode.In(before, unspaced...) || unicode.In(after, unspaced...)
}

var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) }

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

var patterns sync.Map // word -> *regexp.Regexp

// Minimum lengths of copied text: content words in a row, and characters in scripts without spaces.
const (
	copiedWords      = 3
	copiedCharacters = 6
)

// byWords is the judge of copying, in the column of similarities.
const byWords = "3-grams"

// copyable contains the n-grams of a test's carrier that occur neither in the prompt nor in the control's carrier, so
// that an answer can contain them only by copying or by chance.
type copyable struct {
	n     int
	grams map[string]bool
	stops bool // leave out English stop words
}

// copyableOf returns the n-grams of a context. English n-grams are made of words that are not stop words.
func copyableOf(c *crosstalk.Context, language string) copyable {
	g := copyable{n: copiedWords, grams: map[string]bool{}, stops: language == "en" || strings.HasPrefix(language, "en-")}
	words := g.words(c.Test.String())
	characters := 0
	for _, w := range words {
		if w.character {
			characters++
		}
	}
	if 2*characters > len(words) {
		g.n = copiedCharacters
	}
	for _, gram := range g.of(words) {
		g.grams[gram.text] = true
	}
	for _, text := range []string{c.Prompt, c.Control.String()} {
		for _, gram := range g.of(g.words(text)) {
			delete(g.grams, gram.text)
		}
	}
	return g
}

// in returns where a text contains one of the n-grams. Overlapping ones are merged.
func (g copyable) in(text string) (found []word) {
	for _, one := range g.of(g.words(text)) {
		if !g.grams[one.text] {
			continue
		}
		if last := len(found) - 1; last >= 0 && one.start < found[last].end {
			found[last].end = one.end
			continue
		}
		found = append(found, one)
	}
	return found
}

// word is a word of a text, a character of a script without spaces, or an n-gram from its first word to its last.
type word struct {
	text       string // in lower case
	start, end int    // bytes
	character  bool
}

func (g copyable) words(text string) (list []word) {
	start := -1
	add := func(end int) {
		if start >= 0 {
			if w := strings.ToLower(text[start:end]); !g.stops || !lexicon.StopWord(w) {
				list = append(list, word{w, start, end, false})
			}
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case unicode.In(r, unspaced...):
			add(i)
			list = append(list, word{string(r), i, i + utf8.RuneLen(r), true})
		case isWord(r):
			if start < 0 {
				start = i
			}
		default:
			add(i)
		}
	}
	add(len(text))
	return list
}

func (g copyable) of(words []word) (grams []word) {
	for i := g.n; i <= len(words); i++ {
		part := words[i-g.n : i]
		texts := make([]string, g.n)
		for k, w := range part {
			texts[k] = w.text
		}
		grams = append(grams, word{text: strings.Join(texts, " "), start: part[0].start, end: part[g.n-1].end})
	}
	return grams
}

// copying returns the observations of what a pair of answers copies: in the test's answer, in the control's, and their
// difference. whole is the observation of the pair, without a similarity.
func (in *Instrument) copying(item crosstalk.Item, whole crosstalk.Observation,
	test, control *crosstalk.Answer) []crosstalk.Observation {
	o := whole
	o.Condition, o.Measure = with(in.Condition, similarityColumn, byWords), MeasureCopied
	g := copyableOf(item.Pair.Context, item.Labels[LanguageColumn])
	o.AddText(crosstalk.Given, Carried, item.Pair.Context.Test.String())
	ofControl, difference := o, o
	ofControl.Measure, difference.Measure = measureControlCopied, MeasureCopying
	if o.NotScored == noText || o.NotScored == repeatsPrompt {
		o.NotScored = "" // text that is cut before the comparison may still be copied
	}
	if o.NotScored == "" && len(g.grams) == 0 {
		o.NotScored = nothingToCopy
	}
	if ofControl.NotScored, difference.NotScored = o.NotScored, o.NotScored; o.NotScored != "" {
		return []crosstalk.Observation{o, ofControl, difference}
	}
	a, b := len(g.in(in.answered(item, *test))) > 0, len(g.in(in.answered(item, *control))) > 0
	o.Value, o.Finding = share(a), notCopied
	ofControl.Value, difference.Value = share(b), share(a)-share(b)
	if a {
		o.Finding = copied
		shown := o.Text(Test)
		for _, found := range g.in(shown) {
			o.Spans = append(o.Spans, spanIn(shown, found.start, found.end, 0))
		}
	}
	return []crosstalk.Observation{o, ofControl, difference}
}

func share(b bool) crosstalk.Value {
	if b {
		return 1
	}
	return 0
}
