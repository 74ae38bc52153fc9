package reference

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
	"crosstalk/measure/langid"

	"golang.org/x/text/language"
)

// Confusion holds the probabilities with which Confused goes wrong, or seems to.
type Confusion struct {
	Line  float64 // that a line is in another language
	Word  float64 // that a line in the right language has words of another
	Mask  float64 // that a line without a fault has something harmless: code, a quotation, a name
	Short float64 // that the answer is a short reply, not lines
}

// Confused answers in the language that the suite asks for, in one to three lines, each number with equal chance, or
// with a short reply. A line or short reply may be a sentence in another language, each with equal chance. In a line
// in the right language, an English word, a word of another language, or the beginning of a sentence in another one
// may replace a word, with equal chance; or else code, a quotation in another language or an English name may follow,
// which are not faults. An answer depends only on seed, prompt and sample, not on text before the prompt or decoding.
// If asked for log probabilities, it invents some, with more doubt where it is about to go wrong.
type Confused struct {
	base
	Confusion
	seed      uint64
	languages map[string]string // of the answer, by prompt
}

// MaxLines is the most lines in an answer of Confused.
const MaxLines = 3

type sentence struct{ before, own, english, after string }

func (s sentence) with(words string) string { return s.before + words + s.after }
func (s sentence) text() string             { return s.with(s.own) }

var foreign = []func(other sentence) string{
	func(s sentence) string { return s.own },
	func(s sentence) string { return s.before + s.own },
}

// nameless may follow a sentence without being a fault, besides quotations.
var nameless = []string{" `git status --short`", " (Adobe Acrobat Reader)"}

func quotation(s sentence) string { return " “" + s.text() + "”" }

// Sentences and short replies in 15 languages, our own. Braces contain a sentence's own word and an English one.
//
//go:embed sentences.tsv
var sentencesFile []byte

// texts returns the short replies of each language, and the sentences for each line of an answer, without
// repetitions.
var texts = sync.OnceValue(func() (all struct {
	replies   map[string][]string
	sentences map[string][MaxLines][]sentence
}) {
	all.replies, all.sentences = map[string][]string{}, map[string][MaxLines][]sentence{}
	count := map[string]int{}
	for line := range bytes.Lines(sentencesFile) {
		language, text, _ := strings.Cut(strings.TrimSpace(string(line)), "\t")
		before, rest, slot := strings.Cut(text, "{")
		if !slot {
			all.replies[language] = append(all.replies[language], text)
			continue
		}
		own, rest, _ := strings.Cut(rest, "|")
		english, after, _ := strings.Cut(rest, "}")
		lines := all.sentences[language]
		place := count[language] % MaxLines
		lines[place] = append(lines[place], sentence{before, own, english, after})
		all.sentences[language] = lines
		count[language]++
	}
	return all
})

// NewConfused returns a confused model for these items.
func NewConfused(items []crosstalk.Item, of Confusion, seed uint64) (*Confused, error) {
	if err := cmp.Or(
		checkProbability("confused", "line", of.Line),
		checkProbability("confused", "word", of.Word),
		checkProbability("confused", "mask", of.Mask),
		checkProbability("confused", "short", of.Short)); err != nil {
		return nil, err
	}
	c := &Confused{Confusion: of, seed: seed, languages: map[string]string{}}
	for _, item := range items {
		p := item.Prompt
		if p == nil || p.Text == "" && len(p.Placed) == 0 {
			return nil, fmt.Errorf("item %s has no prompt that %s:confused can answer: name a model (--model "+
				"openai:gpt-4o-mini)", item.ID, Provider)
		}
		// our Chinese is simplified
		if _, known := texts().sentences[p.Language]; !known || langid.Script(language.Make(p.Tag)) == "Hant" {
			return nil, fmt.Errorf("item %s: %s:confused has no sentences in the language %s, only in %s: name a model "+
				"(--model openai:gpt-4o-mini)",
				item.ID, Provider, cmp.Or(p.Tag, p.Language), strings.Join(Languages(), ", "))
		}
		for _, text := range append(slices.Collect(maps.Values(p.Placed)), p.Text) {
			if other, again := c.languages[text]; again && other != p.Language && text != "" {
				return nil, fmt.Errorf("item %s: the prompt asks for an answer in %s, and another item has the same prompt for "+
					"%s: %s:confused cannot tell them apart", item.ID, p.Language, other, Provider)
			}
			c.languages[text] = p.Language
		}
	}
	delete(c.languages, "")
	hash := fnv.New64a()
	hash.Write(sentencesFile)
	hash.Write(crosstalk.Canonical(c.languages))
	c.base = newBase(crosstalk.Chat, hash.Sum(nil), "confused?%s&seed=%d", of, seed)
	return c, nil
}

// String returns the settings as in the name of the model: without those that are 0, unless they are 0 on purpose.
func (c Confusion) String() string {
	s := fmt.Sprintf("line=%g&word=%g", c.Line, c.Word)
	if c.Mask > 0 {
		s += fmt.Sprintf("&mask=%g", c.Mask)
	}
	if c.Short > 0 {
		s += fmt.Sprintf("&short=%g", c.Short)
	}
	return s
}

// Languages returns the languages in which Confused writes, in order.
var Languages = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(texts().sentences)) })

