package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"crosstalk"
	"crosstalk/internal/visible"
	"crosstalk/measure/thoughts"
	"crosstalk/model/endpoint"
)

// Findings of Check about a parameter.
const (
	Taken    = "taken"     // the server accepted it
	Refused  = "refused"   // the server refused it
	Dropped  = "dropped"   // the server accepted it without effect
	NotTried = "not tried" // the table of families knows better, or no requests were left
)

// Checked holds the findings of Check about a model.
type Checked struct {
	Model  crosstalk.Identity
	Family string // matching entries of the table; "" if none
	// Taken, Refused, Dropped or NotTried, by name: temperature, top_p (with a temperature), logprobs, system
	Params    map[string]string
	Levels    []CheckedLevel // of reasoning, in the order in which they were tried
	MaxTokens string         // the parameter for the limit
	Changes   []Change       // changes that Adapt made to a request with all parameters
	Refusals  []string       // in the server's words
	Asks      int

	Room int // tokens for thoughts in a run

	Sent   crosstalk.PromptConfig // the settings of the request that was answered
	Answer crosstalk.Answer
}

// CheckedLevel is the outcome of asking for a level of reasoning.
type CheckedLevel struct {
	Level  string
	Params json.RawMessage // that ask for it, as an object
	Result string          // Taken: the model thought, or not, as requested
}

const (
	mostAsks    = 3    // the most requests of Check
	room        = 2000 // tokens for thoughts
	checkPrompt = "What is the capital of France?"
)

// Check finds out what the model with this name, provider:name, accepts and whether it thinks, with at most three
// requests of a few tokens. The first has all parameters, the next those that remain after a refusal and the table of
// families, the last none; any others try levels of reasoning. The error means that the model did not answer.
func Check(ctx context.Context, name string, o Options) (Checked, error) {
	switch o.API {
	case "", crosstalk.Chat, crosstalk.Completions, crosstalk.Responses:
	default:
		return Checked{}, crosstalk.BadOption("api", " is %q; expected chat, completions or responses", o.API)
	}
	m, err := Open(name, o)
	if err != nil {
		return Checked{}, err
	}
	temperature, topP := 0.5, 0.9
	p := crosstalk.PromptConfig{API: m.API(), System: "Answer with one word.", Logprobs: 2,
		Decoding: crosstalk.Decoding{Temperature: &temperature, TopP: &topP, MaxTokens: 20, ReasoningTokens: room}}
	tried := []string{crosstalk.ParamTemperature, crosstalk.ParamTopP, crosstalk.ParamLogprobs, crosstalk.ParamSystem}
	if p.API == crosstalk.Completions {
		p.System, tried = "", tried[:3]
	}
	provider, _, _ := cutName(name)
	if preset, _ := lookup(provider); preset.Protocol == anthropicMessages {
		p.Logprobs = 0 // the API has none
	}
	c := Checked{Model: m.Identity(), Family: familyOf(name, o.Families).Name, Params: map[string]string{},
		MaxTokens: "max_tokens"}
	for _, param := range tried {
		c.Params[param] = NotTried
	}
	_, c.Changes = Adapt(name, p, o.Families)
	bare := crosstalk.PromptConfig{API: p.API, Decoding: crosstalk.Decoding{MaxTokens: p.Decoding.MaxTokens,
		ReasoningTokens: room}}
	last := false // the request without parameters was sent
	for c.Asks = 1; ; c.Asks++ {
		c.Answer, err = m.Answer(ctx, p.Request(checkPrompt, 0))
		var refused *crosstalk.AskError
		if !errors.As(err, &refused) || refused.Param == "" && refused.Fault != crosstalk.Rejected || last ||
			c.Asks == mostAsks {
			break
		}
		c.Refusals = append(c.Refusals, refused.Message)
		if _, asked := c.Params[refused.Param]; asked {
			c.Params[refused.Param] = Refused
		}
		if refused.Param == "" || c.Asks == mostAsks-1 { // it may be any parameter, or there is no request left to find out
			bare.Decoding.Reasoning = p.Decoding.Reasoning
			p, last = bare, true
			continue
		}
		without, _, ok := Without(name, p, refused.Param)
		if !ok {
			break
		}
		p, _ = Adapt(name, without, o.Families)
	}
	var refused *crosstalk.AskError
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		err = fmt.Errorf("%w\n'crosstalk models %s:' prints the models that the server has", err, provider)
	}
	if err != nil {
		return c, err
	}
	if named, ok := m.(interface{ MaxTokensName() string }); ok {
		c.MaxTokens = named.MaxTokensName()
	}
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
	for _, param := range c.Answer.Missing {
		if _, asked := c.Params[param]; asked {
			c.Params[param] = Dropped
		}
	}
	c.Sent = p
	asRun, _ := Adapt(name, crosstalk.PromptConfig{API: crosstalk.Chat, Decoding: crosstalk.Decoding{MaxTokens: 1}},
		o.Families)
	if asRun.Decoding.ReasoningTokens == 0 && c.Answer.Thought() {
		asRun, _, _ = WithRoom(name, asRun, o.Families)
	}
	c.Room = asRun.Decoding.ReasoningTokens
	c.tryLevels(ctx, m, familyOf(name, o.Families).Reasoning, func(p crosstalk.PromptConfig) crosstalk.PromptConfig {
		p, _ = Adapt(name, p, o.Families)
		return p
	})
	return c, nil
}

