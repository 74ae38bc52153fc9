package words

import (
	"iter"
	"math"
	"slices"
	"sort"
	"sync"

	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/prose"
)

// A Word is a word, or a character of Chinese or Japanese, with the evidence for another language than expected.
type Word struct {
	prose.Span
	Language string  // the most probable other language, ISO 639-1
	LogOdds  float64 // natural logarithm of the odds that the word is in another language, given the words around it
	Name     bool    // has a capital, or is part of an identifier, an abbreviation or half a word
	Listed   bool    // a word list has it
	Foreign  bool    // in a script that the expected language is not written in
	Share    float64 // of the word in Language, 0 if its list does not have it or there is none
	English  float64 // the same in English, for words in Latin script
	Own      float64 // the same in the expected language
	Loan     bool    // used in most languages of the script: "online"
	Native   bool    // so much more frequent in Language than in most others that it is hardly a name: "therefore"
}

// An Analysis holds the evidence of a text's words about its language, given the language expected.
type Analysis struct {
	language string
	script   script
	tokens   []token
	cells    []cell
	states   []float64 // of the cells
	priors   []float64 // of the languages
}

// Supports reports whether there is a model of the language (ISO 639-1). Of others, Analyse judges scripts alone.
func Supports(language string) bool { _, ok := stateOf[language]; return ok }

// Thorough reports whether the model of the language tells whole lines, too. The lists of others are shorter, and some
// of them hold relatives that only longer texts tell apart.
func Thorough(language string) bool { return thorough[language] }

// Thin reports whether the model of the language is from little text, most of it of programs.
func Thin(language string) bool { return thin[language] }

var thorough = func() map[string]bool {
	all := map[string]bool{}
	for i, g := range Groups {
		for _, l := range g.Languages {
			all[l] = (i == 0 || groupScripts[i] != groupScripts[i-1]) && groupScripts[i] != devanagari
		}
	}
	for _, s := range single {
		all[s.language] = true
	}
	return all
}()

// Frequent returns the frequent languages of the script that a language is written in: those of Latin script that most
// models are thorough of, or Chinese and Japanese.
func Frequent(language string) []string {
	for i, g := range Groups {
		if groupScripts[i] == scriptFor(language) {
			return g.Languages
		}
	}
	return nil
}

// ByScript reports whether a language's words are told by their script alone, which no other language with a model has:
// those of Korean, Greek and Thai.
func ByScript(language string) bool { return scriptFor(language) >= firstSingle }

// Analyse reads a text expected to be in a language. Parts in mask, in order of their starts, are left out.
func Analyse(text, language string, mask []prose.Span) *Analysis {
	a := memory.Get().(*Analysis)
	a.language, a.script = language, scriptFor(language)
	a.tokens = tokenize(slices.Grow(a.tokens[:0], len(text)/6), text, language, mask)
	a.cells = slices.Grow(a.cells[:0], len(a.tokens))[:len(a.tokens)]
	emit(a.tokens, a.cells, language, a.script, language == "zh" && mostlySimplified(text))
	a.priors = priors
	if home, ok := stateOf[language]; ok {
		a.priors = homePriors()[home]
	}
	n := 0
	for i := range a.cells {
		n += a.cells[i].n
	}
	a.states = slices.Grow(a.states[:0], n)[:n]
	for i, at := 0, 0; i < len(a.cells); i++ {
		c := &a.cells[i]
		c.state = a.states[at:][:c.n:c.n]
		at += c.n
	}
	decode(a.tokens, a.cells, a.priors, stays[short(language)])
	a.widen()
	return a
}

// stays are the probabilities that a run continues, by whether the expected language has a short list.
var stays = map[bool]float64{false: stay, true: stayShort}

var memory = sync.Pool{New: func() any { return new(Analysis) }}

// Free gives the memory of an analysis to later ones. The analysis must not be used after that; its words may be.
func (a *Analysis) Free() {
	const most = 1 << 16 // tokens: what a long text took is not kept
	if cap(a.cells) <= most {
		clear(a.tokens) // they would keep the text
		clear(a.cells)
		memory.Put(a)
	}
}

// mostlySimplified reports whether a text in Chinese has simplified characters and hardly any traditional one.
func mostlySimplified(text string) bool {
	simplified, traditional := chinese.Count(text)
	return simplified > 4*traditional
}

