// Package read finds the label in a model's answer to a classification task, and strips the quotation marks that models
// put around rewritten texts.
//
// A Reader is a pure function of the answer and the task's labels, in the order of their declaration. Labels are
// compared in lower case and returned as declared. All counts are in code points.
package read

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/lexicon"
	"crosstalk/measure/pytext"
)

// A Reader finds the label in an answer.
type Reader func(answer string, labels []string) Reading

// Readers maps the names of protocols to readers.
var Readers = map[string]Reader{
	"ohmer-2023":  Ohmer2023,
	"crosstalk-1": Crosstalk1,
}

// A Reading is the result of a reader.
type Reading struct {
	Label      string // as declared; "" if no label was found
	Rule       string // the deciding rule, even if no label was found
	Confidence Confidence
}

// Confidence is how reliable a reading is without review.
type Confidence int

const (
	None Confidence = iota // no label
	Low                    // a label, but the answer may mean another: review it
	High                   // a label where answers usually have one
	Full                   // the answer is the label
)

func (c Confidence) String() string { return [...]string{"none", "low", "high", "full"}[c] }

// A label is declared in one spelling and compared in lower case.
type label struct{ declared, lower string }

// lowered prepares labels, without empty ones, which would match everywhere.
func lowered(labels []string) []label {
	out := make([]label, 0, len(labels))
	for _, l := range labels {
		if l != "" {
			out = append(out, label{l, pytext.Lower(l)})
		}
	}
	return out
}

// Crosstalk1 reads an answer strictly. The label must be the whole answer, or a whole word of it where answers usually
// have their label; anything else is left to review. A word ends where letters and digits end, at the border of a
// script without spaces (so A is a word in 选项A是), and not at a hyphen or apostrophe between letters. The rules, with
// their confidence:
//
//	exact       the label, but for quotes, marks and space around it            full
//	first       the answer starts with the label and a mark or line end         high
//	cue         the label, with a mark after it or in quotes or brackets,       high
//	            follows words like "the answer is" or precedes "is correct"
//	last        the label alone is the last sentence or line                    high
//	first-word  the answer starts with the label and a space                    low
//	cue-word    the label and a space follow words like "the answer is"         low
//	quoted      the label is in brackets anywhere, or in quotes and ends        low
//	            a sentence: elsewhere quotes are around a word talked about
//	conflict    these rules find different labels of the highest confidence,    none
//	            or another label stands alone in the answer
//	unresolved  none of these                                                   none
//
// A label stands alone if a mark or the end follows it, and at most one word that is not "not" separates it from the
// last mark or label: "no, actually yes", "yes or no". It contradicts another one wherever it is.
//
// A label of one letter resembles a word of the language ("A sentence ...") too much for first-word and cue-word: a
// mark or another script must follow it. The tags of "<answer>yes</answer>" are cues, and one letter with a colon
// before a line ("A: yes") does not count.
func Crosstalk1(answer string, labels []string) Reading {
	found := lowered(labels)
	text := unwrapped(pytext.Lower(answer), found)
	for _, trimmed := range []string{pytext.TrimSpace(text), strings.TrimFunc(text, around)} {
		for _, l := range found {
			if trimmed == l.lower {
				return Reading{l.declared, "exact", Full}
			}
		}
	}
	best := Reading{Rule: "unresolved"}
	firstWord, lastWord := strings.IndexFunc(text, inWord), strings.LastIndexFunc(text, inWord)
	alone, quotes, from := map[string]bool{}, map[string]bool{}, 0
	for _, m := range mentions(text, found) {
		if standsAlone(text[from:m.start], text[m.end:]) {
			alone[m.declared] = true
		}
		if quoted(text, m) {
			quotes[m.declared] = true
		}
		from = m.end
		r := position(text, m, firstWord >= m.start, lastWord < m.end)
		switch {
		case r.Confidence > best.Confidence:
			best = r
		case r.Confidence == best.Confidence && r.Label != best.Label:
			best.Rule = "conflict" // unless a later mention is in a better place
		}
	}
	delete(alone, best.Label)
	contradicted := best.Label != "" && len(alone) > 0 || best.Rule == "quoted" && len(quotes) > 1
	if best.Rule == "conflict" || contradicted {
		return Reading{Rule: "conflict"}
	}
	return best
}

