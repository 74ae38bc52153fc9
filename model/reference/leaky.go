package reference

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"

	"crosstalk"
)

// Leaky continues a test prompt, with probability rate, with one of the item's leaks in the suite, and otherwise,
// like a control prompt, with one of the control's neutral continuations, each with equal chance. An answer depends
// only on seed, prompt and sample; text before the prompt is ignored.
//
// If a text around the prompt mentions the concept (crosstalk.Context), an answer starts with that text, word for
// word, with probability copying; an answer to a control likewise with the control's text.
type Leaky struct {
	base
	rate    float64
	copying float64
	seed    uint64
	prompts map[string]continuations
}

type continuations struct {
	leaks, neutral []string
	carried        string // the text around the prompt
}

// NewLeaky returns a leaky model for these items. rate and copying are probabilities, 0 to 1.
func NewLeaky(items []crosstalk.Item, rate, copying float64, seed uint64) (*Leaky, error) {
	if err := cmp.Or(checkProbability("leaky", "rate", rate), checkProbability("leaky", "copy", copying)); err != nil {
		return nil, err
	}
	l := &Leaky{rate: rate, copying: copying, seed: seed, prompts: map[string]continuations{}}
	hash := fnv.New64a()
	for _, item := range items {
		p := item.Pair
		if p == nil || len(p.Leaks) == 0 || len(p.Neutral) == 0 {
			return nil, fmt.Errorf("item %s lists no leaks or no neutral continuations, and %s:leaky answers with one of "+
				"these: name a model (--model openai:gpt-4o-mini), or use a suite that has them",
				item.ID, Provider)
		}
		var test, control string
		if c := p.Context; c != nil {
			test, control = c.Test.String(), c.Control.String()
		}
		l.prompts[p.Test] = continuations{p.Leaks, p.Neutral, test}
		if _, known := l.prompts[p.Control]; !known {
			l.prompts[p.Control] = continuations{nil, p.Neutral, control}
		}
		hash.Write(crosstalk.Canonical([][]string{{p.Test, p.Control}, p.Leaks, p.Neutral}))
	}
	l.base = newBase(crosstalk.Completions, hash.Sum(nil), "leaky?rate=%g&seed=%d", rate, seed)
	if copying > 0 {
		l.id.Name += fmt.Sprintf("&copy=%g", copying)
	}
	return l, nil
}

func (l *Leaky) Answer(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if err := ctx.Err(); err != nil {
		return crosstalk.Answer{}, err
	}
	prompt, known := promptOf(l.prompts, req.Text())
	if !known {
		return crosstalk.Answer{}, stranger("leaky", req.Text())
	}
	c := l.prompts[prompt]
	r := draws(l.seed, prompt, req.Sample)
	choices := c.neutral
	if c.leaks != nil && r.Float64() < l.rate {
		choices = c.leaks
	}
	text := choices[r.IntN(len(choices))]
	if c.carried != "" && l.copying > 0 && r.Float64() < l.copying {
		text = copied(c.carried, text)
	}
	return l.answered(req, text), nil
}

// Outcomes returns the true distribution of answers to a prompt of the suite. The same text may occur twice.
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
	if c.carried != "" && l.copying > 0 {
		for i, o := range outcomes {
			outcomes[i].P *= 1 - l.copying
			outcomes = append(outcomes, Outcome{copied(c.carried, o.Text), o.P * l.copying})
		}
	}
	return outcomes
}

func copied(text, answer string) string { return text + "\n" + answer }