// Threshold is the log odds from which a word is foreign: about one run in 1,000 of clean answers is a false alarm.
const Threshold = -3.1

// Words returns the words whose log odds are at least floor, in order.
func (a *Analysis) Words(floor float64) []Word {
	var words []Word
	least := math.Exp(floor)
	for i := range a.cells {
		if a.cells[i].odds >= least {
			words = append(words, a.word(i))
		}
	}
	return words
}

// widen lets words beside a run of foreign ones count as foreign, too, if their probability is not much less than that
// of the run's best word: if the run is foreign, so are they, most likely.
func (a *Analysis) widen() {
	const alike = 0.08 // share of the probability of a run's best word that words beside it need
	least := math.Exp(Threshold)
	raised := least * (1 + 1e-9) // or rounding might take its logarithm below Threshold
	for i := 0; i < len(a.cells); i++ {
		if a.cells[i].odds < least {
			continue
		}
		from, to, best := i, i+1, a.cells[i].odds
		for to < len(a.cells) && a.cells[to].odds >= least && a.continues(to) {
			best = max(best, a.cells[to].odds)
			to++
		}
		// The odds of a word whose probability is that share of the best one's.
		beside := alike * best / (1 + best - alike*best)
		for ; a.continues(from) && a.cells[from-1].odds >= beside; from-- {
			a.cells[from-1].odds = max(a.cells[from-1].odds, raised)
		}
		for ; to < len(a.cells) && a.continues(to) && a.cells[to].odds >= beside; to++ {
			a.cells[to].odds = max(a.cells[to].odds, raised)
		}
		i = to - 1
	}
}

// continues reports whether a word is in the same sentence as the one before, and written in the same alphabet: the
// first word starts one.
func (a *Analysis) continues(i int) bool {
	t := &a.tokens[i]
	return !t.starts && t.script != han && t.script == a.tokens[i-1].script
}

// At returns the word that begins at a byte.
func (a *Analysis) At(at int) (w Word, ok bool) {
	i, ok := slices.BinarySearchFunc(a.tokens, at, func(t token, at int) int { return t.start - at })
	if !ok {
		return Word{}, false
	}
	return a.word(i), true
}

func (a *Analysis) word(i int) Word {
	c, t := &a.cells[i], &a.tokens[i]
	best := 0
	for l := range c.n {
		if c.state[l] > c.state[best] {
			best = l
		}
	}
	w := Word{Span: prose.Span{Start: t.start, End: t.end}, Language: states[c.first+best], LogOdds: math.Log(c.odds),
		Name: t.form != plain && t.form != letter, Listed: c.listed, Foreign: t.script != a.script, Loan: c.loan,
		Native: c.weighed != nil && c.weighed.native}
	if m := embedded().alphabets[t.script]; m != nil {
		row := &m.weigh(t.text).row
		w.Share = shares[row[best]]
		if t.script == latin {
			w.English = shares[row[stateOf["en"]-m.first]]
		}
		if home, ok := stateOf[a.language]; ok && t.script == a.script {
			w.Own = shares[row[home-m.first]]
		}
	}
	return w
}

// Evidence is the evidence of a part of a text as a whole.
type Evidence struct {
	Words    int     // that say anything
	Known    int     // of these, everyday words of the expected language; all where there is no list for its script
	Language string  // the most probable other language, empty if there is none
	LogRatio float64 // logarithm of the part's probability in that language over that in the expected one
}

// most is the most that one word says for or against a language: it may be a name, a quotation or misspelt.
const most = 7

// Weigh adds up the words from byte start to byte end.
func (a *Analysis) Weigh(parts ...prose.Span) Evidence {
	e, all, sums := a.sumUp(a.priors, parts)
	best := -1
	for l, x := range sums {
		if !math.IsNaN(x) && a.priors[l] > 0 && (best < 0 || x+logPriors[l] > sums[best]+logPriors[best]) {
			best = l
		}
	}
	e.LogRatio = all
	if best >= 0 {
		e.Language, e.LogRatio = states[best], all+sums[best]
		if !thorough[e.Language] {
			e.LogRatio += logPriors[best] - math.Log(enter*usual) // few lines are in a language of a short list
		}
	}
	return e
}

