package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/model"
	"crosstalk/model/reference"
	"crosstalk/run"

	"github.com/spf13/cobra"
)

// condition is a point of the grid of settings that a run spans, with the
// model that is asked.
type condition struct {
	run.Condition
	model crosstalk.Model

	name, baseURL  string // of the model, as the user gave them
	system, prefix *string
}

// axis is a setting of which the user may give several values: each makes a
// condition with each value of the other axes.
type axis struct {
	column string // what figures call it
	values []string
	set    func(c *condition, value int)
}

// grid crosses the axes; the last varies fastest. A condition is named by the
// axes that have several values.
func grid(axes []axis) ([]condition, error) {
	conditions := []condition{{Condition: run.Condition{Name: map[string]string{}}}}
	for _, a := range axes {
		for i, value := range a.values {
			if slices.Contains(a.values[:i], value) {
				return nil, fmt.Errorf("the %s %q is named twice", strings.ReplaceAll(a.column, "_", "-"), value)
			}
		}
		var crossed []condition
		for _, c := range conditions {
			for i, value := range a.values {
				one := c
				one.Name, one.Format = maps.Clone(c.Name), maps.Clone(c.Format)
				one.Prompting.Decoding.Extra = maps.Clone(c.Prompting.Decoding.Extra)
				if len(a.values) > 1 {
					one.Name[a.column] = value
				}
				a.set(&one, i)
				crossed = append(crossed, one)
			}
		}
		conditions = crossed
	}
	return conditions, nil
}

// settings are what a protocol and a suite say where the user does not.
type settings struct {
	system   string
	prefix   map[crosstalk.API]string
	decoding crosstalk.Decoding
	logprobs int

	format    []axis                                     // the instrument's own
	reference func(spec string) (crosstalk.Model, error) // opens a reference model over the suite
}

// conditions are the grid of the user's settings over the defaults, with its
// models open.
func (a *asking) conditions(c *cobra.Command, defaults settings) ([]condition, error) {
	axes, err := a.axes(c, defaults)
	if err != nil {
		return nil, err
	}
	conditions, err := grid(append(axes, defaults.format...))
	if err != nil {
		return nil, err
	}
	type place struct {
		name, baseURL string
		api           crosstalk.API
	}
	models := map[place]crosstalk.Model{}
	for i := range conditions {
		one := &conditions[i]
		at := place{one.name, one.baseURL, one.Prompting.API}
		if models[at] == nil {
			models[at], err = model.Open(at.name, model.Options{BaseURL: at.baseURL, API: at.api, KeyVar: a.keyVar,
				Others: map[string]func(string) (crosstalk.Model, error){reference.Provider: defaults.reference}})
			if err != nil {
				return nil, err
			}
		}
		one.model = models[at]
		one.Model = one.model.Identity()
		one.Name["model"] = one.Model.String()
		p := &one.Prompting
		p.API, p.Logprobs = one.model.API(), defaults.logprobs
		p.Prefix, p.System = defaults.prefix[p.API], defaults.system
		if one.prefix != nil {
			p.Prefix = *one.prefix
		}
		if one.system != nil {
			p.System = *one.system
		}
		if p.API == crosstalk.Completions {
			p.System = ""
		}
	}
	a.options.Concurrency = a.concurrency(conditions)
	return conditions, a.checkPrices(conditions)
}

func (a *asking) checkPrices(conditions []condition) error {
	for _, c := range conditions {
		name := c.Model.Name
		if _, priced := a.options.Budget.Prices[name]; !priced && (a.options.Budget.Cost > 0 || a.prices != "") {
			return fmt.Errorf("no price is known for %s: name a file with one, as in --prices prices.yaml with %s: {input: 0.15, output: 0.60}", name, name)
		}
	}
	return nil
}

