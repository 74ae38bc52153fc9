package model

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/strictyaml"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Family describes what a family of models accepts. An unset field is unknown.
type Family struct {
	Name      string   `yaml:"name" json:"name"`
	Providers []string `yaml:"providers,omitempty" json:"providers,omitempty"` // presets that it is about; none: all
	// patterns of model names (path.Match, case-insensitive); none: all
	Models []string `yaml:"models,omitempty" json:"models,omitempty"`
	// origin: GitHub issues as owner/repository#number, pages
	Sources []string `yaml:"sources,omitempty" json:"sources,omitempty"`

	Takes `yaml:",inline"`
	// overrides fields of Takes while the model thinks
	WhileThinking Takes     `yaml:"while-thinking,omitempty" json:"while-thinking,omitzero"`
	MaxTokensName string    `yaml:"max-tokens-name,omitempty" json:"max-tokens-name,omitempty"`
	SeedName      string    `yaml:"seed-name,omitempty" json:"seed-name,omitempty"`
	Reasoning     Reasoning `yaml:"reasoning,omitempty" json:"reasoning,omitzero"`
}

// Takes specifies which parameters a model accepts.
type Takes struct {
	// Temperature is "any", "default" or "ignored" (none is sent), or a range such as 0-1, into which values are moved.
	Temperature string `yaml:"temperature,omitempty" json:"temperature,omitempty"`
	// TopP is like Temperature, or "alone" (not with a temperature), or "sampling" (not with a temperature of 0).
	TopP     string `yaml:"top-p,omitempty" json:"top-p,omitempty"`
	Stop     *bool  `yaml:"stop,omitempty" json:"stop,omitempty"` // false: answers are cut here instead
	Seed     *bool  `yaml:"seed,omitempty" json:"seed,omitempty"`
	Logprobs *bool  `yaml:"logprobs,omitempty" json:"logprobs,omitempty"`
	System   *bool  `yaml:"system,omitempty" json:"system,omitempty"` // false: system messages go before the prompt
}

// Reasoning describes how a model thinks, and how to control that.
type Reasoning struct {
	// Default is the model's behaviour unless told: off, low, medium, high, or on.
	Default string `yaml:"default,omitempty" json:"default,omitempty"`
	// Levels are the supported ones of off, low, medium and high.
	Levels *[]string `yaml:"levels,omitempty" json:"levels,omitempty"`
	// Use is the level to request if the user names none, for models whose default cannot be used.
	Use string `yaml:"use,omitempty" json:"use,omitempty"`
	// Shown is where thoughts are returned: field, text (between markers), parts (of the content), blocks, or nowhere.
	Shown string `yaml:"shown,omitempty" json:"shown,omitempty"`
	// Headroom is the number of tokens for thoughts: half of it for low and twice as much for high.
	Headroom int `yaml:"headroom,omitempty" json:"headroom,omitempty"`
	// Send maps each level to parameters; default reasoning_effort, "none" for off. $budget is in tokens.
	Send map[string]map[string]any `yaml:"send,omitempty" json:"send,omitempty"`
}

// DefaultHeadroom is the number of tokens for the thoughts of a model that the table lacks.
const DefaultHeadroom = 4000

// On is the Reasoning.Default of a model that thinks at no named level.
const On = "on"

var levels = []string{crosstalk.ReasoningOff, crosstalk.ReasoningLow, crosstalk.ReasoningMedium,
	crosstalk.ReasoningHigh}

//go:embed families.yaml
var embedded []byte

type familyTable struct {
	Date     string   `yaml:"date"`
	Families []Family `yaml:"families"`
}

var table = sync.OnceValue(func() familyTable {
	var t familyTable
	if err := yaml.UnmarshalWithOptions(embedded, &t, yaml.Strict()); err != nil {
		panic("model: families.yaml: " + err.Error())
	}
	return t
})

// Families returns the entries of the embedded table, and the date of its last update (YYYY-MM-DD).
func Families() (families []Family, date string) { return slices.Clone(table().Families), table().Date }

