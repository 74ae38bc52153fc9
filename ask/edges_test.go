package ask

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"

	"github.com/google/go-cmp/cmp"
)

// What is 0 has the default that its comment states, and anything else stays.
func TestDefaults(t *testing.T) {
	want := Options{Concurrency: 64, Retries: 8, Timeout: 2 * time.Minute, Patience: 10 * time.Minute, StopEmpty: 8,
		Backoff: 500 * time.Millisecond, Poll: 5 * time.Second, Settle: time.Minute}
	if diff := cmp.Diff(want, Options{}.withDefaults()); diff != "" {
		t.Error(diff)
	}
	set := Options{Concurrency: 1, Retries: -1, Timeout: 1, Patience: 2, StopEmpty: -1, Backoff: 3, Poll: 4, Settle: 5}
	if diff := cmp.Diff(set, set.withDefaults()); diff != "" {
		t.Error(diff)
	}
	for backoff, longest := range map[time.Duration]time.Duration{500 * time.Millisecond: 30 * time.Second,
		499 * time.Millisecond: 29940 * time.Millisecond, time.Hour: 30 * time.Second,
		time.Millisecond: 60 * time.Millisecond} {
		if got := (Options{Backoff: backoff}).longestWait(); got != longest {
			t.Errorf("backoff %v: at most %v; want %v", backoff, got, longest)
		}
	}
}

// Limits are refused below 0, each in the words of its flag.
func TestCheckOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"": {RPM: 1, Concurrency: 1, Timeout: 1, Patience: 1, Budget: Budget{Asks: 1, Cost: 1}},
		"--concurrency is -1; expected a number above 0":             {Concurrency: -1},
		"--rpm is -2; expected a number above 0":                     {RPM: -2},
		"--budget-asks is -3; expected a number above 0":             {Budget: Budget{Asks: -3}},
		"--budget-cost is -0.5; expected a number above 0":           {Budget: Budget{Cost: -0.5}},
		"--timeout is -1m; expected a duration above 0, such as 2m":  {Timeout: -time.Minute},
		"--patience is -1h; expected a duration above 0, such as 2m": {Patience: -time.Hour},
		"--concurrency is -9; expected a number above 0":             {Concurrency: -9, RPM: -1},
		"--budget-asks is -1; expected a number above 0":             {Budget: Budget{Asks: -1, Cost: -1}},
		"--timeout is -1s; expected a duration above 0, such as 2m":  {Timeout: -time.Second, Patience: -1},
	} {
		got := ""
		if err := o.Check(); err != nil {
			got = "--" + strings.TrimPrefix(err.Error(), "--")
		}
		if got != want {
			t.Errorf("%+v: %q; want %q", o, got, want)
		}
	}
	if err := (Options{}).Check(); err != nil {
		t.Error(err)
	}
}

