package guard

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

const (
	mostQuoted = 8    // most lines in an announced quotation
	function   = 1e-3 // share of a language's words above which most are function words
)

func (c *check) foreignLine(b prose.Span, e words.Evidence) {
	const endOdds = -1 // least log odds at the ends of a line in another language, where words of others may be
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
			if c.tells(e.Language, start, from) {
				start = from
			}
			if c.tells(e.Language, to, end) {
				end = to
			}
			if from > start || to < end {
				if c.telling == nil {
					c.telling = map[int]prose.Span{}
				}
				c.telling[start] = prose.Span{Start: from, End: to}
			}
		}
	}
	if start < end {
		s.Start, s.End, s.Language = start, end, c.name(e.Language, start, end)
		c.add(s)
	}
}

// announced returns why a block in another language is not a confusion: the line before it, the first row of its table
// or its own label names the language; or the line before it announces speech and ends in a colon, and the text
// continues in the expected language after the block.
func (c *check) announced(b prose.Span, language string) prose.Kind {
	i := sort.Search(len(c.blocks), func(i int) bool { return c.blocks[i].Start >= b.Start })
	first := c.series[i]
	if b.Kind == prose.Cell && c.headed(first, i, language) {
		return Mention
	}
	for _, colon := range []string{":", "："} {
		label, _, ok := strings.Cut(c.text[b.Start:b.End], colon)
		if ok && mentions(c.want.base, label, language) {
			return Mention
		}
	}
	own := func(i int) bool { return c.analysis.Weigh(c.blocks[i]).LogRatio < lineRight }
	next := i + 1
	if b.Kind == prose.Paragraph { // an address has several lines
		for i > 0 && i > next-mostQuoted && c.adjoins(i) && !own(i-1) {
			i--
		}
		for next < len(c.blocks) && next < i+mostQuoted && c.adjoins(next) && !own(next) {
			next++
		}
	} else if first > 0 {
		i = first
	}
	if i == 0 {
		return ""
	}
	announcement := strings.TrimRight(c.text[c.blocks[i-1].Start:c.blocks[i-1].End], " *_")
	colon := endsInColon(announcement)
	last := strings.LastIndexAny(strings.TrimRight(announcement, ".。"), ".!?。！？")
	if !colon && last >= 0 {
		announcement = announcement[last:]
	}
	quoted := quotes(c.want.base, announcement)
	switch {
	case (colon || quoted) && mentions(c.want.base, announcement, language):
		return Mention
	case colon && quoted && b.Kind == prose.Paragraph && own(i-1) && next < len(c.blocks) && own(next):
		return prose.Quote
	}
	return ""
}

// headed reports whether the first row of a table, from block first on, names a language. cell is a block in the table.
func (c *check) headed(first, cell int, language string) bool {
	row := c.line(c.blocks[first].Start)
	for _, head := range c.blocks[first:cell] {
		if c.line(head.Start) != row {
			break
		}
		if mentions(c.want.base, c.text[head.Start:head.End], language) {
			return true
		}
	}
	return false
}

func endsInColon(text string) bool {
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

// adjoins reports whether the i-th block is on the line after the one before it.
func (c *check) adjoins(i int) bool {
	before, b := c.blocks[i-1], c.blocks[i]
	return before.Kind == b.Kind && strings.Count(c.text[before.End:b.Start], "\n") == 1
}

// Certain is the probability above which words within a line make the verdict Wrong.
const Certain = 0.8

// even is the log odds at which half of the words are foreign, if foreign words are as frequent as in the development
// data (../shared/data/words): go -C tools run ./bench/words -only words -half a.
const even = -2.85

// foreignWords adds the foreign words of blocks that are not foreign as a whole, and those in quotations.
func (c *check) foreignWords() {
	slices.SortFunc(c.lines, byStart)
	found := append(c.runs(c.foreign(), ""), c.runs(c.quoted(), prose.Quote)...)
	c.excuseAlike(found)
	for _, r := range found {
		language := c.confirmed(prose.Span{Start: r.start, End: r.end}, r.language)
		if language == c.want.base {
			continue
		}
		r.language = language
		if r.excuse == "" && (r.doubtful() || r.odds-even < leastOdds[c.want.base] && !r.words[0].Foreign) {
			r.excuse = Doubt
		}
		r.unnamed()
		c.add(Span{Start: r.start, End: r.end, Language: c.name(r.language, r.start, r.end), Kind: Word,
			P: probability(r.odds - even), Excuse: r.excuse})
	}
}

// runs returns the runs of foreign words outside foreign lines, with the excuse given, or else each with its own.
func (c *check) runs(all []words.Word, excuse prose.Kind) (found []run) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && c.adjacent(all[n-1], all[n]) {
			n++
		}
		if !covered(c.lines, all[0].Start) && !covered(c.lines, all[n-1].Start) {
			of := c.shared(all[:n])
			best := slices.MaxFunc(of, func(a, b words.Word) int { return cmp.Compare(a.LogOdds, b.LogOdds) })
			start, end := of[0].Start, of[len(of)-1].End
			r := run{of, start, end, c.text[start:end], mostIn(of), best.LogOdds, excuse}
			if r.excuse == "" {
				r.excuse = c.excuse(r)
			}
			found = append(found, r)
		}
		all = all[n:]
	}
	return found
}

