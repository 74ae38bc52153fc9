package guard

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid"
	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"

	"golang.org/x/text/language"
)

// Limits of the log odds, chosen on half of the development replies.
const (
	lineWrong = 4.0  // a line is in another language
	lineRight = -1.5 // a line is in the expected one

	replyWrong = 2.55 // a sentence of a word or two is the whole answer, and is English: "Sure."
)

// Certain is the probability from which words within a line make the verdict Wrong.
const Certain = 0.8

// even is the log odds at which words are foreign as often as not, if foreign ones are as frequent as in the
// development data.
const even = -2.85

// check is the judging of one text.
type check struct {
	lid      langid.Identifier
	text     string
	want     expected
	doc      prose.Document
	mask     []words.Range
	analysis *words.Analysis
	units    []unit
	strict   bool
	serbian  bool // is expected, in either script: see inSerbian
	asked    bool // the identifier, about a line
	spans    []Span
	lines    []Span // that are in another language, from end to end
	excused  []Span // in another language for a reason
	masked   []Mask
	hidden   []Mask  // thoughts, which text does not have
	pairs    []pair  // see paired
	firsts   []int   // see first
	alike    *string // see sibling; nil before it is known
}

// unit is what is judged as a whole: a block, or several short ones of a form.
type unit struct {
	blocks   []prose.Block
	evidence words.Evidence
	state    Verdict
}

func newCheck(lid langid.Identifier, text string, want expected) *check {
	text, hidden := hideThoughts(text)
	c := &check{lid: lid, text: text, want: want, doc: prose.Parse(text), hidden: hidden}
	quoted := c.fewLetters() // an answer of nothing but a quotation is judged by it
	for _, m := range c.doc.Masks {
		if !m.Kind.Quoted() || !quoted {
			c.mask = append(c.mask, words.Range{Start: m.Start, End: m.End})
			c.masked = append(c.masked, Mask{m.Start, m.End, m.Kind})
		}
	}
	if c.serbian = want.base == "sr"; c.serbian && (want.script == "Latn" || want.script == "" && c.mostlyLatin(c.doc.Blocks...)) {
		c.want.base, c.want.name = croatian[0], "sr-Latn"
	}
	c.analysis = words.Analyse(text, c.want.base, c.mask)
	return c
}

// fewLetters reports whether fewer than four letters are outside masked parts.
func (c *check) fewLetters() bool {
	n, masks := 0, c.doc.Masks
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
	var short []prose.Block
	for _, b := range c.doc.Blocks {
		if c.abbreviated(b) {
			continue
		}
		switch u := c.weigh(b); {
		case u.state == CannotTell && u.evidence.Words == 0:
		case u.state == CannotTell:
			short = append(short, b)
		default:
			c.units = append(c.units, u)
		}
	}
	for len(short) > 0 {
		var group, rest []prose.Block
		for _, b := range short {
			if b.Form == short[0].Form {
				group = append(group, b)
			} else {
				rest = append(rest, b)
			}
		}
		u := c.weigh(group...)
		if u.state == CannotTell {
			c.follow(&u)
		}
		c.units = append(c.units, u)
		short = rest
	}
	slices.SortStableFunc(c.units, func(a, b unit) int { return cmp.Compare(a.blocks[0].Start, b.blocks[0].Start) })
	for i := range c.units {
		if u := &c.units[i]; u.state == Wrong {
			for _, b := range u.blocks {
				c.foreignLine(b, u.evidence)
			}
		}
	}
	c.foreignWords()
	c.englishSentences()
	c.chineseSentences()
	c.scripts()
	c.disjoint()
}

func byStart(a, b Span) int { return cmp.Compare(a.Start, b.Start) }

// add adds a span to those that count, or to the excused ones.
func (c *check) add(s Span) {
	if c.strict {
		s.Excuse = ""
	}
	to := &c.spans
	if s.Excuse != "" {
		to = &c.excused
	}
	if n := len(*to); n > 0 && c.continues((*to)[n-1], s) {
		last := &(*to)[n-1]
		last.End, last.P = s.End, max(last.P, s.P)
		return
	}
	*to = append(*to, s)
}

// follow takes items, headings or cells that say too little to be in the language of the others of their form, if these
// are all in one other language.
func (c *check) follow(u *unit) {
	form := u.blocks[0].Form
	if form == prose.Paragraph {
		return
	}
	language := ""
	for _, other := range c.units {
		if other.blocks[0].Form != form {
			continue
		}
		if other.state != Wrong || language != "" && language != other.evidence.Language {
			return
		}
		language = other.evidence.Language
	}
	if language != "" {
		u.state, u.evidence.Language = Wrong, language
		u.evidence.LogRatio = lineWrong
	}
}