// The words for waits, on both sides of where they change.
func TestWords(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{2*day - time.Second: "47h59m59s", 2 * day: "2 days", 3*day - 1: "2 days",
		2*365*day - 1: "729 days", 2 * 365 * day: "2 years", 3*365*day - 1: "2 years", 90*time.Second + 1: "1m30s",
		1499 * time.Millisecond: "1s", 1500 * time.Millisecond: "2s"} {
		if got := spoken(d); got != want {
			t.Errorf("spoken(%v) = %q; want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0 s", 1: "1 s", time.Second: "1 s", time.Second + 1: "2 s",
		2*time.Minute - 1: "120 s", 2 * time.Minute: "2 min", 150*time.Second - 1: "2 min", 150 * time.Second: "3 min"} {
		if got := short(d); got != want {
			t.Errorf("short(%v) = %q; want %q", d, got, want)
		}
	}
	now := time.Date(2026, 3, 4, 14, 2, 7, 0, time.Local)
	down := Wait{Down: true, Since: now.Add(-time.Minute), Until: now.Add(8 * time.Second)}
	trying := down
	trying.Until = now
	for want, w := range map[string]Wait{
		"server down since 14:01, next try in 8 s":                  down,
		"server down since 14:01, trying again":                     trying,
		"waiting until 14:02:08 (1 s), as the server asked":         {Until: now.Add(time.Second)},
		"no answer since 14:02:07 to 1 request (--timeout 2m)":      {InFlight: 1, Timeout: 2 * time.Minute, Since: now},
		"no answer since 14:02:07 to 64 requests (--timeout 1m30s)": {InFlight: 64, Timeout: 90 * time.Second, Since: now},
		"waiting until 14:02:07 (0 s), as the server asked":         {Until: now},
		"waiting until 14:05:07 (3 min), as the server asked":       {Until: now.Add(3 * time.Minute)},
		"no answer since 14:02:07 to 2 requests (--timeout 1s)":     {InFlight: 2, Down: true, Timeout: time.Second, Since: now},
	} {
		if got := w.Text(now); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	for want, b := range map[string]Batches{
		"1 request in 1 batch since 14:02, 0 done":         {N: 1, Asks: 1, Since: now},
		"1941 requests in 2 batches since 14:02, 812 done": {N: 2, Asks: 1941, Done: 812, Since: now},
	} {
		if got := b.Text(); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	s := Session{waiting: []*waiting{{Batch: &journal.Batch{At: now, Asks: make([]crosstalk.BatchAsk, 3)}, done: 1},
		{Batch: &journal.Batch{At: now.Add(-time.Hour), Asks: make([]crosstalk.BatchAsk, 5)}, done: 2},
		{Batch: &journal.Batch{At: now.Add(time.Hour), Asks: make([]crosstalk.BatchAsk, 7)}}}}
	sum := s.Stats().Batches
	if want := (Batches{N: 3, Asks: 15, Done: 3, Since: now.Add(-time.Hour)}); sum != want {
		t.Errorf("%+v; want %+v", sum, want)
	}
}

// How errors describe a server, on both sides of each bound.
func TestFaults(t *testing.T) {
	status := func(n int) error { return fmt.Errorf("w: %w", &crosstalk.AskError{Status: n}) }
	for n, want := range map[int]string{499: "", 500: "server", 501: "server", 502: "gateway", 503: "gateway",
		504: "gateway", 505: "server", 519: "server", 520: "gateway", 527: "gateway", 528: "server", 429: "", 404: "missing",
		410: "missing", 403: "", 409: "", 411: ""} {
		got := ""
		for kind, is := range map[string]bool{"gateway": gateway(status(n)), "server": serverError(status(n)),
			"missing": missing(status(n))} {
			if is {
				got += kind
			}
		}
		if got != want {
			t.Errorf("%d is %q; want %q", n, got, want)
		}
	}
	for fault, want := range map[crosstalk.Fault]bool{crosstalk.Transient: false, crosstalk.Overloaded: false,
		crosstalk.Rejected: true, crosstalk.Denied: true} {
		if got := refusing(&crosstalk.AskError{Fault: fault}); got != want {
			t.Errorf("%v refuses: %v", fault, got)
		}
	}
	if e := said(errors.New("odd")); e.Fault != crosstalk.Transient || e.Status != 0 || e.RetryAfter != 0 {
		t.Errorf("%+v", e)
	}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&net.OpError{Op: "dial"}, true}, {&net.OpError{Op: "proxyconnect"}, true}, {&net.OpError{Op: "read"}, false},
		{&tls.CertificateVerificationError{}, true}, {tls.RecordHeaderError{}, true}, {errors.New("odd"), false},
		{&crosstalk.AskError{Status: 503}, false}, {&crosstalk.AskError{Err: &net.OpError{Op: "dial"}}, true},
	} {
		if got := unreachable(c.err); got != c.want {
			t.Errorf("%#v is unreachable: %v", c.err, got)
		}
	}
}

// Needs are summed and compared in asks and in cost.
func TestNeeds(t *testing.T) {
	prices := Prices{"m": {Input: 1e6, Output: 2e6}}
	req := crosstalk.Request{Prompt: "abc", Decoding: crosstalk.Decoding{MaxTokens: 10}} // 2 tokens and 10
	var n Need
	n.Add(prices, "m", req)
	n.Add(prices, "other", req)
	if n != (Need{2, 22}) {
		t.Errorf("%+v", n)
	}
	n.plus(Need{1, 2}, -1)
	if n != (Need{1, 20}) {
		t.Errorf("%+v", n)
	}
	for _, c := range []struct {
		a, b   Need
		within bool
		rest   Need // of a without b
	}{
		{Need{1, 1}, Need{1, 1}, true, Need{}}, {Need{2, 1}, Need{1, 1}, false, Need{1, 0}},
		{Need{1, 2}, Need{1, 1}, false, Need{0, 1}}, {Need{}, Need{}, true, Need{}}, {Need{1, 1}, Need{2, 3}, true, Need{}},
		{Need{5, 1}, Need{2, 3}, false, Need{3, 0}},
	} {
		if got := c.a.within(c.b); got != c.within {
			t.Errorf("%+v within %+v: %v", c.a, c.b, got)
		}
		if got := c.a.without(c.b); got != c.rest {
			t.Errorf("%+v without %+v: %+v", c.a, c.b, got)
		}
	}
	for text, tokens := range map[string]int{"": 1, "ab": 1, "abc": 2, "\x7f\x7f\x7f": 2, "é": 3, "abcé": 4, "日本": 7} {
		if got := textTokens(text); got != tokens {
			t.Errorf("%q: %d tokens; want %d", text, got, tokens)
		}
	}
	worst := Worst(crosstalk.Request{Prompt: "abc", Input: []string{"abc", "abc"}, Messages: []crosstalk.Message{{Content: "abc"}},
		Decoding: crosstalk.Decoding{MaxTokens: 5, ReasoningTokens: 7, Extra: map[string]any{"max_tokens": 9.0}}})
	if worst != (crosstalk.Usage{Prompt: 2 + 2 + 2 + 6, Completion: 9}) {
		t.Errorf("%+v", worst)
	}
}

// A request in a batch costs half, or the part that the prices state.
func TestPricesOfBatches(t *testing.T) {
	whole, none := 1.0, 0.0
	prices := Prices{"a": {Input: 2, Output: 6}, "b": {Input: 2, Output: 6, Batch: &whole}, "c": {Input: 2, Output: 6,
		Batch: &none}}
	want := Prices{"a": {Input: 1, Output: 3}, "b": {Input: 2, Output: 6}, "c": {}}
	if diff := cmp.Diff(want, prices.Batched()); diff != "" {
		t.Error(diff)
	}
	u := crosstalk.Usage{Prompt: 3e6, Completion: 5e6, Reasoning: 1e6}
	for model, cost := range map[string]float64{"a": 36, "unknown": 0} {
		if got := prices.Cost(model, u); got != cost {
			t.Errorf("%s: %v", model, got)
		}
	}
	got, err := parsePrices("f", []byte("m: {input: 1, batch: 0.25}\nn: {output: 1, batch: 1}\n"))
	if err != nil || *got["m"].Batch != 0.25 || *got["n"].Batch != 1 || got["n"].Output != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"1.01", "-0.1", "half", ".nan"} {
		want := "f:1: m: batch is " + bad + "; expected the part of the price that requests in batches cost, from 0 to 1, as in 0.5"
		if _, err := parsePrices("f", []byte("m: {input: 1, batch: "+bad+"}")); err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if _, err := parsePrices("f", []byte("m: {batch: 0.5}")); err == nil || !strings.Contains(err.Error(), "m has no prices") {
		t.Error(err)
	}
	long := strings.Repeat("m", 41)
	if _, err := parsePrices("f", []byte(long+": {x: 1}")); err == nil || !strings.HasPrefix(err.Error(), "f:1: "+strings.Repeat("m", 40)+"...: ") {
		t.Error(err)
	}
	if prices, err := ReadPrices(""); prices != nil || err != nil {
		t.Error(prices, err)
	}
	if prices, err := parsePrices("f", nil); len(prices) != 0 || err != nil {
		t.Error(prices, err)
	}
}

// A budget reports which of its bounds is reached, and is used to the last ask and the last cent.
func TestBudgetSays(t *testing.T) {
	for _, c := range []struct {
		budget          Budget
		spent, reserved Need
		want            Need
		says            string
	}{
		{Budget{}, Need{9, 9}, Need{9, 9}, Need{9, 9}, ""},
		{Budget{Asks: 10}, Need{5, 0}, Need{3, 0}, Need{2, 0}, ""},
		{Budget{Asks: 10}, Need{5, 0}, Need{4, 0}, Need{2, 0}, "stopped after 9 asks: the item needs up to 2 more (--budget-asks 10)"},
		{Budget{Asks: 10}, Need{6, 0}, Need{4, 0}, Need{1, 0}, "stopped after 10 asks (--budget-asks 10)"},
		{Budget{Cost: 10}, Need{0, 5}, Need{0, 3}, Need{0, 2}, ""},
		{Budget{Cost: 10}, Need{0, 5}, Need{0, 3}, Need{0, 2.5}, "stopped at a cost of 5.0000: the item could cost up to 2.5000 more (--budget-cost 10)"},
	} {
		a := newAccount(c.budget)
		a.spent, a.reserved = c.spent, c.reserved
		if got := a.over(c.want, "the item"); got != c.says || a.fits(c.want) != (c.says == "") {
			t.Errorf("%+v: %q; want %q", c, got, c.says)
		}
	}
	for b, limits := range map[float64]bool{0: false, 0.01: true} {
		if (Budget{Cost: b}).Limits() != limits || (Budget{Asks: int(b * 100)}).Limits() != limits {
			t.Errorf("%v: limits %v", b, !limits)
		}
	}
}

// The waits of batches grow with their age, and of attempts with their number.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Batching{Session: NewSession(&Memory{}, Options{})}
		for age, want := range map[time.Duration]time.Duration{0: 5 * time.Second, 49 * time.Second: 5 * time.Second,
			100 * time.Second: 10 * time.Second, 599 * time.Second: 59900 * time.Millisecond, time.Hour: time.Minute} {
			if got := b.interval(time.Now().Add(-age)); got != want {
				t.Errorf("after %v: every %v; want %v", age, got, want)
			}
		}
		odd := errors.New("odd")
		for n, most := range map[int]time.Duration{1: 5 * time.Second, 5: 8 * time.Second, 7: 30 * time.Second,
			99: 30 * time.Second} {
			for range 50 {
				if got := b.wait(n, odd); got > most || got < max(most/2, 5*time.Second) {
					t.Fatalf("attempt %d: %v; want about %v", n, got, most)
				}
			}
		}
		for asked, most := range map[time.Duration]time.Duration{time.Second: 5 * time.Second,
			time.Minute: time.Minute + 125*time.Millisecond,
			time.Hour:   10 * time.Minute} {
			if got := b.wait(1, &crosstalk.AskError{RetryAfter: asked}); got > most || got < min(max(asked, 5*time.Second),
				10*time.Minute) {
				t.Errorf("asked for %v: %v", asked, got)
			}
		}
		a := &asker{Session: b.Session}
		for n, most := range []time.Duration{0, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second} {
			if n == 0 {
				continue
			}
			low, high := most, time.Duration(0)
			for range 400 {
				got := a.pause(n, odd)
				low, high = min(low, got), max(high, got)
			}
			if low < most/2 || high > most || high-low < most/4 {
				t.Errorf("attempt %d: %v to %v; want %v to %v", n, low, high, most/2, most)
			}
		}
		s := &silence{}
		s.begin()
		for _, c := range []struct {
			after time.Duration
			waits bool
		}{{15*time.Second - 1, false}, {1, true}} {
			time.Sleep(c.after)
			if w, waits := s.wait(time.Minute); waits != c.waits || w.InFlight != 1 || w.Timeout != time.Minute {
				t.Errorf("%+v, %v", w, waits)
			}
		}
		s.end(false) // what was never answered stays silent
		s.begin()
		if w, waits := s.wait(time.Minute); !waits || time.Since(w.Since) != 15*time.Second {
			t.Errorf("%+v, %v", w, waits)
		}
		s.end(true)
		s.begin()
		if w, waits := s.wait(time.Minute); waits || time.Since(w.Since) != 0 {
			t.Errorf("%+v, %v", w, waits)
		}
		s.end(true)
		s.begin()
		time.Sleep(10 * time.Second)
		s.begin() // the first one has waited since then
		if w, _ := s.wait(time.Minute); time.Since(w.Since) != 10*time.Second || w.InFlight != 2 {
			t.Errorf("%+v", w)
		}
	})
}

