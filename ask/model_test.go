package ask_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask"
)

// A model whose first answers are all empty is asked no more than that often,
// and the error says what to set.
func TestAllEmpty(t *testing.T) {
	for _, c := range []struct {
		stopEmpty, asked int
		answer           crosstalk.Answer
		says             string
	}{
		{0, 8, crosstalk.Answer{Usage: crosstalk.Usage{Completion: 100, Reasoning: 100}, Finish: crosstalk.FinishLength},
			"test:m: the first 8 answers are all empty: the model spent 800 tokens on reasoning and said nothing: give it more with --reasoning-tokens, turn reasoning off with --reasoning off, or raise --max-tokens"},
		{2, 2, crosstalk.Answer{Reason: crosstalk.Thinking}, "test:m: the first 2 answers are all empty: the model spent its tokens on reasoning and said nothing: give it more"},
		{3, 3, crosstalk.Answer{Finish: crosstalk.FinishLength}, "test:m: the first 3 answers are all empty, and 3 were cut off at their limit: raise --max-tokens"},
		{1, 1, crosstalk.Answer{}, "test:m: the first 1 answers are all empty: check --system, --prefix and --param"},
		{-1, 100, crosstalk.Answer{}, ""},
	} {
		t.Run(fmt.Sprint(c.stopEmpty), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog()
				m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
					l.enter(req)
					time.Sleep(time.Second)
					a := c.answer
					a.Status = crosstalk.Empty
					return a, nil
				}}
				memory := &ask.Memory{}
				s := ask.NewSession(memory, ask.Options{StopEmpty: c.stopEmpty})
				told := 0
				for i, r := range askAll(t.Context(), s.For(m), 100) {
					var hopeless *ask.ModelError
					if errors.As(r.err, &hopeless) && strings.HasPrefix(r.err.Error(), c.says) {
						told++
					} else if r.err != nil {
						t.Errorf("%d: %v", i, r.err)
					}
				}
				if c.stopEmpty < 0 {
					if told != 0 || l.total() != 100 || s.Reason() != nil {
						t.Errorf("%d told, %d asked, %v", told, l.total(), s.Reason())
					}
					return
				}
				if l.total() != c.asked || told != 100-c.asked+1 || s.Stats().Empty != c.asked {
					t.Errorf("%d asked, %d told, %+v", l.total(), told, s.Stats())
				}
				// What was empty is answered by the journal, also now.
				if a, err := s.For(m).Ask(t.Context(), request(firstCached(memory, m))); err != nil || a.Status != crosstalk.Empty {
					t.Errorf("%+v, %v", a, err)
				}
			})
		})
	}
}

func firstCached(memory *ask.Memory, m *model) int {
	for i := range 100 {
		if _, found, _ := memory.Get(crosstalk.KeyOf(m.Identity(), request(i))); found {
			return i
		}
	}
	return -1
}

// One text among the first answers, or a refusal, is enough to go on; and
// answers of an earlier run do not stop this one.
func TestNotAllEmpty(t *testing.T) {
	for _, status := range []crosstalk.Status{crosstalk.Text, crosstalk.Refused} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int64
			m := &model{answer: func(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
				eighth := asked.Add(1) == 8
				time.Sleep(time.Second)
				if eighth {
					return crosstalk.Answer{Status: status}, nil
				}
				return crosstalk.Answer{Status: crosstalk.Empty}, nil
			}}
			memory := &ask.Memory{}
			s := ask.NewSession(memory, ask.Options{})
			askAll(t.Context(), s.For(m), 50)
			if got := s.Stats(); got.Answered != 50 || got.Empty < 49 && status == crosstalk.Text || s.Reason() != nil {
				t.Errorf("%+v, %v", got, s.Reason())
			}
			s = ask.NewSession(memory, ask.Options{})
			askAll(t.Context(), s.For(m), 55)
			if got := s.Stats(); got.Answered != 55 || s.Reason() != nil {
				t.Errorf("resumed: %+v, %v", got, s.Reason())
			}
		})
	}
}

