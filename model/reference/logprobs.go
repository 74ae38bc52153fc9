package reference

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"unicode"
	"unicode/utf8"

	"crosstalk"
)

// madeUp makes log probabilities for the pieces of a text: mostly of little doubt, of much where a fault begins, and
// there a token of the right language is as likely as the one taken. k candidates each, whose probabilities fall
// geometrically and leave some for the rest.
func madeUp(r *rand.Rand, language, text string, switches []int, k int) (positions []crosstalk.TokenLogprob) {
	var others []string
	for _, s := range sentences()[language][0] {
		others = append(others, pieces(s.text())...)
	}
	from := 0
	for _, token := range pieces(text) {
		to := from + len(token)
		taken, native := 0.8+0.19*r.Float64(), 0.0
		if slices.ContainsFunc(switches, func(at int) bool { return from <= at && at < to }) {
			taken = 0.15 + 0.2*r.Float64()
			native = taken * (0.8 + 0.6*r.Float64())
		}
		probabilities := []float64{taken}
		if native > 0 {
			probabilities = append(probabilities, native)
		}
		for rest := 1 - taken - native; len(probabilities) < k; rest /= 2 {
			probabilities = append(probabilities, rest/2)
		}
		p := crosstalk.TokenLogprob{Token: token, Logprob: math.Log(taken)}
		next, seen := r.IntN(len(others)), map[string]bool{token: true}
		for i, q := range probabilities[:k] {
			c := crosstalk.CandidateLogprob{Token: token, Logprob: math.Log(q)}
			for tried := 0; i > 0 && seen[c.Token] && tried < len(others); tried++ {
				next = (next + 1) % len(others)
				c.Token = others[next]
			}
			if i > 0 && seen[c.Token] {
				break // there are no more
			}
			seen[c.Token] = true
			p.Top = append(p.Top, c)
		}
		slices.SortStableFunc(p.Top, func(a, b crosstalk.CandidateLogprob) int { return cmp.Compare(b.Logprob, a.Logprob) })
		positions = append(positions, p)
		from = to
	}
	return positions
}

// pieces splits a text into what it uses as tokens: a space and up to four letters, or one other character.
func pieces(text string) (list []string) {
	for len(text) > 0 {
		end, letters := 0, 0
		if text[0] == ' ' {
			end = 1
		}
		for end < len(text) && letters < 4 {
			r, size := utf8.DecodeRuneInString(text[end:])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) {
				break
			}
			end += size
			letters++
		}
		if letters == 0 {
			_, end = utf8.DecodeRuneInString(text)
		}
		list = append(list, text[:end])
		text = text[end:]
	}
	return list
}
