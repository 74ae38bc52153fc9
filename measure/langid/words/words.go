// Package words finds the words of a text that are in another language than expected.
//
// Words in another script are obvious. Within a script, a model of each language's words and letters gives the
// probability of a word in each language, and a hidden Markov model over the words of the text, with the expected
// language and every other one as states, weighs it against the neighbouring words (as Solorio and Liu 2008 do for
// code switching). Chinese and Japanese, which have no spaces, are weighed character by character.
package words

import (
	"cmp"
	_ "embed"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"crosstalk/internal/lexicon"
	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/langid/words/levels"
)

//go:generate go -C ../../../tools run ./build/words

//go:embed words.bin
var file []byte

const (
	idBytes          = 4    // first bytes of the file, from the SHA-256 sum of the rest
	Order            = 5    // letters of the longest sequence in the model
	spelled          = 1e-9 // approximate probability of the letters of a word that a language does not have
	unknownCharacter = 1e-9 // share of a character that no list has as a word
	everyday         = 50   // level of one word in 100,000, below which lists also have words of other languages
	familiar         = 63   // level of one word in two million: readers of the language have met it
	usuallyUnlisted  = 0.02 // share of a language's words that its list lacks: see unlisted
	unseenLetter     = 1.0 / 20_000
	lowest           = -600 // bounds the logarithm of a word's probability: a very long word's would be 0
	longest          = 8    // characters of the longest Chinese and Japanese words that are looked up
)

// Name identifies the embedded models: it changes with them.
func Name() string { return fmt.Sprintf("words@%x", file[:idBytes]) }

// Inflected lists the languages whose words take so many endings that lists lack many forms. Their columns also have
// endings: how frequent a word with the ending is relative to its stem.
var Inflected = lexicon.Set("tr fi hu et eu lt lv pl cs sk sl hr ro is sq az uz sw br mk sr be kk")

// Ending returns an ending in the form of the columns.
func Ending(letters string) string { return "-" + letters }

// unlisted is the share of a language's words that its list lacks: more if there are many endings or the list is
// short. For languages after the first line, it is that in translated news (half of NTREX-128).
var unlisted = map[string]float64{"tr": 0.2, "id": 0.04, "ru": 0.1, "ar": 0.1, "de": 0.04,
	"nl": 0.03, "ro": 0.03, "sv": 0.05, "da": 0.06, "no": 0.05, "fi": 0.2, "is": 0.08, "ca": 0.06, "tl": 0.04, "mk": 0.05,
	"pl": 0.1, "cs": 0.09, "hu": 0.15, "sk": 0.1, "hr": 0.1, "sl": 0.07, "lt": 0.1, "lv": 0.09, "sr": 0.15,
	"et": 0.4, "gl": 0.3, "eu": 0.3, "af": 0.25, "sq": 0.4, "cy": 0.3, "ga": 0.3, "sw": 0.35, "az": 0.6, "uz": 0.6,
	"be": 0.5, "kk": 0.5, "eo": 0.3, "ast": 0.3, "oc": 0.3, "br": 0.35, "gd": 0.35, "hi": 0.15, "mr": 0.45, "ne": 0.5}

// alphabet is the model of a script whose languages put spaces between words. Its languages are in parts, each with
// the columns of two tables. The first part has the frequent languages.
type alphabet struct {
	first, n int       // the script's first language, and their number
	most     []float64 // by language: limit of how much more probable a word is in another one; 0: none
	parts    []part
	native   float64 // the least share of a word that is hardly a name: see weighed

	// recent caches words weighed last, by their hashes: most words are frequent ones.
	recent [1 << 16]atomic.Pointer[weighed]
}

type part struct {
	from           int // index of the first language in the alphabet
	words, letters *levels.Table
	listed, rest   []float64 // shares
	endings        []bool    // of the languages, which are inflected
}

var nats, shares = func() (nats, shares [256]float64) {
	for i := range 256 {
		shares[i] = levels.Share(i - 1)
		nats[i] = math.Log(shares[i])
	}
	shares[0] = 0
	return
}()

