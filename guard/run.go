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

// Certain is the probability from which words within a line make the verdict Wrong.
const Certain = 0.8

// even is the log odds at which words are foreign as often as not, if foreign ones are as frequent as in the
// development data (../shared/data/words): go -C tools run ./bench/words -only words -half a.
const even = -2.85

// foreignWords adds the foreign words of blocks that are not foreign as a whole, and those of quotations.
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

// runs returns the runs of foreign words outside foreign lines, with an excuse, or else the one that is found for each.
func (c *check) runs(all []words.Word, excuse prose.Kind) (found []run) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && c.adjacent(all[n-1], all[n]) {
			n++
		}
		if !covered(c.lines, all[0].Start) && !covered(c.lines, all[n-1].Start) {
			found = append(found, c.newRun(all[:n], excuse))
		}
		all = all[n:]
	}
	return found
}

// foreign returns the words that are in another language. Function words that another language alone has are not names
// or terms, so less must speak for them.
func (c *check) foreign() []words.Word {
	const (
		floor     = -6.0
		own       = 0.01 // of the share in the other language, at most, and the expected language has not met it
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

// run is foreign words beside each other.
type run struct {
	words      []words.Word
	start, end int
	text       string
	language   string  // that most letters are in
	odds       float64 // of the best word, logarithm
	excuse     prose.Kind
}

func (c *check) newRun(all []words.Word, excuse prose.Kind) run {
	all = c.shared(all)
	best := slices.MaxFunc(all, func(a, b words.Word) int { return cmp.Compare(a.LogOdds, b.LogOdds) })
	start, end := all[0].Start, all[len(all)-1].End
	r := run{all, start, end, c.text[start:end], mostIn(all), best.LogOdds, excuse}
	if r.excuse == "" {
		r.excuse = c.excuse(r)
	}
	return r
}

// unnamed leaves out the names at the ends of a run that count as foreign only because of their neighbours.
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

// shared leaves out the words at the ends of a run that are about as frequent in the expected language, as long as most
// letters stay, or if a comma parts them from the rest.
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

// size counts the characters of words.
func (c *check) size(all []words.Word) (n int) {
	for _, w := range all {
		n += utf8.RuneCountInString(c.text[w.Start:w.End])
	}
	return n
}

// own reports whether a word at the end of a run is about as frequent in the expected language, or not much rarer while
// little speaks for the other one.
func own(w words.Word) bool {
	return w.Own >= 1e-5 && (w.Own >= w.Share/2 || w.Own >= w.Share/20 && w.LogOdds < 0)
}

// doubtful reports whether words are too little to make a verdict. Each further word of a run must add to it, since
// languages have phrases of others ("per se", "chef de cuisine"). A single function word needs less. Chinese characters
// need more: two that no Japanese list has as a word may be one.
func (r run) doubtful() bool {
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

// han reports whether a language's words are found character by character: Chinese and Japanese share many.
func han(language string) bool { return language == "zh" || language == "ja" }

// function is the share of a language's words from which most are function words.
const function = 1e-3

// eachMore is the least that each further word of a run must add to the log odds.
const eachMore = 0.5

// logCertain is Certain as log odds.
var logCertain = math.Log(Certain / (1 - Certain))

// quoted returns the foreign words of masked quotations: the lines that have one are read again.
func (c *check) quoted() []words.Word {
	var masks, quotes []prose.Span
	read := 0 // up to here
	for _, m := range c.masks {
		if !m.Kind.Quoted() {
			masks = append(masks, m)
			continue
		}
		quotes = append(quotes, m)
		// Up to the line break, which says that a line begins.
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

// mostIn returns the language that most letters of words are in, the first one if there are several.
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

// adjacent reports whether two foreign words belong to one run: there are no letters between them, nor the end of a
// clause or line, and both are in the expected language's script, or neither is.
func (c *check) adjacent(a, b words.Word) bool {
	between := c.text[a.End:b.Start]
	return a.Foreign == b.Foreign && !strings.ContainsAny(between, "\n|.!?:;。！？：；、") && near(between)
}

// continues reports whether two spans are sentences of one part: there are no letters between them, nor a line's end.
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
	i := sort.Search(len(spans), func(i int) bool { return spans[i].End > at })
	return i < len(spans) && spans[i].Start <= at
}
