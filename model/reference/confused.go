package reference

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"crosstalk"
)

// Confused answers in the language that the suite asks for, in one to three
// lines, each number with equal chance. Each line is, with the probability
// line, a sentence of another language, every one of the others with equal
// chance; else a sentence of the right language, in which, with the
// probability word, an English word replaces one of its own. An answer depends
// on seed, prompt and sample alone: text before the prompt and all decoding
// settings are ignored. Asked for log probabilities it makes some up, with more
// doubt where it is about to go wrong.
type Confused struct {
	line, word float64
	seed       uint64
	id         crosstalk.Identity
	languages  map[string]string // of the answer, by prompt
}

var _ crosstalk.Model = (*Confused)(nil)

// MaxLines is how many lines an answer of Confused has at most.
const MaxLines = 3

// sentence has a slot for its own word or an English one.
type sentence struct{ before, own, english, after string }

func (s sentence) text() string     { return s.before + s.own + s.after }
func (s sentence) confused() string { return s.before + s.english + s.after }

// Sentences in 15 languages, our own writing.
//
//go:embed sentences.tsv
var sentencesFile []byte

// sentences are those of each language and line of an answer: the same one
// is never in an answer twice.
var sentences = sync.OnceValue(func() map[string][MaxLines][]sentence {
	all, count := map[string][MaxLines][]sentence{}, map[string]int{}
	for line := range bytes.Lines(sentencesFile) {
		language, text, _ := strings.Cut(strings.TrimSpace(string(line)), "\t")
		before, rest, _ := strings.Cut(text, "{")
		own, rest, _ := strings.Cut(rest, "|")
		english, after, _ := strings.Cut(rest, "}")
		lines := all[language]
		place := count[language] % MaxLines
		lines[place] = append(lines[place], sentence{before, own, english, after})
		all[language] = lines
		count[language]++
	}
	return all
})

// NewConfused returns a confused model of these items. line and word are
// probabilities, 0 to 1.
func NewConfused(items []crosstalk.Item, line, word float64, seed uint64) (*Confused, error) {
	if err := checkProbability("confused", "line", line); err != nil {
		return nil, err
	}
	if err := checkProbability("confused", "word", word); err != nil {
		return nil, err
	}
	c := &Confused{line: line, word: word, seed: seed, languages: map[string]string{}}
	for _, item := range items {
		p := item.Prompt
		if p == nil || p.Text == "" && len(p.Placed) == 0 {
			return nil, fmt.Errorf("item %s has no prompt that %s:confused can answer: name a model (--model openai:gpt-4o-mini)", item.ID, Provider)
		}
		if _, known := sentences()[p.Language]; !known {
			return nil, fmt.Errorf("item %s: %s:confused has no sentences in the language %s, only in %s: name a model (--model openai:gpt-4o-mini)",
				item.ID, Provider, p.Language, strings.Join(Languages(), ", "))
		}
		for _, text := range append(slices.Collect(maps.Values(p.Placed)), p.Text) {
			if other, again := c.languages[text]; again && other != p.Language && text != "" {
				return nil, fmt.Errorf("item %s: the prompt asks for an answer in %s, and another item has the same prompt for %s: %s:confused cannot tell them apart", item.ID, p.Language, other, Provider)
			}
			c.languages[text] = p.Language
		}
	}
	delete(c.languages, "")
	hash := fnv.New64a()
	hash.Write(sentencesFile)
	hash.Write(crosstalk.Canonical(c.languages))
	c.id = crosstalk.Identity{Provider: Provider, Endpoint: "suite:" + hex.EncodeToString(hash.Sum(nil)),
		Name: fmt.Sprintf("confused?line=%g&word=%g&seed=%d", line, word, seed)}
	return c, nil
}

// Languages returns those that Confused writes, in order.
var Languages = sync.OnceValue(func() []string { return slices.Sorted(maps.Keys(sentences())) })

// Identity names the settings, and as endpoint the prompts and sentences.
func (c *Confused) Identity() crosstalk.Identity { return c.id }

// API is that of a model that answers.
func (c *Confused) API() crosstalk.API { return crosstalk.Chat }

// Answer implements crosstalk.Model.
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
	var switches []int // bytes of the text at which a fault begins
	for place := range 1 + r.IntN(MaxLines) {
		if place > 0 {
			text.WriteString("\n")
		}
		line, fault := c.draw(r, language, place)
		if fault >= 0 {
			switches = append(switches, text.Len()+fault)
		}
		text.WriteString(line)
	}
	a := crosstalk.Answer{Status: crosstalk.Text, Text: text.String(), Reason: "stop", Model: c.id.Name,
		Usage: crosstalk.Usage{Prompt: len(strings.Fields(req.Text())), Completion: len(pieces(text.String()))}}
	if req.Logprobs > 0 {
		a.Logprobs = madeUp(r, language, a.Text, switches, req.Logprobs)
	}
	return a, nil
}

// draw draws a line, and says where it goes wrong, -1 if it does not.
func (c *Confused) draw(r *rand.Rand, language string, place int) (line string, fault int) {
	if r.Float64() < c.line {
		others := Languages()
		other := others[r.IntN(len(others)-1)]
		if other >= language {
			other = others[slices.Index(others, other)+1]
		}
		of := sentences()[other][place]
		return of[r.IntN(len(of))].text(), 0
	}
	own := sentences()[language][place]
	s := own[r.IntN(len(own))]
	if r.Float64() < c.word {
		return s.confused(), len(s.before)
	}
	return s.text(), -1
}

// Lines is the distribution of a line of an answer in a language, place from 0
// to below MaxLines: the truth that a measurement is held against. Lines of an
// answer are independent, and their number is 1 to MaxLines with equal chance.
func (c *Confused) Lines(language string, place int) []Outcome {
	var outcomes []Outcome
	own := sentences()[language][place]
	for _, s := range own {
		p := (1 - c.line) / float64(len(own))
		outcomes = append(outcomes, Outcome{s.text(), p * (1 - c.word)}, Outcome{s.confused(), p * c.word})
	}
	for other, lines := range sentences() {
		if other == language {
			continue
		}
		for _, s := range lines[place] {
			outcomes = append(outcomes, Outcome{s.text(), c.line / float64((len(sentences())-1)*len(lines[place]))})
		}
	}
	return outcomes
}
