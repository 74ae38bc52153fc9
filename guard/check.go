package guard

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"crosstalk/internal/lexicon"
	"crosstalk/measure/langid"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"

	"golang.org/x/text/language"
)

// Limits of the log odds, chosen on half of the development replies (../shared/data/replies):
// go -C tools run ./bench/words -only replies -half a.
const (
	lineWrong = 4.0  // a line is in another language
	lineRight = -1.5 // a line is in the expected one

	replyWrong = 2.55 // a sentence of a word or two is the whole answer, and is English: "Sure."
)

// check judges one text.
type check struct {
	lid       langid.Identifier
	text      string // without thoughts
	want      expected
	threshold float64
	prompt    string // what the user wrote, in lower case, if the user's language is expected
	serbian   bool   // Serbian is expected, in either script: see inSerbian
	blocks    []prose.Span
	masks     []prose.Span // not judged
	hidden    []prose.Span // thoughts
	series    []int        // by block: the first of its series, consecutive blocks of one kind
	analysis  *words.Analysis
	malay     bool          // Indonesian is expected, and the text is in Malay
	pairs     func() []pair // see findPairs

	units   []unit
	asked   bool   // whether the identifier was asked about a line
	lines   []Span // lines entirely in another language
	spans   []Span
	excused []Span // in another language for a reason

	// telling are the parts of lines in another language without the words at their ends that tell nothing, by the start
	// of the line's span, where they are less than it.
	telling map[int]prose.Span
}

// unit is judged as a whole: a block, or several short ones of the same kind.
type unit struct {
	blocks   []prose.Span
	evidence words.Evidence
	state    Verdict
}

func newCheck(lid langid.Identifier, text string, want expected) *check {
	text, hidden := hideThoughts(text)
	doc := prose.Parse(text)
	c := &check{lid: lid, text: text, want: want, hidden: hidden, blocks: doc.Blocks, masks: doc.Masks}
	if c.fewLetters() { // judge an answer that is only a quotation by it
		c.masks = unquoted(c.masks)
	}
	c.series = make([]int, len(c.blocks))
	for i := 1; i < len(c.blocks); i++ {
		c.series[i] = i
		if c.blocks[i].Kind == c.blocks[i-1].Kind {
			c.series[i] = c.series[i-1]
		}
	}
	c.pairs = sync.OnceValue(c.findPairs)
	c.serbian = want.base == "sr"
	if c.serbian && (want.script == "Latn" || want.script == "" && c.mostlyLatin(c.blocks)) {
		c.want.base, c.want.name = croatian[0], "sr-Latn"
	}
	c.malay = c.want.base == "id" && c.inMalay()
	c.analysis = words.Analyse(text, c.want.base, c.masks)
	return c
}

// unquoted removes quotations from masked parts.
func unquoted(masks []prose.Span) []prose.Span {
	return slices.DeleteFunc(masks, func(m prose.Span) bool { return m.Kind.Quoted() })
}

// fewLetters reports whether fewer than four letters are outside masked parts.
func (c *check) fewLetters() bool {
	n, masks := 0, c.masks
	for i, r := range c.text {
		for len(masks) > 0 && masks[0].End <= i {
			masks = masks[1:]
		}
		if unicode.IsLetter(r) && (len(masks) == 0 || i < masks[0].Start) {
			if n++; n == 4 {
				return false
			}
		}
	}
	return true
}

func (c *check) judge() {
	short := map[prose.Kind][]prose.Span{}
	for i, b := range c.blocks {
		if c.abbreviated(b) {
			continue
		}
		switch u := c.weigh(c.blocks[i : i+1]); {
		case u.state != CannotTell:
			c.units = append(c.units, u)
		case u.evidence.Words > 0:
			short[b.Kind] = append(short[b.Kind], b)
		}
	}
	for _, blocks := range short {
		u := c.weigh(blocks)
		if u.state == CannotTell {
			c.follow(&u)
		}
		c.units = append(c.units, u)
	}
	slices.SortFunc(c.units, func(a, b unit) int { return cmp.Compare(a.blocks[0].Start, b.blocks[0].Start) })
	for _, u := range c.units {
		if u.state == Wrong {
			for _, b := range u.blocks {
				c.foreignLine(b, u.evidence)
			}
		}
	}
	c.foreignWords()
	c.foreignSentences()
	c.chineseSentences()
	c.scripts()
	c.disjoint()
}

