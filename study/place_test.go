package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/internal/parallel"
)

// asker counts what it is asked, and saves the answers as a journal does.
type asker struct {
	answer func(req crosstalk.Request) (crosstalk.Answer, error)

	mu          sync.Mutex
	saved       map[crosstalk.Key]crosstalk.Answer
	read        int
	asks        int
	under, most int
}

func (a *asker) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	a.mu.Lock()
	a.asks++
	a.under++
	a.most = max(a.most, a.under)
	a.mu.Unlock()
	answer, err := a.answer(req)
	answer.Key = crosstalk.KeyOf(crosstalk.Identity{}, req)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.under--
	if err == nil {
		a.saved[answer.Key] = answer
	}
	return answer, err
}

func (a *asker) get(key crosstalk.Key) (crosstalk.Answer, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read++
	answer, found := a.saved[key]
	return answer, found, nil
}

func (a *asker) arm(samples int, score func(crosstalk.Item, []crosstalk.Answer)) Arm {
	return Arm{Instrument: samplesOf{samples, nil},
		Scorer: func() crosstalk.Instrument { return samplesOf{samples, score} },
		Ask:    a, Asks: samples, Saved: a.get}
}

// samplesOf is an instrument that asks some samples of the item's id. Each answer is an
// observation.
type samplesOf struct {
	n     int
	score func(crosstalk.Item, []crosstalk.Answer) // nil: it is only to ask
}

func (in samplesOf) Measure(ctx context.Context, ask crosstalk.Asker,
	item crosstalk.Item) (observed []crosstalk.Observation, err error) {
	answers := make([]crosstalk.Answer, in.n)
	err = parallel.Each(in.n, func(k int) error {
		answer, err := ask.Ask(ctx, crosstalk.Request{Prompt: item.ID, Sample: k})
		if in.score != nil {
			answers[k] = answer
		}
		return err
	})
	if err != nil || in.score == nil {
		return nil, err
	}
	in.score(item, answers)
	for k, a := range answers {
		observed = append(observed, crosstalk.Observation{Item: item.ID, Sample: k, Finding: string(a.Status),
			NotScored: a.Text})
	}
	return observed, nil
}

func newAsker(answer func(req crosstalk.Request) (crosstalk.Answer, error)) *asker {
	return &asker{answer: answer, saved: map[crosstalk.Key]crosstalk.Answer{}}
}

func echo(req crosstalk.Request) (crosstalk.Answer, error) {
	return crosstalk.Answer{Status: crosstalk.Text, Text: fmt.Sprint(req.Prompt, " ", req.Sample)}, nil
}

// However many samples an item has, no more asks are under way than was said, each is
// asked once, and the observations are in the order of items and samples.
func TestAsksUnderWay(t *testing.T) {
	for _, c := range []struct{ samples, items, n, most int }{
		{1, 500, 100, 100}, {3, 200, 100, 100}, {60, 30, 100, 150}, {400, 6, 100, 800}, {1, 5, 1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newAsker(func(req crosstalk.Request) (crosstalk.Answer, error) {
				time.Sleep(time.Duration(1+(req.Sample+len(req.Prompt))%7) * time.Millisecond)
				return echo(req)
			})
			i := 0
			for m := range Measure(t.Context(), []Arm{a.arm(c.samples, func(crosstalk.Item, []crosstalk.Answer) {})},
				items(c.items), c.n) {
				for k, o := range m.Observations {
					if m.Err != nil || o.NotScored != fmt.Sprint(i, " ", k) {
						t.Fatalf("item %d, sample %d: %q, %v", i, k, o.NotScored, m.Err)
					}
				}
				i++
			}
			if i != c.items || a.asks != c.items*c.samples || a.most > c.most || a.read > 0 {
				t.Errorf("%+v: %d items, %d asks, at most %d at a time; %d answers were read again", c, i, a.asks, a.most, a.read)
			}
		})
	}
}

// While the last answer of an item is waited for, the next items are asked.
func TestNextItemIsAskedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsker(func(req crosstalk.Request) (crosstalk.Answer, error) {
			if req.Sample == 0 {
				time.Sleep(time.Second)
			}
			return echo(req)
		})
		begin := time.Now()
		for range Measure(t.Context(), []Arm{a.arm(400, func(crosstalk.Item, []crosstalk.Answer) {})}, items(20), 100) {
		}
		if took := time.Since(begin); took != 5*time.Second { // there is room for four items with so many answers
			t.Errorf("it took %v; want 5s", took)
		}
	})
}