var (
	answerTag   = lazyregexp.New(`\s*<(/?)(?:final|(?:final[_ ]?)?(?:answer|label|choice))>\s*`)
	letterColon = lazyregexp.New(`(?m)^\s*(\pL)[ \t]*[:：]`)
)

// unwrapped replaces the tags around an answer by words of cues, and cuts a letter that announces a line ("A: yes"),
// unless that is a label.
func unwrapped(text string, labels []label) string {
	text = answerTag().ReplaceAllStringFunc(text, func(tag string) string {
		if strings.Contains(tag, "/") {
			return "\n"
		}
		return "\nanswer: "
	})
	return letterColon().ReplaceAllStringFunc(text, func(announced string) string {
		letter, _ := utf8.DecodeRuneInString(pytext.TrimSpace(announced))
		if slices.ContainsFunc(labels, func(l label) bool { return l.lower == string(letter) }) {
			return announced
		}
		return "\n"
	})
}

// standsAlone reports whether a label stands alone between the text before it, from the last label, and after it.
func standsAlone(before, after string) bool {
	trimmed := strings.TrimLeftFunc(after, closing)
	next, _ := utf8.DecodeRuneInString(trimmed)
	if trimmed != "" && !mark(next) && !listNumber().MatchString(trimmed) {
		return false
	}
	clause := before
	if at := strings.LastIndexFunc(before, mark); at >= 0 {
		_, size := utf8.DecodeRuneInString(before[at:])
		clause = before[at+size:]
	}
	words := strings.FieldsFunc(clause, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M) && r != '\'' })
	return len(words) == 0 || len(words) == 1 && !negations[words[0]]
}

var listNumber = lazyregexp.New(`^\s*\d+[.)]`)

// negations are words for "not" before a label that is not the answer.
var negations = lexicon.Set("not nor nicht kein noch pas ni no não ne nem nu inte ikke ikkje niet nie не ні ekki ei " +
	"לא ليس नहीं değil bukan không")

// A mention is a label as a whole word at text[start:end].
type mention struct {
	label
	start, end int
}