// weigh judges blocks as one unit.
func (c *check) weigh(blocks []prose.Span) unit {
	own := 0
	for _, b := range blocks {
		own += c.analysis.Own(b.Start, b.End, 2)
	}
	u := unit{blocks: blocks, evidence: c.analysis.Weigh(blocks...), state: CannotTell}
	e := &u.evidence
	if c.want.base == "zh" && cantonese(c.plain(blocks...)) {
		return u // it may be what was asked for, such as Hong Kong Chinese
	}
	if e.Words == 1 && len(c.blocks) == 1 && script(e.Language) != script(c.want.base) {
		start, _ := c.trim(blocks[0].Start, blocks[0].End)
		if w, ok := c.analysis.At(start); ok && w.Loan && w.Share < function {
			return u // "ok" is an answer in most languages
		}
	}
	mixed := 5*own >= e.Words // too many words in the expected language for a line in another one
	if !words.Thorough(c.want.base) || c.want.base == "id" || 3*e.Known <= 2*e.Words && e.Words > 2 {
		if c.identify(&u, mixed) {
			return u
		}
	}
	switch {
	case e.Words == 0:
	case !words.Thorough(c.want.base) && script(e.Language) == script(c.want.base) &&
		e.LogRatio > lineRight && e.LogRatio < 2*lineWrong: // its word list is too short
	case !mixed && e.LogRatio >= lineWrong && !(e.Words <= 2 && c.mostlyMasked(blocks)):
		u.state = Wrong
	case !mixed && len(c.blocks) == 1 && e.Language == "en" && e.LogRatio >= replyWrong && c.endsSentence():
		u.state = Wrong
	case e.LogRatio <= lineRight || e.LogRatio >= lineWrong:
		u.state = Right // foreign words in it are found one by one
	}
	return u
}

// follow judges items, headings or cells that have too little text as the others of their kind, if these are all in one
// other language.
func (c *check) follow(u *unit) {
	kind := u.blocks[0].Kind
	if kind == prose.Paragraph {
		return
	}
	language := ""
	for _, other := range c.units {
		if other.blocks[0].Kind != kind {
			continue
		}
		if other.state != Wrong || language != "" && language != other.evidence.Language {
			return
		}
		language = other.evidence.Language
	}
	if language != "" {
		u.state, u.evidence.Language, u.evidence.LogRatio = Wrong, language, lineWrong
	}
}

// endsSentence reports whether the text ends like a sentence that is not a question.
func (c *check) endsSentence() bool {
	text := strings.TrimSpace(c.text)
	return strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!")
}

// abbreviated reports whether a block is a cell of at most two letters that are not words: "Mi" for Wednesday.
func (c *check) abbreviated(b prose.Span) bool {
	if b.Kind != prose.Cell {
		return false
	}
	n := 0
	for _, r := range c.text[b.Start:b.End] {
		if unicode.IsLetter(r) {
			n++
		}
		if n > 2 || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			return false
		}
	}
	return true
}

// mostlyMasked reports whether more than half of the bytes of blocks are masked: the word or two left are not a line.
func (c *check) mostlyMasked(blocks []prose.Span) bool {
	all, masked := 0, 0
	for _, b := range blocks {
		all += b.End - b.Start
		for _, m := range c.masksIn(b) {
			masked += min(m.End, b.End) - max(m.Start, b.Start)
		}
	}
	return 2*masked > all
}