// Ratio is the LogRatio of Weigh for a given language, however rare: 0 if none of the words could be in it.
func (a *Analysis) Ratio(language string, parts ...prose.Span) float64 {
	_, all, sums := a.sumUp(priors, parts)
	if l, ok := stateOf[language]; ok && !math.IsNaN(sums[l]) {
		return all + sums[l]
	}
	return 0
}

// sumUp adds up the words of parts: all is what they say of a language of none of their scripts, sums how much more
// they say of each language that has a prior probability, not a number if they say nothing.
func (a *Analysis) sumUp(priors []float64, parts []prose.Span) (e Evidence, all float64, sums [maxStates]float64) {
	for l := range sums {
		sums[l] = math.NaN()
	}
	var ratios [maxGroup]float64
	for _, part := range parts {
		for c := range a.within(part.Start, part.End) {
			if !c.says {
				continue
			}
			e.Words++
			if c.known {
				e.Known++
			}
			none := -float64(most) // what the word says of languages of another script
			if c.own == impossible {
				none = 0
			}
			all += none
			top := c.logRatios(&ratios, priors)
			over := max(0, top-most) // taken off all languages, which keeps their differences
			for l, x := range ratios[:c.n] {
				sum := &sums[c.first+l]
				if math.IsNaN(*sum) {
					*sum = 0
				}
				*sum += max(-most, x-over) - none
			}
		}
	}
	return e, all, sums
}

// from returns the number of the first token that begins at a byte or after it.
func (a *Analysis) from(at int) int {
	return sort.Search(len(a.tokens), func(i int) bool { return a.tokens[i].start >= at })
}

// within yields the evidence of the words from byte start to byte end.
func (a *Analysis) within(start, end int) iter.Seq2[*cell, form] {
	return func(yield func(*cell, form) bool) {
		for i := a.from(start); i < len(a.tokens) && a.tokens[i].start < end; i++ {
			if !yield(&a.cells[i], a.tokens[i].form) {
				return
			}
		}
	}
}

// Own counts the words in lower case in a part that are in the expected language with log odds of at least floor.
func (a *Analysis) Own(start, end int, floor float64) (n int) {
	most := math.Exp(-floor)
	for c, form := range a.within(start, end) {
		if c.says && c.own != impossible && form == plain && c.odds <= most {
			n++
		}
	}
	return n
}

// Suspect reports whether a word from byte start to byte end has log odds of at least floor.
func (a *Analysis) Suspect(start, end int, floor float64) bool {
	least := math.Exp(floor)
	for c := range a.within(start, end) {
		if c.odds >= least {
			return true
		}
	}
	return false
}

// Foreign returns the part from byte start to byte end without the words at its ends that have log odds below floor;
// the whole part if all or none have.
func (a *Analysis) Foreign(start, end int, floor float64) (int, int) {
	from, least := a.from(start), math.Exp(floor)
	to := sort.Search(len(a.tokens), func(i int) bool { return a.tokens[i].end > end })
	first, last := from, to-1
	for first < to && a.cells[first].odds < least {
		first++
	}
	if first == to {
		return start, end
	}
	for a.cells[last].odds < least {
		last--
	}
	if first > from {
		start = a.tokens[first].start
	}
	if last < to-1 {
		end = a.tokens[last].end
	}
	return start, end
}

// Borrowed returns the number of different words of the text that the expected language has from English: its list has
// them, and they are far more frequent in English. It is 0 for languages without a list in Latin script.
func (a *Analysis) Borrowed() int {
	const times = 4
	home, ok := stateOf[a.language]
	if !ok || a.script != latin {
		return 0
	}
	m := embedded().alphabets[latin]
	own, english := home-m.first, stateOf["en"]-m.first
	seen := map[string]bool{}
	for i := range a.tokens {
		if t := &a.tokens[i]; t.script == latin && t.form == plain && len(t.text) > 3 {
			if row := m.weigh(t.text).row; row[own] > 0 && shares[row[english]] > times*shares[row[own]] {
				seen[t.text] = true
			}
		}
	}
	return len(seen)
}

// Count counts the words, or characters of Chinese and Japanese, in a part that are evidence of a language.
func (a *Analysis) Count(start, end int) (n int) {
	for c := range a.within(start, end) {
		if c.says {
			n++
		}
	}
	return n
}
