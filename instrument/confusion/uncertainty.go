package confusion

import (
	"cmp"
	_ "embed"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/lexicon"
	"crosstalk/measure/pytext"

	"golang.org/x/text/language"
)

// begins returns the offsets in the answer at which its confusions begin, in order. A confusion is a run of wrong lines
// identified as one language, with no right line among them, or, in an answer without wrong lines, a run of wrong words
// with no word of the expected language among them. Words that both languages have do not end it
// (crosstalk.Judged.Runs); nor, where lists tell wrong words, do words without a letter of the expected language's
// script.
func (c checked) begins(expected, answer string) (at []int) {
	for _, i := range c.runs {
		at = append(at, foreignFrom(expected, c.wrong[i], answer))
	}
	if len(c.wrong) > 0 {
		return at
	}
	return c.points
}

// foreignFrom returns the offset at which a wrong line leaves the expected language. If the identified language shares
// no script with the expected one, that is the first letter not in the expected language's script: a line may begin in
// the right language. Otherwise it cannot be known, and is the line's first character.
func foreignFrom(expected string, line crosstalk.Span, answer string) int {
	text := answer[line.Start:line.End]
	own, other := scriptsOf(expected), scriptsOf(line.Language)
	shared := func(script *unicode.RangeTable) bool { return slices.Contains(other, script) }
	if own != nil && other != nil && !slices.ContainsFunc(own, shared) {
		for i, r := range text {
			if unicode.IsLetter(r) && !unicode.In(r, own...) && !unicode.In(r, unicode.Common, unicode.Inherited) {
				return line.Start + i
			}
		}
	}
	return line.Start + len(text) - len(strings.TrimLeftFunc(text, pytext.IsSpace))
}

// scriptsOf returns the scripts in which a language is written, nil if unknown.
func scriptsOf(code string) []*unicode.RangeTable {
	if code == "" {
		return nil
	}
	script, _ := language.Make(code).Script()
	return scripts()[script.String()]
}

// scripts returns the letters of each script, by its ISO 15924 code.
var scripts = sync.OnceValue(func() map[string][]*unicode.RangeTable {
	all := map[string][]*unicode.RangeTable{}
	for code, names := range lexicon.Parse(scriptNames) {
		for name := range strings.FieldsSeq(names) {
			all[code] = append(all[code], unicode.Scripts[name])
		}
	}
	return all
})

//go:embed scripts.txt
var scriptNames string

// Where uncertainty is measured: values of the label "at" of Entropy and nucleusSize.
const (
	atPoint     = "confusion point" // the tokens at which a confusion begins
	elsewhere   = "elsewhere"       // all other tokens of answers with a confusion
	cleanAnswer = "clean answer"    // all tokens of answers without a confusion
)

var kinds = []string{atPoint, elsewhere, cleanAnswer}

// uncertaintyOf measures the distribution whose likeliest tokens are the candidates, likeliest first, raised to the
// power of 1/temperature and normalised. It assumes that the remaining probability is spread over tokens as likely as
// the last candidate, and one with the rest: the most concentrated distribution with these candidates. At temperature
// 1, the entropy is therefore a lower bound, as is a censored nucleus; the mass is exact.
func uncertaintyOf(candidates []crosstalk.CandidateLogprob, temperature, p float64) crosstalk.Token {
	largest := candidates[0].Logprob
	scaled := func(logprob float64) float64 { return math.Exp((logprob - largest) / temperature) }
	var given, sum float64
	var weights []float64
	for _, c := range candidates {
		given += math.Exp(c.Logprob)
		weights = append(weights, scaled(c.Logprob))
		sum += scaled(c.Logprob)
	}
	last := candidates[len(candidates)-1].Logprob
	rest := math.Max(0, 1-given)
	alike := math.Floor(rest / math.Exp(last)) // tokens as likely as the last candidate
	weight := scaled(last)
	remainder := scaled(math.Log(math.Max(0, rest-alike*math.Exp(last))))
	total := sum + alike*weight + remainder

	surprise := func(weight float64) float64 {
		if weight == 0 {
			return 0
		}
		return -weight / total * math.Log2(weight/total)
	}
	t := crosstalk.Token{Candidates: candidates, Mass: sum / total}
	entropy, reached := alike*surprise(weight)+surprise(remainder), 0.0
	const rounding = 1e-9
	for _, w := range weights {
		entropy += surprise(w)
		if reached < p-rounding {
			reached += w / total
			t.Nucleus++
		}
	}
	if reached < p-rounding {
		t.Censored = true
		more := math.Ceil((p-reached)/(weight/total) - rounding)
		t.Nucleus += int(min(more, math.MaxInt32))
	}
	t.Entropy = crosstalk.Value(entropy)
	return t
}

