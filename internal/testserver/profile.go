package testserver

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

var (
	//go:embed profiles.yaml
	profilesFile []byte
	//go:embed replies.yaml
	repliesFile []byte
)

var data = sync.OnceValue(func() (d struct {
	Profiles           []profile
	Before, After      []rule // of all requests, before and after the profile's
	Unsupported        rule
	Paths              map[string][]rule
	Openings, Closings []string
	Wrong              []string // JSON
	Failures           map[Protocol]map[int]problem
	Problems           map[string]problem
	Batches            map[string][]change
	Kinds              map[string][]Fault
	Enclosing          map[string][2]string // the marks before and after thoughts, by where they are shown
}) {
	for _, file := range [][]byte{profilesFile, repliesFile} {
		if err := yaml.Unmarshal(file, &d); err != nil {
			panic(err)
		}
	}
	return d
})

// profile is how the models of one family behave; profiles.yaml explains the fields.
type profile struct {
	Name                     string
	Models                   []string // patterns of names (path.Match), lower case
	Thinks                   string   // a condition
	Refuse                   [][]rule
	Shown                    string
	Outside, Unsplit, Strict bool
	Filtered                 *problem
	Finish                   string
	Ignores                  []string
}

// rule refuses requests that meet a condition.
type rule struct {
	If    string
	Each  []string // the names to put for {name} in the condition
	Known []string // the parameters that are not refused
	Error problem  `yaml:",inline"`
}

// profileOf is the profile that the options choose for a model, an empty one if there is none.
func (o *Options) profileOf(model string) *profile {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	matches := func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	}
	profiles := data().Profiles
	for i := range profiles {
		p := &profiles[i]
		if o.Profile == p.Name || o.Profile == "" && slices.ContainsFunc(p.Models, matches) {
			return p
		}
	}
	return &profile{}
}

// Profiles are the names of all profiles, for [Options.Profile].
func Profiles() []string {
	var names []string
	for _, p := range data().Profiles {
		names = append(names, p.Name)
	}
	return names
}

// refusal is the problem of the first rule that refuses these parameters, or nil.
func (p *profile) refusal(rules []rule, given params) *problem {
	for _, r := range rules {
		names, condition := r.Each, cmp.Or(r.If, "{name}")
		switch {
		case r.Known != nil:
			names, condition = slices.Sorted(maps.Keys(given)), "always"
			names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(r.Known, name) })
		case names == nil:
			names = []string{""}
		}
		for _, name := range names {
			if met := strings.ReplaceAll(condition, "{name}", name); p.holds(given, met) {
				return r.about(name, met, given)
			}
		}
	}
	return nil
}

func (r rule) about(name, condition string, given params) *problem {
	_, listed, _ := strings.Cut(condition, " in ")
	quoted := toJSON(name)
	e := r.Error
	e.Message = strings.NewReplacer(
		"{name}", name, "{value}", string(given[name]), "{effort}", given.effort(), "{listed}", listed,
	).Replace(e.Message)
	e.Param = strings.ReplaceAll(e.Param, "{name}", name)
	e.Body = strings.ReplaceAll(e.Body, "{name}", quoted[1:len(quoted)-1])
	return &e
}

func (p *profile) holds(given params, condition string) bool {
	for part := range strings.SplitSeq(condition, " and ") {
		part, not := strings.CutPrefix(part, "not ")
		if p.meets(given, part) == not {
			return false
		}
	}
	return true
}

// meets is holds for one part: a name, an operator and an argument, or a name alone.
func (p *profile) meets(given params, part string) bool {
	name, test, _ := strings.Cut(part, " ")
	operator, argument, _ := strings.Cut(test, " ")
	low, high, _ := strings.Cut(argument, "..")
	value, number, bound := given.value(name), given.number(name), given.number(low)
	switch {
	case name == "always":
		return true
	case name == "thinks":
		return p.thinks(given)
	}
	switch operator {
	case "":
		return given.has(name)
	case "is": // empty
		return slices.Contains([]string{"", "null", "[]", `""`}, value)
	case "has":
		contains := func(text string) bool { return strings.Contains(value, text) }
		return slices.ContainsFunc(strings.Split(argument, " or "), contains)
	case "in":
		return slices.Contains(strings.Split(argument, ", "), strings.Trim(value, `"`))
	}
	met, known := map[string]bool{
		"=": number == bound, "!=": number < bound || number > bound, "<": number < bound, ">": number > bound,
		">=": number >= bound, "outside": number < bound || number > given.number(high),
	}[operator]
	if !known {
		panic("testserver: unknown operator " + operator)
	}
	return met
}

func (p *profile) thinks(given params) bool { return p.Thinks != "" && p.holds(given, p.Thinks) }

type params map[string]json.RawMessage

// value is the JSON of a parameter, or of one within another.
func (p params) value(name string) string {
	switch effort := p.effort(); {
	case name == "effort" && effort != "":
		return toJSON(effort)
	case name == "budget_tokens":
		var thinking params
		json.Unmarshal(p["thinking"], &thinking)
		return string(thinking[name])
	}
	return string(p[name])
}

func (p params) has(name string) bool {
	value := p.value(name)
	return value != "" && value != "null"
}

// number is a number, or that of the parameter with this name: NaN if it has none.
func (p params) number(text string) float64 {
	v := math.NaN()
	json.Unmarshal([]byte(cmp.Or(p.value(text), text)), &v)
	return v
}

// effort is the level of reasoning asked for, "" for none.
func (p params) effort() string {
	var effort string
	var inner struct{ Effort string }
	if json.Unmarshal(p["reasoning_effort"], &effort) != nil && json.Unmarshal(p["reasoning"], &inner) == nil {
		effort = inner.Effort
	}
	return effort
}

const thoughtTokens = 390

func thoughts(n int) string {
	const thought = "The user wants one short answer, and I should think of what fits before I give it. "
	words := tokens(strings.Repeat(thought, n/10+1))
	return strings.Join(words[:min(n, len(words))], "")
}

// show makes of a choice what the profile shows of it in a chat.
func (p *profile) show(c *choice) {
	c.Content = c.Text
	if c.Refusal != "" {
		c.Content = nil
	}
	if p.Finish != "" && c.Finish == "content_filter" {
		c.Finish, c.Content = p.Finish, nil
	}
	if c.Reasoning == 0 || p.Shown == "" || p.Shown == "empty" {
		return
	}
	c.Shown = p.Shown
	if e, ok := data().Enclosing[c.Shown]; ok {
		text := c.Text
		if c.Text = e[0] + c.Thought(); c.Produced > c.Reasoning || c.Finish != "length" {
			c.Text += e[1] + text
		}
	}
	c.Content, c.tokens = c.Text, tokens(c.Text)
}
