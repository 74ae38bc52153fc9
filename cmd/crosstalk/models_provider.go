package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/internal/config"
	"crosstalk/internal/visible"
	"crosstalk/model"

	"github.com/spf13/cobra"
)

// providerFlags say where a provider's models are and how they are reached.
type providerFlags struct {
	options model.Options
	api     string
	timeout time.Duration
}

func (p *providerFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&p.options.BaseURL, "base-url", "", "URL of the API (default: the provider's)")
	f.StringVar(&p.options.KeyVar, "key-var", "", "environment variable that contains the API key (default: the provider's)")
	f.StringArrayVar(&p.options.Header, "header", nil, "header to send with every request, NAME=VALUE or NAME=$VARIABLE")
	f.DurationVar(&p.timeout, "timeout", 2*time.Minute, "maximum time to wait for the server")
	config.Sensitive(f, "base-url", config.Address)
	config.Sensitive(f, "key-var", config.Credential)
	config.Sensitive(f, "header", config.Credential)
}

// isProvider reports whether name is that of a provider of language models.
func isProvider(name string) bool {
	return slices.ContainsFunc(model.Presets(), func(p model.Preset) bool { return p.Name == strings.ToLower(name) })
}

// list prints the names of a server's models, those that contain what follows
// the provider.
func (p *providerFlags) list(ctx context.Context, stdout io.Writer, arg string) error {
	provider, part, _ := strings.Cut(strings.TrimSpace(arg), ":")
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	names, err := model.List(ctx, provider, p.options)
	if err != nil {
		return err
	}
	all := len(names)
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.Contains(strings.ToLower(name), strings.ToLower(part))
	})
	if len(names) == 0 && all > 0 {
		return fmt.Errorf("none of the %d models of %s has %q in its name", all, provider, part)
	}
	for _, name := range names {
		if _, err := fmt.Fprintf(stdout, "%s:%s\n", strings.ToLower(provider), visible.Line(name)); err != nil {
			return err
		}
	}
	return nil
}

// check asks a model what it takes, and prints it.
func (p *providerFlags) check(ctx context.Context, stdout io.Writer, name string) error {
	switch p.options.API = crosstalk.API(p.api); p.options.API {
	case "", crosstalk.Chat, crosstalk.Completions, crosstalk.Responses:
	default:
		return crosstalk.BadOption("api", " is %q; expected chat, completions or responses", p.api)
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	found, err := model.Check(ctx, name, p.options)
	var refused *crosstalk.AskError
	if errors.As(err, &refused) && refused.Status == 404 {
		provider, _, _ := strings.Cut(name, ":")
		return fmt.Errorf("%w\n'crosstalk models list %s:' prints the models that the server has", err, provider)
	}
	if err != nil {
		return err
	}
	return p.printChecked(stdout, name, found)
}

func (p *providerFlags) printChecked(stdout io.Writer, name string, found model.Checked) error {
	var c checkedModel
	c.say("model", "%s at %s", found.Model, found.Model.Endpoint)
	_, date := model.Families()
	c.say("known as", "%s", cmp.Or(found.Family, "not in the table of families of "+date))
	served := cmp.Or(visible.Line(found.Served), "- (the server does not say)")
	if !found.Same {
		served += ": another model"
	}
	c.say("answered as", "%s", served)
	a := found.Answer
	answer := fmt.Sprintf("%q", a.Text)
	if a.Status != crosstalk.Text {
		answer = string(a.Status)
		if a.Reason != "" {
			answer += " (" + visible.Line(a.Reason) + ")"
		}
	}
	c.say("answer", "%s; %d tokens of prompt, %d of completion", answer, a.Usage.Prompt, a.Usage.Completion)
	for _, row := range [][2]string{{"temperature", crosstalk.ParamTemperature}, {"top-p", crosstalk.ParamTopP},
		{"system", crosstalk.ParamSystem}, {"logprobs", crosstalk.ParamLogprobs}} {
		result, asked := found.Params[row[1]]
		why := found.Why(row[1])
		switch {
		case !asked:
			continue
		case result == model.Taken && row[1] == crosstalk.ParamLogprobs:
			result += fmt.Sprintf(": %d candidates for each token", candidates(a))
		case result == model.Dropped:
			result += " without an error: it had no effect"
		case result == model.NotTried && why != "":
			result += ": " + why
		case result == model.Refused && row[1] == crosstalk.ParamSystem:
			result += ": it is sent as a part of the prompt"
		}
		c.say(row[0], "%s", result)
	}
	c.say("max tokens", "sent as %s", found.MaxTokens)
	c.say("thinks", "%s", thinking(found))
	var levels []string
	for _, l := range found.Levels {
		result := map[string]string{model.Dropped: "no effect seen"}[l.Result]
		levels = append(levels, fmt.Sprintf("%s %s (%s)", l.Level, cmp.Or(result, l.Result), l.Params))
	}
	c.say("reasoning", "%s", cmp.Or(strings.Join(levels, ", "), model.NotTried))
	c.say("asks", "%d", found.Asks)
	for _, text := range found.Refusals {
		c.say("refusal", "%s", visible.Line(strings.TrimPrefix(text, found.Model.String()+": ")))
	}
	c.say("flags", "%s", strings.Join(append(p.flags(name, found), found.Flags()...), " "))
	return c.print(stdout)
}

// thinking says in words whether and where a model thinks.
func thinking(found model.Checked) string {
	if !found.Thinks {
		return "no, as far as the answer shows"
	}
	where := map[string]string{
		"field": "in a separate field", "text": "in the text of the answer, from which they are removed",
		"parts": "in parts of the content", "blocks": "in blocks", "nowhere": "not shown",
	}[found.Shown]
	if found.ReasoningTokens == 0 {
		return "yes: thoughts are " + where + ", and their tokens are not counted apart"
	}
	return fmt.Sprintf("yes: thoughts are %s; %d tokens", where, found.ReasoningTokens)
}

// candidates is the largest number of candidates at a position of an answer.
func candidates(a crosstalk.Answer) (n int) {
	for _, l := range a.Logprobs {
		n = max(n, len(l.Top))
	}
	return n
}

// flags are those that reach the model. The values of headers may be secret.
func (p *providerFlags) flags(name string, found model.Checked) []string {
	flags := []string{"--model " + name}
	if p.options.BaseURL != "" {
		flags = append(flags, "--base-url "+found.Model.Endpoint)
	}
	if p.api != "" {
		flags = append(flags, "--api "+p.api)
	}
	if p.options.KeyVar != "" {
		flags = append(flags, "--key-var "+p.options.KeyVar)
	}
	for _, h := range p.options.Header {
		name, _, _ := strings.Cut(h, "=")
		flags = append(flags, "--header "+name+"=...")
	}
	return flags
}
