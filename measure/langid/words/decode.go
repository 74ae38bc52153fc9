package words

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"crosstalk/internal/lexicon"
)

// Shares of a language's words that may come from any other language.
const (
	loans          = 0.004 // of lower-case words
	initials       = 0.3   // of words with a capital at the start of a sentence
	names          = 0.9   // of words with a capital inside a sentence, and of letters alone: "x"
	loanCharacters = 0.004 // of the characters of Chinese and Japanese

	// strangeCharacters is the share of characters that only the other language uses: below strange in the expected
	// language and above known in the other.
	strangeCharacters = 1e-4
	strange           = 2e-7
	known             = 1e-6

	// mostLoans limits the share of a lower-case word as a loan: languages borrow nouns, not function words, which are
	// far more frequent.
	mostLoans = 3e-5

	frequent   = 1e-4  // share above which a word with a capital at the start of a sentence is not a name: "The"
	temper     = 0.95  // exponent of the ratios of characters, since the characters of a word depend on each other
	impossible = 1e-14 // probability of a word in a script that the expected language does not use

	// lessFrequent suffices for words that are nativeRatio times as frequent in one language as in the third most likely
	// one: most languages use most names, but not "Therefore".
	lessFrequent = 1e-5
	nativeRatio  = 10_000

	// nameRatio limits the ratio of a name's probability in a language of another script to that in the third most
	// likely one, for the same reason.
	nameRatio = 30

	// mostFurther and mostThin limit how much more probable a lower-case word is in another language if the expected
	// language is a further one or has a thin list: the list may lack the word.
	mostFurther = 500
	mostThin    = 10
)

// cell holds a token's evidence, and results that depend on its neighbours.
type cell struct {
	first, n int       // the languages of the token's script
	p        []float64 // proportional to the probability in each
	each     float64   // p times this is the ratio of the probability to that in the expected language
	own      float64   // 1, or impossible if the expected language does not use the token's script
	says     bool      // whether the letters are evidence
	listed   bool      // a list of the script has the word
	known    bool      // an everyday word of the expected language
	loan     bool      // most lists of the script have the word
	weighed  *weighed  // source of p; nil if the token is not a word of an alphabet

	characters [hanLanguages]float64 // p of a character

	state []float64 // forward probabilities, then posterior ones
	home  float64   // forward probability of the expected language
	odds  float64   // that the word is in another language
}

// emit sets the evidence of each token. simplified tells whether Chinese is written with simplified characters.
func emit(tokens []token, cells []cell, language string, own script, simplified bool) {
	home, ok := stateOf[language]
	if !ok {
		home = -1
	}
	for i := 0; i < len(tokens); {
		j := i + 1
		if tokens[i].script == han {
			for j < len(tokens) && tokens[j].script == han && tokens[j].glued {
				j++
			}
			emitCharacters(tokens[i:j], cells[i:j], own, home, language != "ja" && !simplified)
		} else {
			cells[i].emit(&tokens[i], own, home)
			// The expected language may write two hyphenated words as one: "on-line", "check-out".
			a := embedded().alphabets[own]
			if t := &tokens[i]; t.hyphen && cells[i].says && cells[i-1].says && own == t.script && a != nil &&
				home >= 0 && tokens[i-1].script == own && a.weigh(tokens[i-1].text + t.text).row[home-a.first] > 0 {
				cells[i-1].silence(own)
				cells[i].silence(own)
			}
		}
		i = j
	}
}

// certainly is p of tokens that any of the languages may have.
var certainly = [maxGroup]float64(slices.Repeat([]float64{1}, maxGroup))

// logRatios sets the logarithms of the probability in each language divided by that in the expected one, and returns
// the largest, at least 0. Languages without a prior probability are skipped.
func (c *cell) logRatios(logs *[maxGroup]float64, priors []float64) (top float64) {
	expected := math.Log(c.own / c.each)
	for l, p := range c.p {
		var x float64
		switch {
		case priors[c.first+l] == 0:
			x = math.Inf(-1)
		case c.weighed != nil:
			x = c.weighed.logs[l] - expected
		default:
			x = math.Log(p) - expected
		}
		logs[l], top = x, max(top, x)
	}
	return top
}