// uncertaintyIn measures the uncertainty at the tokens of the scored part of an answer. begins are the offsets at which
// confusions begin.
func (in *Instrument) uncertaintyIn(answer crosstalk.Answer, begins []int) (tokens []crosstalk.Token) {
	begin, end := scored(answer.Text)
	temperature, p, _ := in.distribution()
	for i, at := range align(answer.Text, answer.Logprobs) {
		if at == nowhere || at.end <= begin && at.start < begin || at.start >= end {
			continue
		}
		l := answer.Logprobs[i]
		t := crosstalk.Token{Entropy: crosstalk.Undefined}
		if top := likeliest(l, in.Prompting.Logprobs); len(top) > 0 {
			t = uncertaintyOf(top, temperature, p)
		}
		t.Start, t.End, t.Text, t.Logprob = at.start, at.end, printable(l.Token, l.Bytes), l.Logprob
		tokens = append(tokens, t)
	}
	for _, at := range begins {
		i := slices.IndexFunc(tokens, func(t crosstalk.Token) bool { return t.End > at })
		if i < 0 || tokens[i].Start > at {
			continue // the text there matches no token
		}
		for i > 0 && tokens[i-1].End == tokens[i].Start && tokens[i-1].Start == tokens[i-1].End {
			i-- // an earlier part of the same character
		}
		tokens[i].Fault = true
	}
	return tokens
}

// likeliest returns up to k of the likeliest candidates. Servers add the chosen token to them, or replace the last one
// by it. So if it is last and has less than half the probability, it is left out: others may be likelier.
func likeliest(t crosstalk.TokenLogprob, k int) []crosstalk.CandidateLogprob {
	const impossible = -100 // vLLM writes -9999
	top := t.Top[:min(len(t.Top), k)]
	for len(top) > 0 && !(top[len(top)-1].Logprob > impossible) {
		top = top[:len(top)-1]
	}
	if n := len(top); n > 0 {
		last := top[n-1]
		if last.Token == t.Token && slices.Equal(last.Bytes, t.Bytes) && last.Logprob < math.Log(0.5) {
			top = top[:n-1]
		}
	}
	return top
}

// distribution returns the temperature at which uncertainty is measured, the top-p of nuclei, and a name for both.
func (in *Instrument) distribution() (temperature, p float64, name string) {
	temperature, p, name = 1, in.Protocol.TopP, "unscaled"
	if t := in.Prompting.Decoding.Temperature; t != nil && *t > 0 {
		temperature, name = *t, "T="+strconv.FormatFloat(*t, 'g', -1, 64)
	}
	if in.Prompting.Decoding.TopP != nil {
		p = *in.Prompting.Decoding.TopP
	}
	return temperature, p, name
}

// observeUncertainty makes observations of an answer: the means over its confusion points and over its other tokens, or
// over all tokens if it has no confusion. Numbers: the tokens ("tokens"), the censored ones among them, the mean number
// and total probability of candidates ("candidates", "mass"), and "top_p".
func (in *Instrument) observeUncertainty(base crosstalk.Observation, tokens []crosstalk.Token,
	confused bool) (observations []crosstalk.Observation) {
	_, p, name := in.distribution()
	of := []string{cleanAnswer}
	if confused {
		of = []string{atPoint, elsewhere}
	}
	for _, kind := range of {
		o := base
		o.Condition, o.Labels = with(base.Condition, distributionColumn, name), with(base.Labels, atColumn, kind)
		var n, censored, candidates, entropies, nuclei, mass float64
		for _, t := range tokens {
			if t.Entropy.Defined() && t.Fault == (kind == atPoint) {
				n++
				entropies += float64(t.Entropy)
				nuclei += float64(t.Nucleus)
				candidates += float64(len(t.Candidates))
				mass += t.Mass
				if t.Censored {
					censored++
				}
			}
		}
		o.Numbers = map[string]float64{tokensCount: n, "top_p": p}
		if n == 0 {
			o.NotScored = noLogprobs
		} else {
			o.Numbers[censoredCount], o.Numbers["candidates"], o.Numbers["mass"] = censored, candidates/n, mass/n
		}
		o.Measure, o.Value = Entropy, crosstalk.Value(entropies/n) // undefined without tokens
		observations = append(observations, o)
		o.Measure, o.Value = nucleusSize, crosstalk.Value(nuclei/n)
		observations = append(observations, o)
	}
	return observations
}

