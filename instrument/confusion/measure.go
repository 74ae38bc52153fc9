package confusion

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/internal/parallel"
)

var _ crosstalk.Instrument = (*Instrument)(nil)

// Measure requests all samples of the item's prompt and scores them, unless it is only to ask. The label "position"
// of the observations is the position of the instruction, if there is one.
func (in *Instrument) Measure(
	ctx context.Context, ask crosstalk.Asker, item crosstalk.Item,
) (observations []crosstalk.Observation, err error) {
	if item.Prompt == nil {
		return nil, fmt.Errorf("item %s has no prompt with the language of its answer: it is not a confusion item",
			item.ID)
	}
	prompt, position, err := in.Format.place(item)
	if err != nil {
		return nil, err
	}
	if position != "" {
		item.Labels = with(item.Labels, "position", position)
	}
	answers := make([]crosstalk.Answer, in.Samples)
	err = parallel.Each(in.Samples, func(k int) error {
		request, err := in.Format.request(in.Prompting, item.Prompt.Before, prompt, item.Prompt.Language, k)
		if err != nil {
			return fmt.Errorf("item %s: %w", item.ID, err)
		}
		answer, err := ask.Ask(ctx, request)
		if !in.AskOnly {
			answers[k] = answer
		}
		return err
	})
	if err != nil || in.AskOnly {
		return nil, err
	}
	for k, answer := range answers {
		observations = append(observations, in.Score(item, k, answer)...)
	}
	return observations, nil
}

// Requests are the requests for the first sample of an item without Format, one for each place of the instruction.
func Requests(p crosstalk.PromptConfig, _ []crosstalk.Task, i crosstalk.Item) (requests []crosstalk.NamedRequest) {
	of := i.Prompt
	if len(of.Placed) == 0 {
		return []crosstalk.NamedRequest{{Name: "prompt", Request: p.RequestAfter(of.Before, of.Text, 0)}}
	}
	for _, place := range slices.Sorted(maps.Keys(of.Placed)) {
		name := place
		if of.Placed[place] == of.Text {
			name += " (default)"
		}
		request := p.RequestAfter(of.Before, of.Placed[place], 0)
		requests = append(requests, crosstalk.NamedRequest{Name: name, Request: request})
	}
	return requests
}
