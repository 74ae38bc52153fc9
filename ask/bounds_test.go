package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
)

// One of a kind is counted as well as many.
func TestTextOfOne(t *testing.T) {
	for want, s := range map[string]Stats{
		"1 answers, 1 of them from an earlier run": {Answered: 1, Cached: 1},
		"1 answers, 1 cut at the token limit":      {Answered: 1, Cut: 1},
		"1 answers, 1 after thinking":              {Answered: 1, Thought: 1},
		"1 answers (1 tokens)":                     {Answered: 1, Usage: crosstalk.Usage{Reasoning: 1}},
		"1 answers, cost 0.0001":                   {Answered: 1, Cost: 0.0001},
	} {
		if got := s.Text(); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}

// Prompts are different in any of their turns, and the same prompt again is no further one.
func TestDifferentPrompts(t *testing.T) {
	long := strings.Repeat("x", 9000)
	turn := func(texts ...string) crosstalk.Request {
		r := crosstalk.Request{API: crosstalk.Chat}
		for _, text := range texts {
			r.Messages = append(r.Messages, crosstalk.Message{Role: "user", Content: text})
		}
		return r
	}
	for _, c := range []struct {
		prompts []crosstalk.Request
		cut     bool
	}{
		{[]crosstalk.Request{turn(long), turn(long), turn(long)}, false},
		{[]crosstalk.Request{turn(long, "1"), turn(long, "2"), turn(long, "3")}, true},
		{[]crosstalk.Request{turn("1", long), turn("2", long), turn("3", long)}, true},
		{[]crosstalk.Request{{Prompt: long + "1"}, {Prompt: long + "2"}, {Prompt: long + "3"}}, true},
	} {
		o := newObserved()
		for _, r := range c.prompts {
			o.note(r, crosstalk.Answer{Status: crosstalk.Text, Usage: crosstalk.Usage{Prompt: 600}}, nil, crosstalk.Identity{})
		}
		if o.cutPrompts() != c.cut {
			t.Errorf("%.80v: %v", c.prompts, !c.cut)
		}
	}
}

// once answers each ask with the next of a list, or fails.
type once struct {
	answers []crosstalk.Answer
	errs    []error
	n       int
}

func (o *once) Identity() crosstalk.Identity { return crosstalk.Identity{Provider: "test", Name: "m"} }
func (o *once) API() crosstalk.API           { return crosstalk.Completions }
func (o *once) Answer(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
	i := o.n
	o.n++
	if i < len(o.errs) && o.errs[i] != nil {
		return crosstalk.Answer{}, o.errs[i]
	}
	return o.answers[min(i, len(o.answers)-1)], nil
}

// A budget gives back what an ask has not used, and an answer without usage counts as the most it could be.
func TestWhatIsSpent(t *testing.T) {
	prices := Prices{"m": {Input: 1e6, Output: 2e6}}
	req := crosstalk.Request{API: crosstalk.Completions, Prompt: "abc", // 2 tokens and 10
		Decoding: crosstalk.Decoding{MaxTokens: 10}}
	for _, c := range []struct {
		answer crosstalk.Answer
		err    error
		spent  Need
	}{
		{crosstalk.Answer{Status: crosstalk.Text, Usage: crosstalk.Usage{Prompt: 1, Completion: 3}}, nil, Need{1, 7}},
		{crosstalk.Answer{Status: crosstalk.Text}, nil, Need{1, 22}},
		{crosstalk.Answer{Status: crosstalk.Empty}, nil, Need{1, 22}},
		{crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected, Message: "no"}, Need{1, 0}},
		{crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Denied, Message: "no"}, Need{}},
	} {
		for _, item := range []bool{false, true} {
			s := NewSession(&Memory{}, Options{Budget: Budget{Cost: 100, Prices: prices}})
			ctx := t.Context()
			end := func() {}
			if item {
				ctx, end = s.Item(ctx, Need{2, 50})
			}
			s.For(&once{answers: []crosstalk.Answer{c.answer}, errs: []error{c.err}}).Ask(ctx, req)
			if item && (s.budget.reserved.Asks != 2-c.spent.Asks || s.budget.working != 1) {
				t.Errorf("%+v: the item has %+v left", c.answer, s.budget.reserved)
			}
			end()
			if a := s.budget; a.spent != c.spent || a.reserved != (Need{}) || a.working != 0 {
				t.Errorf("%+v, %v, in an item %v: spent %+v, and %+v is set aside", c.answer, c.err, item, a.spent, a.reserved)
			}
		}
	}
}