func (c *cell) emit(t *token, own script, home int) {
	c.own, c.listed, c.loan, c.weighed = 1, false, false, nil
	a := embedded().alphabets[t.script]
	switch {
	case a == nil && t.form == letter, // a symbol
		a != nil && (t.form == silent || home < 0 && own == t.script): // or no model to compare the others with
		c.silence(t.script)
		return
	case a == nil:
		c.first, c.n, c.says, c.known = stateOf[single[t.script-firstSingle].language], 1, true, own == t.script
		c.p, c.each = certainly[:1], 1
		if own != t.script {
			c.own = impossible
		}
		return
	}
	w := a.weigh(t.text)
	if t.form == letter && (own != t.script || w.top < frequent) { // a symbol
		c.silence(t.script)
		return
	}
	c.first, c.n, c.p, c.says = a.first, a.n, w.p, true
	at := -1
	if own == t.script {
		at = home - a.first
	}
	c.weighed, c.listed, c.loan = w, w.listed, w.loan
	c.known = at >= 0 && w.row[at] > 0 && w.row[at] <= everyday+1
	var expected float64
	switch {
	case own != t.script && (t.form == plain || t.script != latin):
		c.own, expected = impossible, w.top
	case own != t.script && !c.listed:
		expected = w.top
	case own != t.script:
		expected = min(w.top, w.third*nameRatio)
	default:
		share, loan := loans, w.mean
		switch {
		case t.form == capital:
			share, loan = names, w.top/3 // all languages use names
		case t.form == letter && t.text[0] < utf8.RuneSelf: // "à" is a word
			share = names
		case t.form == first && w.top < frequent && !w.native:
			share = initials
		case t.form != first:
			loan = min(loan, mostLoans)
		}
		expected = (1-share)*w.p[at] + share*loan
		if most := a.most[at]; most > 0 && t.form == plain && !w.native {
			expected = max(expected, w.top/most)
		}
	}
	c.each = 1 / expected
}

// emitCharacters sets the evidence of a run of Chinese or Japanese characters.
func emitCharacters(tokens []token, cells []cell, own script, home int, simplify bool) {
	first := stateOf[Groups[hanGroup].Languages[0]]
	characters(tokens, cells, simplify)
	for i := range cells {
		c := &cells[i]
		c.first, c.n, c.own, c.p, c.each = first, hanLanguages, 1, c.characters[:], 1
		c.listed, c.loan, c.weighed, c.known = false, false, nil, false
		switch {
		case tokens[i].form == silent || own == han && home < 0:
			c.silence(han)
		case own == han:
			c.says, c.known = true, true
			p := c.p
			loan := loanCharacters
			if p[home-first] < strange && p[1-(home-first)] > known {
				loan = strangeCharacters
			}
			expected := (1-loan)*p[home-first] + loan*(p[0]+p[1])/2
			for l := range p {
				p[l] = math.Exp(temper * math.Log(p[l]/expected))
			}
		default:
			c.says, c.own = true, impossible
		}
	}
}

func (c *cell) silence(s script) {
	c.says, c.own, c.known, c.weighed = false, 1, false, nil
	switch {
	case s >= firstSingle:
		c.first, c.n = stateOf[single[s-firstSingle].language], 1
	case s == han:
		c.first, c.n = stateOf[Groups[hanGroup].Languages[0]], hanLanguages
	default:
		a := embedded().alphabets[s]
		c.first, c.n = a.first, a.n
	}
	c.p, c.each = certainly[:c.n], 1
}

// Probabilities of the hidden Markov model, chosen on half of the development answers.
const (
	enter     = 0.003    // that a run of another language starts at a word
	english   = 0.1      // that this is English
	usual     = 1 / 14.0 // that it is a certain other language of the benchmark
	rare      = 0.006    // that it is a certain language outside the benchmark
	further   = 0.002    // that it is a certain language with a short list
	rarest    = 0.0002   // the same for a language whose words come from little text
	stay      = 0.4      // that a run of another language continues at the next word
	stayShort = 0.6      // the same if the expected language has a short list
	stayOn    = 0.2      // that it continues after punctuation other than a comma
	stayOver  = 0.1      // that it continues on the next line
)

// stayWithin is the probability that a run continues at the next character, as two characters count as a word.
var stayWithin = math.Sqrt(stay)

// priors are the probabilities that a run of each state starts at a word: models mostly slip into English, or into a
// language of the Language Confusion Benchmark.
var priors, logPriors = func() (priors, logs []float64) {
	benchmark := lexicon.Set("ar de es fr hi id it ja ko pt ru tr vi zh")
	for _, l := range states {
		p := enter * rare
		switch {
		case l == "en":
			p = enter * english
		case benchmark[l]:
			p = enter * usual
		case thin[l] && scripts[l] != devanagari, l == "mk", l == "sr":
			p = enter * rarest
		case !thorough[l]:
			p = enter * further
		}
		priors, logs = append(priors, p), append(logs, math.Log(p))
	}
	return priors, logs
}()

// thin are the languages whose words come from little text, most of it of programs.
var thin = lexicon.Set("af et gl eu sq eo cy ga ast oc sw az uz br gd be kk mr ne")