// models are the tables of the file. They are read in place when they are needed.
type models struct {
	alphabets [scriptBits + 1]*alphabet // by script
	han       *levels.Table             // Chinese and Japanese words, a column for each language, then their beginnings
}

var embedded = sync.OnceValue(func() *models {
	tables, m := levels.Tables(file[idBytes:]), &models{}
	for i, g := range Groups {
		if i == hanGroup {
			m.han, tables = tables[0], tables[1:]
			continue
		}
		a := m.alphabets[groupScripts[i]]
		if a == nil {
			a = &alphabet{first: stateOf[g.Languages[0]], native: lessFrequent}
			if groupScripts[i] == devanagari { // two of its three languages may lack any name
				a.native = 1e-3
			}
			m.alphabets[groupScripts[i]] = a
		}
		p := part{from: a.n, words: tables[0], letters: tables[1]}
		tables = tables[2:]
		for _, l := range g.Languages {
			rest, most := cmp.Or(unlisted[l], usuallyUnlisted), 0.0
			switch {
			case thin[l]:
				most = mostThin
			case short(l):
				most = mostFurther
			}
			a.most = append(a.most, most)
			p.rest, p.listed = append(p.rest, rest), append(p.listed, 1-rest)
			p.endings = append(p.endings, Inflected[l])
		}
		a.parts = append(a.parts, p)
		a.n += len(g.Languages)
	}
	return m
})

// probabilities weighs a lower-case word in each of the alphabet's languages.
func (a *alphabet) probabilities(word string) (w weighed) {
	var letters [48]rune
	rs := append(append(append(letters[:0], '^'), []rune(word)...), '$')
	w.p = make([]float64, 2*a.n)
	w.p, w.logs = w.p[:a.n], w.p[a.n:]
	for i := range a.parts {
		p := &a.parts[i]
		of, row := w.p[p.from:], w.row[p.from:]
		if i == 0 || !slices.ContainsFunc(w.row[:a.parts[1].from], func(q uint8) bool { return q > 0 && q <= familiar+1 }) {
			w.listed = p.probabilities(word, rs, of, row) || w.listed
			continue
		}
		// Without the letters: words known in a frequent language are little evidence.
		found, listed := p.words.Row(levels.Text(word))
		for l := range p.rest {
			of[l] = p.listed[l]*shares[found[l]] + p.rest[l]*spelled
		}
		copy(row, found[:len(p.rest)])
		w.listed = w.listed || listed
	}
	w.sumUp(len(a.parts[0].rest))
	w.native = w.top >= a.native && w.top >= nativeRatio*w.third
	return w
}

// probabilities sets the probabilities of a word, which is also given as letters between its end marks, and its
// levels in the part's languages. It returns whether a list has the word.
func (a *part) probabilities(word string, rs []rune, p []float64, levelsOf []uint8) (listed bool) {
	k := len(a.rest)
	var s, now [levels.MaxColumns / 2]float64
	none := math.Log(unseenLetter)
	// before[n] is the row of the preceding n letters.
	var before, rows [Order + 1]levels.Row
	var hashes [Order + 1]levels.Hash
	cache := a.letters.Cache()
	defer cache.Free()
	for i := range rs {
		var h levels.Hash
		most := min(Order, i+1)
		if most == Order && before[Order-1].None(k) {
			most-- // nothing follows the last four letters
		}
		for n := 1; n <= most; n++ {
			h = h.Add(rs[i+1-n])
			hashes[n] = h
		}
		cache.Rows(rows[1:], hashes[1:most+1])
		if i > 0 {
			for l := range k {
				now[l] = none
			}
			for n := 1; n <= most; n++ {
				row, context := &rows[n], &before[n-1] // before[0] is empty
				for l := range k {
					if q := row[l]; q > 0 {
						now[l] = nats[q]
					} else if context[k+l] > 0 {
						now[l] += nats[context[k+l]]
					}
				}
			}
			for l := range k {
				s[l] += now[l]
			}
		}
		before, rows = rows, before
	}
	row, listed := a.words.Row(levels.Text(word))
	for l := range k {
		p[l] = a.listed[l]*shares[row[l]] + a.rest[l]*math.Exp(max(s[l], lowest))
	}
	a.inflect(word, &row, p)
	copy(levelsOf, row[:k])
	return listed
}