// familyOf merges all entries of the table and of own that fit a model, provider:name; later fields win.
func familyOf(name string, own []Family) Family {
	provider, model, err := cutName(name)
	if err != nil {
		return Family{}
	}
	if _, found := lookup(provider); !found {
		return Family{}
	}
	model = strings.ToLower(model)
	last := model[strings.LastIndexByte(model, '/')+1:]
	forms := []string{model, last, vendor().ReplaceAllString(last, "")}
	var all Family
	var names []string
	for _, f := range slices.Concat(table().Families, own) {
		if f.fits(provider, forms) {
			f.Sources = append(all.Sources, f.Sources...)
			overlay(reflect.ValueOf(&all).Elem(), reflect.ValueOf(f))
			names = append(names, f.Name)
		}
	}
	all.Name = strings.Join(names, "; ")
	return all
}

// vendor matches the prefix that Bedrock and some gateways put before a model's name.
var vendor = lazyregexp.New(`^(?:[a-z]{2,6}\.)?(?:openai|anthropic|meta|mistral|deepseek|` +
	`qwen|google|zai|moonshotai|moonshot|minimax|nvidia|cohere|writer|xai)\.`)

// fits reports whether a provider's model belongs to the family, by any form of its name in lower case.
func (f Family) fits(provider string, forms []string) bool {
	if len(f.Providers) > 0 && !slices.Contains(f.Providers, provider) {
		return false
	}
	return len(f.Models) == 0 || slices.ContainsFunc(f.Models, func(pattern string) bool {
		return slices.ContainsFunc(forms, func(form string) bool {
			ok, _ := path.Match(strings.ToLower(pattern), form)
			return ok
		})
	})
}

func (t Takes) with(o Takes) Takes {
	overlay(reflect.ValueOf(&t).Elem(), reflect.ValueOf(o))
	return t
}

func overlay(to, from reflect.Value) {
	for i := range from.NumField() {
		switch field := from.Field(i); {
		case field.Kind() == reflect.Struct:
			overlay(to.Field(i), field)
		case !field.IsZero():
			to.Field(i).Set(field)
		}
	}
}

func (r Reasoning) spelling() map[string]map[string]any {
	all := r.Send
	if all == nil {
		all = map[string]map[string]any{}
		for _, level := range levels {
			all[level] = map[string]any{"reasoning_effort": level}
		}
		all[crosstalk.ReasoningOff] = map[string]any{"reasoning_effort": "none"}
	}
	return all
}

// can reports whether a level can be requested; of unknown models, any can.
func (r Reasoning) can(level string) bool {
	_, spelled := r.spelling()[level]
	return spelled && (r.Levels == nil || slices.Contains(*r.Levels, level))
}

func (r Reasoning) thinks(level string) bool {
	if level == "" {
		level = r.Default
	}
	return level != "" && level != crosstalk.ReasoningOff
}

func (r Reasoning) headroom(level string) int {
	n := cmp.Or(r.Headroom, DefaultHeadroom)
	switch level {
	case crosstalk.ReasoningLow:
		return n / 2
	case crosstalk.ReasoningHigh:
		return n * 2
	}
	return n
}

