package ask

import (
	"context"
	"errors"
	"testing"

	"crosstalk"
)

// choosy rejects one prompt.
type choosy struct{}

func (choosy) Identity() crosstalk.Identity {
	return crosstalk.Identity{Provider: "test", Name: "choosy"}
}
func (choosy) API() crosstalk.API { return crosstalk.Completions }
func (choosy) Answer(_ context.Context, r crosstalk.Request) (crosstalk.Answer, error) {
	if r.Prompt == "bad" {
		return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected, Message: "no"}
	}
	return crosstalk.Answer{Status: crosstalk.Text, Text: "yes"}, nil
}

// A prompt that is rejected before anything was answered stops a new run, and
// not one that is resumed, of which only that prompt is left.
func TestResumeWithARejectedAsk(t *testing.T) {
	ask := func(s *Session, prompt string) (crosstalk.Answer, error) {
		return s.For(choosy{}).Ask(t.Context(), crosstalk.Request{API: crosstalk.Completions, Prompt: prompt})
	}
	var rejected *crosstalk.AskError
	if a, err := ask(NewSession(&Memory{}, Options{}), "bad"); !errors.As(err, &rejected) {
		t.Errorf("a new run: %+v, %v; want the rejection", a, err)
	}
	j := &Memory{}
	first := NewSession(j, Options{})
	if _, err := ask(first, "good"); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Session{first, NewSession(j, Options{})} {
		if a, err := ask(s, "bad"); err != nil || a.Status != crosstalk.Failed || a.Reason != "no" {
			t.Errorf("%+v, %v; want a failed answer", a, err)
		}
	}
}
