package study

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/ordered"
	"crosstalk/model"
	"crosstalk/run"
)

// Settings are the settings of a study that asks models: a *Leakage, *Confusion or *Consistency.
type Settings interface {
	Open() (*Study, error)
	// Asked returns the models and how they are asked, to read or change.
	Asked() *Sweep

	// format sets an instrument's own setting of prompts, by its column in figures. It reports whether there is one.
	format(column string, values []string) bool
	// older sets what a manifest without settings tells beside the conditions. suite is the suite's name.
	older(m run.Manifest, suite string)
	// observed sets what only the observations tell of such a run.
	observed(labels map[string]string)
}

// Asked returns the sweep.
func (s *Sweep) Asked() *Sweep { return s }

// kept returns the settings as a manifest keeps them: addresses lack passwords, and headers and the variables of keys
// are left out, and the names of the caller's models added.
func kept(settings Settings) json.RawMessage {
	sweep := settings.Asked()
	sweep.addOwn()
	addresses := sweep.BaseURLs
	defer func() { sweep.BaseURLs = addresses }()
	sweep.BaseURLs = ordered.Map(addresses, model.PublicURL)
	return crosstalk.Canonical(settings)
}

// FromRun returns the settings by which a run asked its models and scored their answers: opened, they give a study
// with the run's plan and rules, if the files that they name are still the same. Of a run of an older version, it
// returns what the run tells; the rest has its defaults.
//
// A run directory may come from somebody else. So may the addresses (Asked().BaseURLs) and the programs (similarities
// such as exec:FILE) in its settings: look at them before opening those of a stranger.
func FromRun(path string) (Settings, error) {
	m, err := run.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	of := map[string]Settings{
		"leakage": &Leakage{}, "confusion": &Confusion{}, "consistency": &Consistency{}}[m.Plan.Instrument]
	if of == nil || len(m.Plan.Conditions) == 0 || m.Plan.Conditions[0].Prompting.API == "" {
		return nil, fmt.Errorf("%s asked no model: its answers were recorded elsewhere", path)
	}
	if m.Settings != nil {
		if err := json.Unmarshal(m.Settings, of); err != nil {
			return nil, fmt.Errorf("%s: invalid settings in its manifest: %w", path, err)
		}
		return of, nil
	}
	return of, older(of, path, m)
}

// older sets the settings from the manifest and the observations of a run whose manifest has no settings.
func older(of Settings, path string, m run.Manifest) error {
	suite, items := cutSuite(m.Plan.Suite)
	of.older(m, suite)
	sweep := of.Asked()
	sweep.Items = items
	if len(m.Scoring) > 0 {
		sweep.Samples = m.Scoring[0].Samples
	}
	setConditions(of, m.Plan.Conditions)
	if m.Observations == nil {
		return nil
	}
	for o, err := range run.ReadValues(path) {
		if err != nil {
			return err
		}
		of.observed(o.Labels)
	}
	return nil
}

var suiteID = lazyregexp.New(`^(.*?)(?:\[(\d+) of \d+\])?@[0-9a-f]+$`)

// cutSuite returns the name in a suite's ID, and how many items were drawn from the suite; 0: it is whole.
func cutSuite(id string) (name string, items int) {
	parts := suiteID().FindStringSubmatch(id)
	if parts == nil {
		return id, 0
	}
	items, _ = strconv.Atoi(parts[2]) // "" is 0
	return parts[1], items
}