// concurrency is the user's bound or, where there is none, the least that a
// model's preset has; 0: neither.
func (a *asking) concurrency(conditions []condition) int {
	least := a.options.Concurrency
	for _, c := range conditions {
		if n := model.Concurrency(c.name); a.options.Concurrency == 0 && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// axes are the settings that all instruments share.
func (a *asking) axes(c *cobra.Command, defaults settings) ([]axis, error) {
	models, err := a.modelAxis(defaults.decoding)
	if err != nil {
		return nil, err
	}
	axes := []axis{models}
	if len(a.apis) > 0 {
		axes = append(axes, axis{"api", a.apis, func(c *condition, i int) { c.Prompting.API = crosstalk.API(a.apis[i]) }})
	}
	if c.Flags().Changed("system") {
		axes = append(axes, axis{"system", a.systems, func(c *condition, i int) { c.system = &a.systems[i] }})
	}
	if c.Flags().Changed("prefix") {
		axes = append(axes, axis{"prefix", a.prefixes, func(c *condition, i int) { c.prefix = &a.prefixes[i] }})
	}
	for _, number := range []struct {
		column, expected string
		texts            []string
		valid            func(float64) bool
		field            func(*crosstalk.Decoding) **float64
	}{
		{"temperature", "a number from 0", a.temperatures, func(v float64) bool { return v >= 0 }, func(d *crosstalk.Decoding) **float64 { return &d.Temperature }},
		{"top_p", "more than 0 and at most 1", a.topPs, func(v float64) bool { return v > 0 && v <= 1 }, func(d *crosstalk.Decoding) **float64 { return &d.TopP }},
	} {
		if len(number.texts) == 0 {
			continue
		}
		values := make([]*float64, len(number.texts)) // nil: the provider's
		labels := slices.Clone(number.texts)
		for i, text := range number.texts {
			if text == "default" {
				continue
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !number.valid(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("--%s is %q; expected %s, or default", strings.ReplaceAll(number.column, "_", "-"), text, number.expected)
			}
			values[i], labels[i] = &v, strconv.FormatFloat(v, 'g', -1, 64)
		}
		axes = append(axes, axis{number.column, labels, func(c *condition, i int) { *number.field(&c.Prompting.Decoding) = values[i] }})
	}
	params, err := a.paramAxes()
	if err != nil {
		return nil, err
	}
	return append(axes, params...), nil
}

func (a *asking) modelAxis(decoding crosstalk.Decoding) (axis, error) {
	n := len(a.baseURLs)
	if n > 1 && n != len(a.models) {
		return axis{}, fmt.Errorf("--base-url names %d addresses for %d models; expected one for all, or one for each", n, len(a.models))
	}
	if a.answerTokens > 0 {
		decoding.MaxTokens = a.answerTokens
	}
	decoding.Seed = a.seed
	values := slices.Clone(a.models)
	if n > 1 {
		for i := range values {
			values[i] += " " + a.baseURLs[i]
		}
	}
	return axis{"model", values, func(c *condition, i int) {
		c.name, c.Prompting.Decoding = a.models[i], decoding
		switch {
		case n == 1:
			c.baseURL = a.baseURLs[0]
		case n > 1:
			c.baseURL = a.baseURLs[i]
			c.Name["base_url"] = c.baseURL
		}
	}}, nil
}

// paramAxes makes an axis of each further setting; one that is named several
// times has several values.
func (a *asking) paramAxes() ([]axis, error) {
	var names []string
	values := map[string][]string{}
	for _, param := range a.params {
		name, value, ok := strings.Cut(param, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--param is %q; expected NAME=VALUE", param)
		}
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], value)
	}
	var axes []axis
	for _, name := range names {
		axes = append(axes, axis{name, values[name], func(c *condition, i int) {
			var v any
			if err := json.Unmarshal([]byte(values[name][i]), &v); err != nil {
				v = values[name][i] // a bare word is a string
			}
			c.setExtra(name, v)
		}})
	}
	return axes, nil
}

// setExtra sets a setting that is sent as it is.
func (c *condition) setExtra(name string, value any) {
	if c.Prompting.Decoding.Extra == nil {
		c.Prompting.Decoding.Extra = map[string]any{}
	}
	c.Prompting.Decoding.Extra[name] = value
}