func with(m map[string]string, key, value string) map[string]string {
	one := map[string]string{key: value}
	maps.Copy(one, m)
	return one
}

// A strip shows the tokens around the first confusion point.
const (
	stripTokens     = 20 // on each side
	stripCandidates = 5
)

func stripOf(tokens []crosstalk.Token) []crosstalk.Token {
	first := slices.IndexFunc(tokens, func(t crosstalk.Token) bool { return t.Fault })
	if first < 0 {
		return nil
	}
	strip := slices.Clone(tokens[max(0, first-stripTokens):min(len(tokens), first+stripTokens+1)])
	for i := range strip {
		t := &strip[i]
		t.Logprob, t.Entropy, t.Mass = brief(t.Logprob), crosstalk.Value(brief(float64(t.Entropy))), brief(t.Mass)
		t.Candidates = slices.Clone(t.Candidates[:min(len(t.Candidates), stripCandidates)])
		for j := range t.Candidates {
			t.Candidates[j].Logprob = brief(t.Candidates[j].Logprob)
		}
	}
	return strip
}

// brief rounds to four decimals, to keep files small.
func brief(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// printable returns a token's text, or its bytes in hexadecimal if they are not text.
func printable(token string, b []byte) string {
	if b == nil || utf8.Valid(b) {
		return cmp.Or(token, string(b))
	}
	quoted := strconv.QuoteToASCII(string(b))
	return quoted[1 : len(quoted)-1]
}

// piece is the place of a token in the text: the bytes [start, end). Tokens that are not part of the text have none: a
// model's thoughts before it, its end, and everything after a token that cannot be found. A token that is a part of a
// character may be empty.
type piece struct{ start, end int }

var nowhere = piece{-1, -1}

func align(text string, tokens []crosstalk.TokenLogprob) []piece {
	pieces := make([]piece, len(tokens))
	var all strings.Builder
	for _, t := range tokens {
		all.WriteString(bytesOf(t))
	}
	from := 0
	if !strings.HasPrefix(all.String(), text) {
		from = strings.LastIndex(all.String(), text)
	}
	if from < 0 {
		alignOneByOne(text, tokens, pieces)
		return pieces
	}
	at := -from
	for i, t := range tokens {
		next := at + len(bytesOf(t))
		pieces[i] = piece{max(at, 0), min(next, len(text))}
		if at >= len(text) || next < 0 || next == 0 && at < 0 {
			pieces[i] = nowhere
		}
		at = next
	}
	return pieces
}

func bytesOf(t crosstalk.TokenLogprob) string {
	if t.Bytes != nil {
		return string(t.Bytes)
	}
	return t.Token
}

// alignOneByOne finds tokens that do not join to form the text. The server may have removed white space, and may not
// return the bytes of tokens that are parts of characters: it writes U+FFFD instead (vLLM), so the whole character is
// assigned to its first token, or writes each byte as a Latin-1 character (SGLang).
func alignOneByOne(text string, tokens []crosstalk.TokenLogprob, pieces []piece) {
	at, broken := 0, -1 // the first of the broken tokens that end where the next token begins
	for i, t := range tokens {
		token, room := bytesOf(t), 0
		switch {
		case broken >= 0:
			room = utf8.UTFMax * (i - broken)
		case at == 0 && !strings.HasPrefix(text, token):
			token = strings.TrimLeftFunc(token, pytext.IsSpace)
		}
		pieces[i] = piece{at, at}
		if token == "" {
			continue
		}
		gap := strings.Index(text[at:min(len(text), at+room+len(token))], token)
		if raw := latin1(token); gap < 0 && raw != "" && strings.HasPrefix(text[at:], raw) {
			token, gap = raw, 0
		}
		if gap < 0 && strings.ContainsRune(token, utf8.RuneError) {
			if broken < 0 {
				broken = i
			}
			continue
		}
		if gap < 0 {
			for ; i < len(pieces); i++ {
				pieces[i] = nowhere
			}
			return
		}
		if broken >= 0 {
			pieces[broken].end, broken = at+gap, -1
		}
		at += gap
		pieces[i] = piece{at, at + len(token)}
		at += len(token)
	}
	if broken >= 0 {
		pieces[broken].end = len(text)
	}
}

// latin1 returns the bytes that a text of Latin-1 characters encodes, or "".
func latin1(s string) string {
	var b []byte
	for _, r := range s {
		if r > 0xFF {
			return ""
		}
		b = append(b, byte(r))
	}
	return string(b)
}