// weigh judges blocks together.
func (c *check) weigh(blocks ...prose.Block) unit {
	u := unit{blocks: blocks, state: CannotTell}
	ranges := make([]words.Range, len(blocks))
	own := 0
	for i, b := range blocks {
		ranges[i] = words.Range{Start: b.Start, End: b.End}
		own += c.analysis.Own(b.Start, b.End, 2)
	}
	u.evidence = c.analysis.Weigh(ranges...)
	e := &u.evidence
	mixed := 5*own >= e.Words // so much is in the expected language that the line is not in another one as a whole
	if !words.Supports(c.want.base) || siblings[c.want.base].script != nil || 3*e.Known <= 2*e.Words && e.Words > 2 {
		if c.identify(&u, mixed) {
			return u
		}
	}
	switch {
	case e.Words == 0:
	case !mixed && e.LogRatio >= lineWrong && !(e.Words <= 2 && c.mostlyMasked(blocks)):
		u.state = Wrong
	case !mixed && len(c.doc.Blocks) == 1 && e.Language == "en" && e.LogRatio >= replyWrong && c.endsSentence():
		u.state = Wrong
	case e.LogRatio <= lineRight || e.LogRatio >= lineWrong:
		u.state = Right // if it has foreign words, these are found word by word
	}
	return u
}

// endsSentence reports whether the text ends as sentences that are no question do.
func (c *check) endsSentence() bool {
	text := strings.TrimSpace(c.text)
	return strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!")
}

// abbreviated reports whether a block is a cell of at most two letters, in a script whose letters are not words: "Mi"
// for Wednesday.
func (c *check) abbreviated(b prose.Block) bool {
	if b.Form != prose.Cell {
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
func (c *check) mostlyMasked(blocks []prose.Block) bool {
	all, masked := 0, 0
	for _, b := range blocks {
		all += b.End - b.Start
		for _, m := range c.mask[c.maskFrom(b.Start):] {
			if m.Start >= b.End {
				break
			}
			masked += min(m.End, b.End) - max(m.Start, b.Start)
		}
	}
	return 2*masked > all
}

// twins are languages that the identifier mistakes their neighbours for.
var twins = map[string]bool{"ast": true, "gl": true, "ms": true, "oc": true}

// siblings are languages that are too alike for the models of words. Only a longer text tells them apart.
var siblings = map[string]struct {
	languages []string
	script    *unicode.RangeTable
}{
	"hi": {[]string{"mr", "ne"}, unicode.Devanagari},
	"id": {[]string{"ms"}, unicode.Latin},
}

// sibling returns the language of the prose if it is a sibling of the expected one, else "". Single lines say too
// little, letters of other scripts mislead the identifier, and other identifiers than the embedded one take much
// Indonesian for Malay. So Malay needs a word that Indonesian does not have, or two that it seldom has, or one of these
// and the identifier.
func (c *check) sibling() string {
	alike := siblings[c.want.base]
	var plain strings.Builder
	for _, b := range c.doc.Blocks {
		if c.plain(&plain, b); plain.Len() > enough {
			break
		}
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) && !unicode.Is(alike.script, r) {
			return ' '
		}
		return r
	}, plain.String())
	lower := lowercase(text)
	if lower < 4 {
		return ""
	}
	if c.want.base == "id" {
		notInWord := func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }
		n, seen := 0, map[string]bool{}
		for w := range strings.FieldsFuncSeq(text, notInWord) {
			switch {
			case seen[w]:
			case malay[w]:
				n += 2
			case rather[w]:
				n++
			default:
				continue
			}
			seen[w] = true
		}
		if n == 1 {
			if guess := embedded.Identifier().Identify(text); guess.Language == "ms" && guess.Probability >= 0.5 {
				n++
			}
		}
		if n > 1 {
			return "ms"
		}
		return ""
	}
	sure := float32(0.8)
	if lower < 6 {
		for w := range strings.FieldsSeq(text) {
			if hindi[w] {
				return ""
			}
		}
		sure = 0.999
	}
	if guess := embedded.Identifier().Identify(text); slices.Contains(alike.languages, guess.Language) && guess.Probability >= sure {
		return guess.Language
	}
	return ""
}

// enough is how many bytes of a text tell its language.
const enough = 2000

