package watch

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask"
)

// halting is a model whose every third ask fails.
type halting struct{ asks int }

func (h *halting) Identity() crosstalk.Identity { return crosstalk.Identity{Name: "m"} }
func (h *halting) API() crosstalk.API           { return crosstalk.Completions }
func (h *halting) Answer(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
	time.Sleep(time.Second)
	if h.asks++; h.asks%3 == 0 {
		return crosstalk.Answer{}, fmt.Errorf("trouble %d", h.asks)
	}
	return crosstalk.Answer{Status: crosstalk.Text, Usage: crosstalk.Usage{Prompt: 10, Completion: 5}}, nil
}

// silent is a model whose server answers nothing until then.
type silent struct {
	halting
	until time.Time
}

func (s *silent) Answer(ctx context.Context, _ crosstalk.Request) (crosstalk.Answer, error) {
	select {
	case <-time.After(time.Until(s.until)):
		return crosstalk.Answer{Status: crosstalk.Text}, nil
	case <-ctx.Done():
		return crosstalk.Answer{}, ctx.Err()
	}
}

// Trouble is told once, and not all the time.
func TestShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := ask.NewSession(&ask.Memory{}, ask.Options{Retries: -1, Budget: ask.Budget{Prices: ask.Prices{"m": {Output: 1000}}}})
		asker := s.For(&halting{})
		var b bytes.Buffer
		p := newProgress(&b, s, 20)
		p.show()
		for i := range 6 {
			asker.Ask(t.Context(), crosstalk.Request{Sample: i})
			if i != 3 {
				p.show()
			}
		}
		want := `0/20 requests
1/20 requests, 1.0/s, 19s left, 15 tokens, cost 0.0050
2/20 requests, 1.0/s, 18s left, 30 tokens, cost 0.0100
request failed: trouble 3
3/20 requests, 1.0/s, 17s left, 1 failed, 30 tokens, cost 0.0100
5/20 requests, 1.0/s, 15s left, 1 failed, 60 tokens, cost 0.0200
6/20 requests, 1.0/s, 14s left, 2 failed, 60 tokens, cost 0.0200
`
		if b.String() != want {
			t.Errorf("%q;\nwant\n%q", b.String(), want)
		}
	})
}

// Trouble that is new is told when the last was told more than five seconds ago.
func TestTroubleAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := ask.NewSession(&ask.Memory{}, ask.Options{Retries: -1})
		asker := s.For(&halting{})
		var b bytes.Buffer
		p := newProgress(&b, s, 6)
		for i := range 6 {
			asker.Ask(t.Context(), crosstalk.Request{Sample: i})
			if i == 2 {
				p.show()
			}
		}
		time.Sleep(2 * time.Second) // five seconds after the first
		p.show()
		if strings.Contains(b.String(), "trouble 6") || !strings.Contains(b.String(), "trouble 3\n") {
			t.Errorf("%q", b.String())
		}
		time.Sleep(time.Nanosecond)
		p.show()
		p.show()
		time.Sleep(time.Minute)
		p.show()
		if strings.Count(b.String(), "request failed: trouble 6\n") != 1 || strings.Count(b.String(), "trouble") != 2 {
			t.Errorf("%q", b.String())
		}
	})
}

// A server that takes requests and answers none is said to be silent after 15
// seconds, with the flag that limits the wait, and until it answers.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := ask.NewSession(&ask.Memory{}, ask.Options{Concurrency: 3, Timeout: 2 * time.Minute, Retries: 1})
		asker := s.For(&silent{until: time.Now().Add(150 * time.Second)})
		for i := range 3 {
			go asker.Ask(t.Context(), crosstalk.Request{Sample: i})
		}
		began := time.Now()
		since := began.Local().Format("15:04:05")
		for _, at := range []struct {
			second int
			want   string
		}{{14, "0/3 requests\n"}, {15, "0/3 requests; no answer since " + since + " to 3 requests (--timeout 2m)\n"},
			{119, "0/3 requests; no answer since " + since + " to 3"}, {140, "0/3 requests, 1 retries; no answer since " + since + " to "}, {160, "3/3 requests, "}} {
			time.Sleep(time.Until(began.Add(time.Duration(at.second) * time.Second)))
			synctest.Wait()
			var b bytes.Buffer
			newProgress(&b, s, 3).show()
			line := strings.TrimPrefix(b.String(), "request failed: :m: no answer within 2m (--timeout)\n")
			if !strings.HasPrefix(line, at.want) || at.second == 160 && strings.Contains(line, "no answer") {
				t.Errorf("after %d s: %q, want %q", at.second, line, at.want)
			}
		}
	})
}

// Several observations of one answer count once.
func TestShowScored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		passed := 0
		observe, stop := ShowScored(&b, func(crosstalk.Observation) { passed++ })
		for _, o := range []crosstalk.Observation{{Item: "a"}, {Item: "a", Measure: "wpr"}, {Item: "a", Sample: 1},
			{Item: "b", Variant: "T"}, {Item: "b", Variant: "I"}} {
			observe(o)
		}
		time.Sleep(3 * time.Second)
		stop()
		stop()
		if b.String() != "4 answers scored\n" || passed != 5 {
			t.Errorf("%q, %d observations passed on", b.String(), passed)
		}
	})
}
