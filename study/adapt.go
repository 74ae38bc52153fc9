package study

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/model"
	"crosstalk/run"
)

// adapt changes the condition's settings to those that its model is known to accept, and records the changes, after
// those made before. strict names a protocol that reproduces a paper, and so measures with its own settings or not at
// all; "" if none.
func (c *Condition) adapt(families []model.Family, strict string, changes ...model.Change) error {
	p, adapted := model.Adapt(c.name, c.Prompting, families)
	changes = append(changes, adapted...)
	for _, change := range changes {
		if change.Keeps {
			continue
		}
		if strict != "" {
			return refusal(change.String(), change.Param, strict)
		}
		if _, swept := c.Name[change.Param]; swept {
			return crosstalk.BadOption(flagOf(change.Param), ": %s, so its values cannot be compared", change)
		}
	}
	c.Prompting, c.Changes = p, changes
	return nil
}

func refusal(what, param, protocol string) error {
	remedy := "use --protocol crosstalk-1"
	if param == crosstalk.ParamTemperature || param == crosstalk.ParamTopP {
		remedy += fmt.Sprintf(", or --%s default to depart from the protocol", flagOf(param))
	}
	return fmt.Errorf("%s; %s measures with its own settings only: %s", what, protocol, remedy)
}

func flagOf(param string) string { return strings.ReplaceAll(param, "_", "-") }

// strictly returns the name of a protocol that reproduces a paper, or "" for one of ours.
func strictly(protocol string) string {
	if strings.HasPrefix(protocol, "crosstalk-") {
		return ""
	}
	return protocol
}

// adapting asks a model that may refuse the settings it is asked with. It stops sending what the model refused before
// its first answer, and gives a model that turns out to think extra tokens for that (its room).
type adapting struct {
	crosstalk.Asker
	name     string // the model's
	families []model.Family
	swept    map[string]string                // settings by which conditions are compared
	strict   string                           // a protocol that reproduces a paper
	note     func(c model.Change)             // called once per change, with mu held
	answered func(req crosstalk.Request) bool // already before the model got room, so it needs none; nil: none was

	mu      sync.Mutex
	dropped []dropped
	settled bool // answers are scored as given under the current settings
	room    bool
	early   map[crosstalk.Key]int // requests under way without room; repetitions of them wait for the same answer
}

// dropped is a parameter that a model refused. For reasoning, level is the level to ask for instead.
type dropped struct{ param, level string }

func (a *adapting) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	return a.through(ctx, a.Asker, req)
}

func (a *adapting) through(ctx context.Context, way crosstalk.Asker, req crosstalk.Request) (crosstalk.Answer, error) {
	roomless := false // req was answered, but the answer is empty for lack of room
	for {
		sent, version, done := a.apply(req, roomless)
		answer, err := way.Ask(ctx, sent)
		done()
		var refused *ask.RefusedError
		var empty *ask.EmptyError
		switch {
		case errors.As(err, &refused):
			if err := a.drop(refused, sent, version); err != nil {
				return answer, err
			}
			continue
		case errors.As(err, &empty) && empty.Thought > 0 && a.giveRoom(sent),
			err == nil && answer.Status == crosstalk.Empty && answer.Thought() && a.giveRoom(sent):
			roomless = true
			continue
		}
		return answer, err
	}
}

// apply returns the request with all changes so far, and their number. A roomless request must get room, even while
// others wait for the same request without it. Call done once the request is answered.
func (a *adapting) apply(req crosstalk.Request, roomless bool) (sent crosstalk.Request, version int, done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.dropped { // req may already lack some
		if d.param == crosstalk.ParamReasoning {
			req.Decoding.Reasoning = d.level
			continue
		}
		req, _, _ = without(a.name, req, d.param)
	}
	key := crosstalk.KeyOf(crosstalk.Identity{}, req)
	if roomless || a.room && a.early[key] == 0 && (a.answered == nil || !a.answered(req)) {
		p, _, _ := model.WithRoom(a.name, configOf(req), a.families)
		req.Decoding = p.Decoding
		return req, len(a.dropped), func() {}
	}
	if a.early == nil {
		a.early = map[crosstalk.Key]int{}
	}
	a.early[key]++
	return req, len(a.dropped), func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.early[key]--
		if a.early[key] == 0 {
			delete(a.early, key)
		}
	}
}