// tryLevels spends the remaining requests on levels of reasoning: off and down if the model thinks, else on.
func (c *Checked) tryLevels(ctx context.Context, m crosstalk.Model, r Reasoning,
	adapt func(crosstalk.PromptConfig) crosstalk.PromptConfig) {
	levels := []string{crosstalk.ReasoningLow}
	if r.Levels != nil && !r.can(crosstalk.ReasoningLow) {
		levels = []string{crosstalk.ReasoningHigh}
	}
	if c.Answer.Thought() {
		levels = append([]string{crosstalk.ReasoningOff}, levels...)
	}
	for _, level := range levels {
		if c.Asks == mostAsks || !r.can(level) || c.Sent.Decoding.Reasoning == level {
			continue
		}
		p := c.Sent
		p.Decoding.Reasoning = level
		c.Asks++
		a, err := m.Answer(ctx, adapt(p).Request(checkPrompt, 0))
		result := Taken
		var refused *crosstalk.AskError
		switch {
		case errors.As(err, &refused) && refused.Fault == crosstalk.Rejected:
			result = Refused
			c.Refusals = append(c.Refusals, refused.Message)
		case err != nil:
			return // this tells nothing about the level
		case a.Thought() == (level == crosstalk.ReasoningOff):
			result = Dropped
		}
		sent := endpoint.NewBody(nil)
		sent.SetAll(r.spelling()[level], room)
		params, _ := sent.Bytes() // the request has reported any error
		c.Levels = append(c.Levels, CheckedLevel{level, params, result})
	}
}

// Flags returns the flags of run that spell out what the model accepts. Under crosstalk-1 a run finds them by itself.
func (c Checked) Flags() (flags []string) {
	for _, f := range []struct {
		param, flag string
		sent        bool
	}{
		{crosstalk.ParamTemperature, "--temperature", c.Sent.Decoding.Temperature != nil},
		{crosstalk.ParamTopP, "--top-p", c.Sent.Decoding.TopP != nil},
	} {
		if !f.sent && (c.Params[f.param] == Refused || c.Why(f.param) != "") {
			flags = append(flags, f.flag+" default")
		}
	}
	if level := c.Sent.Decoding.Reasoning; level != "" {
		flags = append(flags, "--reasoning "+level)
	}
	if c.Room > 0 {
		flags = append(flags, fmt.Sprintf("--reasoning-tokens %d", c.Room))
	}
	return flags
}

