package words

import (
	"math"
	"slices"
	"strings"
	"sync"

	"crosstalk/internal/lexicon"
)

// Probabilities of the hidden Markov model, chosen on half of the development answers.
const (
	enter     = 0.003    // that another language begins at a word
	english   = 0.1      // that this is English
	usual     = 1 / 14.0 // that it is a certain other one of the benchmark
	rare      = 0.006    // that it is a certain one that the benchmark does not have
	further   = 0.002    // that it is a certain one with a short list
	rarest    = 0.0002   // the same of one whose words are from little text
	stay      = 0.4      // that a run of another language continues at the next word
	stayShort = 0.6      // the same where the expected language has a short list
	stayOn    = 0.2      // that it does after punctuation other than a comma
	stayOver  = 0.1      // that it does at the next line
)

// stayWithin is the probability that a run continues at the next character: two characters count as a word.
var stayWithin = math.Sqrt(stay)

// priors are the probabilities that a run of each state begins at a word: models mostly slip into English, or into one
// of the languages of the Language Confusion Benchmark.
var priors = listPriors()

// logPriors are their logarithms.
var logPriors = func() (logs []float64) {
	for _, p := range priors {
		logs = append(logs, math.Log(p))
	}
	return logs
}()

// thin are the languages whose words are from little text, most of it of programs.
var thin = lexicon.Set("af et gl eu sq eo cy ga ast oc sw az uz br gd be kk mr ne")

func listPriors() (priors []float64) {
	benchmark := lexicon.Set("ar de es fr hi id it ja ko pt ru tr vi zh")
	for _, l := range states {
		switch {
		case l == "en":
			priors = append(priors, enter*english)
		case benchmark[l]:
			priors = append(priors, enter*usual)
		case thin[l] && scripts[l] != devanagari, l == "mk", l == "sr":
			priors = append(priors, enter*rarest)
		case !thorough[l]:
			priors = append(priors, enter*further)
		default:
			priors = append(priors, enter*rare)
		}
	}
	return priors
}

// continues is the probability that a run of another language continues at a token.
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

// kin are pairs of languages that are so alike that words of one are often taken for the other: kinShare is how much
// less probable they are in each other.
const (
	kin = "da-no da-sv no-sv cs-sk hr-sl hr-cs hr-sk sl-sk sl-cs pl-cs pl-sk es-ca es-gl pt-gl ca-gl fr-ca it-ca nl-af " +
		"fi-et tr-az az-uz tr-uz mk-bg mk-sr ru-be uk-be ru-sr sr-bg ro-it id-ms cy-ga lt-lv " +
		"es-ast gl-ast ca-oc fr-oc ga-gd fr-ast it-ast it-oc ca-ast"
	kinShare = 0.02
	kinShort = 0.2 // the same where both have lists, and the expected language a short one

	// oftener is how many times as probable a language with a short list is where another one of its script with such a
	// list is expected: it may be a relative.
	oftener = 5
)

// same lists the languages whose words cannot be told apart from one's: their lists overlap too much.
var same = map[string][]string{"id": {"ms"}, "ms": {"id"}, "gl": {"es", "pt", "ast"},
	"ast": {"es", "gl", "pt"}, "oc": {"ca", "fr"}, "af": {"nl"}}

// short reports whether the model of a language is from a list of frequent words.
func short(language string) bool { return !thorough[language] && !thin[language] }

// priorsOf returns the priors where a language is expected: the language itself has none.
func priorsOf(language string) []float64 {
	if home, ok := stateOf[language]; ok {
		return homePriors()[home]
	}
	return priors
}

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

// decode sets the posterior odds of each token: forward and backward, with probabilities scaled at each token.
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
