package model

import (
	"cmp"
	"fmt"
	"strings"

	"crosstalk"
	"crosstalk/internal/visible"
)

// Rows says what Check found, for people: names and texts.
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
		candidates := 0 // at most, at a position
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
