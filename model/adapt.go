package model

import (
	"fmt"
	"strconv"
	"strings"

	"crosstalk"
)

// Change is a difference between the requested settings and those sent.
type Change struct {
	Param string `json:"param"`           // one of crosstalk's names: temperature, top_p, ...
	From  string `json:"from"`            // the requested value
	To    string `json:"to"`              // what is sent instead; "" for nothing
	Why   string `json:"why"`             // what the model accepts, for people
	Keeps bool   `json:"keeps,omitempty"` // the answer is the requested one, obtained in another way
}

// String describes the change: "temperature 0 is not sent: gpt-5-mini takes only its default".
func (c Change) String() string {
	what := c.Param
	if c.From != "" {
		what += " " + c.From
	}
	if c.To == "" {
		return fmt.Sprintf("%s is not sent: %s", what, c.Why)
	}
	return fmt.Sprintf("%s is sent as %s: %s", what, c.To, c.Why)
}

// Adapt changes p to what the model with this name, provider:name, is known to accept, and lists the changes. This
// knowledge comes from the table of families and the user's entries. Built-in models and recorded ones accept
// everything.
//
// A model that thinks gets extra tokens for it (Decoding.ReasoningTokens). Thinking is switched off only if
// necessary.
func Adapt(name string, p crosstalk.PromptConfig, own []Family) (crosstalk.PromptConfig, []Change) {
	if p.API == crosstalk.Embeddings {
		return p, nil
	}
	provider, model, err := cutName(name)
	preset, found := lookup(provider)
	if err != nil || !found {
		return p, nil
	}
	a := adapter{PromptConfig: p, model: model, family: familyOf(name, own)}
	a.reason()
	takes := a.family.Takes
	if a.thinks {
		takes = takes.with(a.family.WhileThinking)
	}
	no := false
	if p.API == crosstalk.Responses { // the API has neither
		takes.Seed, takes.Stop = &no, &no
	}
	if preset.Protocol == anthropicMessages {
		takes.Seed, takes.Logprobs = &no, &no
	}
	d := &a.Decoding
	a.sampling(crosstalk.ParamTemperature, &d.Temperature, takes.Temperature, a.family.Temperature)
	a.sampling(crosstalk.ParamTopP, &d.TopP, takes.TopP, a.family.TopP)
	if refused(takes.Stop) && len(d.Stop) > 0 {
		a.change(Change{Param: crosstalk.ParamStop, From: fmt.Sprintf("%q", d.Stop),
			Why: a.model + " takes none; answers are cut at it when they arrive", Keeps: true})
	}
	if refused(takes.Seed) && d.Seed != nil {
		a.change(Change{Param: crosstalk.ParamSeed, From: strconv.FormatInt(*d.Seed, 10), Why: a.model + " takes none"})
		d.Seed = nil
	}
	if refused(takes.Logprobs) && a.Logprobs > 0 {
		a.change(Change{Param: crosstalk.ParamLogprobs, From: strconv.Itoa(a.Logprobs),
			Why: a.model + " gives none" + a.whenThinking(refused(a.family.Logprobs))})
		a.Logprobs = 0
	}
	if refused(takes.System) && a.System != "" {
		a.change(moveSystem(&a.PromptConfig, a.model))
	}
	return a.PromptConfig, a.changes
}

func refused(takes *bool) bool { return takes != nil && !*takes }

func moveSystem(p *crosstalk.PromptConfig, model string) Change {
	c := Change{Param: crosstalk.ParamSystem, From: "message", To: "a part of the prompt",
		Why: model + " takes no system message"}
	p.Prefix, p.System = p.System+"\n\n"+p.Prefix, ""
	return c
}

type adapter struct {
	crosstalk.PromptConfig
	model   string
	family  Family
	thinks  bool
	changes []Change
}

func (a *adapter) change(c Change) { a.changes = append(a.changes, c) }

// whenThinking explains a refusal, unless the model always refuses.
func (a *adapter) whenThinking(always bool) string {
	if a.thinks && !always {
		return " while it thinks"
	}
	return ""
}

func (a *adapter) reason() {
	d, r := &a.Decoding, a.family.Reasoning
	if level := d.Reasoning; level != "" && !r.can(level) {
		why := "cannot be told how much to think"
		if r.Levels != nil && len(*r.Levels) > 0 {
			why = "takes only " + strings.Join(*r.Levels, ", ")
		}
		if level == crosstalk.ReasoningOff && r.thinks("") {
			why = "always thinks"
		}
		if level != crosstalk.ReasoningOff || r.thinks("") { // a model that does not think need not be told
			a.change(Change{Param: crosstalk.ParamReasoning, From: level, Why: a.model + " " + why})
		}
		d.Reasoning = ""
	}
	if d.Reasoning == "" && r.Use != "" {
		d.Reasoning = r.Use
		a.change(Change{Param: crosstalk.ParamReasoning, From: "", To: r.Use, Why: a.model + " can only be asked so"})
	}
	level := d.Reasoning
	if asked, found := extraLevel(d.Extra); found && level == "" {
		level = asked
	}
	a.thinks = r.thinks(level)
	if a.thinks && d.MaxTokens > 0 && d.ReasoningTokens == 0 {
		a.giveRoom(r.headroom(level))
	}
}