// Each warning begins at its bound and not before.
func TestWarningBounds(t *testing.T) {
	id := crosstalk.Identity{Provider: "p", Name: "m"}
	prompt := func(n, bytes int) crosstalk.Request {
		return crosstalk.Request{API: crosstalk.Completions, Prompt: fmt.Sprint(n) + strings.Repeat("x",
			bytes-len(fmt.Sprint(n)))}
	}
	type asked struct{ times, bytes, tokens int }
	for name, c := range map[string]struct {
		asks []asked
		warn string
	}{
		"two prompts":      {[]asked{{2, 9000, 512}}, ""},
		"three prompts":    {[]asked{{3, 9000, 512}}, "cut prompts at 512 tokens"},
		"a round number":   {[]asked{{3, 600, 768}}, "cut prompts at 768 tokens"},
		"the smallest":     {[]asked{{3, 600, 512}}, "cut prompts at 512 tokens"},
		"others come last": {[]asked{{3, 551, 100}, {3, 400, 80}}, "cut prompts at 100 tokens"},
		"a small one":      {[]asked{{3, 600, 256}}, ""},
		"no round number":  {[]asked{{3, 1500, 511}}, ""},
		"too long":         {[]asked{{3, 881, 100}}, "cut prompts at 100 tokens"},
		"not too long":     {[]asked{{3, 879, 100}}, ""},
		"one is short":     {[]asked{{3, 881, 100}, {1, 879, 100}}, ""},
		"as others show":   {[]asked{{3, 400, 80}, {3, 551, 100}}, "cut prompts at 100 tokens"},
		"two others":       {[]asked{{2, 400, 80}, {3, 551, 100}}, ""},
		"others show less": {[]asked{{3, 400, 60}, {3, 551, 100}}, ""},
		"others show more": {[]asked{{3, 100, 90}, {3, 549, 100}}, ""},
		"its own system":   {[]asked{{1, 300, 101 + 129}}, "counts 230 tokens in a prompt of about 101: it may add its own system prompt"},
		"a template":       {[]asked{{1, 300, 101 + 128}}, ""},
	} {
		o := newObserved()
		n := 100
		for _, a := range c.asks {
			for range a.times {
				n++
				o.note(prompt(n, a.bytes), crosstalk.Answer{Status: crosstalk.Text, Usage: crosstalk.Usage{Prompt: a.tokens}},
					nil, id)
			}
		}
		got := strings.Join(o.warnings(id), "\n")
		if c.warn == "" && got != "" || !strings.Contains(got, c.warn) {
			t.Errorf("%s: %q; want %q", name, got, c.warn)
		}
	}
	many := func(n int, change func(i int, r *crosstalk.Request, a *crosstalk.Answer)) string {
		o := newObserved()
		for i := range n {
			r, a := prompt(i, 30), crosstalk.Answer{Status: crosstalk.Text}
			r.API = crosstalk.Chat
			change(i, &r, &a)
			o.note(r, a, func(_ crosstalk.Identity, served string) bool { return served != "x" }, id)
		}
		return strings.Join(o.warnings(id), "\n")
	}
	logprobs := func(_ int, r *crosstalk.Request, a *crosstalk.Answer) {
		r.Logprobs = 1
		a.Missing = []string{"logprobs"}
	}
	cut := func(_ int, _ *crosstalk.Request, a *crosstalk.Answer) { a.Finish = crosstalk.FinishLength }
	name := func(i int, _ *crosstalk.Request, a *crosstalk.Answer) { a.Model = fmt.Sprint("m", i) }
	for _, c := range []struct{ got, want string }{
		{many(2, logprobs), ""},
		{many(3, logprobs), "log probabilities were asked for, and none of 3 answers has any"},
		{many(3, func(i int, r *crosstalk.Request, a *crosstalk.Answer) {
			if logprobs(i, r, a); i > 0 {
				a.Missing, a.Logprobs = nil, []crosstalk.TokenLogprob{{Token: "a"}}
			}
		}), "the parameter logprobs was sent and had no effect on 1 of 3 answers"},
		{many(4, func(i int, r *crosstalk.Request, a *crosstalk.Answer) { // room for others, not for these
			r.Decoding.MaxTokens = 10 + i%2
			if r.Decoding.ReasoningTokens = i % 2; i%2 == 0 {
				a.Status, a.Reason = crosstalk.Empty, crosstalk.Thinking
			}
		}), "2 of 4 answers reached their limit before they said anything: raise --reasoning-tokens, or --max-tokens"},
		{many(9, cut), ""},
		{many(10, cut), "all 10 answers were cut at their limit; they may be thoughts, which 'crosstalk models p:m --check' would show"},
		{many(1, name), ""},
		{many(9, name), "answered under several names, so the model may have changed during the run: " +
			`"m0" (1), "m1" (1), "m2" (1), "m3" (1), "m4" (1), "m5" (1), "m6" (1), "m7" (1)`},
		{many(4, func(i int, r *crosstalk.Request, a *crosstalk.Answer) {
			r.API = crosstalk.Embeddings
			a.Model = fmt.Sprint(i)
		}), ""},
		{many(3, func(i int, _ *crosstalk.Request, a *crosstalk.Answer) { a.Model = []string{"m", "x", "x"}[i] }),
			`answered as another model: "x" (2)`},
		{many(2, func(i int, _ *crosstalk.Request, a *crosstalk.Answer) {
			a.Status, a.Reason = crosstalk.Empty, crosstalk.Thinking
		}),
			"2 of 2 answers reached their limit before they said anything: raise --reasoning-tokens, or --max-tokens"},
		{many(2, func(i int, _ *crosstalk.Request, a *crosstalk.Answer) { a.Status = crosstalk.Empty }), ""},
		{many(12, func(i int, r *crosstalk.Request, a *crosstalk.Answer) {
			r.API = crosstalk.Completions
			a.Finish = crosstalk.FinishLength
		}), ""},
	} {
		if c.got != c.want {
			t.Errorf("%q; want %q", c.got, c.want)
		}
	}
}

