package guard

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

// Limits of the log odds, chosen on half of the development replies (../shared/data/replies):
// go -C tools run ./bench/words -only replies -half a.
const (
	lineWrong = 4.0  // a line is in another language
	lineRight = -1.5 // a line is in the expected one

	replyWrong = 2.55 // a sentence of a word or two is the whole answer, and is English: "Sure."
)

// check is the judging of one text.
type check struct {
	lid       langid.Identifier
	text      string // without thoughts
	want      expected
	threshold float64
	prompt    string // what the user wrote, in lower case, where the user's language is expected
	serbian   bool   // Serbian is expected, in either script: see inSerbian
	blocks    []prose.Span
	masks     []prose.Span // not judged
	hidden    []prose.Span // thoughts
	series    []int        // by block: the first of its series, which are blocks of one kind in a row
	analysis  *words.Analysis
	malay     bool          // Indonesian is expected, and the text is in Malay
	pairs     func() []pair // see findPairs

	units   []unit
	asked   bool   // the identifier, about a line
	lines   []Span // that are in another language, from end to end
	spans   []Span
	excused []Span // in another language for a reason
}

// unit is judged as a whole: a block, or several short ones of a kind.
type unit struct {
	blocks   []prose.Span
	evidence words.Evidence
	state    Verdict
}

func newCheck(lid langid.Identifier, text string, want expected) *check {
	text, hidden := hideThoughts(text)
	c := &check{lid: lid, text: text, want: want, hidden: hidden}
	masks := c.parse()
	if c.fewLetters(masks) { // an answer of nothing but a quotation is judged by it
		masks = unquoted(masks)
	}
	c.masks = masks
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

// parse sets the blocks and returns all masked parts.
func (c *check) parse() (masks []prose.Span) {
	doc := prose.Parse(c.text)
	c.blocks = doc.Blocks
	return doc.Masks
}

// unquoted returns masked parts without quotations.
func unquoted(masks []prose.Span) []prose.Span {
	return slices.DeleteFunc(masks, func(m prose.Span) bool { return m.Kind.Quoted() })
}

// fewLetters reports whether fewer than four letters are outside masked parts.
func (c *check) fewLetters(masks []prose.Span) bool {
	n := 0
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

// weigh judges blocks together.
func (c *check) weigh(blocks []prose.Span) unit {
	own := 0
	for _, b := range blocks {
		own += c.analysis.Own(b.Start, b.End, 2)
	}
	u := unit{blocks: blocks, evidence: c.analysis.Weigh(blocks...), state: CannotTell}
	e := &u.evidence
	if c.want.base == "zh" && cantonese(c.plain(blocks)) {
		return u // it may be asked for, as Chinese of Hong Kong
	}
	mixed := 5*own >= e.Words // so much is in the expected language that the line is not in another one as a whole
	if !words.Thorough(c.want.base) || c.want.base == "id" || 3*e.Known <= 2*e.Words && e.Words > 2 {
		if c.identify(&u, mixed) {
			return u
		}
	}
	switch {
	case e.Words == 0:
	case !words.Thorough(c.want.base) && script(e.Language) == script(c.want.base) &&
		e.LogRatio > lineRight && e.LogRatio < 2*lineWrong: // its list is too short
	case !mixed && e.LogRatio >= lineWrong && !(e.Words <= 2 && c.mostlyMasked(blocks)):
		u.state = Wrong
	case !mixed && len(c.blocks) == 1 && e.Language == "en" && e.LogRatio >= replyWrong && c.endsSentence():
		u.state = Wrong
	case e.LogRatio <= lineRight || e.LogRatio >= lineWrong:
		u.state = Right // if it has foreign words, these are found word by word
	}
	return u
}

// follow takes items, headings or cells that say too little to be in the language of the others of their kind, if these
// are all in one other language.
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

// endsSentence reports whether the text ends as sentences that are no question do.
func (c *check) endsSentence() bool {
	text := strings.TrimSpace(c.text)
	return strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!")
}

// abbreviated reports whether a block is a cell of at most two letters, in a script whose letters are not words: "Mi"
// for Wednesday.
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

// mostlyMasked reports whether more than half of the bytes of blocks are masked: the word or two left make no line.
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

// maskFrom returns the number of the first masked part that ends after a byte.
func (c *check) maskFrom(at int) int {
	return sort.Search(len(c.masks), func(i int) bool { return c.masks[i].End > at })
}

// plain returns blocks without their masked parts.
func (c *check) plain(blocks []prose.Span) string {
	var text strings.Builder
	for _, b := range blocks {
		c.writePlain(&text, b)
	}
	return text.String()
}

func (c *check) writePlain(to *strings.Builder, b prose.Span) {
	at := b.Start
	for _, m := range c.masksIn(b) {
		to.WriteString(c.text[at:max(at, m.Start)])
		at = max(at, m.End)
	}
	to.WriteString(c.text[at:max(at, b.End)])
	to.WriteByte(' ')
}

// trim leaves out what is before a part's first letter, and the spaces, emphasis and closing quotation marks at its
// end.
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

// lowercase counts the words without a capital: names tell little of the language around them.
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