// drop stops sending a refused parameter. It returns an error if that was tried already, or is not allowed.
func (a *adapting) drop(refused *ask.RefusedError, sent crosstalk.Request, version int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.dropped) > version {
		return nil // another request found it out meanwhile
	}
	_, change, possible := without(a.name, sent, refused.Param)
	switch {
	case !possible:
		return refused
	case a.strict != "" && !change.Keeps:
		return refusal(refused.Error(), refused.Param, a.strict)
	case a.swept[refused.Param] != "":
		return crosstalk.BadOption(flagOf(refused.Param), ": %w, so its values cannot be compared", refused)
	case slices.Contains(a.dropped, dropped{param: refused.Param}) && refused.Param != crosstalk.ParamReasoning,
		len(a.dropped) >= 8:
		return refused
	}
	next := dropped{param: refused.Param}
	if next.param == crosstalk.ParamReasoning {
		next.level = change.To
	}
	a.dropped = append(a.dropped, next)
	a.note(change)
	if a.settled { // the run has recorded it, so another attempt scores all answers alike
		return fmt.Errorf("%w, after answers with other settings were scored", refused)
	}
	return nil
}

// refused returns the parameters that the model has refused, in order. If settled, any further refusal is an error.
func (a *adapting) refused(settled bool) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settled = a.settled || settled
	return a.params()
}

// params returns the parameters in dropped. The caller holds mu.
func (a *adapting) params() (params []string) {
	for _, d := range a.dropped {
		params = append(params, d.param)
	}
	return params
}

// giveRoom gives the model room for its thoughts from now on. It reports whether the request was sent without.
func (a *adapting) giveRoom(sent crosstalk.Request) bool {
	_, change, possible := model.WithRoom(a.name, configOf(sent), a.families)
	if !possible {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.room {
		a.room = true
		a.note(change)
	}
	return true
}

// configOf returns the part of a request that a model may refuse.
func configOf(req crosstalk.Request) crosstalk.PromptConfig {
	return crosstalk.PromptConfig{API: req.API, Decoding: req.Decoding, Logprobs: req.Logprobs}
}

func without(name string, req crosstalk.Request, param string) (crosstalk.Request, model.Change, bool) {
	p := configOf(req)
	if len(req.Messages) > 1 && req.Messages[0].Role == "system" {
		p.System = req.Messages[0].Content
	}
	p, change, possible := model.Without(name, p, param)
	if !possible {
		return req, change, false
	}
	req.Decoding, req.Logprobs = p.Decoding, p.Logprobs
	if param == crosstalk.ParamSystem {
		req.Messages = slices.Clone(req.Messages[1:])
		req.Messages[0].Content = p.Prefix + req.Messages[0].Content
	}
	return req, change, true
}

// notSent maps parameters to what applies if they are not sent; nothing applies for others.
var notSent = map[string]string{crosstalk.ParamTemperature: "default", crosstalk.ParamTopP: "default",
	crosstalk.ParamReasoning: "default"}

// sentOf names the settings that are sent in place of the requested ones, "temperature default; seed none", sorted by
// name; "" if all requested ones are sent. It omits changes that do not affect the answer.
func sentOf(changes []model.Change) string {
	sent := map[string]string{}
	for _, c := range changes {
		if !c.Keeps {
			sent[c.Param] = cmp.Or(c.To, notSent[c.Param], "none")
		}
	}
	var parts []string
	for _, param := range slices.Sorted(maps.Keys(sent)) {
		parts = append(parts, param+" "+sent[param])
	}
	return strings.Join(parts, "; ")
}

// without returns the condition without the parameters that its model refused, in the order of the refusals.
func (c Condition) without(params []string) Condition {
	planned := c.Prompting
	c.Changes, c.planned = slices.Clone(c.Changes), &planned
	for _, param := range params {
		if p, change, possible := model.Without(c.name, c.Prompting, param); possible {
			c.Prompting = p
			c.Changes = append(c.Changes, change)
		}
	}
	return c
}

// observed returns the condition as recorded in observations: with the protocol if there are several, and the
// settings sent.
func (s *Study) observed(p Protocol, c Condition) Condition {
	sent := sentOf(c.Changes)
	if len(s.Protocols) == 1 && sent == "" {
		return c
	}
	c.Name = maps.Clone(c.Name)
	if len(s.Protocols) > 1 {
		c.Name[crosstalk.ProtocolColumn] = p.Scoring.Protocol
	}
	if sent != "" {
		c.Name[crosstalk.SentColumn] = sent
	}
	return c
}

// askers holds an asker for each condition's model, and what is known of the model's refusals. The run keeps both.
type askers struct {
	m    *Measurement
	plan []run.Condition

	mu    sync.Mutex
	known map[string]*adapting
	kept  map[int]run.Adapted // by index in the plan
	err   error               // of keeping them
}

func newAskers(m *Measurement) *askers {
	a := &askers{m: m, plan: m.study.Plan().Conditions, known: map[string]*adapting{}, kept: map[int]run.Adapted{}}
	for _, of := range m.Dir.Manifest.Adapted {
		a.kept[of.Condition] = of
	}
	return a
}

// of returns the asker for the condition's model under a protocol.
func (a *askers) of(p Protocol, c Condition) *adapting {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := p.Scoring.Protocol + string(crosstalk.Canonical([]any{c.Model, c.Prompting, c.Format}))
	if known := a.known[key]; known != nil {
		return known
	}
	s := a.m.study
	asker := &adapting{Asker: a.m.Session.For(c.model), name: c.name, families: s.families, swept: c.Name,
		strict: strictly(p.Scoring.Protocol)}
	place := slices.IndexFunc(a.plan, func(of run.Condition) bool {
		return of.Model == c.Model && bytes.Equal(crosstalk.Canonical([]any{of.Prompting, of.Format}),
			crosstalk.Canonical([]any{c.Prompting, c.Format}))
	})
	if was := a.kept[place]; asker.strict == "" {
		now := c.without(was.Without)
		s.noteChange(now.Changes[len(c.Changes):]...)
		if _, change, possible := model.WithRoom(c.name, now.Prompting, s.families); possible && was.Room {
			s.noteChange(change)
		}
		for _, param := range was.Without {
			d := dropped{param: param}
			if param == crosstalk.ParamReasoning { // after each refusal, a different level is requested
				c = c.without([]string{param})
				d.level = c.Prompting.Decoding.Reasoning
			}
			asker.dropped = append(asker.dropped, d)
		}
		asker.room = was.Room
	}
	asker.answered = func(req crosstalk.Request) bool {
		answer, found, err := a.m.Dir.Journal.Get(crosstalk.KeyOf(c.Model, req))
		return found && err == nil && answer.Status == crosstalk.Text
	}
	asker.note = func(change model.Change) {
		s.noteChange(change)
		a.keep(place, run.Adapted{Condition: place, Without: asker.params(), Room: asker.room})
	}
	a.known[key] = asker
	return asker
}

func (a *askers) keep(place int, of run.Adapted) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept[place] = of
	var all []run.Adapted
	for _, place := range slices.Sorted(maps.Keys(a.kept)) {
		all = append(all, a.kept[place])
	}
	a.err = errors.Join(a.err, a.m.Dir.SetAdapted(all))
}