// foreign returns the words that are in another language. Function words that exist only in another language are
// neither names nor terms, so they need less evidence.
func (c *check) foreign() []words.Word {
	const (
		floor     = -6.0
		own       = 0.01 // largest share relative to the other language, if the expected language does not use the word
		certainty = 0.0  // log odds
	)
	all := c.analysis.Words(floor)
	for i := range all {
		w := &all[i]
		if w.LogOdds < certainty && w.Share >= function && w.Own < min(met, own*w.Share) && w.Native && !w.Name &&
			!w.Foreign {
			w.LogOdds = certainty
		}
	}
	return slices.DeleteFunc(all, func(w words.Word) bool { return w.LogOdds < words.Threshold })
}

// run is a sequence of adjacent foreign words.
type run struct {
	words      []words.Word
	start, end int
	text       string
	language   string  // language of most letters
	odds       float64 // log odds of the best word
	excuse     prose.Kind
}

// unnamed excludes names at the ends of a run that count as foreign only because of their neighbours.
func (r *run) unnamed() {
	const certain = 3
	if r.odds < certain {
		return
	}
	all := r.words
	name := func(w words.Word) bool { return w.Name && !w.Foreign && w.LogOdds < 0 }
	for name(all[0]) {
		all = all[1:]
	}
	for name(all[len(all)-1]) {
		all = all[:len(all)-1]
	}
	r.start, r.end = all[0].Start, all[len(all)-1].End
}

// shared excludes words at the ends of a run that are about as frequent in the expected language, as long as most
// letters stay, or if a comma separates them from the rest.
func (c *check) shared(all []words.Word) []words.Word {
	const share = 0.6
	least := share * float64(c.size(all))
	goes := func(w words.Word, rest []words.Word, from, to int) bool {
		return own(w) && (float64(c.size(rest)) >= least || strings.ContainsRune(c.text[from:to], ','))
	}
	for len(all) > 1 && goes(all[0], all[1:], all[0].End, all[1].Start) {
		all = all[1:]
	}
	for n := len(all) - 1; n > 0 && goes(all[n], all[:n], all[n-1].End, all[n].Start); n-- {
		all = all[:n]
	}
	return all
}

func (c *check) size(all []words.Word) (n int) {
	for _, w := range all {
		n += utf8.RuneCountInString(c.text[w.Start:w.End])
	}
	return n
}

// own reports whether a word at the end of a run is about as frequent in the expected language, or not much rarer with
// little evidence for the other one.
func own(w words.Word) bool {
	return w.Own >= 1e-5 && (w.Own >= w.Share/2 || w.Own >= w.Share/20 && w.LogOdds < 0)
}

// doubtful reports whether the words are too little evidence for a verdict. Each further word of a run must add
// evidence, since languages use phrases of others ("per se", "chef de cuisine"). A single function word needs less.
// Chinese characters need more: two that no Japanese list has as a word may be one.
func (r run) doubtful() bool {
	const eachMore = 0.5 // least that each further word must add to the log odds
	more := min(len(r.words)-1, 3)
	if han(r.language) {
		more = 2
	}
	least := even + logCertain + eachMore*float64(more)
	if words.Supports(r.language) && !words.Thorough(r.language) {
		least += 1.5 // few runs are in such a language
	}
	if len(r.words) == 1 && r.words[0].Share >= function && r.end-r.start >= 3 {
		least -= 0.6
	}
	return r.odds < least
}

