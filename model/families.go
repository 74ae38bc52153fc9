package model

import (
	_ "embed"
	"fmt"
	"maps"
	"math"
	"path"
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

// Family says what a family of models takes. A field that is not set says
// nothing: the model is taken to accept the parameter.
type Family struct {
	Name      string   `yaml:"name" json:"name"`
	Providers []string `yaml:"providers,omitempty" json:"providers,omitempty"` // presets that it is about; none: all
	// patterns of model names (path.Match, without case); none: all
	Models []string `yaml:"models,omitempty" json:"models,omitempty"`
	// where it was read: GitHub issues as owner/repository#number, pages
	Sources []string `yaml:"sources,omitempty" json:"sources,omitempty"`

	Takes `yaml:",inline"`
	// replaces fields of Takes while the model thinks
	WhileThinking Takes     `yaml:"while-thinking,omitempty" json:"while-thinking,omitzero"`
	MaxTokensName string    `yaml:"max-tokens-name,omitempty" json:"max-tokens-name,omitempty"`
	SeedName      string    `yaml:"seed-name,omitempty" json:"seed-name,omitempty"`
	Reasoning     Reasoning `yaml:"reasoning,omitempty" json:"reasoning,omitzero"`
}

// Takes says which parameters a model takes.
type Takes struct {
	// Temperature is "any", "default" (only the provider's, so none is sent), "ignored" (likewise), or a range such as
	// 0-1: values outside are moved to its end.
	Temperature string `yaml:"temperature,omitempty" json:"temperature,omitempty"`
	// TopP is as Temperature, or "alone" (not together with a temperature), or
	// "sampling" (not with a temperature of 0).
	TopP     string `yaml:"top-p,omitempty" json:"top-p,omitempty"`
	Stop     *bool  `yaml:"stop,omitempty" json:"stop,omitempty"` // false: answers are cut here instead
	Seed     *bool  `yaml:"seed,omitempty" json:"seed,omitempty"`
	Logprobs *bool  `yaml:"logprobs,omitempty" json:"logprobs,omitempty"`
	System   *bool  `yaml:"system,omitempty" json:"system,omitempty"` // false: what the system says goes before the prompt
}

// Reasoning says how a model thinks, and how it is told to.
type Reasoning struct {
	// Default is what the model does unless told: off, low, medium, high, or on.
	Default string `yaml:"default,omitempty" json:"default,omitempty"`
	// Levels are those that can be asked for, of off, low, medium and high.
	Levels *[]string `yaml:"levels,omitempty" json:"levels,omitempty"`
	// Use is the level to ask for where the user names none, for models whose default cannot be had.
	Use string `yaml:"use,omitempty" json:"use,omitempty"`
	// Shown is where thoughts come back: field, text (between markers), parts (of the content), blocks, or nowhere.
	Shown string `yaml:"shown,omitempty" json:"shown,omitempty"`
	// Headroom is the room for thoughts in tokens, half of it for low and twice as much for high.
	Headroom int `yaml:"headroom,omitempty" json:"headroom,omitempty"`
	// Send gives the parameters that ask for each level; default reasoning_effort, with "none" for off. The text
	// $budget is replaced by the number of tokens for thoughts.
	Send map[string]map[string]any `yaml:"send,omitempty" json:"send,omitempty"`
}

// DefaultHeadroom is the room for the thoughts of a model that the table does not know, in tokens.
const DefaultHeadroom = 4000

// On is Reasoning.Default of a model that thinks at no level with a name.
const On = "on"

var levels = []string{crosstalk.ReasoningOff, crosstalk.ReasoningLow, crosstalk.ReasoningMedium,
	crosstalk.ReasoningHigh}

//go:embed families.yaml
var embedded []byte

type familyTable struct {
	Date     string   `yaml:"date"`
	Families []Family `yaml:"families"`
}

// table is the embedded one. It is read when it is first needed.
var table = sync.OnceValue(func() familyTable {
	var t familyTable
	if err := yaml.UnmarshalWithOptions(embedded, &t, yaml.Strict()); err != nil {
		panic("model: families.yaml: " + err.Error())
	}
	return t
})

// Families are the entries of the embedded table, and the date on which it was last brought up to date (YYYY-MM-DD).
func Families() (families []Family, date string) { return slices.Clone(table().Families), table().Date }

// familyOf is what is known of a model, provider:name: all that fits it in the table and then in own, a later entry's
// fields over an earlier one's. Its Name lists theirs; without any it is empty.
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
			all.merge(f)
			names = append(names, f.Name)
		}
	}
	all.Name = strings.Join(names, "; ")
	return all
}

