package study

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
	"crosstalk/model"
	"crosstalk/model/reference"
	"crosstalk/run"
	"crosstalk/suite"
)

// Sweep lists models and their settings. Several values of a field are compared: the study has a condition for each
// combination. An empty field leaves the setting to the protocol or the suite.
type Sweep struct {
	Models []string `json:"models,omitempty"` // provider:name (model.Open)
	// Own are models of the caller's, measured besides Models. Each is named by its Identity, provider:name, in figures
	// and in the run: the same name resumes the run. Names in Models may be theirs.
	Own      []crosstalk.Model `json:"-"`
	BaseURLs []string          `json:"base_urls,omitempty"` // one for all models, or one for each
	APIs     []string          `json:"apis,omitempty"`      // chat or completions
	KeyVar   string            `json:"-"`                   // the environment variable that holds the API key
	Headers  []string          `json:"-"`                   // NAME=VALUE or NAME=$VARIABLE (model.ParseHeader)
	Families []model.Family    `json:"-"`                   // additions to what is known about models

	Temperatures []string `json:"temperatures,omitempty"` // numbers from 0, or "default" for the provider's
	TopPs        []string `json:"top_ps,omitempty"`       // numbers in (0, 1], or "default"
	MaxTokens    int      `json:"max_tokens,omitempty"`   // of an answer
	Systems      []string `json:"systems,omitempty"`      // system messages
	Prefixes     []string `json:"prefixes,omitempty"`     // put before each prompt
	Params       []string `json:"params,omitempty"`       // NAME=VALUE, sent as they are; a name may have several values
	Seed         *int64   `json:"seed,omitempty"`         // sample k is asked with seed+k

	Reasoning []string `json:"reasoning,omitempty"` // off, low, medium, high, or "default" for the model's
	// ReasoningTokens are for reasoning besides MaxTokens; 0: as the model is known to need.
	ReasoningTokens int `json:"reasoning_tokens,omitempty"`

	// Zip lists settings, by their names in figures, whose values are paired in order instead of combined.
	Zip     [][]string `json:"zip,omitempty"`
	Samples int        `json:"samples,omitempty"` // answers to each prompt
	Items   int        `json:"items,omitempty"`   // how many of the suite, drawn from all strata (suite.Part); 0: all

	// CountOnly opens nothing for scoring, and models without their keys: the study can count, not run.
	CountOnly bool `json:"-"`
}

// Condition is a point of the grid that a sweep spans, with the model to ask.
type Condition struct {
	run.Condition
	Changes []model.Change // deviations from what the protocol or the user wants, because the model refuses that
	model   crosstalk.Model
	planned *crosstalk.PromptConfig // before the model refused parameters; nil: Prompting

	name, baseURL  string // of the model, as given by the user
	system, prefix *string
}

// axis is a setting with one or several values. Each value makes a condition with each value of the other axes.
type axis struct {
	column string // its name in figures
	values []string
	set    func(c *Condition, value int)
}

// axes are settings of a sweep.
type axes []axis

func (a *axes) add(column string, values []string, set func(c *Condition, value int)) {
	if len(values) > 0 {
		*a = append(*a, axis{column, values, set})
	}
}

// zip groups the axes: those of each list of columns together, at the place of the first; others are alone.
func zip(all axes, lists [][]string) (groups []axes, err error) {
	of := map[string]int{} // the list of a column
	for i, columns := range lists {
		if len(columns) < 2 {
			return nil, crosstalk.BadOption("zip", " has %q; expected several settings, such as temperature,top-p",
				strings.Join(columns, ","))
		}
		for _, column := range columns {
			name := strings.ReplaceAll(column, "-", "_")
			if !slices.ContainsFunc(all, func(a axis) bool { return a.column == name }) {
				return nil, crosstalk.BadOption("zip", " has %s, and no values of %s are given", column, column)
			}
			if of[name] > 0 {
				return nil, crosstalk.BadOption("zip", " has %s twice", column)
			}
			of[name] = i + 1
		}
	}
	place := map[int]int{}
	for _, a := range all {
		list := of[a.column]
		at, begun := place[list]
		if list == 0 || !begun {
			place[list] = len(groups)
			groups = append(groups, axes{a})
			continue
		}
		if first := groups[at][0]; len(first.values) != len(a.values) {
			return nil, crosstalk.BadOption("zip", ": %s has %d values and %s has %d; give each as many, in the order in "+
				"which they go together", first.column, len(first.values), a.column, len(a.values))
		}
		groups[at] = append(groups[at], a)
	}
	return groups, nil
}

