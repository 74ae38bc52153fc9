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

// A Word is a word, or a character of Chinese or Japanese, with the evidence that it is not in the expected language.
type Word struct {
	prose.Span
	Language string  // the most probable other language, ISO 639-1
	LogOdds  float64 // natural logarithm of the odds that the word is in another language, given its context
	Name     bool    // starts with a capital, or is part of an identifier, an abbreviation or half a word
	Listed   bool    // in a word list
	Foreign  bool    // in a script that the expected language does not use
	Share    float64 // of the word in Language, 0 if its list lacks the word or there is no list
	English  float64 // of the word in English, for words in Latin script
	Own      float64 // of the word in the expected language
	Loan     bool    // used in most languages of the script: "online"
	Native   bool    // so much more frequent in Language than in most others that it is hardly a name: "therefore"
}

// An Analysis holds the evidence of a text's words about its language, given the expected one.
type Analysis struct {
	language string
	script   script
	tokens   []token
	cells    []cell
	states   []float64 // of the cells
	priors   []float64 // of the languages
}

// Supports reports whether there is a model of the language (ISO 639-1). For others, Analyse judges only scripts.
func Supports(language string) bool { _, ok := stateOf[language]; return ok }

// Thorough reports whether the model of the language also identifies whole lines. Other languages have shorter lists,
// and some of them have relatives that only longer texts distinguish.
func Thorough(language string) bool { return thorough[language] }

// Thin reports whether the model of the language comes from little text, most of it of programs.
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

// Frequent returns the frequent languages of a language's script: those in Latin script, for which most models are
// thorough, or Chinese and Japanese.
func Frequent(language string) []string {
	for i, g := range Groups {
		if groupScripts[i] == scriptFor(language) {
			return g.Languages
		}
	}
	return nil
}

// ByScript reports whether a language's words are identified only by their script, which no other language with a
// model uses: Korean, Greek and Thai.
func ByScript(language string) bool { return scriptFor(language) >= firstSingle }

// Analyse reads a text expected to be in a language. It skips the parts in mask, which must be ordered by their
// starts.
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

// stays maps whether the expected language has a short list to the probability that a run continues.
var stays = map[bool]float64{false: stay, true: stayShort}

var memory = sync.Pool{New: func() any { return new(Analysis) }}

// Free returns the memory of an analysis for reuse. The analysis must not be used after that; its words may be.
func (a *Analysis) Free() {
	const most = 1 << 16 // tokens: do not keep the memory of a long text
	if cap(a.cells) <= most {
		clear(a.tokens) // do not keep the text
		clear(a.cells)
		memory.Put(a)
	}
}

// mostlySimplified reports whether a Chinese text has simplified characters and hardly any traditional ones.
func mostlySimplified(text string) bool {
	simplified, traditional := chinese.Count(text)
	return simplified > 4*traditional
}

// Threshold is the log odds above which a word is foreign: about one run in 1,000 of clean answers is a false alarm.
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

// widen also counts words next to a run of foreign ones as foreign, if their probability is not much below that of
// the run's best word: if the run is foreign, they most likely are too.
func (a *Analysis) widen() {
	const alike = 0.08 // share of the probability of a run's best word that adjacent words need
	least := math.Exp(Threshold)
	raised := least * (1 + 1e-9) // or rounding could take its logarithm below Threshold
	for i := 0; i < len(a.cells); i++ {
		if a.cells[i].odds < least {
			continue
		}
		from, to, best := i, i+1, a.cells[i].odds
		for to < len(a.cells) && a.cells[to].odds >= least && a.continues(to) {
			best = max(best, a.cells[to].odds)
			to++
		}
		// The odds of a word whose probability is this share of the best one's.
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

// continues reports whether a word is in the same sentence and alphabet as the one before. The first word starts a
// sentence.
func (a *Analysis) continues(i int) bool {
	t := &a.tokens[i]
	return !t.starts && t.script != han && t.script == a.tokens[i-1].script
}

// At returns the word that starts at a byte.
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
	Words    int     // words that are evidence
	Known    int     // of these, everyday words of the expected language; all if its script has no list
	Language string  // the most probable other language, empty if there is none
	LogRatio float64 // logarithm of the ratio of the part's probability in that language to that in the expected one
}

// most limits the evidence of one word for or against a language: it may be a name, a quotation or misspelt.
const most = 7

// Weigh adds up the words in parts.
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
			e.LogRatio += logPriors[best] - math.Log(enter*usual) // few lines are in a language with a short list
		}
	}
	return e
}