// masksIn returns the masked parts that overlap a part.
func (c *check) masksIn(part prose.Span) []prose.Span {
	from := c.maskFrom(part.Start)
	n := sort.Search(len(c.masks)-from, func(i int) bool { return c.masks[from+i].Start >= part.End })
	return c.masks[from : from+n]
}

// maskFrom returns the index of the first masked part that ends after a byte.
func (c *check) maskFrom(at int) int {
	return sort.Search(len(c.masks), func(i int) bool { return c.masks[i].End > at })
}

// plain returns blocks without their masked parts.
func (c *check) plain(blocks ...prose.Span) string {
	var text strings.Builder
	for _, b := range blocks {
		at := b.Start
		for _, m := range c.masksIn(b) {
			text.WriteString(c.text[at:max(at, m.Start)])
			at = max(at, m.End)
		}
		text.WriteString(c.text[at:max(at, b.End)])
		text.WriteByte(' ')
	}
	return text.String()
}

// trim excludes text before a part's first letter, and spaces, emphasis and closing quotation marks at its end.
func (c *check) trim(start, end int) (int, int) {
	first := start
	for i := c.maskFrom(start); ; i++ {
		n := strings.IndexFunc(c.text[first:max(first, end)], unicode.IsLetter)
		if n < 0 {
			return first, first
		}
		first += n
		if i == len(c.masks) || first < c.masks[i].Start {
			break
		}
		first = max(first, c.masks[i].End)
	}
	for n := c.maskFrom(end - 1); n >= 0 && n < len(c.masks); n-- {
		m := c.masks[n]
		if m.Start <= first || m.End != end || m.Kind != prose.Markup {
			break
		}
		end = m.Start // "</p>"
	}
	return first, first + len(strings.TrimRight(c.text[first:end], " *_\t»”’\"』」"))
}

// lowercase counts the words without a capital: names reveal little about the language around them.
func lowercase(text string) (n int) {
	for w := range strings.FieldsSeq(text) {
		if r, _ := utf8.DecodeRuneInString(w); unicode.IsLetter(r) && !unicode.IsUpper(r) {
			n++
		}
	}
	return n
}

// Count returns the number of spans of a kind, Line or Word, without an excuse.
func (j Judgement) Count(kind string) (n int) {
	for _, s := range j.Spans {
		if s.Excuse == "" && s.Kind == kind {
			n++
		}
	}
	return n
}

// nagari are languages with short word lists. The identifier is more reliable, and must confirm the words' evidence.
var nagari = lexicon.Set("hi mr ne")

// confirmed returns the language of a part whose words look foreign. Between languages in Devanagari, the identifier
// decides.
func (c *check) confirmed(part prose.Span, language string) string {
	if nagari[language] && nagari[c.want.base] {
		if guess := embedded.Identifier().Identify(c.plain(part)); nagari[guess.Language] {
			return guess.Language
		}
	}
	return language
}

// inMalay reports whether the prose is in Malay. A single line is not enough evidence, and letters of other scripts
// mislead the identifier.
func (c *check) inMalay() bool {
	const enough = 2000 // bytes of text that distinguish Malay from Indonesian
	plain := ""
	for _, b := range c.blocks {
		if plain += c.plain(b); len(plain) > enough {
			break
		}
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
			return ' '
		}
		return r
	}, plain)
	return lowercase(text) >= 4 && malayOrNot(text)
}

// malayOrNot reports whether a text in Malay or Indonesian is in Malay. Identifiers other than the embedded one mistake
// much Indonesian for Malay. So the verdict Malay needs a word that Indonesian lacks, or two that it seldom uses, or
// one of these and the identifier.
func malayOrNot(text string) bool {
	notInWord := func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }
	n, seen := 0, map[string]bool{}
	for w := range strings.FieldsFuncSeq(text, notInWord) {
		switch {
		case seen[w]:
		case malay[w]:
			n += 2
		case rather[w]:
			n++
		}
		seen[w] = true
	}
	if n == 1 {
		if guess := embedded.Identifier().Identify(text); guess.Language == "ms" && guess.Probability >= 0.5 {
			n++
		}
	}
	return n > 1
}

