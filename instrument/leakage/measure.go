package leakage

import (
	"context"
	"fmt"

	"crosstalk"
	"crosstalk/internal/parallel"
)

var _ crosstalk.Instrument = (*Instrument)(nil)

// Measure requests all samples of the item's two prompts and scores them, unless it
// is only to ask: then it keeps no answer either.
func (in *Instrument) Measure(
	ctx context.Context, ask crosstalk.Asker, item crosstalk.Item,
) ([]crosstalk.Observation, error) {
	if item.Pair == nil {
		return nil, fmt.Errorf("item %s has no test and control prompt: it is not a leakage item", item.ID)
	}
	if err := in.Prompting.CheckBefore(item.Pair.Before); err != nil {
		return nil, fmt.Errorf("item %s: %w", item.ID, err)
	}
	test := make([]crosstalk.Answer, in.Samples)
	control := make([]crosstalk.Answer, in.Samples)
	err := parallel.Each(2*in.Samples, func(i int) error {
		side, k := test, i
		if i >= in.Samples {
			side, k = control, i-in.Samples
		}
		answer, err := ask.Ask(ctx, Request(in.Prompting, item.Pair, i < in.Samples, k))
		if !in.AskOnly {
			side[k] = answer
		}
		return err
	})
	if err != nil || in.AskOnly {
		return nil, err
	}
	return in.Score(ctx, item, 0, test, control)
}

// Requests are the requests for the first sample of an item.
func Requests(p crosstalk.PromptConfig, _ []crosstalk.Task, i crosstalk.Item) []crosstalk.NamedRequest {
	return []crosstalk.NamedRequest{{Name: Test, Request: Request(p, i.Pair, true, 0)},
		{Name: Control, Request: Request(p, i.Pair, false, 0)}}
}

// Request is the request for one sample of an item's test or control prompt.
func Request(p crosstalk.PromptConfig, of *crosstalk.Pair, test bool, sample int) crosstalk.Request {
	switch c := of.Context; {
	case c != nil && test:
		return p.CarriedRequest(c.Carrier, c.Test, c.Prompt, sample)
	case c != nil:
		return p.CarriedRequest(c.Carrier, c.Control, c.Prompt, sample)
	case test:
		return p.RequestAfter(of.Before, of.Test, sample)
	}
	return p.RequestAfter(of.Before, of.Control, sample)
}