// han reports whether a language's words are found character by character: Chinese and Japanese share many characters.
func han(language string) bool { return language == "zh" || language == "ja" }

var logCertain = math.Log(Certain / (1 - Certain))

// quoted returns the foreign words in masked quotations. It analyses the lines with a quotation again.
func (c *check) quoted() []words.Word {
	var masks, quotes []prose.Span
	read := 0 // offset read so far
	for _, m := range c.masks {
		if !m.Kind.Quoted() {
			masks = append(masks, m)
			continue
		}
		quotes = append(quotes, m)
		// Mask up to the line break, which marks the start of a line.
		masks = append(masks, prose.Span{Start: read, End: max(read, c.line(m.Start).Start-1)})
		read = max(read, c.line(m.End).End)
	}
	if quotes == nil {
		return nil
	}
	masks = append(masks, prose.Span{Start: read, End: len(c.text)})
	slices.SortFunc(masks, func(a, b prose.Span) int { return cmp.Compare(a.Start, b.Start) })
	analysis := words.Analyse(c.text, c.want.base, masks)
	defer analysis.Free()
	return slices.DeleteFunc(analysis.Words(words.Threshold), func(w words.Word) bool {
		i := sort.Search(len(quotes), func(i int) bool { return quotes[i].End > w.Start })
		return i == len(quotes) || quotes[i].Start > w.Start
	})
}

// mostIn returns the language of most letters of words, the first one of several.
func mostIn(run []words.Word) (language string) {
	letters := map[string]int{}
	for _, w := range run {
		letters[w.Language] += w.End - w.Start
	}
	for _, w := range run {
		if letters[w.Language] > letters[language] {
			language = w.Language
		}
	}
	return language
}

// adjacent reports whether two foreign words belong to one run: neither letters nor the end of a clause or line are
// between them, and both are in the expected language's script, or neither is.
func (c *check) adjacent(a, b words.Word) bool {
	between := c.text[a.End:b.Start]
	return a.Foreign == b.Foreign && !strings.ContainsAny(between, "\n|.!?:;。！？：；、") && near(between)
}

// continues reports whether two spans are sentences of one part: neither letters nor a line's end are between them.
func (c *check) continues(a, b Span) bool {
	if a.Kind != Word || b.Kind != Word || a.Language != b.Language || a.Excuse != b.Excuse || a.End > b.Start {
		return false
	}
	between := c.text[a.End:b.Start]
	return !strings.ContainsAny(between, "\n|") && near(between)
}

// near reports whether the text between two words is short and has no letters.
func near(between string) bool {
	return len(between) < 20 && strings.IndexFunc(between, unicode.IsLetter) < 0
}

// covered reports whether one of the spans, which are in order, contains a byte.
func covered(spans []Span, at int) bool {
	return len(overlapping(spans, at, at+1)) > 0
}

// leastOdds is the least log odds of words that count, by the expected language: higher if its list lacks many of its
// own words. Chosen to flag about one clean text in 100, if that costs little recall (half a of NTREX-128).
var leastOdds = map[string]float64{
	"af": 4.85, "ast": 4.85, "az": 7, "be": 4.85, "bg": 1.8, "br": 4.85, "ca": 2.9, "cs": 4.8,
	"cy": 4.85, "da": 2.6, "eo": 4.85, "et": 4.85, "eu": 4.85, "fi": 1.5, "ga": 4.85,
	"gd": 4.85, "gl": 5.1, "hr": 1.6, "is": 2.3, "kk": 5.2, "lt": 1.5, "nl": 2.5,
	"no": 4.6, "oc": 4.85, "pl": 4.4, "ro": 1.7, "sk": 4, "sq": 5, "sr": 4.9, "sv": 3.1,
	"hi": 4, "mr": 6, "ne": 8, "sw": 4.85, "tl": 4.6, "uk": 3.3, "uz": 6,
}

// leastRatios is the least evidence, as a log ratio, that the words of a line must give for the identified language
// over the expected one; usualRatio for others.
var leastRatios = map[string]float64{
	"af": 8, "az": 8, "be": 8, "gl": 8, "sr": 8, "sw": 8, "tl": 4,
}

const usualRatio = 1
