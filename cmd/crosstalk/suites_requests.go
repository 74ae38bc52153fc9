package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/leakage"
	"crosstalk/suite"
)

// named is a request of an item, and which of the item's it is.
type named struct {
	name    string
	request crosstalk.Request
}

// showRequests prints what is sent for an item: each request's messages by
// their roles, or its prompt.
func showRequests(b *strings.Builder, requests []named) {
	for _, r := range requests {
		fmt.Fprintf(b, "  %s\n", r.name)
		if r.request.API == crosstalk.Completions {
			showText(b, "", 11, "  prompt", r.request.Prompt)
			continue
		}
		for _, m := range r.request.Messages {
			showText(b, "", 11, "  "+m.Role, m.Content)
		}
	}
}

func pairRequests(p crosstalk.PromptConfig, _ *suite.Suite, i crosstalk.Item) []named {
	return []named{{"test", leakage.Request(p, i.Pair, true, 0)}, {"control", leakage.Request(p, i.Pair, false, 0)}}
}

func promptRequests(p crosstalk.PromptConfig, _ *suite.Suite, i crosstalk.Item) (requests []named) {
	if len(i.Prompt.Placed) == 0 {
		return []named{{"prompt", p.RequestAfter(i.Prompt.Before, i.Prompt.Text, 0)}}
	}
	for _, place := range slices.Sorted(maps.Keys(i.Prompt.Placed)) {
		name := place
		if i.Prompt.Placed[place] == i.Prompt.Text {
			name += " (default)"
		}
		requests = append(requests, named{name, p.RequestAfter(i.Prompt.Before, i.Prompt.Placed[place], 0)})
	}
	return requests
}

// inputRequests are the prompts in the languages that an input exists in. The
// others depend on how the model rewrites these.
func inputRequests(p crosstalk.PromptConfig, s *suite.Suite, i crosstalk.Item) (requests []named) {
	t := s.Tasks[slices.IndexFunc(s.Tasks, func(t crosstalk.Task) bool { return t.Name == i.Input.Task })]
	for _, language := range slices.Sorted(maps.Keys(i.Input.Texts)) {
		if in, ok := t.Instructions[language]; ok {
			requests = append(requests, named{language, p.Request(t.Prompt(in, i.Input.Texts[language]), 0)})
		}
	}
	return requests
}