// identify judges a unit by the identifier, which knows more languages than the models of words. It reports whether
// that settles it. Of a mixed line it knows only the part in another script, and that is found word by word.
func (c *check) identify(u *unit, mixed bool) bool {
	var plain strings.Builder
	for _, b := range u.blocks {
		c.plain(&plain, b)
	}
	text, supported := plain.String(), words.Supports(c.want.base)
	lower := lowercase(text)
	if len(text) < 12 || supported && lower < 3 {
		return false
	}
	if siblings[c.want.base].script != nil {
		if c.alike == nil {
			language := c.sibling()
			c.alike = &language
		}
		if language := *c.alike; language != "" {
			u.state, u.evidence.Language = Wrong, language
			u.evidence.LogRatio = max(u.evidence.LogRatio, lineWrong)
			return true
		}
		if 10*u.evidence.Known >= 6*u.evidence.Words {
			return false
		}
	}
	// No more than 0.8, since languages that are alike, such as Norwegian and Danish, divide the rest between them. A
	// few words, or everyday words of the expected language among them, need more: names and terms look like any
	// language.
	least, little := float32(0.8), len(text) < 20 || supported && (lower < 4 || 10*u.evidence.Known >= 6*u.evidence.Words)
	if little {
		least = 0.99
	}
	guess := c.lid.Identify(text)
	c.asked = true
	if c.serbian && (guess.Language == "sr" || slices.Contains(croatian, guess.Language)) {
		guess.Language = c.inSerbian(u.blocks)
	}
	switch {
	case c.serbian && c.want.script == "" && strings.HasPrefix(guess.Language, "sr-") && guess.Probability >= 0.5:
		for _, b := range u.blocks { // in the script of the fewer letters: all its words would be foreign to the analysis
			c.lines = append(c.lines, Span{Start: b.Start, End: b.End})
		}
		u.state, u.evidence.LogRatio = Right, -lineWrong
	case !little && guess.Language == c.want.base && guess.Probability >= 0.5 && (!supported || u.evidence.LogRatio < lineWrong):
		u.state, u.evidence.LogRatio = Right, min(u.evidence.LogRatio, -lineWrong)
	case twins[guess.Language], mixed && script(guess.Language) != script(c.want.base):
		return false
	case guess.Language != c.want.base && guess.Probability >= least && (!supported || !words.Supports(guess.Language)):
		u.state, u.evidence.Language = Wrong, guess.Language
		u.evidence.LogRatio = max(u.evidence.LogRatio, lineWrong)
	default:
		return false
	}
	return true
}

// script returns the script that a language is written in most.
func script(base string) string {
	s, _ := language.Make(base).Script()
	return s.String()
}

// announced returns why a block in another language is not a confusion: the line before it, the first row of its table
// or its own label names the language; or the line before it says that somebody or something speaks and ends in a
// colon, and the text continues in the expected language after the block.
func (c *check) announced(b prose.Block, language string) prose.Kind {
	i := sort.Search(len(c.doc.Blocks), func(i int) bool { return c.doc.Blocks[i].Start >= b.Start })
	first := c.first(i)
	if b.Form == prose.Cell {
		row := c.line(c.doc.Blocks[first].Start)
		for _, head := range c.doc.Blocks[first:i] {
			if c.line(head.Start) != row {
				break
			}
			if mentions(c.want.base, c.text[head.Start:head.End], language) {
				return Mention
			}
		}
	}
	for _, colon := range []string{":", "："} {
		if label, _, ok := strings.Cut(c.text[b.Start:b.End], colon); ok && mentions(c.want.base, label, language) {
			return Mention
		}
	}
	own := func(b prose.Block) bool {
		return c.analysis.Weigh(words.Range{Start: b.Start, End: b.End}).LogRatio < lineRight
	}
	next := i + 1
	if b.Form == prose.Paragraph { // an address has several lines
		for ; i > 0 && i > next-mostQuoted && c.adjoins(i) && !own(c.doc.Blocks[i-1]); i-- {
		}
		for ; next < len(c.doc.Blocks) && next < i+mostQuoted && c.adjoins(next) && !own(c.doc.Blocks[next]); next++ {
		}
	} else if first > 0 {
		i = first
	}
	if i == 0 {
		return ""
	}
	before := c.doc.Blocks[i-1]
	announcement := strings.TrimRight(c.text[before.Start:before.End], " *_")
	colon := strings.HasSuffix(announcement, ":") || strings.HasSuffix(announcement, "：")
	if last := strings.LastIndexAny(strings.TrimRight(announcement, ".。"), ".!?。！？"); !colon && last >= 0 {
		announcement = announcement[last:]
	}
	switch {
	case mentions(c.want.base, announcement, language) && (colon || quotes(c.want.base, announcement)):
		return Mention
	case !colon:
		return ""
	}
	if b.Form == prose.Paragraph && quotes(c.want.base, announcement) && own(before) && next < len(c.doc.Blocks) && own(c.doc.Blocks[next]) {
		return prose.Quote
	}
	return ""
}

// mostQuoted bounds the lines of a quotation that another line announces.
const mostQuoted = 8

// adjoins reports whether the i-th block is the line after the one before it.
func (c *check) adjoins(i int) bool {
	before, b := c.doc.Blocks[i-1], c.doc.Blocks[i]
	return before.Form == b.Form && strings.Count(c.text[before.End:b.Start], "\n") == 1
}