// Answers that wait for the item before them are in memory only as far as there is
// room, and those that are scored at a time have a bound too.
func TestLargeAnswersAreReadAgain(t *testing.T) {
	const size, n = 1 << 20, 100
	synctest.Test(t, func(t *testing.T) {
		text := strings.Repeat("x", size)
		a := newAsker(func(req crosstalk.Request) (crosstalk.Answer, error) {
			if req.Prompt == "0" {
				time.Sleep(time.Minute)
			}
			return crosstalk.Answer{Status: crosstalk.Text, Text: text, Raw: []byte("body")}, nil
		})
		var mu sync.Mutex
		scoring, most, bodies := 0, 0, 0
		arm := a.arm(1, func(_ crosstalk.Item, answers []crosstalk.Answer) {
			mu.Lock()
			scoring++
			most = max(most, scoring)
			if answers[0].Raw != nil {
				bodies++
			}
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			scoring--
			mu.Unlock()
		})
		i := 0
		for m := range Measure(t.Context(), []Arm{arm}, items(n), 200) {
			if m.Item.ID != fmt.Sprint(i) || m.Err != nil || m.Observations[0].NotScored != text {
				t.Errorf("item %s, number %d: %v", m.Item.ID, i, m.Err)
			}
			i++
		}
		here := waitingBytes / (size + 512)
		if i != n || a.asks != n || a.read != n-here || most != 1 {
			t.Errorf("%d items, %d asks; %d answers were read again, want %d; %d scored at a time, want 1", i, a.asks, a.read, n-here, most)
		}
		if bodies != here {
			t.Errorf("%d answers have bodies; want %d, which were not read again", bodies, here)
		}
	})
}

// What was scored makes room for others: few answers wait where none is late, and none
// is read again.
func TestRoomIsGivenBack(t *testing.T) {
	text := strings.Repeat("x", 256<<10)
	a := newAsker(func(crosstalk.Request) (crosstalk.Answer, error) {
		return crosstalk.Answer{Status: crosstalk.Text, Text: text}, nil
	})
	i := 0
	for m := range Measure(t.Context(), []Arm{a.arm(1, func(crosstalk.Item, []crosstalk.Answer) {})}, items(300), 1) {
		if m.Err != nil || len(m.Observations) != 1 {
			t.Error(m.Err)
		}
		i++
	}
	if i != 300 || a.read != 0 {
		t.Errorf("%d items; %d answers were read again", i, a.read)
	}
}

// Failed answers are not asked again to be scored, an item with an error is not
// scored, and an answer that is no longer saved is an error.
func TestFailedAnswers(t *testing.T) {
	stopped := errors.New("stopped")
	a := newAsker(func(req crosstalk.Request) (crosstalk.Answer, error) {
		switch {
		case req.Prompt == "1":
			return crosstalk.Answer{Status: crosstalk.Failed}, nil
		case req.Prompt == "2" && req.Sample == 1:
			return crosstalk.Answer{}, stopped
		case req.Prompt == "3":
			return crosstalk.Answer{Status: crosstalk.Text, Text: strings.Repeat("x", waitingBytes)}, nil
		}
		return echo(req)
	})
	var scored sync.Map
	arm := a.arm(2, func(item crosstalk.Item, _ []crosstalk.Answer) { scored.Store(item.ID, true) })
	arm.Saved = func(crosstalk.Key) (crosstalk.Answer, bool, error) { return crosstalk.Answer{}, false, nil }
	var got []string
	for m := range Measure(t.Context(), []Arm{arm}, items(4), 1) {
		got = append(got, fmt.Sprint(m.Observations != nil, " ", m.Err))
		if m.Number == 1 && m.Observations[1].Finding != string(crosstalk.Failed) {
			t.Error(m.Observations)
		}
	}
	if got[0] != "true <nil>" || got[1] != "true <nil>" || got[2] != "false stopped" || !strings.HasPrefix(got[3], "false item 3: its answer ") {
		t.Error(got)
	}
	var ids []string
	for id := range scored.Range {
		ids = append(ids, id.(string))
	}
	slices.Sort(ids)
	if a.asks != 8 || strings.Join(ids, " ") != "0 1" {
		t.Errorf("%d asks; scored: %s", a.asks, ids)
	}
}

// The item's part of a budget ends when it is asked, not when it is scored: items that
// wait to be scored have nothing that others could wait for.
func TestItemEndsWhenItIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAsker(func(req crosstalk.Request) (crosstalk.Answer, error) {
			if req.Prompt == "0" {
				time.Sleep(time.Minute)
			}
			return echo(req)
		})
		arm := a.arm(1, func(crosstalk.Item, []crosstalk.Answer) { time.Sleep(time.Hour) })
		begin := time.Now()
		var ended atomic.Int64
		var order []int
		arm.Admit = func(ctx context.Context, item int) (context.Context, func()) {
			order = append(order, item)
			return ctx, func() {
				if time.Since(begin) <= time.Minute {
					ended.Add(1)
				}
			}
		}
		for range Measure(t.Context(), []Arm{arm}, items(10), 1000) {
		}
		if ended.Load() != 10 || fmt.Sprint(order) != "[0 1 2 3 4 5 6 7 8 9]" {
			t.Errorf("%d ended while the first was asked; let in: %d", ended.Load(), order)
		}
	})
}
