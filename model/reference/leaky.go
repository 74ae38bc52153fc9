// Package reference holds models whose truth is known, as a phantom's is for a
// scanner: they calibrate an instrument and stand in where no language model
// is named. They are never presented as language models.
package reference

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"

	"crosstalk"
)

// Provider is the provider's name in "reference:leaky?rate=0.6".
const Provider = "reference"

// Default is the reference model that runs where none is named.
const Default = "leaky?rate=0.6"

// Open returns the reference model of a specification such as
// "leaky?rate=0.6&seed=2" over a suite's items.
func Open(spec string, items []crosstalk.Item) (crosstalk.Model, error) {
	name, query, _ := strings.Cut(spec, "?")
	settings, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("%s:%s: cannot read the settings: %w", Provider, spec, err)
	}
	if name != "leaky" {
		return nil, fmt.Errorf("%s has no model %q: choose leaky, as in %s:%s", Provider, name, Provider, Default)
	}
	rate, seed := 0.6, uint64(1)
	for key, values := range settings {
		value := values[len(values)-1]
		switch key {
		case "rate":
			if rate, err = strconv.ParseFloat(value, 64); err != nil {
				return nil, fmt.Errorf("%s:leaky: rate is %q; expected a probability, 0 to 1", Provider, value)
			}
		case "seed":
			if seed, err = strconv.ParseUint(value, 10, 64); err != nil {
				return nil, fmt.Errorf("%s:leaky: seed is %q; expected a whole number from 0", Provider, value)
			}
		default:
			return nil, fmt.Errorf("%s:leaky has no setting %q; it has rate and seed", Provider, key)
		}
	}
	return NewLeaky(items, rate, seed)
}

// Leaky continues a test prompt, with probability rate, with one of the leaks
// that the suite lists for the item, and otherwise, like a control prompt,
// with one of the control's neutral continuations; each with equal chance. An
// answer depends on seed, prompt and sample alone; what stands before the
// prompt is passed over.
type Leaky struct {
	rate    float64
	seed    uint64
	content string // hash of the continuations
	prompts map[string]continuations
}

type continuations struct{ leaks, neutral []string }

var _ crosstalk.Model = (*Leaky)(nil)

// NewLeaky returns a leaky model of these items. rate is a probability, 0 to 1.
func NewLeaky(items []crosstalk.Item, rate float64, seed uint64) (*Leaky, error) {
	if !(rate >= 0 && rate <= 1) {
		return nil, fmt.Errorf("%s:leaky: rate is %v; expected a probability, 0 to 1", Provider, rate)
	}
	l := &Leaky{rate: rate, seed: seed, prompts: map[string]continuations{}}
	hash := fnv.New64a()
	for _, item := range items {
		p := item.Pair
		if p == nil || len(p.Leaks) == 0 || len(p.Neutral) == 0 {
			return nil, fmt.Errorf("item %s lists no leaks or no neutral continuations, which %s:leaky answers with: name a model (--model openai:gpt-4o-mini), or use a suite that has them",
				item.ID, Provider)
		}
		l.prompts[p.Test] = continuations{p.Leaks, p.Neutral}
		if _, known := l.prompts[p.Control]; !known {
			l.prompts[p.Control] = continuations{nil, p.Neutral}
		}
		hash.Write(crosstalk.Canonical([][]string{{p.Test, p.Control}, p.Leaks, p.Neutral}))
	}
	l.content = hex.EncodeToString(hash.Sum(nil))
	return l, nil
}

// Identity names the settings, and as endpoint the continuations that the
// suite lists: answers depend on both.
func (l *Leaky) Identity() crosstalk.Identity {
	return crosstalk.Identity{Provider: Provider, Endpoint: "suite:" + l.content,
		Name: fmt.Sprintf("leaky?rate=%g&seed=%d", l.rate, l.seed)}
}

// API is that of a model that continues a text.
func (l *Leaky) API() crosstalk.API { return crosstalk.Completions }

// Answer implements crosstalk.Model.
func (l *Leaky) Answer(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if err := ctx.Err(); err != nil {
		return crosstalk.Answer{}, err
	}
	prompt, known := l.find(req.Text())
	if !known {
		return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected,
			Message: fmt.Sprintf("%s:leaky knows only the suite's own prompts, not %q", Provider, req.Text())}
	}
	c := l.prompts[prompt]
	h := fnv.New64a()
	h.Write([]byte(prompt))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(req.Sample)))
	r := rand.New(rand.NewPCG(l.seed, h.Sum64()))
	choices := c.neutral
	if c.leaks != nil && r.Float64() < l.rate {
		choices = c.leaks
	}
	text := choices[r.IntN(len(choices))]
	return crosstalk.Answer{Status: crosstalk.Text, Text: text, Reason: "stop", Model: l.Identity().Name,
		Usage: crosstalk.Usage{Prompt: len(strings.Fields(req.Text())), Completion: len(strings.Fields(text))}}, nil
}

// find returns the longest prompt that the text ends with.
func (l *Leaky) find(text string) (prompt string, known bool) {
	if _, known = l.prompts[text]; known {
		return text, true
	}
	for p := range l.prompts {
		if strings.HasSuffix(text, p) && len(p) > len(prompt) {
			prompt, known = p, true
		}
	}
	return prompt, known
}

// Outcome is an answer and its probability.
type Outcome struct {
	Text string
	P    float64
}

// Outcomes is the distribution of answers to a prompt of the suite: the truth
// that a measurement is held against. The same text may stand in it twice.
func (l *Leaky) Outcomes(prompt string) []Outcome {
	c := l.prompts[prompt]
	rate := l.rate
	if c.leaks == nil {
		rate = 0
	}
	var outcomes []Outcome
	for _, t := range c.leaks {
		outcomes = append(outcomes, Outcome{t, rate / float64(len(c.leaks))})
	}
	for _, t := range c.neutral {
		outcomes = append(outcomes, Outcome{t, (1 - rate) / float64(len(c.neutral))})
	}
	return outcomes
}