// continues returns the probability that a run of another language continues at a token.
func continues(t *token, stay float64) float64 {
	switch {
	case t.line:
		return stayOver
	case t.starts:
		return stayOn
	case t.script == han:
		return stayWithin
	}
	return stay
}

// kin are pairs of languages so similar that words of one are often taken for the other. kinShare is the factor by
// which each is less probable in the other.
const (
	kin = "da-no da-sv no-sv cs-sk hr-sl hr-cs hr-sk sl-sk sl-cs pl-cs pl-sk es-ca es-gl pt-gl ca-gl fr-ca it-ca nl-af " +
		"fi-et tr-az az-uz tr-uz mk-bg mk-sr ru-be uk-be ru-sr sr-bg ro-it id-ms cy-ga lt-lv " +
		"es-ast gl-ast ca-oc fr-oc ga-gd fr-ast it-ast it-oc ca-ast"
	kinShare = 0.02
	kinShort = 0.2 // the same if both have lists, and the expected language a short one

	// oftener is the factor for languages with a short list if another language of the script with such a list is
	// expected: they may be relatives.
	oftener = 5
)

// same lists the languages whose words cannot be distinguished from a language's own: their lists overlap too much.
var same = map[string][]string{"id": {"ms"}, "ms": {"id"}, "gl": {"es", "pt", "ast"},
	"ast": {"es", "gl", "pt"}, "oc": {"ca", "fr"}, "af": {"nl"}}

// short reports whether the model of a language comes from a list of frequent words.
func short(language string) bool { return !thorough[language] && !thin[language] }

// homePriors are the priors by the state of the expected language, which itself has none.
var homePriors = sync.OnceValue(func() [][]float64 {
	all := make([][]float64, len(states))
	for home := range all {
		all[home] = slices.Clone(priors)
		all[home][home] = 0
		if short(states[home]) {
			for l, state := range states {
				if short(state) && scripts[state] == scripts[states[home]] {
					all[home][l] *= oftener
				}
			}
		}
		for pair := range strings.FieldsSeq(kin) {
			a, b, _ := strings.Cut(pair, "-")
			if b == states[home] {
				a, b = b, a
			}
			if a != states[home] {
				continue
			}
			share := kinShare
			if short(a) && !thin[b] {
				share = kinShort
			}
			all[home][stateOf[b]] *= share
		}
		for _, l := range same[states[home]] {
			all[home][stateOf[l]] = 0
		}
	}
	return all
})

// decode sets the posterior odds of each token by the forward-backward algorithm, with probabilities scaled at each
// token.
func decode(tokens []token, cells []cell, priors []float64, stay float64) {
	if len(cells) == 0 {
		return
	}
	var f0, fsum float64 = 1, 0
	var before *cell
	for i := range cells {
		c := &cells[i]
		st := continues(&tokens[i], stay)
		base := f0 + fsum*(1-st)
		h := (f0*(1-enter) + fsum*(1-st)*(1-enter)) * c.own
		sum := 0.0
		in, p, state := priors[c.first:][:c.n], c.p[:c.n], c.state[:c.n]
		if before != nil && before.first == c.first {
			for l, x := range before.state[:c.n] {
				state[l] = (base*in[l] + x*st) * (p[l] * c.each)
				sum += state[l]
			}
		} else {
			for l, x := range in {
				state[l] = base * x * (p[l] * c.each)
				sum += state[l]
			}
		}
		scale := 1 / (h + sum)
		for l := range state {
			state[l] *= scale
		}
		c.home = h * scale
		f0, fsum = c.home, sum*scale
		before = c
	}
	// b0 is the backward probability of the expected language; b those of the next cell's languages.
	var b [maxGroup]float64
	for l := range b {
		b[l] = 1
	}
	b0 := 1.0
	for i := len(cells) - 1; i >= 0; i-- {
		c := &cells[i]
		all := 0.0
		state := c.state[:c.n]
		for l := range state {
			state[l] *= b[l]
			all += state[l]
		}
		c.odds = all / (c.home * b0)
		if i == 0 {
			break
		}
		st := continues(&tokens[i], stay)
		total, into := 0.0, 0.0
		var own [maxGroup]float64
		in := priors[c.first:][:c.n]
		for l, x := range c.p[:c.n] {
			own[l] = x * c.each * b[l]
			total += own[l]
			into += own[l] * in[l]
		}
		leave := b0*c.own*(1-enter) + into
		prev := &cells[i-1]
		scale := 1 / (leave + total)
		ended := (1 - st) * leave
		for l := range prev.n {
			x := ended
			if prev.first == c.first {
				x += st * own[l]
			}
			b[l] = x * scale
		}
		b0 = leave * scale
	}
}
