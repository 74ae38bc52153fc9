package model

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"crosstalk"
	"crosstalk/model/thoughts"
)

// What Check found out about a parameter.
const (
	Taken    = "taken"     // the server took it
	Refused  = "refused"   // the server said no
	Dropped  = "dropped"   // the server took it, and it had no effect
	NotTried = "not tried" // the table of families knows better, or the asks were used up
)

// Checked is what Check found out about a model.
type Checked struct {
	Model    crosstalk.Identity `json:"model"`
	Family   string             `json:"family,omitempty"` // entries of the table that fit
	Params   map[string]string  `json:"params"`           // Taken, Refused, Dropped or NotTried, by name: temperature, top_p (with a temperature), logprobs, system
	Refusals []string           `json:"refusals,omitempty"`
	Changes  []Change           `json:"changes,omitempty"` // what Adapt makes of a request with all of these
	Asks     int                `json:"asks"`

	Served          string `json:"served,omitempty"` // the model's name as the server says it
	Same            bool   `json:"same"`             // SameModel of it
	Thinks          bool   `json:"thinks"`
	Shown           string `json:"shown,omitempty"`  // where thoughts came back: field, text, parts, blocks or nowhere
	ReasoningTokens int    `json:"reasoning_tokens"` // as usage counts them; 0 where it does not

	Answer crosstalk.Answer `json:"answer"`
}

// mostAsks is how many asks Check spends.
const mostAsks = 3

// Check finds out what the model with this name, provider:name, takes and
// whether it thinks, with at most three asks of some tokens: one with all
// parameters, one with what is left of them after a refusal and the table of
// families, and one with none. The error is of a model that did not answer.
func Check(ctx context.Context, name string, o Options) (Checked, error) {
	m, err := Open(name, o)
	if err != nil {
		return Checked{}, err
	}
	temperature, topP := 0.5, 0.9
	p := crosstalk.PromptConfig{API: m.API(), System: "Answer with one word.", Logprobs: 2,
		Decoding: crosstalk.Decoding{Temperature: &temperature, TopP: &topP, MaxTokens: 20, ReasoningTokens: 2000}}
	tried := []string{crosstalk.ParamTemperature, crosstalk.ParamTopP, crosstalk.ParamLogprobs, crosstalk.ParamSystem}
	if p.API == crosstalk.Completions {
		p.System, tried = "", tried[:3]
	}
	provider, _, _ := cutName(name)
	if preset, _ := lookup(provider); preset.protocol == anthropicMessages {
		p.Logprobs = 0 // the API has none
	}
	c := Checked{Model: m.Identity(), Family: FamilyOf(name, o.Families).Name, Params: map[string]string{}}
	for _, param := range tried {
		c.Params[param] = NotTried
	}
	_, c.Changes = Adapt(name, p, o.Families)
	for c.Asks = 1; ; c.Asks++ {
		c.Answer, err = m.Answer(ctx, p.Request("What is the capital of France?", 0))
		var refused *crosstalk.AskError
		if err == nil || !errors.As(err, &refused) || refused.Param == "" || c.Asks == mostAsks {
			break
		}
		c.Refusals = append(c.Refusals, refused.Message)
		if _, asked := c.Params[refused.Param]; asked {
			c.Params[refused.Param] = Refused
		}
		if c.Asks == mostAsks-1 {
			p = crosstalk.PromptConfig{API: p.API, Decoding: crosstalk.Decoding{MaxTokens: p.Decoding.MaxTokens, ReasoningTokens: p.Decoding.ReasoningTokens, Reasoning: p.Decoding.Reasoning}}
			continue
		}
		without, _, ok := Without(name, p, refused.Param)
		if !ok {
			break
		}
		p, _ = Adapt(name, without, o.Families)
	}
	if err != nil {
		return c, err
	}
	c.settle(p)
	return c, nil
}

// settle notes what the answer to p shows.
func (c *Checked) settle(p crosstalk.PromptConfig) {
	a := c.Answer
	for param, sent := range map[string]bool{
		crosstalk.ParamTemperature: p.Decoding.Temperature != nil,
		crosstalk.ParamTopP:        p.Decoding.TopP != nil && p.Decoding.Temperature != nil,
		crosstalk.ParamLogprobs:    p.Logprobs > 0,
		crosstalk.ParamSystem:      p.System != "",
	} {
		if _, asked := c.Params[param]; asked && sent {
			c.Params[param] = Taken
		}
	}
	for _, param := range a.Missing {
		if _, asked := c.Params[param]; asked {
			c.Params[param] = Dropped
		}
	}
	c.Served, c.Same = a.Model, SameModel(c.Model.Name, a.Model)
	c.Thinks, c.ReasoningTokens = Thought(a), a.Usage.Reasoning
	if c.Thinks {
		c.Shown = shownIn(a)
	}
}

// shownIn is where an answer's thoughts came back.
func shownIn(a crosstalk.Answer) string {
	if a.Reasoning == "" {
		return "nowhere"
	}
	var body struct {
		Choices []struct {
			Message struct{ Content json.RawMessage }
			Text    string
		}
		Content []struct{ Type string }
	}
	json.Unmarshal(a.Raw, &body)
	if len(body.Content) > 0 {
		return "blocks"
	}
	if len(body.Choices) == 0 {
		return "field"
	}
	raw := body.Choices[0].Message.Content
	text := body.Choices[0].Text
	json.Unmarshal(raw, &text)
	if _, reasoning := thoughts.Split(text); reasoning != "" {
		return "text"
	}
	if strings.HasPrefix(string(raw), "[") {
		return "parts"
	}
	return "field"
}