// Why returns the reason why the table of families changes a parameter, "" if it does not.
func (c Checked) Why(param string) string {
	for _, change := range c.Changes {
		if change.Param == param {
			return change.Why
		}
	}
	return ""
}

// shownIn tells where thoughts were returned: field, text, parts, blocks or nowhere.
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

// Rows returns the findings as pairs of a name and a text, for people.
func (c Checked) Rows() (rows [][2]string) {
	say := func(name, format string, args ...any) {
		rows = append(rows, [2]string{name, fmt.Sprintf(format, args...)})
	}
	say("model", "%s at %s", c.Model, c.Model.Endpoint)
	_, date := Families()
	say("known as", "%s", cmp.Or(c.Family, "not in the table of families of "+date))
	served := cmp.Or(visible.Line(c.Answer.Model), "- (the server does not say)")
	if !SameModel(c.Model.Name, c.Answer.Model) {
		served += ": another model"
	}
	say("answered as", "%s", served)
	a := c.Answer
	answer := fmt.Sprintf("%q", a.Text)
	if a.Status != crosstalk.Text {
		answer = string(a.Status)
		if a.Reason != "" {
			answer += " (" + visible.Line(a.Reason) + ")"
		}
	}
	say("answer", "%s; %d tokens of prompt, %d of completion", answer, a.Usage.Prompt, a.Usage.Completion)
	for _, row := range [][2]string{{"temperature", crosstalk.ParamTemperature}, {"top-p", crosstalk.ParamTopP},
		{"system", crosstalk.ParamSystem}, {"logprobs", crosstalk.ParamLogprobs}} {
		if _, asked := c.Params[row[1]]; asked {
			say(row[0], "%s", c.taken(row[1]))
		}
	}
	say("max tokens", "sent as %s", c.MaxTokens)
	say("thinks", "%s", c.thinking())
	var levels []string
	for _, l := range c.Levels {
		result := map[string]string{Dropped: "no effect seen"}[l.Result]
		levels = append(levels, fmt.Sprintf("%s %s (%s)", l.Level, cmp.Or(result, l.Result), l.Params))
	}
	say("reasoning", "%s", cmp.Or(strings.Join(levels, ", "), NotTried))
	say("asks", "%d", c.Asks)
	for _, text := range c.Refusals {
		say("refusal", "%s", visible.Line(strings.TrimPrefix(text, c.Model.String()+": ")))
	}
	say("flags", "%s", cmp.Or(strings.Join(c.Flags(), " "), "none"))
	return rows
}

func (c Checked) taken(param string) string {
	result, why := c.Params[param], c.Why(param)
	switch {
	case result == Taken && param == crosstalk.ParamLogprobs:
		candidates := 0 // the most at any position
		for _, l := range c.Answer.Logprobs {
			candidates = max(candidates, len(l.Top))
		}
		return fmt.Sprintf("%s: %d candidates for each token", result, candidates)
	case result == Dropped:
		return result + " without an error: it had no effect"
	case result == NotTried && why != "":
		return result + ": " + why
	case result == Refused && param == crosstalk.ParamSystem:
		return result + ": it is sent as a part of the prompt"
	}
	return result
}

func (c Checked) thinking() string {
	if !c.Answer.Thought() {
		return "no, as far as the answer shows"
	}
	where := map[string]string{
		"field": "in a separate field", "text": "in the text of the answer, from which they are removed",
		"parts": "in parts of the content", "blocks": "in blocks", "nowhere": "not shown",
	}[shownIn(c.Answer)]
	tokens := c.Answer.Usage.Reasoning
	if tokens == 0 {
		return "yes: thoughts are " + where + ", and their tokens are not counted apart"
	}
	return fmt.Sprintf("yes: thoughts are %s; %d tokens", where, tokens)
}