// A caller that cancelled takes no place. An item without requests delays nobody.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newEndpoint("", t.Context(), Options{Concurrency: 2})
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(gone)
		if err := l.enter(ctx, &trial{}); err != gone || l.inFlight != 0 {
			t.Errorf("%v, %d in flight", err, l.inFlight)
		}
		if err := l.enter(t.Context(), &trial{}); err != nil || l.inFlight != 1 {
			t.Errorf("%v, %d in flight", err, l.inFlight)
		}
		a := newAccount(Budget{Asks: 5})
		for need, want := range map[Need]int{{}: 0, {Asks: 1}: 1} {
			it := a.enqueue(need)
			<-it.decided
			if a.working != want || a.reserved != need || it.in != (want > 0) {
				t.Errorf("%+v: %d work, %+v is set aside", need, a.working, a.reserved)
			}
			if it.end(); a.working != 0 || a.reserved != (Need{}) {
				t.Errorf("%+v has ended: %d work, %+v is set aside", need, a.working, a.reserved)
			}
			it.end()
		}
		s := NewSession(&Memory{}, Options{Backoff: time.Second})
		least, most := time.Hour, time.Duration(0)
		for range 400 {
			got := (&asker{Session: s}).pause(3, &crosstalk.AskError{RetryAfter: time.Minute})
			least, most = min(least, got), max(most, got)
		}
		if least < time.Minute || least > time.Minute+50*time.Millisecond || most < time.Minute+220*time.Millisecond ||
			most > time.Minute+250*time.Millisecond {
			t.Errorf("%v to %v", least, most)
		}
	})
}

// The error about empty answers says what to change.
func TestExplainEmpty(t *testing.T) {
	for want, s := range map[string]*settings{
		"the model spent 1 tokens on reasoning":      {reasoning: 1, empty: 3},
		"the model spent its tokens on reasoning":    {thought: 1, empty: 3},
		"all empty, and 1 were cut off at their":     {cut: 1, empty: 3},
		"all empty: check --system, --prefix and --": {empty: 3},
	} {
		s.model = &model{id: crosstalk.Identity{Provider: "p", Name: "m"}}
		if got := s.explainEmpty(); !strings.Contains(got, want) || !strings.HasPrefix(got, "p:m: the ") {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