// A parameter that is refused before the model has answered is told to the
// caller at once; nothing is journalled, and without the parameter it goes on.
func TestRefusedParameter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
			l.enter(req)
			time.Sleep(time.Second)
			if req.Decoding.Temperature != nil {
				return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected, Status: 400, Param: "temperature", Message: "test:m: temperature is not supported"}
			}
			return text("yes"), nil
		}}
		memory := &saves{}
		s := ask.NewSession(memory, ask.Options{})
		zero := 0.0
		with := func(i int) crosstalk.Request {
			r := request(i)
			r.Decoding.Temperature = &zero
			return r
		}
		// Another way of asking this model works: that is no evidence for this one.
		if _, err := s.For(m).Ask(t.Context(), request(0)); err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for i := range 100 {
			group.Go(func() {
				_, err := s.For(m).Ask(t.Context(), with(i))
				var refused *ask.RefusedError
				if !errors.As(err, &refused) || refused.Param != "temperature" || refused.Model != m.Identity() || err.Error() != "test:m: temperature is not supported" {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		group.Wait()
		if l.total() > 5 || memory.n != 1 || s.Reason() != nil || len(s.Hopeless()) > 0 {
			t.Errorf("%d attempts, %d saved, %v, %v", l.total(), memory.n, s.Reason(), s.Hopeless())
		}
		for i, r := range askAll(t.Context(), s.For(m), 100) {
			if r.err != nil || r.answer.Status != crosstalk.Text {
				t.Errorf("%d: %+v", i, r)
			}
		}
	})
}

// After an answer with the same settings a refused parameter is one ask's own.
func TestRefusedParameterLater(t *testing.T) {
	m := &model{answer: func(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
		if req.Sample == 1 {
			return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected, Param: "messages", Message: "too long"}
		}
		return text("yes"), nil
	}}
	s := ask.NewSession(&ask.Memory{}, ask.Options{})
	for i, want := range []crosstalk.Status{crosstalk.Text, crosstalk.Failed, crosstalk.Text} {
		if a, err := s.For(m).Ask(t.Context(), request(i)); err != nil || a.Status != want {
			t.Errorf("%d: %+v, %v", i, a, err)
		}
	}
}

// A model that cannot be asked does not keep the others of the session from
// being asked, at whatever endpoint; neither does one whose server is down.
func TestOneHopelessModel(t *testing.T) {
	dead := &crosstalk.AskError{Message: "nothing listens", Err: unreachable}
	for name, c := range map[string]struct {
		err      error
		endpoint string
	}{
		"denied":            {fault(crosstalk.Denied), "a"},
		"rejected":          {fault(crosstalk.Rejected), "a"},
		"broken":            {fault(crosstalk.Transient), "a"},
		"gateway":           {&crosstalk.AskError{Status: 503, Fault: crosstalk.Overloaded, Message: "no"}, "a"},
		"denied elsewhere":  {fault(crosstalk.Denied), "b"},
		"nothing elsewhere": {dead, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				good := &model{endpoint: "a", answer: func(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
					time.Sleep(10 * time.Second)
					return text("yes"), nil
				}}
				bad := named{&model{endpoint: c.endpoint, answer: func(context.Context, crosstalk.Request) (crosstalk.Answer,
					error) {
					return crosstalk.Answer{}, c.err
				}}, "bad"}
				s := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 8})
				var goods, bads []result
				var group sync.WaitGroup
				group.Go(func() { goods = askAll(t.Context(), s.For(good), 100) })
				group.Go(func() { bads = askAll(t.Context(), s.For(bad), 100) })
				group.Wait()
				for i := range goods {
					if goods[i].err != nil || goods[i].answer.Status != crosstalk.Text {
						t.Fatalf("the good model: %+v", goods[i])
					}
					var hopeless *ask.ModelError
					if bads[i].err != nil && (!errors.As(bads[i].err, &hopeless) || hopeless.Model != bad.Identity() ||
						!errors.Is(bads[i].err, c.err)) {
						t.Fatalf("the bad model: %+v", bads[i])
					}
				}
				if h := s.Hopeless(); len(h) != 1 || h[0].Model != bad.Identity() || s.Reason() != nil {
					t.Errorf("%v, %v", h, s.Reason())
				}
				if got := s.Stats(); got.Answered != 100 || got.Failed > 2 {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// named is a model by another name.
type named struct {
	*model
	name string
}

func (n named) Identity() crosstalk.Identity {
	id := n.model.Identity()
	id.Name = n.name
	return id
}