// sumUp sets the values derived from the probabilities, mostly from those in the k frequent languages.
func (w *weighed) sumUp(k int) {
	second, familiarTo := 0.0, 0
	for l, x := range w.p[:k] {
		w.mean += x / float64(k)
		switch {
		case x > w.top:
			w.top, second, w.third = x, w.top, second
		case x > second:
			second, w.third = x, second
		case x > w.third:
			w.third = x
		}
		if q := w.row[l]; q > 0 && q <= familiar+1 {
			familiarTo++
		}
	}
	w.loan = 3*familiarTo > 2*k
	all := 0.0
	for l, x := range w.p {
		all += x
		w.top = max(w.top, x)
		w.logs[l] = math.Log(x)
	}
	w.mean = max(w.mean, all/float64(len(w.p)))
}

// inflect adds the shares of a word that is just a listed word with an ending, in inflected languages whose lists
// lack it according to row.
func (a *part) inflect(word string, row *levels.Row, p []float64) {
	const shortestStem = 3 // letters
	if !slices.Contains(a.endings, true) {
		return
	}
	letters := 0
	var h levels.Hash // of the letters so far
	for at, r := range word {
		if letters++; letters > shortestStem {
			if stem, ok := a.words.Row(h); ok {
				ending, _ := a.words.Row(levels.Text(Ending(word[at:])))
				for l, inflected := range a.endings {
					if inflected && row[l] == 0 {
						p[l] += shares[stem[l]] * shares[ending[l]]
					}
				}
			}
		}
		h = h.Add(r)
	}
}

// A Group is a set of languages in one script, or in two: Chinese and Japanese. The model distinguishes all languages
// of a script.
type Group struct {
	Name      string
	Scripts   []*unicode.RangeTable
	Languages []string // labels of fastText's lid.176, ISO 639-1 mostly
}

// Groups lists the groups in the order of the model's file, by script. The first of a script has its most frequent
// languages: statements about most languages refer to these.
var Groups = []Group{
	{"latin", []*unicode.RangeTable{unicode.Latin}, []string{"de", "en", "es", "fr", "id", "it", "pt", "tr", "vi"}},
	{"north", []*unicode.RangeTable{unicode.Latin}, []string{"nl", "da", "no", "sv", "fi", "is", "af", "et"}},
	{"east", []*unicode.RangeTable{unicode.Latin}, []string{"pl", "cs", "sk", "sl", "hr", "hu", "ro", "lt", "lv"}},
	{"south", []*unicode.RangeTable{unicode.Latin}, []string{"ca", "gl", "eu", "sq", "eo", "cy", "ga", "ast", "oc"}},
	{"far", []*unicode.RangeTable{unicode.Latin}, []string{"ms", "tl", "sw", "az", "uz", "br", "gd"}},
	{"cyrillic", []*unicode.RangeTable{unicode.Cyrillic}, []string{"ru", "uk", "bg"}},
	{"balkan", []*unicode.RangeTable{unicode.Cyrillic}, []string{"mk", "sr", "be", "kk"}},
	{"arabic", []*unicode.RangeTable{unicode.Arabic}, []string{"ar", "fa", "ur"}},
	{"han", []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}, []string{"ja", "zh"}},
	{"indic", []*unicode.RangeTable{unicode.Devanagari}, []string{"hi", "mr", "ne"}},
}

// weighed holds the weights that the models of an alphabet give a word.
type weighed struct {
	word string
	p    []float64       // probability in each language of the script
	logs []float64       // of these
	row  [maxGroup]uint8 // of the lists: see levels.Row

	mean, top, third float64 // of the probabilities: the mean, the largest and the third largest

	listed bool // a list has it
	loan   bool // most lists have it
	native bool // so specific to one language that it is hardly a name
}

