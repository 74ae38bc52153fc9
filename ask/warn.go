package ask

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"

	"crosstalk"
)

// Warnings describes what the answers so far lack or hide without an error: prompts that the server cut, log
// probabilities that never arrived, models other than the requested one. Warnings are conservative: each is a reason to
// look.
func (s *Session) Warnings() []string {
	s.mu.Lock()
	models, list, damaged := s.models, slices.Clone(s.remarks), s.damaged
	s.mu.Unlock()
	if len(damaged) > 0 {
		list = append(list, fmt.Sprintf("%s could not be read and had to be asked for again; the first: %v",
			many(len(damaged), "saved answer", "s"), damaged[0]))
	}
	for _, m := range models {
		for _, w := range m.seen.warnings(m.id) {
			list = append(list, m.id.String()+": "+w)
		}
	}
	return list
}

type observed struct {
	mu sync.Mutex

	answers  int
	longest  int             // the largest count of prompt tokens
	alike    map[uint64]int  // distinct prompts with that count: their bytes, by hash
	rate     float64         // the fewest tokens per byte among shorter prompts
	shorter  int             // number of shorter prompts
	shortest crosstalk.Usage // Prompt: what the shortest prompt should need, Completion: what was reported
	wanted   int             // answers for which log probabilities were requested
	given    int             // answers that have them
	limits   map[limit]ended // how answers ended under each limit
	without  map[string]int  // parameters that had no effect, with the number of answers that report so
	served   map[string]int  // names that the server reported, with the number of their answers
	others   map[string]int  // of these, names of other models
}

func newObserved() observed {
	return observed{limits: map[limit]ended{}, without: map[string]int{}, served: map[string]int{},
		others: map[string]int{}}
}

type limit struct{ tokens, room int }

type ended struct {
	answers int
	chats   int // of these: from chats, which can end by themselves
	cut     int // of chats: cut at the limit
	silent  int // of answers: cut before they said anything
	thought int // of silent: with thoughts
}

var seed = maphash.MakeSeed()

const most = 8

func (o *observed) note(req crosstalk.Request, answer crosstalk.Answer, same func(crosstalk.Identity, string) bool,
	id crosstalk.Identity) {
	if req.API == crosstalk.Embeddings {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers++
	if answer.Usage.Prompt > 0 {
		o.prompt(req, answer.Usage.Prompt)
	}
	if req.Logprobs > 0 && answer.Status == crosstalk.Text {
		o.wanted++
		if len(answer.Logprobs) > 0 {
			o.given++
		}
	}
	o.end(req, answer)
	for _, param := range answer.Missing {
		o.without[param]++
	}
	if name := answer.Model; name != "" {
		if _, known := o.served[name]; known || len(o.served) < most {
			o.served[name]++
			if same != nil && !same(id, name) {
				o.others[name]++
			}
		}
	}
}

func (o *observed) end(req crosstalk.Request, answer crosstalk.Answer) {
	at := limit{req.Decoding.MaxTokens, req.Decoding.ReasoningTokens}
	e := o.limits[at]
	e.answers++
	cut := answer.Finish == crosstalk.FinishLength
	switch {
	case answer.Status == crosstalk.Text && req.API != crosstalk.Completions:
		e.chats++
		if cut {
			e.cut++
		}
	case answer.Status == crosstalk.Empty && (cut || answer.Reason == crosstalk.Thinking):
		e.silent++
		if answer.Thought() {
			e.thought++
		}
	}
	o.limits[at] = e
}

// endings sums up how answers ended, without those that were asked again with more tokens for thoughts.
func (o *observed) endings() (all ended) {
	for at, e := range o.limits {
		again := false
		for other := range o.limits {
			again = again || at.room == 0 && other.room > 0 && other.tokens == at.tokens
		}
		if !again {
			all.answers, all.chats, all.cut = all.answers+e.answers, all.chats+e.chats, all.cut+e.cut
			all.silent, all.thought = all.silent+e.silent, all.thought+e.thought
		}
	}
	return all
}

func (o *observed) prompt(req crosstalk.Request, tokens int) {
	var h maphash.Hash
	h.SetSeed(seed)
	bytes := 0
	add := func(text string) {
		bytes += len(text)
		h.WriteString(text)
		h.WriteByte(0)
	}
	add(req.Prompt)
	for _, m := range req.Messages {
		add(m.Content)
	}
	if expected := Worst(req).Prompt; o.shortest.Prompt == 0 || expected < o.shortest.Prompt {
		o.shortest = crosstalk.Usage{Prompt: expected, Completion: tokens}
	}
	below := func(bytes, tokens int) {
		if rate := float64(tokens) / float64(max(1, bytes)); o.shorter == 0 || rate < o.rate {
			o.rate = rate
		}
		o.shorter++
	}
	switch {
	case tokens > o.longest:
		for _, bytes := range o.alike {
			below(bytes, o.longest)
		}
		o.longest, o.alike = tokens, map[uint64]int{h.Sum64(): bytes}
	case tokens == o.longest:
		if len(o.alike) < most {
			o.alike[h.Sum64()] = bytes
		}
	default:
		below(bytes, tokens)
	}
}

// cutPrompts reports whether several different prompts share the largest count, and all are too long for it or it is
// round.
func (o *observed) cutPrompts() bool {
	if len(o.alike) < 3 {
		return false
	}
	if o.longest >= 512 && o.longest%256 == 0 {
		return true
	}
	rate := 1 / 8. // tokens per byte: fewer than any language needs, unless shorter prompts show more; at most one in five
	if o.shorter >= 3 {
		rate = min(max(rate, o.rate), 1/5.)
	}
	for _, bytes := range o.alike {
		if float64(bytes)*rate < 1.1*float64(o.longest) {
			return false
		}
	}
	return true
}

func (o *observed) warnings(id crosstalk.Identity) (list []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if o.cutPrompts() {
		add("the server seems to cut prompts at %d tokens: different long prompts all have that count; give the model a "+
			"larger context", o.longest)
	}
	if extra := o.shortest.Completion - o.shortest.Prompt; extra > 128 { // chat templates add up to about fifty
		add("the server counts %d tokens in a prompt of about %d: it may add its own system prompt", o.shortest.Completion,
			o.shortest.Prompt)
	}
	if o.wanted >= 3 && o.given == 0 {
		add("log probabilities were asked for, and none of %d answers has any", o.wanted)
	}
	for _, param := range slices.Sorted(maps.Keys(o.without)) {
		if param != crosstalk.ParamLogprobs || o.given > 0 {
			add("the parameter %s was sent and had no effect on %d of %d answers", param, o.without[param], o.answers)
		}
	}
	switch e := o.endings(); {
	case e.silent > 0 && e.thought > 0:
		add("%d of %d answers reached their limit before they said anything: raise --reasoning-tokens, or --max-tokens",
			e.silent, e.answers)
	case e.silent > 0:
		add("%d of %d answers reached their limit before they said anything: raise --max-tokens", e.silent, e.answers)
	case e.cut == e.chats && e.cut >= 10:
		add("all %d answers were cut at their limit; they may be thoughts, which 'crosstalk models %s --check' would show",
			e.cut, id)
	}
	if len(o.others) > 0 {
		add("answered as another model: %s", names(o.others))
	} else if len(o.served) > 1 {
		add("answered under several names, so the model may have changed during the run: %s", names(o.served))
	}
	return list
}

func names(counts map[string]int) string {
	var list []string
	for name, n := range counts {
		list = append(list, fmt.Sprintf("%q (%d)", name, n))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