// cross builds the grid of groups of axes; the last varies fastest. A condition's name has the settings with several
// values.
func cross(groups []axes) ([]Condition, error) {
	conditions := []Condition{{Condition: run.Condition{Name: map[string]string{}}}}
	for _, group := range groups {
		value := func(i int) string {
			var values []string
			for _, a := range group {
				values = append(values, a.values[i])
			}
			return strings.Join(values, ", ")
		}
		seen := map[string]bool{}
		for i := range group[0].values {
			if seen[value(i)] {
				return nil, fmt.Errorf("duplicate %s %q", strings.ReplaceAll(group[0].column, "_", "-"), value(i))
			}
			seen[value(i)] = true
		}
		var crossed []Condition
		for _, c := range conditions {
			for i := range group[0].values {
				one := c
				one.Name, one.Format = maps.Clone(c.Name), maps.Clone(c.Format)
				one.Prompting.Decoding.Extra = maps.Clone(c.Prompting.Decoding.Extra)
				for _, a := range group {
					if len(a.values) > 1 {
						one.Name[a.column] = a.values[i]
					}
					a.set(&one, i)
				}
				crossed = append(crossed, one)
			}
		}
		conditions = crossed
	}
	return conditions, nil
}

// defaults are the settings of an instrument and a protocol that apply unless the sweep sets others.
type defaults struct {
	model    string // a reference model
	system   string
	decoding crosstalk.Decoding
	logprobs int
	format   axes // the instrument's own
}

// addOwn adds the names of the caller's models to Models.
func (s *Sweep) addOwn() {
	s.Models = slices.Clone(s.Models)
	for _, own := range s.Own {
		if name := own.Identity().String(); !slices.Contains(s.Models, name) {
			s.Models = append(s.Models, name)
		}
	}
}

// own returns the caller's models by name.
func (s *Sweep) own() (map[string]crosstalk.Model, error) {
	models := map[string]crosstalk.Model{}
	for _, own := range s.Own {
		id := own.Identity()
		switch name := id.String(); {
		case id.Provider == "" || id.Name == "" || strings.Contains(id.Provider, ":"):
			return nil, fmt.Errorf("a model of the caller's is called %q; expected a provider without a colon, and a name", name)
		case models[name] != nil:
			return nil, fmt.Errorf("two models of the caller's are called %s; give each a name of its own", name)
		case len(s.BaseURLs) > 0:
			return nil, crosstalk.BadOption("base-url", " is for models by name, and %s is one of the caller's", name)
		default:
			models[name] = own
		}
	}
	return models, nil
}

