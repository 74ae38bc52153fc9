// Package words finds the words of a text that are in another language than expected.
//
// Words of another script are plain. Within a script, a model of each language's words and letters says how probable a
// word is in each language, and a hidden Markov model over the words of the text, with the expected language and every
// other one as states, weighs that against the words around (as Solorio and Liu 2008 do for code switching). Chinese
// and Japanese, which have no spaces, are weighed character by character.
package words

import (
	_ "embed"
	"fmt"
	"math"
	"sync"

	"crosstalk/measure/langid/words/levels"
)

//go:generate go -C ../../../tools run ./build/words

//go:embed words.bin
var file []byte

// idBytes is the length of what the file begins with: the first bytes of the SHA-256 sum of the rest.
const idBytes = 4

// Name names the embedded models: it changes with them.
func Name() string { return fmt.Sprintf("words@%x", file[:idBytes]) }

// Order is the length of the longest letter sequence of the model.
const Order = 5

// Agglutinative lists the languages whose words take so many endings that lists lack most of their forms. Their columns
// have endings as well: how frequent a word with the ending is beside its stem.
var Agglutinative = map[string]bool{"tr": true}

// Ending returns an ending as the columns have it.
func Ending(letters string) string { return "-" + letters }

// padded appends the letters of a word between the marks of its ends, as the model's letter sequences have them.
func padded(dst []rune, word string) []rune {
	dst = append(dst, '^')
	for _, r := range word {
		dst = append(dst, r)
	}
	return append(dst, '$')
}

// unlisted is the share of a language's words that its list does not have: more where endings are many or the list is
// short.
var unlisted = map[string]float64{"tr": 0.2, "id": 0.04, "ru": 0.1, "ar": 0.1, "de": 0.04}

const (
	usuallyUnlisted = 0.02
	unseenLetter    = 1.0 / 20_000

	// lowest bounds the logarithm of a word's probability: that of a very long word would be 0.
	lowest = -600
)

// alphabet is the model of a group of languages that write words between spaces.
type alphabet struct {
	first          int // the group's first language
	words, letters *levels.Table
	listed, rest   []float64 // shares
	endings        []bool    // of the languages, which are agglutinative
	recent         recent
}

var nats, shares = func() (nats, shares [256]float64) {
	for i := range 256 {
		shares[i] = levels.Share(i - 1)
		nats[i] = math.Log(shares[i])
	}
	shares[0] = 0
	return
}()

// models are the tables of the file. They are read where they are, when they are needed.
type models struct {
	alphabets map[script]*alphabet // of the alphabetic groups
	han       *levels.Table        // words of Chinese and Japanese, a column for each, then the beginnings of words
}

var embedded = sync.OnceValue(func() *models {
	tables, err := levels.Tables(file[idBytes:])
	if err != nil {
		panic(fmt.Sprintf("embedded words: %v", err)) // the build is broken
	}
	m := &models{alphabets: map[script]*alphabet{}}
	for i, g := range Groups {
		if i == hanGroup {
			m.han, tables = tables[0], tables[1:]
			continue
		}
		a := &alphabet{first: stateOf[g.Languages[0]], words: tables[0], letters: tables[1]}
		tables = tables[2:]
		for _, l := range g.Languages {
			rest := usuallyUnlisted
			if x, ok := unlisted[l]; ok {
				rest = x
			}
			a.rest, a.listed = append(a.rest, rest), append(a.listed, 1-rest)
			a.endings = append(a.endings, Agglutinative[l])
		}
		m.alphabets[groupScripts[i]] = a
	}
	return m
})

// probabilities weighs a word, in lower case, in each of the group's languages.
func (a *alphabet) probabilities(word string) (w weighed) {
	k := len(a.rest)
	var s, now [maxGroup]float64
	var letters [48]rune
	rs := padded(letters[:0], word)
	none := math.Log(unseenLetter)
	// before[n] is the row of the n letters before.
	var before, rows [Order + 1]levels.Row
	var hashes [Order + 1]levels.Hash
	cache := a.letters.Cache()
	defer cache.Free()
	for i := range rs {
		var h levels.Hash
		most := min(Order, i+1)
		if most == Order && before[Order-1].None(k) {
			most-- // nothing follows the four letters before
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
		w.p[l] = a.listed[l]*shares[row[l]] + a.rest[l]*math.Exp(max(s[l], lowest))
		if a.endings[l] && row[l] == 0 {
			w.p[l] += a.inflected(l, word)
		}
	}
	w.sumUp(k)
	if w.listed = listed; listed {
		w.row = row
		n := 0
		for _, q := range row[:k] {
			if q > 0 && q <= familiar+1 {
				n++
			}
		}
		w.loan = 3*n > 2*k
	}
	return w
}

// sumUp sets what follows from the probabilities in k languages.
func (w *weighed) sumUp(k int) {
	second := 0.0
	for l, x := range w.p[:k] {
		w.logs[l] = math.Log(x)
		w.mean += x / float64(k)
		switch {
		case x > w.top:
			w.top, second, w.third = x, w.top, second
		case x > second:
			second, w.third = x, second
		case x > w.third:
			w.third = x
		}
	}
}

// inflected returns the share of a word that is no more than a listed one with an ending, in language l of the group.
func (a *alphabet) inflected(l int, word string) (share float64) {
	letters := 0
	var h levels.Hash // of the letters so far
	for at, r := range word {
		if letters++; letters > shortestStem {
			if stem, _ := a.words.Row(h); stem[l] > 0 {
				ending, _ := a.words.Row(levels.Text(Ending(word[at:])))
				share += shares[stem[l]] * shares[ending[l]]
			}
		}
		h = h.Add(r)
	}
	return share
}

// shortestStem is the number of letters that stems have at least.
const shortestStem = 3

// everyday is the level of one word in 100,000, below which lists have words of other languages too.
const everyday = 50

// familiar is the level of one word in two million: who reads a language has met it.
const familiar = 63
