package study

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"crosstalk"
	"crosstalk/model"
	"crosstalk/run"
)

// sentOf names the settings that are sent in place of those that were asked for, "temperature default; seed none",
// in the order of their names; "" if all are sent. What keeps the answer that was asked for is not among them.
func sentOf(changes []model.Change) string {
	sent := map[string]string{}
	for _, c := range changes {
		unset := "none" // what applies where a parameter is not sent
		switch c.Param {
		case crosstalk.ParamTemperature, crosstalk.ParamTopP, crosstalk.ParamReasoning:
			unset = "default"
		}
		if !c.Keeps {
			sent[c.Param] = cmp.Or(c.To, unset)
		}
	}
	var parts []string
	for _, param := range slices.Sorted(maps.Keys(sent)) {
		parts = append(parts, param+" "+sent[param])
	}
	return strings.Join(parts, "; ")
}

// without is the condition without parameters that its model refused, in the order in which it did.
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

// observed is the condition as its observations have it: with the protocol's name if there are several, and with
// what was sent instead of what was asked for.
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

// askers are who asks the conditions' models, with what asking has shown of them. The run keeps that.
type askers struct {
	m    *Measurement
	plan []run.Condition

	mu    sync.Mutex
	known map[string]*adapting
	kept  map[int]run.Adapted // by the index in the plan
	err   error               // of keeping it
}

func newAskers(m *Measurement) *askers {
	a := &askers{m: m, plan: m.study.Plan().Conditions, known: map[string]*adapting{}, kept: map[int]run.Adapted{}}
	for _, of := range m.Dir.Manifest.Adapted {
		a.kept[of.Condition] = of
	}
	return a
}

// of returns who asks the condition's model under a protocol.
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
			if param == crosstalk.ParamReasoning { // each time it is refused it is asked for in another way
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