func (a *adapter) giveRoom(tokens int) {
	d := &a.Decoding
	d.ReasoningTokens = tokens
	a.change(Change{Param: crosstalk.ParamMaxTokens, From: strconv.Itoa(d.MaxTokens), To: strconv.Itoa(d.Limit()),
		Why:   fmt.Sprintf("%s thinks, and has %d tokens for it; longer answers are cut when they arrive", a.model, tokens),
		Keeps: true})
}

func extraLevel(extra map[string]any) (level string, found bool) {
	for _, name := range []string{"reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs",
		"output_config"} {
		v, set := extra[name]
		if !set {
			continue
		}
		text := fmt.Sprint(v)
		for _, off := range []string{"none", "disabled", "false"} {
			if strings.Contains(text, off) {
				return crosstalk.ReasoningOff, true
			}
		}
		for _, level := range levels[1:] {
			if strings.Contains(text, level) {
				return level, true
			}
		}
		return On, true
	}
	return "", false
}

// sampling adapts temperature or top_p to what the model accepts; otherwise is what it accepts while it does not
// think.
func (a *adapter) sampling(param string, value **float64, takes, otherwise string) {
	if *value == nil || takes == "" || takes == "any" {
		return
	}
	temperature := a.Decoding.Temperature
	when := a.whenThinking(otherwise == "default" || otherwise == "ignored")
	c := Change{Param: param, From: number(**value)}
	switch takes {
	case "default":
		c.Why = a.model + " takes only its default" + when
	case "ignored":
		c.Why = a.model + " ignores it" + when
	case "alone":
		if temperature == nil {
			return
		}
		c.Why = a.model + " does not take it together with a temperature"
	case "sampling":
		if temperature == nil || *temperature > 0 || **value == 1 {
			return
		}
		c.Why, c.Keeps = a.model+" does not take it with temperature 0, where it has no effect", true
	default:
		low, high, err := parseRange("", takes)
		if err != nil || **value >= low && **value <= high {
			return
		}
		v := min(max(**value, low), high)
		c.To, c.Why = number(v), a.model+" takes "+strings.Replace(takes, "-", " to ", 1)
		*value = &v
		a.change(c)
		return
	}
	*value = nil
	a.change(c)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Without returns p without a parameter that a model refused (crosstalk.AskError.Param), to try again with a model
// that Adapt does not know well enough. It is not ok if there is nothing left to try. A refusal of reasoning drops
// the requested level or, without one, requests none; the caller gives up at the second refusal.
func Without(name string, p crosstalk.PromptConfig, param string) (without crosstalk.PromptConfig, c Change, ok bool) {
	_, model, err := cutName(name)
	if err != nil {
		return p, Change{}, false
	}
	d := &p.Decoding
	c = Change{Param: param, Why: model + " refused it"}
	switch {
	case param == crosstalk.ParamTemperature && d.Temperature != nil:
		c.From, d.Temperature = number(*d.Temperature), nil
	case param == crosstalk.ParamTopP && d.TopP != nil:
		c.From, d.TopP = number(*d.TopP), nil
	case param == crosstalk.ParamStop && len(d.Stop) > 0:
		c.From, d.Stop = fmt.Sprintf("%q", d.Stop), nil
	case param == crosstalk.ParamSeed && d.Seed != nil:
		c.From, d.Seed = strconv.FormatInt(*d.Seed, 10), nil
	case param == crosstalk.ParamLogprobs && p.Logprobs > 0:
		c.From, p.Logprobs = strconv.Itoa(p.Logprobs), 0
	case param == crosstalk.ParamSystem && p.System != "":
		c = moveSystem(&p, model)
	case param == crosstalk.ParamReasoning && d.Reasoning != "":
		c.From, d.Reasoning = d.Reasoning, ""
	case param == crosstalk.ParamReasoning:
		c.To, c.Why, d.Reasoning = crosstalk.ReasoningOff, model+" refused to think here", crosstalk.ReasoningOff
	default:
		return p, Change{}, false
	}
	return p, c, true
}

// WithRoom returns p with tokens for thoughts that turned up (crosstalk.Answer.Thought), if p has a limit and none
// for them.
func WithRoom(name string, p crosstalk.PromptConfig, own []Family) (with crosstalk.PromptConfig, c Change, ok bool) {
	_, model, err := cutName(name)
	if err != nil || p.Decoding.MaxTokens == 0 || p.Decoding.ReasoningTokens > 0 {
		return p, Change{}, false
	}
	a := adapter{PromptConfig: p, model: model, family: familyOf(name, own)}
	a.giveRoom(a.family.Reasoning.headroom(p.Decoding.Reasoning))
	return a.PromptConfig, a.changes[0], true
}
