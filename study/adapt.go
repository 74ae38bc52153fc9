package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/model"
)

// adapt makes the condition's settings what its model takes, as far as is
// known, and notes the changes. strict is a protocol that reproduces a paper:
// it measures with its own settings or not at all; "" is none.
func (c *Condition) adapt(families []model.Family, strict string) error {
	p, changes := model.Adapt(c.name, c.Prompting, families)
	for _, change := range changes {
		if change.Keeps {
			continue
		}
		if strict != "" {
			return refusal(change.String(), change.Param, strict)
		}
		if _, swept := c.Name[change.Param]; swept {
			return crosstalk.BadOption(flagOf(change.Param), ": %s, so its values cannot be compared", change)
		}
	}
	c.Prompting, c.Changes = p, changes
	return nil
}

// refusal says what to do about a parameter that a model does not take under
// the protocol of a paper.
func refusal(what, param, protocol string) error {
	remedy := "use --protocol crosstalk-1"
	if param == crosstalk.ParamTemperature || param == crosstalk.ParamTopP {
		remedy += fmt.Sprintf(", or --%s default to depart from the protocol", flagOf(param))
	}
	return fmt.Errorf("%s; %s measures with its own settings only: %s", what, protocol, remedy)
}

func flagOf(param string) string { return strings.ReplaceAll(param, "_", "-") }

// strictly is the name of a protocol that reproduces a paper, "" of ours.
func strictly(protocol string) string {
	if strings.HasPrefix(protocol, "crosstalk-") {
		return ""
	}
	return protocol
}

// adapting asks a model that may not take what it is asked with. What it
// refuses before its first answer is left out from then on; one that turns out
// to think gets room for it.
type adapting struct {
	crosstalk.Asker
	name     string // the model's
	families []model.Family
	strict   string
	note     func(c model.Change) // a change, once

	mu      sync.Mutex
	dropped []string // parameters
	room    bool
}

// Ask implements crosstalk.Asker.
func (a *adapting) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	for {
		sent, version := a.apply(req)
		answer, err := a.Asker.Ask(ctx, sent)
		var refused *ask.RefusedError
		var empty *ask.EmptyError
		switch {
		case errors.As(err, &refused):
			if err := a.drop(refused, sent, version); err != nil {
				return answer, err
			}
			continue
		case errors.As(err, &empty) && empty.Reasoning > 0 && a.giveRoom(sent),
			err == nil && answer.Status == crosstalk.Empty && model.Thought(answer) && a.giveRoom(sent):
			continue
		}
		return answer, err
	}
}

// apply returns the request with all changes so far, and how many they are.
func (a *adapting) apply(req crosstalk.Request) (crosstalk.Request, int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, param := range a.dropped {
		req, _, _ = without(a.name, req, param)
	}
	if a.room {
		p, _, _ := model.WithRoom(a.name, configOf(req), a.families)
		req.Decoding = p.Decoding
	}
	return req, len(a.dropped)
}

// drop leaves a refused parameter out from now on. It is an error if that was
// tried, or may not be.
func (a *adapting) drop(refused *ask.RefusedError, sent crosstalk.Request, version int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.dropped) > version {
		return nil // meanwhile another ask has found it out
	}
	_, change, possible := without(a.name, sent, refused.Param)
	switch {
	case !possible:
		return refused
	case a.strict != "" && !change.Keeps:
		return refusal(refused.Error(), refused.Param, a.strict)
	case slices.Contains(a.dropped, refused.Param) && refused.Param != crosstalk.ParamReasoning,
		len(a.dropped) >= 8:
		return refused
	}
	a.dropped = append(a.dropped, refused.Param)
	a.note(change)
	return nil
}

// giveRoom gives the model room for its thoughts from now on; it reports
// whether the request that was sent had none.
func (a *adapting) giveRoom(sent crosstalk.Request) bool {
	_, change, possible := model.WithRoom(a.name, configOf(sent), a.families)
	if !possible {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.room {
		a.room = true
		a.note(change)
	}
	return true
}

// configOf is the part of a request that a model may refuse.
func configOf(req crosstalk.Request) crosstalk.PromptConfig {
	return crosstalk.PromptConfig{API: req.API, Decoding: req.Decoding, Logprobs: req.Logprobs}
}

// without is a request without a parameter (model.Without).
func without(name string, req crosstalk.Request, param string) (crosstalk.Request, model.Change, bool) {
	p := configOf(req)
	if len(req.Messages) > 1 && req.Messages[0].Role == "system" {
		p.System = req.Messages[0].Content
	}
	p, change, possible := model.Without(name, p, param)
	if !possible {
		return req, change, false
	}
	req.Decoding, req.Logprobs = p.Decoding, p.Logprobs
	if param == crosstalk.ParamSystem {
		req.Messages = slices.Clone(req.Messages[1:])
		req.Messages[0].Content = p.Prefix + req.Messages[0].Content
	}
	return req, change, true
}