// mentions finds the labels in text, in order. If two overlap, the longer one counts: 不是 is not 是.
func mentions(text string, labels []label) []mention {
	var all []mention
	for _, l := range labels {
		for from := 0; ; {
			i := strings.Index(text[from:], l.lower)
			if i < 0 {
				break
			}
			m := mention{l, from + i, from + i + len(l.lower)}
			starts := wordEdge(text, m.start) || endsWithCue(text[:m.start]) // 答案是否
			if starts && (wordEdge(text, m.end) || affirms(text[m.end:])) {
				all = append(all, m)
			}
			from = m.end
		}
	}
	slices.SortStableFunc(all, func(a, b mention) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	kept := all[:0]
	for _, m := range all {
		if n := len(kept); n == 0 || m.start >= kept[n-1].end {
			kept = append(kept, m)
		}
	}
	return kept
}

// affirms reports whether text begins with the Chinese particle after a word that affirms or denies (是的), and no word
// continues across it.
func affirms(text string) bool {
	rest, found := strings.CutPrefix(text, "的")
	return found && wordEdge(text, len(text)-len(rest))
}

// position returns the reading implied by the place of a mention, or none. first, last: no word is before, or after.
func position(text string, m mention, first, last bool) Reading {
	before := strings.TrimRightFunc(text[:m.start], openingOrSpace)
	after := strings.TrimLeftFunc(strings.TrimPrefix(text[m.end:], "的"), closing)
	next, _ := utf8.DecodeRuneInString(after)
	stopped := after == "" || mark(next) || startsWithAny(text[m.end:], ")", "）") && !quoted(text, m) // B) neutral
	spaced := utf8.RuneCountInString(m.lower) > 1 || kindOf(next) == unspaced
	cue := endsWithCue(before)
	correct := startsWithAny(strings.TrimLeft(after, " "), correctCues...)
	rule := func(name string, c Confidence) Reading { return Reading{m.declared, name, c} }
	switch {
	case stopped && first:
		return rule("first", High)
	case cue && (stopped || quoted(text, m)), correct && (first || quoted(text, m)):
		return rule("cue", High)
	case last && sentenceEnd(text[:m.start]):
		return rule("last", High)
	case spaced && first:
		return rule("first-word", Low)
	case spaced && cue:
		return rule("cue-word", Low)
	case quoted(text, m) && (bracket(text[m.end:]) || strings.TrimSpace(after) == "" || sentenceStop(next)):
		return rule("quoted", Low)
	}
	return Reading{}
}

// cues are phrases before a label that is stated as the answer.
var cues = []string{
	"answer is", "answer would be", "answer should be", "option", "option is", "label is", "choice is",
	"antwort ist", "antwort lautet", "antwort wäre", "ist die antwort", "lautet die antwort", "option ist",
	"réponse est", "réponse serait", "option est", "proposition",
	"respuesta es", "respuesta sería", "opción", "opción es",
	"risposta è", "opzione", "resposta é", "opção",
	"答案是", "答案为", "答案應為", "答案应为", "回答是", "选项", "選項", "答えは", "回答は", "정답은", "답은",
	"i would say", "i'd say", "ich würde sagen", "würde ich sagen", "je dirais", "yo diría", "diría que", "direi",
	"eu diria", "我会说", "我會說",
}

// correctCues are phrases after a label that is stated as the answer.
var correctCues = []string{
	"is correct", "is right", "is the correct", "is the right", "is the answer", "ist richtig", "ist die richtige",
	"ist korrekt", "est correct", "est la bonne", "es correct", "es la respuesta", "es la correcta", "è corrett",
	"è la risposta", "está corret", "é a resposta", "是正确", "是正確", "正确", "正確", "が正解", "が正しい", "이 정답", "가 정답",
}

// colonCues need a colon after them: "Answer: yes", but not "I cannot answer yes or no".
var colonCues = []string{
	"answer", "label", "choice", "antwort", "réponse", "respuesta", "risposta", "resposta",
	"答案", "回答", "选择", "選擇", "答え", "정답", "답",
}

// endsWithCue reports whether text ends with a cue.
func endsWithCue(text string) bool {
	bare := strings.TrimRightFunc(text, func(r rune) bool { return r == ':' || r == '：' || openingOrSpace(r) })
	ends := func(cue string) bool {
		if !strings.HasSuffix(bare, cue) {
			return false
		}
		// In a script without spaces, a cue may follow any character: 所以答案是.
		start, _ := utf8.DecodeRuneInString(cue)
		return kindOf(start) == unspaced || wordEdge(bare, len(bare)-len(cue))
	}
	colon := strings.ContainsAny(text[len(bare):], ":：")
	return slices.ContainsFunc(cues, ends) || colon && slices.ContainsFunc(colonCues, ends)
}

// sentenceEnd reports whether a sentence or line ends at the end of text.
func sentenceEnd(text string) bool {
	text = strings.TrimRightFunc(text, func(r rune) bool { return r != '\n' && openingOrSpace(r) })
	r, _ := utf8.DecodeLastRuneInString(text)
	return sentenceStop(r) && text != ""
}

func sentenceStop(r rune) bool { return strings.ContainsRune(".!?。！？\n", r) }

func quoted(text string, m mention) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:m.start])
	after, _ := utf8.DecodeRuneInString(strings.TrimPrefix(text[m.end:], "."))
	return opening(before) && closing(after)
}

// bracket reports whether text begins with a closing bracket, after a period at most.
func bracket(text string) bool {
	return startsWithAny(strings.TrimPrefix(text, "."), ")", "）", "]", "］", "】", "}")
}