// setConditions sets a sweep that has these conditions: settings that vary have a value for each condition, and are
// paired in order.
func setConditions(of Settings, conditions []run.Condition) {
	s := of.Asked()
	seen := map[string]bool{}
	points := slices.DeleteFunc(slices.Clone(conditions), func(c run.Condition) bool { // of other protocols
		name := string(crosstalk.Canonical(c.Name))
		again := seen[name]
		seen[name] = true
		return again
	})
	var varying []string
	// values returns the values of a setting: one if it does not vary, none if it is left to protocols or models.
	values := func(column string, value func(c run.Condition) string) []string {
		if _, varies := points[0].Name[column]; varies {
			varying = append(varying, column)
			return ordered.Map(points, func(c run.Condition) string { return c.Name[column] })
		}
		if all := ordered.Distinct(conditions, value); len(all) == 1 {
			return all
		}
		return nil
	}
	number := func(field func(crosstalk.Decoding) *float64) func(c run.Condition) string {
		return func(c run.Condition) string {
			if v := field(c.Prompting.Decoding); v != nil {
				return strconv.FormatFloat(*v, 'g', -1, 64)
			}
			return "default"
		}
	}
	s.Models = ordered.Map(points, func(c run.Condition) string { return c.Model.String() })
	s.BaseURLs = ordered.Map(points, func(c run.Condition) string { return c.Model.Endpoint })
	if one := ordered.Distinct(points, func(c run.Condition) crosstalk.Identity { return c.Model }); len(one) == 1 {
		s.Models, s.BaseURLs = s.Models[:1], s.BaseURLs[:1]
	} else {
		varying = append(varying, "model")
	}
	if _, several := points[0].Name["base_url"]; !several {
		if s.BaseURLs = slices.Compact(slices.Clone(s.BaseURLs)); len(s.BaseURLs) > 1 {
			s.BaseURLs = nil // those of the providers
		}
	}
	if !slices.ContainsFunc(s.BaseURLs, func(url string) bool { return strings.Contains(url, "://") }) {
		s.BaseURLs = nil // of models inside the program
	}
	s.APIs = values("api", func(c run.Condition) string { return string(c.Prompting.API) })
	s.Systems = values("system", func(c run.Condition) string { return c.Prompting.System })
	s.Prefixes = values("prefix", func(c run.Condition) string { return c.Prompting.Prefix })
	s.Temperatures = values("temperature", number(func(d crosstalk.Decoding) *float64 { return d.Temperature }))
	s.TopPs = values("top_p", number(func(d crosstalk.Decoding) *float64 { return d.TopP }))
	s.Reasoning = values("reasoning", func(c run.Condition) string {
		if level := c.Prompting.Decoding.Reasoning; level != "" {
			return level
		}
		return "default"
	})
	s.Params = nil
	for _, name := range paramsOf(conditions) {
		for _, value := range values(name, func(c run.Condition) string {
			return string(crosstalk.Canonical(c.Prompting.Decoding.Extra[name]))
		}) {
			s.Params = append(s.Params, name+"="+value)
		}
	}
	formats := map[string]bool{}
	for _, c := range conditions {
		for column := range c.Format {
			formats[column] = true
		}
	}
	for _, column := range append(slices.Sorted(maps.Keys(formats)), "beams") {
		_, varies := points[0].Name[column]
		if !varies && !formats[column] {
			continue
		}
		list := values(column, func(c run.Condition) string { return c.Format[column] })
		if !of.format(column, list) && varies {
			varying = varying[:len(varying)-1]
		}
	}
	d := points[0].Prompting.Decoding
	same := func(field func(crosstalk.Decoding) any) bool {
		return len(ordered.Distinct(conditions, func(c run.Condition) string {
			return string(crosstalk.Canonical(field(c.Prompting.Decoding)))
		})) == 1
	}
	s.MaxTokens, s.Seed, s.ReasoningTokens = 0, nil, 0
	if same(func(d crosstalk.Decoding) any { return d.MaxTokens }) {
		s.MaxTokens = d.MaxTokens
	}
	if same(func(d crosstalk.Decoding) any { return d.Seed }) {
		s.Seed = d.Seed
	}
	if same(func(d crosstalk.Decoding) any { return d.ReasoningTokens }) {
		s.ReasoningTokens = d.ReasoningTokens
	}
	if s.Zip = nil; len(varying) > 1 {
		s.Zip = [][]string{varying}
	}
}