func (c *Confused) Answer(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if err := ctx.Err(); err != nil {
		return crosstalk.Answer{}, err
	}
	prompt, known := promptOf(c.languages, strings.TrimSuffix(req.Text(), "\nA:")) // the end of a Q/A template
	if !known {
		return crosstalk.Answer{}, stranger("confused", req.Text())
	}
	language := c.languages[prompt]
	r := draws(c.seed, prompt, req.Sample)
	var text strings.Builder
	var switches []int // byte offsets in the text at which a fault begins
	add := func(line string, fault int) {
		if text.Len() > 0 {
			text.WriteString("\n")
		}
		if fault >= 0 {
			switches = append(switches, text.Len()+fault)
		}
		text.WriteString(line)
	}
	if r.Float64() < c.Short {
		if r.Float64() < c.Line {
			add(one(r, texts().replies[other(r, language)]), 0)
		} else {
			add(one(r, texts().replies[language]), -1)
		}
	} else {
		for place := range 1 + r.IntN(MaxLines) {
			add(c.draw(r, language, place))
		}
	}
	a := c.answered(req, text.String())
	a.Usage.Completion = len(pieces(a.Text))
	if req.Logprobs > 0 {
		a.Logprobs = madeUp(r, language, a.Text, switches, req.Logprobs)
	}
	return a, nil
}

func other(r *rand.Rand, language string) string {
	all := Languages()
	i := r.IntN(len(all) - 1)
	if all[i] >= language {
		i++
	}
	return all[i]
}

// ith returns the only sentence from which the i-th sentence may get foreign words, so that there are few outcomes.
func ith(of []sentence, i int) sentence { return of[i%len(of)] }

func one[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func (c *Confused) draw(r *rand.Rand, language string, place int) (line string, fault int) {
	if r.Float64() < c.Line {
		return one(r, texts().sentences[other(r, language)][place]).text(), 0
	}
	i := r.IntN(len(texts().sentences[language][place]))
	s := texts().sentences[language][place][i]
	if r.Float64() < c.Word {
		if kind := r.IntN(1 + len(foreign)); kind > 0 {
			return s.with(foreign[kind-1](ith(texts().sentences[other(r, language)][place], i))), len(s.before)
		}
		return s.with(s.english), len(s.before)
	}
	if r.Float64() < c.Mask {
		if kind := r.IntN(1 + len(nameless)); kind > 0 {
			return s.text() + nameless[kind-1], -1
		}
		return s.text() + quotation(ith(texts().sentences[other(r, language)][place], i)), -1
	}
	return s.text(), -1
}

// Line is an outcome for a line or short reply, with its kind.
type Line struct {
	Outcome
	Kind string
}

// Kinds of lines.
const (
	Clean     = "clean"
	Masked    = "mask" // has something harmless
	WrongLine = "line" // is in another language
	WrongWord = "word" // has words of another language
)

// Lines returns the distribution of a line of an answer in a language, place from 0 to below MaxLines: the truth to
// compare a measurement with. Lines of an answer are independent, and their number is 1 to MaxLines with equal chance.
func (c *Confused) Lines(language string, place int) (outcomes []Line) {
	add := func(text string, p float64, kind string) {
		if p > 0 {
			outcomes = append(outcomes, Line{Outcome{text, p}, kind})
		}
	}
	var others [][]sentence
	for _, of := range Languages() {
		if of != language {
			others = append(others, texts().sentences[of][place])
		}
	}
	own, n := texts().sentences[language][place], float64(len(others))
	for i, s := range own {
		right := (1 - c.Line) / float64(len(own))
		word := right * c.Word / float64(1+len(foreign))
		mask := right * (1 - c.Word) * c.Mask / float64(1+len(nameless))
		add(s.text(), right*(1-c.Word)*(1-c.Mask), Clean)
		add(s.with(s.english), word, WrongWord)
		for _, text := range nameless {
			add(s.text()+text, mask, Masked)
		}
		for _, of := range others {
			for _, words := range foreign {
				add(s.with(words(ith(of, i))), word/n, WrongWord)
			}
			add(s.text()+quotation(ith(of, i)), mask/n, Masked)
		}
	}
	for _, of := range others {
		for _, s := range of {
			add(s.text(), c.Line/n/float64(len(of)), WrongLine)
		}
	}
	return outcomes
}

// Replies returns the distribution of a short reply in a language. An answer is one with probability Short.
func (c *Confused) Replies(language string) (outcomes []Line) {
	for _, of := range Languages() {
		list := texts().replies[of]
		p, kind := c.Line/float64(len(Languages())-1), WrongLine
		if of == language {
			p, kind = 1-c.Line, Clean
		}
		for _, text := range list {
			if p > 0 {
				outcomes = append(outcomes, Line{Outcome{text, p / float64(len(list))}, kind})
			}
		}
	}
	return outcomes
}

// madeUp invents log probabilities for the pieces of a text: mostly with little doubt, but with much where a fault
// begins, where a token of the right language is as likely as the one taken. Each piece has k candidates, whose
// probabilities fall geometrically and sum to less than 1.
func madeUp(r *rand.Rand, language, text string, switches []int, k int) (positions []crosstalk.TokenLogprob) {
	var others []string
	for _, s := range texts().sentences[language][0] {
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

var piece = lazyregexp.New(`(?s) ?[\pL\pM]{1,4}|.`)

// pieces splits a text into its tokens: a space and up to four letters, or one other character.
func pieces(text string) []string { return piece().FindAllString(text, -1) }