var seed = maphash.MakeSeed()

// weigh returns the alphabet's evidence for a lower-case word.
func (a *alphabet) weigh(word string) *weighed {
	const longestRemembered = 40 // bytes
	if len(word) > longestRemembered {
		w := a.probabilities(word)
		return &w
	}
	at := &a.recent[maphash.String(seed, word)%uint64(len(a.recent))]
	if w := at.Load(); w != nil && w.word == word {
		return w
	}
	w := a.probabilities(word)
	w.word = strings.Clone(word) // the text may be long
	at.Store(&w)
	return &w
}

// characters sets the probability of each character of a run without spaces, given those before it, in each language:
// it sums up all ways to split the run into words. If simplify is set, traditional characters count as simplified
// ones in Chinese, and ambiguous ones as the form that makes the more frequent word.
func characters(tokens []token, cells []cell, simplify bool) {
	languages, table := Groups[hanGroup].Languages, embedded().han
	k := len(languages)
	var cuts [hanLanguages]cut
	for l := range languages {
		cuts[l].ends[0] = 1
	}
	cache := table.Cache()
	defer cache.Free()
	// The hashes of the characters since d ago in the form of the lists. Mostly both languages look up the same ones.
	var hashes [longest]levels.Hash
	var rows [longest]levels.Row
	certain := longest // characters since the last ambiguous one
	for i := range tokens {
		r, _ := utf8.DecodeRuneInString(tokens[i].text)
		for l, language := range languages {
			c := &cuts[l]
			form, other := r, r
			if language == "zh" && simplify {
				form, other = chinese.Simplify(r) // as in the list
				if certain++; form != other {
					if certain >= longest {
						c.either = c.spelling
					}
					certain = 0
				}
			}
			c.start()
			c.either.start()
			end, all := 0.0, 0.0
			for d := 0; d < longest && d <= i; d++ {
				var word, begin float64
				if c.continues[d] {
					h := c.since[d].Add(form)
					c.since[d] = h
					if hashes[d] != h { // 0 at first: no word has this hash
						hashes[d] = h
						cache.Rows(rows[d:], hashes[d:d+1])
					}
					row := &rows[d]
					c.continues[d] = row[k+l] > 0
					word = shares[row[l]]
					begin = max(word, shares[row[k+l]])
				}
				if certain < longest && language == "zh" && c.either.continues[d] {
					hashes[d] = c.either.since[d].Add(other)
					c.either.since[d] = hashes[d]
					cache.Rows(rows[d:], hashes[d:d+1])
					row := &rows[d]
					c.either.continues[d] = row[k+l] > 0
					word = max(word, shares[row[l]])
					begin = max(begin, word, shares[row[k+l]])
				}
				if d == 0 {
					word, begin = word+unknownCharacter, begin+unknownCharacter
				}
				end += c.ends[d] * word
				all += c.ends[d] * begin
			}
			c.next()
			if certain < longest {
				c.either.next()
			}
			cells[i].characters[l] = all
			copy(c.ends[1:], c.ends[:longest])
			c.ends[0] = end
			scale := 1 / all
			for d := range c.ends {
				c.ends[d] *= scale
			}
		}
	}
}

// A cut holds the ways in which a language may split the characters so far into words.
type cut struct {
	ends [longest + 1]float64 // ends[d] is the weight of the end of a word d characters ago
	spelling
	either spelling // with the other form of ambiguous characters
}

// A spelling holds the words that may not have ended yet.
type spelling struct {
	since     [longest]levels.Hash // of the characters since d ago
	continues [longest + 1]bool    // a word begins with them
}

// start starts a word at the next character.
func (s *spelling) start() { s.since[0], s.continues[0] = 0, true }

func (s *spelling) next() {
	copy(s.since[1:], s.since[:longest-1])
	copy(s.continues[1:], s.continues[:longest])
}