// first returns the number of the block that begins the i-th block's series: blocks of one form with no other between.
func (c *check) first(i int) int {
	for n := len(c.firsts); n <= i; n++ {
		if n > 0 && c.doc.Blocks[n-1].Form == c.doc.Blocks[n].Form {
			c.firsts = append(c.firsts, c.firsts[n-1])
		} else {
			c.firsts = append(c.firsts, n)
		}
	}
	return c.firsts[i]
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

// plain writes a block without its masked parts.
func (c *check) plain(to *strings.Builder, b prose.Block) {
	at := b.Start
	for _, m := range c.mask[c.maskFrom(b.Start):] {
		if m.Start >= b.End {
			break
		}
		to.WriteString(c.text[at:max(at, m.Start)])
		at = max(at, m.End)
	}
	to.WriteString(c.text[at:max(at, b.End)])
	to.WriteByte(' ')
}

// foreignLine adds a block in another language as a span.
func (c *check) foreignLine(b prose.Block, e words.Evidence) {
	start, end := c.trim(b.Start, b.End)
	s := Span{Kind: Line, P: probability(e.LogRatio)}
	if part, ok := c.paired(b.Start); ok {
		start, end = c.trim(part.Start, part.End)
		s.Excuse = Gloss
	} else {
		s.Excuse = cmp.Or(c.announced(b, e.Language), c.named(b, e.Language))
	}
	c.lines = append(c.lines, Span{Start: start, End: end})
	if words.Supports(c.want.base) && words.Supports(e.Language) && !han(e.Language) {
		if from, to := c.analysis.Foreign(start, end, endOdds); 2*(to-from) > end-start {
			start, end = from, to
		}
	}
	if start < end {
		s.Start, s.End, s.Language = start, end, c.name(e.Language, start, end)
		c.add(s)
	}
}

// endOdds is the least log odds of the first and last word of a span that is a line: often a line is in another
// language except for a word or two at its ends.
const endOdds = -1

// maskFrom returns the number of the first masked part that ends after a byte.
func (c *check) maskFrom(at int) int {
	return sort.Search(len(c.mask), func(i int) bool { return c.mask[i].End > at })
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
		if i == len(c.mask) || first < c.mask[i].Start {
			for n := c.maskFrom(end - 1); n >= 0 && n < len(c.mask) && c.mask[n].Start > first && c.mask[n].End == end && c.masked[n].Kind == prose.Markup; n-- {
				end = c.mask[n].Start // "</p>"
			}
			return first, first + len(strings.TrimRight(c.text[first:end], " *_\t»”’\"』」"))
		}
		first = max(first, c.mask[i].End)
	}
}

// name is the tag of a language: with the script of Chinese where the characters tell it.
func (c *check) name(language string, start, end int) string {
	if language != "zh" {
		return language
	}
	switch simplified, traditional := chinese.Count(c.text[start:end]); {
	case simplified > traditional:
		return "zh-Hans"
	case traditional > simplified:
		return "zh-Hant"
	}
	return "zh"
}

// probability of even odds times e^x.
func probability(x float64) float64 {
	return math.Round(1e4*min(0.9999, 1/(1+math.Exp(-x)))) / 1e4
}

func (c *check) result() Judgement {
	j := Judgement{Verdict: CannotTell, P: 0.5, Units: len(c.units), Spans: slices.Concat(c.spans, c.excused), Masked: c.allMasks()}
	slices.SortFunc(j.Spans, byStart)
	weight := map[string]int{}
	sum := 0.0
	for _, u := range c.units {
		switch u.state {
		case CannotTell:
			j.Unclear++
		case Right:
			weight[c.want.name] += max(1, u.evidence.Words)
			sum = min(sum, u.evidence.LogRatio)
		case Wrong:
			weight[u.evidence.Language] += max(1, u.evidence.Words)
		}
	}
	switch {
	case len(c.spans) > 0:
		j.Verdict = Wrong
		for _, s := range c.spans {
			j.P = max(j.P, s.P)
		}
	case weight[c.want.name] > 0:
		j.Verdict, j.P = Right, probability(min(-sum, 7))
	}
	for l, n := range weight {
		if n > weight[j.Language] || n == weight[j.Language] && l < j.Language {
			j.Language = l
		}
	}
	j.Language = c.name(j.Language, 0, len(c.text))
	if j.Units > 0 || j.Spans != nil {
		j.Judged = c.level()
	}
	if j.Spans == nil {
		j.Spans = []Span{}
	}
	if j.Masked == nil {
		j.Masked = []Mask{}
	}
	j.Parts = c.parts()
	j.Mix = c.mix(j.Parts)
	return j
}
