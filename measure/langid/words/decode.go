package words

import (
	"crosstalk/measure/langid/chinese"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"crosstalk/measure/langid/words/levels"
)

// Settings of the hidden Markov model, chosen on half of the development answers.
var (
	enter    = 0.003 // probability that another language begins at a word
	stay     = 0.4   // probability that another language's run goes on
	loans    = 0.002 // share of a language's words that are another one's
	loansHan = 0.006
	names    = 0.9 // the same for words with a capital inside a sentence
	initials = 0.3 // the same for words with a capital at the start of a sentence
)

const impossible = 1e-14

// frequent is the share of words that are rarely names.
var frequent = 1e-4

// temper is the power of the probabilities of characters: those of a word of Chinese or Japanese depend on each other.
var temper = 0.7

// cell is what a token says: for each language of its script the probability of the word there, divided by its
// probability in the expected language.
type cell struct {
	first, n                  int // the languages
	ratio                     [maxGroup]float64
	own                       float64 // 1, or impossible if the token is not in the expected language's script
	forward                   [maxGroup]float64
	in                        [maxGroup]float64
	home                      float64 // forward probability of the expected language
	posterior                 [maxGroup]float64
	odds                      float64
	says, listed, known, loan bool
}

// emit returns what each token says.
func emit(tokens []token, language string) []cell {
	m := load()
	cells := make([]cell, len(tokens))
	own, home := scriptFor(language), -1
	if state, ok := stateOf[language]; ok {
		home = state
	}
	var rs []rune
	hanFirst := stateOf[Groups[hanGroup].Languages[0]]
	for i := 0; i < len(tokens); i++ {
		t, c := &tokens[i], &cells[i]
		if t.script == han {
			j := i + 1
			for j < len(tokens) && tokens[j].script == han && tokens[j].glued {
				j++
			}
			m.characters(tokens[i:j], cells[i:j], language)
			for x := i; x < j; x++ {
				c := &cells[x]
				c.first, c.n, c.own = hanFirst, 2, 1
				if tokens[x].form == silent {
					c.ratio = [maxGroup]float64{1, 1}
					continue
				}
				c.says, c.known = true, true
				if home >= 0 && own == han {
					p := &c.ratio
					a := p[home-hanFirst]
					mean := (p[0] + p[1]) / 2
					a = (1-loansHan)*a + loansHan*mean
					p[0], p[1] = math.Pow(p[0]/a, temper), math.Pow(p[1]/a, temper)
				} else {
					c.own = impossible
				}
			}
			i = j - 1
			continue
		}
		a := m.alphabets[t.script]
		c.own = 1
		if home < 0 && own == t.script {
			c.silence(t.script) // no model of the expected language to weigh the others against
			continue
		}
		if a == nil {
			c.first, c.n = stateOf[single[t.script-devanagari].language], 1
			c.ratio[0], c.says, c.known = 1, true, own == t.script
			if own != t.script {
				c.own = impossible
			}
			continue
		}
		c.first, c.n = a.first, len(a.rest)
		p := c.ratio[:c.n]
		if t.form == silent {
			c.silence(t.script)
			continue
		}
		at := -1
		if own == t.script {
			at = home - a.first
		}
		c.listed, c.known, c.loan = a.probabilities(p, t.text, at, rs)
		c.says = true
		mean, top, second, third := 0.0, 0.0, 0.0, 0.0
		for _, x := range p {
			mean += x / float64(len(p))
			switch {
			case x > top:
				top, second, third = x, top, second
			case x > second:
				second, third = x, second
			case x > third:
				third = x
			}
		}
		var expected float64
		switch {
		case own != t.script && (t.form == plain || t.script != latin):
			c.own, expected = impossible, top
		case own != t.script && !c.listed:
			expected = top
		case own != t.script:
			expected = min(top, third*foreignNames)
		default:
			share := loans
			switch t.form {
			case capital:
				share, mean = names, third*namesThird+mean*namesMean
			case first:
				if top < frequent {
					share, mean = initials, third*namesThird+mean*namesMean
				}
			}
			expected = (1-share)*p[home-a.first] + share*mean
		}
		for l := range p {
			p[l] /= expected
		}
	}
	for i := range cells {
		c := &cells[i]
		for l := range c.n {
			c.in[l] = prior(c.first + l)
			if c.first+l == home {
				c.ratio[l] = 0
			}
		}
	}
	return cells
}

// silence makes the token say nothing.
func (c *cell) silence(s script) {
	if s >= devanagari {
		c.first, c.n = stateOf[single[s-devanagari].language], 1
	} else {
		g := slices.Index(groupScripts, s)
		c.first, c.n = stateOf[Groups[g].Languages[0]], len(Groups[g].Languages)
	}
	for l := range c.n {
		c.ratio[l] = 1
	}
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
		st := stay
		if tokens[i].script == han {
			st = math.Sqrt(stay)
		}
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
		st := stay
		if tokens[i].script == han {
			st = math.Sqrt(stay)
		}
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

// longest is the number of characters of the longest words of Chinese and Japanese that count.
const longest = 8

// characters sets, for a run of characters without spaces, the probability of each character after those before it, in
// each language: of all ways to cut the run into words of the language, the share of those that go on with it.
func (m *model) characters(tokens []token, cells []cell, expected string) {
	languages := Groups[hanGroup].Languages
	k := len(languages)
	for l, language := range languages {
		var ends [longest + 1]float64 // ends[d] is the weight of a word's end d characters ago
		ends[0] = 1
		for i := range tokens {
			end, all := 0.0, 0.0
			for d := 0; d < longest && d <= i; d++ {
				if ends[d] == 0 {
					continue
				}
				var h levels.Hash
				for _, t := range tokens[i-d : i+1] {
					r, _ := utf8.DecodeRuneInString(t.text)
					if language == "zh" && expected != "ja" {
						r = chinese.Simplify(r) // as the list has it; in Japanese it would make kanji Chinese
					}
					h = h.Add(r)
				}
				row, _ := m.han.Row(h)
				word := shares[row[l]]
				begin := max(word, shares[row[k+l]])
				if d == 0 {
					word, begin = word+unknownCharacter, begin+unknownCharacter
				}
				end += ends[d] * word
				all += ends[d] * begin
			}
			cells[i].ratio[l] = all
			copy(ends[1:], ends[:longest])
			ends[0] = end
			for d := range ends {
				ends[d] /= all
			}
		}
	}
}

var unknownCharacter = 1e-7

// prior is the probability that a run of a language begins at a word.
func prior(state int) float64 {
	switch l := states[state]; {
	case l == "en":
		return enter * english
	case l == "zh" || l == "ja":
		return enter * hanPrior
	case strings.Contains("ar de es fr hi id it ja ko pt ru tr vi zh", l):
		return enter / 14
	}
	return enter * rare
}

var english, rare, hanPrior = 0.1, 0.002, 0.07

var foreignNames, namesThird, namesMean = 30.0, 0.0, 1.0