// paramsOf returns the parameters that conditions send unchanged, without those that are beams in a figure.
func paramsOf(conditions []run.Condition) []string {
	names := map[string]bool{}
	for _, c := range conditions {
		for name := range c.Prompting.Decoding.Extra {
			names[name] = true
		}
		width, _ := strconv.Atoi(c.Name["beams"]) // "" is 0
		beams, _ := model.Beams(c.Model.String(), width)
		for name := range beams {
			delete(names, name)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// AskAlike sets the settings to ask one other model just as a run of a single condition asked its own: with the same
// bytes before and after each prompt, and the settings that were sent, not those that the model refused.
func AskAlike(of Settings, m run.Manifest, model string) error {
	if len(m.Plan.Conditions) != 1 {
		return fmt.Errorf("it has several conditions; expected a run of one model under one setting")
	}
	c := Condition{Condition: m.Plan.Conditions[0], name: m.Plan.Conditions[0].Model.String()}
	for _, a := range m.Adapted {
		c = c.without(a.Without)
	}
	c.Name = map[string]string{"model": c.name}
	if own, is := of.(*Confusion); is && len(own.Beams) == 1 { // servers have different parameters for them
		c.Name["beams"] = strconv.Itoa(own.Beams[0])
	}
	if c.Prompting.API == crosstalk.Responses { // another address for the same messages
		c.Prompting.API = crosstalk.Chat
	}
	setConditions(of, []run.Condition{c.Condition})
	s := of.Asked()
	s.Models, s.BaseURLs, s.ReasoningTokens, s.Samples = []string{model}, nil, 0, 0
	return nil
}

func (l *Leakage) format(string, []string) bool { return false }

func (l *Leakage) older(m run.Manifest, suite string) {
	l.Suite = suite
	for _, of := range m.Scoring {
		l.Protocols = append(l.Protocols, of.Protocol)
		l.Similarities = of.Similarities
	}
}

func (l *Leakage) observed(map[string]string) {}

func (c *Confusion) format(column string, values []string) bool {
	counts := func() (counts []int) {
		for _, text := range values {
			n, _ := strconv.Atoi(text)
			counts = append(counts, n)
		}
		return counts
	}
	switch column {
	case "position":
		c.Positions = values
	case "template":
		c.Templates = values
	case "shots":
		c.Shots = counts()
	case "beams":
		c.Beams = counts()
	default: // demonstrations follow from the suite
		return false
	}
	return true
}

func (c *Confusion) older(m run.Manifest, suite string) {
	c.Suite, c.Logprobs = suite, m.Plan.Conditions[0].Prompting.Logprobs
	shows := slices.ContainsFunc(m.Plan.Conditions, func(of run.Condition) bool {
		shots := of.Format["shots"]
		return shots != "" && shots != "0"
	})
	for _, of := range m.Scoring {
		c.Protocols = append(c.Protocols, of.Protocol)
		var rules confusion.Rules
		if json.Unmarshal(of.Rules, &rules) == nil && rules.Shown == "" && shows {
			c.Shown = InExpected // as all runs did before others could be chosen
		}
	}
}

func (c *Confusion) observed(labels map[string]string) {
	if language := labels[confusion.LanguageColumn]; language != "" {
		c.Languages = added(c.Languages, language)
	}
}

func (c *Consistency) format(string, []string) bool { return false }

func (c *Consistency) older(m run.Manifest, suite string) {
	c.Suite = suite
	for _, of := range m.Scoring {
		c.Protocols = append(c.Protocols, of.Protocol)
	}
}

func (c *Consistency) observed(labels map[string]string) {
	pair, part := labels["pair"], consistency.Part(labels["part"])
	switch part {
	case consistency.Source:
		c.From = added(c.From, pair)
	case consistency.Both, consistency.Instructions, consistency.Inputs:
		c.To, c.Parts = added(c.To, consistency.Sense(pair).Target()), added(c.Parts, string(part))
	case consistency.Mixed:
		if _, instruction, _ := strings.Cut(pair, "/"); !consistency.Sense(instruction).Rewritten() {
			c.Mixed = added(c.Mixed, instruction)
		}
	}
}

// added returns the list with the value, once.
func added(list []string, value string) []string {
	if slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}