// Messages about a batch's age and end, on both sides of each bound.
func TestUnreadAtItsBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := func(status int, fault crosstalk.Fault) error {
			return &crosstalk.AskError{Status: status, Fault: fault, Message: "said"}
		}
		const month, patience = 31 * 24 * time.Hour, 10 * time.Minute
		for _, c := range []struct {
			err         error
			age, unread time.Duration
			giveUp      bool
			want        string
		}{
			{nil, 0, 0, false, "true <nil>"}, {errors.New("odd"), 0, 0, false, "true odd"},
			{said(404, crosstalk.Denied), month, patience - 1, false, "false <nil>"},
			{said(404, crosstalk.Denied), month + 1, patience - 1, false, "true <nil>"},
			{said(410, crosstalk.Denied), month, patience, false, "true stopped: said; tried since"},
			{said(500, crosstalk.Transient), month + 1, patience - 1, false, "false <nil>"},
			{said(500, crosstalk.Transient), 0, patience, false, "true stopped: said; tried since"},
			{said(500, crosstalk.Transient), 0, patience, true, "true <nil>"},
			{said(500, crosstalk.Transient), 0, patience - 1, true, "false <nil>"},
			{said(401, crosstalk.Denied), 0, 0, true, "true said; 0 requests are in a batch there (), which keeps running"},
			{said(299, crosstalk.Denied), 0, 0, true, "true said; 0 requests"},
			{said(300, crosstalk.Denied), 0, 0, false, "false <nil>"}, {said(399, crosstalk.Denied), 0, 0, false, "false <nil>"},
			{said(400, crosstalk.Denied), 0, 0, false, "true said; 0 requests"},
		} {
			b := &Batching{Session: NewSession(&Memory{}, Options{BatchGiveUp: c.giveUp}), store: noBatches{}}
			w := &waiting{Batch: &journal.Batch{At: time.Now().Add(-c.age)}}
			done, err := b.unread(&collection{w: w}, time.Now().Add(-c.unread), c.err)
			if got := fmt.Sprint(done, " ", err); !strings.HasPrefix(got, c.want) {
				t.Errorf("%v after %v and %v: %s; want %s", c.err, c.age, c.unread, got, c.want)
			}
		}
	})
}

// noBatches keeps none.
type noBatches struct{ batchJournal }

func (noBatches) DropBatch(*journal.Batch) error { return nil }
func (noBatches) EndBatch(*journal.Batch) error  { return nil }

// A server that answers with an error is not silent, and one that answers nothing in time is.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, err := range []error{nil, &crosstalk.AskError{Status: 500}, context.DeadlineExceeded} {
			s := NewSession(&Memory{}, Options{Timeout: time.Second})
			m := &once{answers: []crosstalk.Answer{{Status: crosstalk.Text}}, errs: []error{err}}
			a := s.For(m).(*asker)
			a.model = slow{m, err == context.DeadlineExceeded}
			a.try(t.Context(), a.settings(crosstalk.Request{}), crosstalk.Request{})
			if is := a.about.endpoint.silence.timedOut; is != (err == context.DeadlineExceeded) {
				t.Errorf("%v: silent %v", err, is)
			}
		}
	})
}

// slow answers when its time is over, if it hangs.
type slow struct {
	*once
	hangs bool
}

func (s slow) Answer(ctx context.Context, r crosstalk.Request) (crosstalk.Answer, error) {
	if s.hangs {
		<-ctx.Done()
	}
	return s.once.Answer(ctx, r)
}

// An answer of an earlier session is known to this one, so that it is asked for when others fail.
func TestKnownRequest(t *testing.T) {
	memory := &Memory{}
	m := &once{answers: []crosstalk.Answer{{Status: crosstalk.Text}}}
	req := crosstalk.Request{API: crosstalk.Completions, Prompt: "first"}
	for range 2 {
		s := NewSession(memory, Options{})
		a := s.For(m).(*asker)
		for _, prompt := range []string{"first", "second"} {
			req.Prompt = prompt
			if _, err := a.Ask(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		if known := a.about.known.Load(); known == nil || known.Prompt != "first" {
			t.Errorf("known is %+v", known)
		}
	}
	if m.n != 2 {
		t.Errorf("%d attempts", m.n)
	}
}