// Ratio returns the LogRatio of Weigh for a given language, however rare: 0 if no word is evidence.
func (a *Analysis) Ratio(language string, parts ...prose.Span) float64 {
	_, all, sums := a.sumUp(priors, parts)
	if l, ok := stateOf[language]; ok && !math.IsNaN(sums[l]) {
		return all + sums[l]
	}
	return all
}

// sumUp adds up the words of parts. all is their evidence for a language in none of their scripts; sums are the
// additional evidence for each language with a prior probability, NaN if there is none.
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
			none := -float64(most) // the word's evidence for languages in another script
			if c.own == impossible {
				none = 0
			}
			all += none
			top := c.logRatios(&ratios, priors)
			over := max(0, top-most) // subtracted from all languages, which keeps their differences
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

// from returns the number of the first token that starts at a byte or after it.
func (a *Analysis) from(at int) int {
	return sort.Search(len(a.tokens), func(i int) bool { return a.tokens[i].start >= at })
}

// within yields the evidence of the words between two bytes.
func (a *Analysis) within(start, end int) iter.Seq2[*cell, form] {
	return func(yield func(*cell, form) bool) {
		for i := a.from(start); i < len(a.tokens) && a.tokens[i].start < end; i++ {
			if !yield(&a.cells[i], a.tokens[i].form) {
				return
			}
		}
	}
}

// Own counts the lower-case words in a part that are in the expected language with log odds of at least floor.
func (a *Analysis) Own(start, end int, floor float64) (n int) {
	most := math.Exp(-floor)
	for c, form := range a.within(start, end) {
		if c.says && c.own != impossible && form == plain && c.odds <= most {
			n++
		}
	}
	return n
}

// Suspect reports whether a word between two bytes has log odds of at least floor.
func (a *Analysis) Suspect(start, end int, floor float64) bool {
	least := math.Exp(floor)
	for c := range a.within(start, end) {
		if c.odds >= least {
			return true
		}
	}
	return false
}

// Written returns the words between two bytes in the script of the expected language.
func (a *Analysis) Written(start, end int) (found []prose.Span) {
	for i := a.from(start); i < len(a.tokens) && a.tokens[i].start < end; i++ {
		if t := &a.tokens[i]; t.script == a.script {
			found = append(found, prose.Span{Start: t.start, End: t.end})
		}
	}
	return found
}

// Runs returns the runs of words between two bytes that have log odds of at least floor.
func (a *Analysis) Runs(start, end int, floor float64) (runs []prose.Span) {
	least, open := math.Exp(floor), false
	for i := a.from(start); i < len(a.tokens) && a.tokens[i].start < end; i++ {
		in := a.cells[i].odds >= least
		if in && open {
			runs[len(runs)-1].End = a.tokens[i].end
		} else if in {
			runs = append(runs, prose.Span{Start: a.tokens[i].start, End: a.tokens[i].end})
		}
		open = in
	}
	return runs
}

// Foreign returns the part between two bytes without the words at its ends whose log odds are below floor; the whole
// part if that applies to all or none.
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

// Borrowed returns the number of distinct words in the text that the expected language borrowed from English: words
// in its list that are far more frequent in English. It is 0 for languages without a list in Latin script.
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

// Count counts the words, or characters of Chinese and Japanese, in a part that are evidence about the language.
func (a *Analysis) Count(start, end int) (n int) {
	for c := range a.within(start, end) {
		if c.says {
			n++
		}
	}
	return n
}