func (f Family) validate() error {
	if f.Name == "" {
		return errors.New("expected a name")
	}
	errs := []error{f.whose()}
	oneOf := func(field, value string, choices ...string) {
		if value != "" && !slices.Contains(choices, value) {
			errs = append(errs, fmt.Errorf("%s is %q; expected one of %s", field, value, strings.Join(choices, ", ")))
		}
	}
	for _, t := range []struct {
		at string
		Takes
	}{{"", f.Takes}, {"while-thinking.", f.WhileThinking}} {
		_, _, err := parseRange(t.at+"temperature", t.Temperature, "any", "default", "ignored")
		errs = append(errs, err)
		_, _, err = parseRange(t.at+"top-p", t.TopP, "any", "default", "ignored", "alone", "sampling")
		errs = append(errs, err)
	}
	r := f.Reasoning
	oneOf("max-tokens-name", f.MaxTokensName, "max_tokens", "max_completion_tokens")
	oneOf("reasoning.default", r.Default, append(levels[:len(levels):len(levels)], On)...)
	oneOf("reasoning.use", r.Use, levels...)
	for _, level := range *cmp.Or(r.Levels, &[]string{}) {
		oneOf("reasoning.levels", level, levels...)
	}
	for _, level := range slices.Sorted(maps.Keys(r.Send)) {
		oneOf("reasoning.send", level, levels...)
	}
	oneOf("reasoning.shown", r.Shown, "field", "text", "parts", "blocks", "nowhere")
	if r.Headroom < 0 {
		errs = append(errs, fmt.Errorf("reasoning.headroom is %d; expected a number of tokens", r.Headroom))
	}
	if err := cmp.Or(errs...); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

// whose checks which models an entry covers.
func (f Family) whose() error {
	if len(f.Providers)+len(f.Models) == 0 {
		return errors.New("expected providers or models that it is about")
	}
	for _, p := range f.Providers {
		if _, found := lookup(p); !found {
			return fmt.Errorf("providers: unknown provider %q; choose one of: %s", p, strings.Join(names(Options{}), ", "))
		}
	}
	for _, m := range f.Models {
		if _, err := path.Match(m, ""); err != nil || m == "" {
			return fmt.Errorf("models: %q is not a pattern; expected a name with * and ?", m)
		}
	}
	return nil
}

// parseRange parses LOW-HIGH, the value of a field. For one of words, low and high are 0.
func parseRange(field, text string, words ...string) (low, high float64, err error) {
	if text == "" || slices.Contains(words, text) {
		return 0, 0, nil
	}
	from, to, found := strings.Cut(text, "-")
	low, errLow := strconv.ParseFloat(from, 64)
	high, errHigh := strconv.ParseFloat(to, 64)
	if !found || errLow != nil || errHigh != nil || low < 0 || !(low < high) || math.IsInf(high, 0) {
		return 0, 0, fmt.Errorf("%s is %q; expected %s, or a range such as 0-1", field, text, strings.Join(words, ", "))
	}
	return low, high, nil
}

// familyLimits are far above the needs of a table: the built-in one has 20 KiB.
var familyLimits = strictyaml.Limits{Bytes: 1 << 20, Depth: 16, Keys: 1000, One: "list of families"}

// ReadFamilies reads YAML: a list of entries, or one under families; "" is none. Errors name the file and the line.
func ReadFamilies(file string) (all []Family, err error) {
	if file == "" {
		return nil, nil
	}
	text, err := strictyaml.ReadFile(file, familyLimits.Bytes)
	if err != nil {
		return nil, err
	}
	node, err := strictyaml.Parse(file, text, familyLimits)
	if err != nil {
		return nil, err
	}
	if m, ok := node.(*ast.MappingNode); ok {
		node = nil
		for _, entry := range m.Values {
			switch key := entry.Key.GetToken(); key.Value {
			case "families":
				node = entry.Value
			case "date":
			default:
				return nil, fmt.Errorf("%s:%d: unknown key %q; choose one of: families, date", file, key.Position.Line, key.Value)
			}
		}
	}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return nil, fmt.Errorf("%s: expected a list of entries, or one under families", file)
	}
	for _, entry := range list.Values {
		var one Family
		if err := strictyaml.Decode(file, entry, &one, yaml.Strict()); err != nil {
			return nil, err
		}
		if err := one.validate(); err != nil {
			field, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), one.Name+": "), " ")
			return nil, fmt.Errorf("%s:%d: %w", file, lineOfField(entry, strings.TrimSuffix(field, ":")), err)
		}
		all = append(all, one)
	}
	return all, nil
}

// lineOfField returns the line of an entry's field, such as reasoning.default, or of the entry if it lacks the field.
func lineOfField(node ast.Node, path string) int {
	line := node.GetToken().Position.Line
	fields, _ := node.(ast.MapNode)
	if fields == nil {
		return line
	}
	first, rest, deeper := strings.Cut(path, ".")
	for i, at := fields.MapRange(), 0; i.Next(); at++ {
		key := i.Key().GetToken()
		if at == 0 {
			line = key.Position.Line
		}
		switch {
		case key.Value != first:
		case deeper:
			return max(key.Position.Line, lineOfField(i.Value(), rest))
		default:
			return key.Position.Line
		}
	}
	return line
}