func (a *askers) failed() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// Sent returns the settings sent under a condition of a run's observations, by name: temperature "0", or "default" if
// none was sent, without the model and its room for thoughts. A system message or a prefix is there only if it was
// sent. It returns nil if the answers were recorded elsewhere.
func Sent(m run.Manifest) func(condition map[string]string) map[string]string {
	without := map[int][]string{}
	for _, a := range m.Adapted {
		without[a.Condition] = a.Without
	}
	return func(condition map[string]string) map[string]string {
		for i, planned := range m.Plan.Conditions {
			if planned.Prompting.API != "" && crosstalk.HasAll(condition, planned.Name) {
				c := Condition{Condition: planned, name: planned.Model.String()}
				return c.without(without[i]).settings()
			}
		}
		return nil
	}
}

func (c Condition) settings() map[string]string {
	sent := map[string]json.RawMessage{}
	d := c.Prompting.Decoding
	d.ReasoningTokens = 0
	extra := d.Extra
	d.Extra = nil
	json.Unmarshal(crosstalk.Canonical(d), &sent)
	settings := map[string]string{"api": string(c.Prompting.API), crosstalk.ParamMaxTokens: "none",
		crosstalk.ParamSeed: "none", crosstalk.ParamStop: "none"}
	for name, text := range map[string]string{crosstalk.ParamSystem: c.Prompting.System, "prefix": c.Prompting.Prefix} {
		if text != "" {
			settings[name] = text
		}
	}
	maps.Copy(settings, notSent)
	for name, value := range sent {
		settings[name] = strings.Trim(string(value), `"`)
	}
	for name, value := range extra {
		settings[name] = string(crosstalk.Canonical(value))
	}
	maps.Copy(settings, c.Format)
	return settings
}