// littleText is the length in bytes below which the identifier must be more certain.
const littleText = 20

// identify judges a unit by the identifier, which supports more languages than the word models. It reports whether that
// settles the verdict. In a mixed line it would see only the part in another script, which is found word by word.
func (c *check) identify(u *unit, mixed bool) bool {
	e := &u.evidence
	text, supported := c.plain(u.blocks...), words.Thorough(c.want.base)
	lower := lowercase(text)
	if len(text) < 12 || supported && lower < 3 {
		return false
	}
	everyday := 10*e.Known >= 6*e.Words
	if c.malay {
		u.state, e.Language, e.LogRatio = Wrong, "ms", max(e.LogRatio, lineWrong)
		return true
	}
	if c.want.base == "id" && everyday {
		return false
	}
	// No more than 0.8, since similar languages, such as Norwegian and Danish, share the probability. A few words, or
	// everyday words of the expected language among them, need more: names and terms look like any language.
	least, little := float32(0.8), len(text) < littleText || supported && (lower < 4 || everyday)
	if little {
		least = 0.99
	}
	guess := c.lid.Identify(text)
	c.asked = true
	if c.serbian && (guess.Language == "sr" || slices.Contains(croatian, guess.Language)) {
		guess.Language = c.inSerbian(u.blocks)
	}
	probable := guess.Probability >= 0.5
	switch {
	case c.serbian && c.want.script == "" && strings.HasPrefix(guess.Language, "sr-") && probable:
		// Written in the less common script: all its words would be foreign to the analysis.
		for _, b := range u.blocks {
			c.lines = append(c.lines, Span{Start: b.Start, End: b.End})
		}
		u.state, e.LogRatio = Right, -lineWrong
	case !little && guess.Language == c.want.base && probable && (!supported || e.LogRatio < lineWrong):
		u.state, e.LogRatio = Right, min(e.LogRatio, -lineWrong)
	case slices.Contains([]string{"ast", "gl", "ms", "oc"}, guess.Language), // it mistakes related languages for these
		c.want.base == "ms" && guess.Language == "id",
		mixed && script(guess.Language) != script(c.want.base):
		return false
	case guess.Language != c.want.base && guess.Probability >= least &&
		(!supported || !words.Thorough(guess.Language)) && c.agrees(u, guess.Language):
		u.state, e.Language, e.LogRatio = Wrong, guess.Language, max(e.LogRatio, lineWrong)
	default:
		return false
	}
	return true
}

// agrees reports whether the words of a unit are evidence for a language that the identifier returns rather than for
// the expected one, if both have a model: the identifier mistakes short lines for a related language. If the expected
// language's model is thorough, the identifier is asked only about lines with few known words.
func (c *check) agrees(u *unit, language string) bool {
	return words.Thorough(c.want.base) || !words.Supports(language) || !words.Supports(c.want.base) ||
		c.analysis.Ratio(language, u.blocks...) >= cmp.Or(leastRatios[c.want.base], usualRatio)
}

// script returns the usual script of a language.
func script(base string) string {
	s, _ := language.Make(base).Script()
	return s.String()
}

// croatian are the codes that identifiers return for Serbian in Latin letters; the embedded one has only the first.
var croatian = []string{"hr", "bs", "sh"}

// inSerbian returns the language of Serbian lines: the expected one, or Serbian in the other script.
func (c *check) inSerbian(lines []prose.Span) string {
	switch latin := c.mostlyLatin(lines); {
	case latin == (c.want.base == croatian[0]):
		return c.want.base
	case latin:
		return "sr-Latn"
	}
	return "sr-Cyrl"
}

// mostlyLatin reports whether most letters of blocks are Latin, outside masked parts.
func (c *check) mostlyLatin(blocks []prose.Span) bool {
	latin, others := 0, 0
	for _, r := range c.plain(blocks...) {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.IsLetter(r):
			others++
		}
	}
	return latin > others
}
