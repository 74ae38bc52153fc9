package ask

import (
	"context"
	"errors"
	"strings"
	"testing"

	"crosstalk"
)

// choosy rejects prompts that begin with bad.
type choosy struct{}

func (choosy) Identity() crosstalk.Identity {
	return crosstalk.Identity{Provider: "test", Name: "choosy"}
}
func (choosy) API() crosstalk.API { return crosstalk.Completions }
func (choosy) Answer(_ context.Context, r crosstalk.Request) (crosstalk.Answer, error) {
	if strings.HasPrefix(r.Prompt, "bad") {
		return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected, Message: "no"}
	}
	return crosstalk.Answer{Status: crosstalk.Text, Text: "yes"}, nil
}

// Prompts that are rejected before anything was answered stop a new run, and not
// one that is resumed, of which only they are left.
func TestResumeWithARejectedAsk(t *testing.T) {
	ask := func(a crosstalk.Asker, prompt string) (crosstalk.Answer, error) {
		return a.Ask(t.Context(), crosstalk.Request{API: crosstalk.Completions, Prompt: prompt})
	}
	bad := []string{"bad", "bad too", "bad as well"}
	var rejected *crosstalk.AskError
	var err error
	fresh := NewSession(&Memory{}, Options{}).For(choosy{})
	for _, prompt := range bad {
		_, err = ask(fresh, prompt)
	}
	if !errors.As(err, &rejected) {
		t.Errorf("a new run: %v; want the rejection", err)
	}
	j := &Memory{}
	first := NewSession(j, Options{}).For(choosy{})
	if _, err := ask(first, "good"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []crosstalk.Asker{first, NewSession(j, Options{}).For(choosy{})} {
		for _, prompt := range bad {
			if a, err := ask(s, prompt); err != nil || a.Status != crosstalk.Failed || a.Reason != "no" {
				t.Errorf("%+v, %v; want a failed answer", a, err)
			}
		}
	}
}
