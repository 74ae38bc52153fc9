package words

import (
	"math"
	"strings"
)

// Probabilities of the hidden Markov model, chosen on half of the development answers.
const (
	enter    = 0.003    // that another language begins at a word
	english  = 0.1      // that this is English
	usual    = 1 / 14.0 // that it is a certain other one of the benchmark
	rare     = 0.006    // that it is a certain one that the benchmark does not have
	stay     = 0.4      // that a run of another language continues at the next word
	stayOn   = 0.2      // that it does behind punctuation other than a comma
	stayOver = 0.1      // that it does at the next line
)

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

func listPriors() (priors []float64) {
	benchmark := map[string]bool{}
	for _, l := range strings.Fields("ar de es fr hi id it ja ko pt ru tr vi zh") {
		benchmark[l] = true
	}
	for _, l := range states {
		switch {
		case l == "en":
			priors = append(priors, enter*english)
		case benchmark[l]:
			priors = append(priors, enter*usual)
		default:
			priors = append(priors, enter*rare)
		}
	}
	return priors
}

// continues is the probability that a run of another language continues at a token.
func continues(t *token) float64 {
	switch {
	case t.line:
		return stayOver
	case t.starts:
		return stayOn
	case t.script == han:
		return math.Sqrt(stay) // two characters are a word
	}
	return stay
}

// decode sets the posterior odds of each token: forward and backward, with probabilities scaled at each token.
func decode(tokens []token, cells []cell) {
	if len(cells) == 0 {
		return
	}
	var f0, fsum float64 = 1, 0
	var before *cell
	for i := range cells {
		c := &cells[i]
		st := continues(&tokens[i])
		base := f0 + fsum*(1-st)
		h := (f0*(1-enter) + fsum*(1-st)*(1-enter)) * c.own
		sum := 0.0
		for l := range c.n {
			x := base * c.in[l]
			if before != nil && before.first == c.first {
				x += before.forward[l] * st
			}
			x *= c.ratio[l]
			c.forward[l] = x
			sum += x
		}
		scale := 1 / (h + sum)
		for l := range c.n {
			c.forward[l] *= scale
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
		for l := range c.n {
			c.posterior[l] = c.forward[l] * b[l]
			all += c.posterior[l]
		}
		c.odds = math.Log(all / (c.home * b0))
		if i == 0 {
			break
		}
		st := continues(&tokens[i])
		total, into := 0.0, 0.0
		var own [maxGroup]float64
		for l := range c.n {
			own[l] = c.ratio[l] * b[l]
			total += own[l]
			into += own[l] * c.in[l]
		}
		leave := b0*c.own*(1-enter) + into
		prev := &cells[i-1]
		scale := 1 / (leave + total)
		for l := range prev.n {
			x := (1 - st) * leave
			if prev.first == c.first {
				x += st * own[l]
			}
			b[l] = x * scale
		}
		b0 = leave * scale
	}
}