const (
	openingMarks = "\"'`´“”„‘‚«»‹›([{<（［【「『《〈*_~#"
	closingMarks = "\"'`´“”‘’«»‹›)]}>）］】」』》〉*_~"
)

func opening(r rune) bool        { return strings.ContainsRune(openingMarks, r) }
func closing(r rune) bool        { return strings.ContainsRune(closingMarks, r) }
func openingOrSpace(r rune) bool { return opening(r) || pytext.IsSpace(r) }

// mark reports whether r can end the clause of a label.
func mark(r rune) bool { return strings.ContainsRune(".,;:!?–—\n\r。，、；：！？…|", r) }

// around reports whether r may be next to an answer without being part of it.
func around(r rune) bool { return openingOrSpace(r) || closing(r) || mark(r) }

// inWord reports whether r is a letter, mark or number.
func inWord(r rune) bool { return kindOf(r) != none }

// Characters of one kind can form a word.
type kind int

const (
	none kind = iota
	spacedScript
	unspaced // scripts without spaces between words
)

func kindOf(r rune) kind {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan):
		return unspaced
	case unicode.In(r, unicode.L, unicode.M, unicode.N):
		return spacedScript
	}
	return none
}

// wordEdge reports whether no word continues across text[:i] and text[i:].
func wordEdge(text string, i int) bool {
	before, n := utf8.DecodeLastRuneInString(text[:i])
	after, m := utf8.DecodeRuneInString(text[i:])
	a, b := kindOf(before), kindOf(after)
	if a != none && b != none {
		return a != b
	}
	// A hyphen or apostrophe between letters is inside a word (non-empty), a
	// sign before a digit or a point between digits inside a number.
	beyond, _ := utf8.DecodeRuneInString(text[i+m:])
	prior, _ := utf8.DecodeLastRuneInString(text[:i-n])
	switch {
	case a == spacedScript && joins(after) && kindOf(beyond) == spacedScript,
		b == spacedScript && joins(before) && kindOf(prior) == spacedScript,
		unicode.IsDigit(before) && strings.ContainsRune(".,:/", after) && unicode.IsDigit(beyond),
		unicode.IsDigit(after) && strings.ContainsRune(".,:/", before) && unicode.IsDigit(prior),
		unicode.IsDigit(after) && strings.ContainsRune("-−+", before):
		return false
	}
	return true
}

func joins(r rune) bool { return strings.ContainsRune("-‐‑'’", r) }

// StripQuotes removes the quotation marks that a model put around a rewritten text, like the published analysis of
// Ohmer et al. (2023). It counts opening and closing marks (straight ones are both), so it removes a mark without a
// partner and keeps quotations within the text:
//
//  1. If more marks close than open, two trailing apostrophes or one trailing
//     closing mark are dropped.
//  2. If the number of straight double marks is odd and the text ends in one,
//     that is dropped.
//  3. A pair that encloses the text is stripped, and once more if another does:
//     straight double marks, then straight single ones, then a grave and an
//     acute accent, then curly double marks.
//
// White space is kept.
func StripQuotes(text string) string {
	if count(text, "\"'´”’»") > count(text, "\"'`“‘«") {
		if short, ok := strings.CutSuffix(text, "''"); ok {
			text = short
		} else if mark, n := utf8.DecodeLastRuneInString(text); n > 0 && strings.ContainsRune("\"'´”’»", mark) {
			text = text[:len(text)-n]
		}
	}
	if strings.Count(text, `"`)%2 == 1 {
		text = strings.TrimSuffix(text, `"`)
	}
	for _, pair := range [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "´"}, {"“", "”"}} {
		for range 2 {
			inner, opened := strings.CutPrefix(text, pair[0])
			inner, closed := strings.CutSuffix(inner, pair[1])
			if opened && closed {
				text = inner
			}
		}
	}
	return text
}

func count(text, marks string) (n int) {
	for _, r := range text {
		if strings.ContainsRune(marks, r) {
			n++
		}
	}
	return n
}