// vendor matches what Bedrock and some gateways put before a model's name.
var vendor = lazyregexp.New(`^(?:[a-z]{2,6}\.)?(?:openai|anthropic|meta|mistral|deepseek|` +
	`qwen|google|zai|moonshotai|moonshot|minimax|nvidia|cohere|writer|xai)\.`)

// fits reports whether the family has a model of a provider, by any form of its name in lower case.
func (f Family) fits(provider string, forms []string) bool {
	if len(f.Providers) > 0 && !slices.Contains(f.Providers, provider) {
		return false
	}
	if len(f.Models) == 0 {
		return true
	}
	for _, pattern := range f.Models {
		pattern = strings.ToLower(pattern)
		for _, form := range forms {
			if ok, _ := path.Match(pattern, form); ok {
				return true
			}
		}
	}
	return false
}

func (f *Family) merge(o Family) {
	f.Sources = append(f.Sources, o.Sources...)
	f.Takes = f.Takes.with(o.Takes)
	f.WhileThinking = f.WhileThinking.with(o.WhileThinking)
	set(&f.MaxTokensName, o.MaxTokensName)
	set(&f.SeedName, o.SeedName)
	set(&f.Reasoning.Default, o.Reasoning.Default)
	set(&f.Reasoning.Levels, o.Reasoning.Levels)
	set(&f.Reasoning.Use, o.Reasoning.Use)
	set(&f.Reasoning.Shown, o.Reasoning.Shown)
	set(&f.Reasoning.Headroom, o.Reasoning.Headroom)
	if o.Reasoning.Send != nil {
		f.Reasoning.Send = o.Reasoning.Send
	}
}

// with is t with the fields that o sets.
func (t Takes) with(o Takes) Takes {
	set(&t.Temperature, o.Temperature)
	set(&t.TopP, o.TopP)
	set(&t.Stop, o.Stop)
	set(&t.Seed, o.Seed)
	set(&t.Logprobs, o.Logprobs)
	set(&t.System, o.System)
	return t
}

func set[T comparable](field *T, value T) {
	var zero T
	if value != zero {
		*field = value
	}
}

// spelling is how a level is asked for; nil if there is no such level.
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

// can reports whether a level can be asked for; of models that nothing is known about any can.
func (r Reasoning) can(level string) bool {
	_, spelled := r.spelling()[level]
	return spelled && (r.Levels == nil || slices.Contains(*r.Levels, level))
}

// thinks reports whether a model thinks at a level, "" for its default.
func (r Reasoning) thinks(level string) bool {
	if level == "" {
		level = r.Default
	}
	return level != "" && level != crosstalk.ReasoningOff
}

// headroom is the room for thoughts at a level.
func (r Reasoning) headroom(level string) int {
	n := r.Headroom
	if n == 0 {
		n = DefaultHeadroom
	}
	switch level {
	case crosstalk.ReasoningLow:
		return n / 2
	case crosstalk.ReasoningHigh:
		return n * 2
	}
	return n
}

// Validate checks entries that a user wrote. The error names the entry, the field and what was expected.
func Validate(families []Family) error {
	for i, f := range families {
		if err := f.Validate(); err != nil {
			return fmt.Errorf("families[%d]: %w", i, err)
		}
	}
	return nil
}

// Validate checks an entry that a user wrote. The error names it, the field and what was expected.
func (f Family) Validate() error {
	if f.Name == "" {
		return fmt.Errorf("expected a name")
	}
	if err := f.validate(); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return nil
}

