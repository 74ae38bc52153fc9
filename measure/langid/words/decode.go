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
	stayOn   = 0.2      // that it does after punctuation other than a comma
	stayOver = 0.1      // that it does at the next line
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
		return stayWithin
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
		in, ratio, state := priors[c.first:][:c.n], c.ratio[:c.n], c.state[:c.n]
		if before != nil && before.first == c.first {
			for l, x := range before.state[:c.n] {
				state[l] = (base*in[l] + x*st) * ratio[l]
				sum += state[l]
			}
		} else {
			for l, x := range in {
				state[l] = base * x * ratio[l]
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
		st := continues(&tokens[i])
		total, into := 0.0, 0.0
		var own [maxGroup]float64
		in := priors[c.first:][:c.n]
		for l, x := range c.ratio[:c.n] {
			own[l] = x * b[l]
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