// conditions returns the grid of a sweep's settings, with the defaults of protocol and suite, and opens its models.
func (of *Study) conditions(s Sweep, protocol string, d defaults) ([]Condition, error) {
	of.families = s.Families
	if len(s.Models) == 0 {
		s.Models = []string{reference.Provider + ":" + d.model}
	}
	for option, n := range map[string]int{
		"samples": s.Samples, "items": s.Items, "max-tokens": s.MaxTokens, "reasoning-tokens": s.ReasoningTokens} {
		if n < 0 {
			return nil, crosstalk.BadOption(option, " is %d; expected a number above 0", n)
		}
	}
	own, err := s.own()
	if err != nil {
		return nil, err
	}
	all, err := s.axes(d)
	if err != nil {
		return nil, err
	}
	groups, err := zip(append(all, d.format...), s.Zip)
	if err != nil {
		return nil, err
	}
	conditions, err := cross(groups)
	if err != nil {
		return nil, err
	}
	type opening struct {
		name, baseURL string
		api           crosstalk.API
	}
	of.countOnly = s.CountOnly
	models := map[opening]crosstalk.Model{}
	openReference := func(spec string) (crosstalk.Model, error) {
		return reference.Open(spec, of.Suite.Items.List(), of.Suite.Tasks...)
	}
	for i := range conditions {
		c := &conditions[i]
		by := opening{c.name, c.baseURL, c.Prompting.API}
		if mine := own[c.name]; mine != nil {
			if by.api != "" && by.api != mine.API() {
				return nil, crosstalk.BadOption("api", " is %s, and %s has only %s", by.api, c.name, mine.API())
			}
			models[by] = mine
		}
		if models[by] == nil {
			models[by], err = model.Open(by.name, model.Options{
				BaseURL: by.baseURL, API: by.api, KeyVar: s.KeyVar, Header: s.Headers, Families: s.Families,
				NoKey:  s.CountOnly,
				Others: map[string]func(string) (crosstalk.Model, error){reference.Provider: openReference}})
			if err != nil {
				return nil, err
			}
		}
		c.model = models[by]
		c.Model = c.model.Identity()
		c.Name["model"] = c.Model.String()
		p := &c.Prompting
		p.API, p.Logprobs = c.model.API(), d.logprobs
		p.Prefix, p.System = suite.PrefixOf(of.Suite.Prefix, p.API), d.system
		if c.prefix != nil {
			p.Prefix = *c.prefix
		}
		if c.system != nil {
			p.System = *c.system
		}
		var dropped []model.Change
		if p.API == crosstalk.Completions {
			if c.system != nil && p.System != "" { // a protocol's own is for chats alone
				dropped = append(dropped, model.Change{Param: crosstalk.ParamSystem, From: "message",
					Why: c.name + " continues a text, and has no messages"})
			}
			p.System = ""
		}
		if err := c.adapt(s.Families, strictly(protocol), dropped...); err != nil {
			return nil, err
		}
		of.noteChange(c.Changes...)
	}
	return conditions, nil
}