func (f Family) validate() error {
	if len(f.Providers)+len(f.Models) == 0 {
		return fmt.Errorf("expected providers or models that it is about")
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
	if err := f.Takes.validate(""); err != nil {
		return err
	}
	if err := f.WhileThinking.validate("while-thinking."); err != nil {
		return err
	}
	if n := f.MaxTokensName; n != "" && n != "max_tokens" && n != "max_completion_tokens" {
		return fmt.Errorf("max-tokens-name is %q; expected max_tokens or max_completion_tokens", n)
	}
	return f.Reasoning.validate()
}

func (t Takes) validate(at string) error {
	if _, _, err := parseRange(t.Temperature, "any", "default", "ignored"); err != nil {
		return fmt.Errorf("%stemperature %w", at, err)
	}
	if _, _, err := parseRange(t.TopP, "any", "default", "ignored", "alone", "sampling"); err != nil {
		return fmt.Errorf("%stop-p %w", at, err)
	}
	return nil
}

func (r Reasoning) validate() error {
	known := func(field, level string, more ...string) error {
		if all := append(slices.Clone(levels), more...); level != "" && !slices.Contains(all, level) {
			return fmt.Errorf("reasoning.%s is %q; expected one of %s", field, level, strings.Join(all, ", "))
		}
		return nil
	}
	if err := known("default", r.Default, On); err != nil {
		return err
	}
	if err := known("use", r.Use); err != nil {
		return err
	}
	if r.Levels != nil {
		for _, level := range *r.Levels {
			if err := known("levels", level); err != nil {
				return err
			}
		}
	}
	for _, level := range slices.Sorted(maps.Keys(r.Send)) {
		if err := known("send", level); err != nil {
			return err
		}
	}
	if shown := []string{"", "field", "text", "parts", "blocks", "nowhere"}; !slices.Contains(shown, r.Shown) {
		return fmt.Errorf("reasoning.shown is %q; expected one of %s", r.Shown, strings.Join(shown[1:], ", "))
	}
	if r.Headroom < 0 {
		return fmt.Errorf("reasoning.headroom is %d; expected a number of tokens", r.Headroom)
	}
	return nil
}

// parseRange reads LOW-HIGH. A word is no range: low and high are 0.
func parseRange(text string, words ...string) (low, high float64, err error) {
	if text == "" || slices.Contains(words, text) {
		return 0, 0, nil
	}
	from, to, found := strings.Cut(text, "-")
	low, errLow := strconv.ParseFloat(from, 64)
	high, errHigh := strconv.ParseFloat(to, 64)
	if !found || errLow != nil || errHigh != nil || low < 0 || !(low < high) || math.IsInf(high, 0) {
		return 0, 0, fmt.Errorf("is %q; expected %s, or a range such as 0-1", text, strings.Join(words, ", "))
	}
	return low, high, nil
}

// familyLimits are far above what a table needs: the built-in one has 20 KiB.
var familyLimits = strictyaml.Limits{Bytes: 1 << 20, Depth: 16, Keys: 1000, One: "list of families"}

// ReadFamilies reads a YAML file of entries: a list, or one under families, as the
// built-in table; "" is none. Errors name the file and the line.
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
		if err := one.Validate(); err != nil {
			field, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), one.Name+": "), " ")
			return nil, fmt.Errorf("%s:%d: %w", file, lineOfField(entry, strings.TrimSuffix(field, ":")), err)
		}
		all = append(all, one)
	}
	return all, nil
}

// lineOfField is the line of a field of an entry, such as reasoning.default, or of the entry if it lacks the field.
func lineOfField(node ast.Node, path string) int {
	line := node.GetToken().Position.Line
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		line = m.Values[0].Key.GetToken().Position.Line
	}
	first, rest, _ := strings.Cut(path, ".")
	values := []*ast.MappingValueNode{}
	switch n := node.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = append(values, n)
	}
	for _, v := range values {
		if v.Key.GetToken().Value == first {
			line = v.Key.GetToken().Position.Line
			if rest != "" {
				return max(line, lineOfField(v.Value, rest))
			}
			return line
		}
	}
	return line
}