func (s *Sweep) axes(d defaults) (axes, error) {
	models, err := s.modelAxis(d.decoding)
	if err != nil {
		return nil, err
	}
	all := axes{models}
	all.add("api", s.APIs, func(c *Condition, i int) { c.Prompting.API = crosstalk.API(s.APIs[i]) })
	all.add("system", s.Systems, func(c *Condition, i int) { c.system = &s.Systems[i] })
	all.add("prefix", s.Prefixes, func(c *Condition, i int) { c.prefix = &s.Prefixes[i] })
	for _, number := range []struct {
		column, expected string
		texts            []string
		valid            func(float64) bool
		field            func(*crosstalk.Decoding) **float64
	}{
		{"temperature", "a number from 0", s.Temperatures, func(v float64) bool { return v >= 0 },
			func(d *crosstalk.Decoding) **float64 { return &d.Temperature }},
		{"top_p", "more than 0 and at most 1", s.TopPs, func(v float64) bool { return v > 0 && v <= 1 },
			func(d *crosstalk.Decoding) **float64 { return &d.TopP }},
	} {
		values := make([]*float64, len(number.texts)) // nil: the provider's default
		labels := slices.Clone(number.texts)
		for i, text := range number.texts {
			if text == "default" {
				continue
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !number.valid(v) || math.IsInf(v, 0) {
				return nil, crosstalk.BadOption(strings.ReplaceAll(number.column, "_", "-"),
					" is %q; expected %s, or default", text, number.expected)
			}
			values[i], labels[i] = &v, strconv.FormatFloat(v, 'g', -1, 64)
		}
		all.add(number.column, labels, func(c *Condition, i int) { *number.field(&c.Prompting.Decoding) = values[i] })
	}
	for _, level := range s.Reasoning {
		if !slices.Contains(reasoningLevels, level) {
			return nil, crosstalk.BadOption("reasoning", " is %q; expected one of: %s",
				level, strings.Join(reasoningLevels, ", "))
		}
	}
	all.add("reasoning", s.Reasoning, func(c *Condition, i int) {
		if level := s.Reasoning[i]; level != "default" {
			c.Prompting.Decoding.Reasoning = level
		}
	})
	return all, s.addParams(&all)
}

func (s *Sweep) modelAxis(decoding crosstalk.Decoding) (axis, error) {
	n := len(s.BaseURLs)
	if n > 1 && n != len(s.Models) {
		return axis{}, crosstalk.BadOption("base-url",
			" has %d URLs for %d models; expected one for all, or one for each", n, len(s.Models))
	}
	if s.MaxTokens > 0 {
		decoding.MaxTokens = s.MaxTokens
	}
	decoding.Seed, decoding.ReasoningTokens = s.Seed, s.ReasoningTokens
	values := slices.Clone(s.Models)
	if n > 1 {
		for i := range values {
			values[i] += " " + model.PublicURL(s.BaseURLs[i])
		}
	}
	return axis{"model", values, func(c *Condition, i int) {
		c.name, c.Prompting.Decoding = s.Models[i], decoding
		switch {
		case n == 1:
			c.baseURL = s.BaseURLs[0]
		case n > 1:
			c.baseURL = s.BaseURLs[i]
			c.Name["base_url"] = model.PublicURL(c.baseURL)
		}
	}}, nil
}

func (s *Sweep) addParams(all *axes) error {
	var names []string
	values := map[string][]string{}
	for _, param := range s.Params {
		name, value, ok := strings.Cut(param, "=")
		if !ok || name == "" {
			return crosstalk.BadOption("param", ": expected a name, = and a value: NAME=VALUE") // not quoted: may be a key
		}
		if secret := SecretField(name, value); secret != "" {
			return crosstalk.BadOption("param", " %s is a secret, and parameters are saved with the run: set a key in the "+
				"environment (--key-var NAME), or send it with --header 'NAME=$VARIABLE'", secret)
		}
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], value)
	}
	for _, name := range names {
		all.add(name, values[name], func(c *Condition, i int) {
			var v any
			if err := json.Unmarshal([]byte(values[name][i]), &v); err != nil {
				v = values[name][i] // an unquoted word is a string
			}
			c.setExtra(name, v)
		})
	}
	return nil
}

// secretName matches names of fields for a key, token or password, but not settings: max_tokens, prompt_cache_key.
var secretName = lazyregexp.New(`(?i)^(key|token|auth)$|(^|[_.-])(api[_-]?key|access[_-]?key|secret|` +
	`passw(or)?d|passphrase|authorization|credentials?|bearer|` +
	`(api|auth|access|bearer|id|refresh|session|security)[_-]?token)($|[_.-])`)

// SecretField returns the name of a secret in a parameter, or in the JSON object that is its value; "" if there is
// none.
func SecretField(name, value string) string {
	if secretName().MatchString(name) {
		return name
	}
	var v any
	if json.Unmarshal([]byte(value), &v) != nil {
		return ""
	}
	return secretIn(v)
}

func secretIn(v any) string {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if secretName().MatchString(name) {
				return name
			}
			if secret := secretIn(v[name]); secret != "" {
				return secret
			}
		}
	case []any:
		for _, inner := range v {
			if secret := secretIn(inner); secret != "" {
				return secret
			}
		}
	}
	return ""
}

var reasoningLevels = []string{"default", crosstalk.ReasoningOff, crosstalk.ReasoningLow, crosstalk.ReasoningMedium,
	crosstalk.ReasoningHigh}

// keyVars returns the environment variables from which the sweep reads keys, other than those of providers.
func (s *Sweep) keyVars() (names []string) {
	if s.KeyVar != "" {
		names = append(names, s.KeyVar)
	}
	for _, header := range s.Headers {
		if _, value, _ := strings.Cut(header, "="); strings.HasPrefix(value, "$") {
			names = append(names, value[1:])
		}
	}
	return names
}

func (c *Condition) setExtra(name string, value any) {
	if c.Prompting.Decoding.Extra == nil {
		c.Prompting.Decoding.Extra = map[string]any{}
	}
	c.Prompting.Decoding.Extra[name] = value
}
