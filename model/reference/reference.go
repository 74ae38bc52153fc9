// Package reference provides models with a known truth, to calibrate an instrument. They are not language models.
package reference

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
)

// Provider is the name of the provider, as in "reference:leaky?rate=0.6".
const Provider = "reference"

// The default reference models.
const (
	DefaultLeaky        = "leaky?rate=0.6"
	DefaultConfused     = "confused?line=0.1&word=0.05"
	DefaultInconsistent = "inconsistent?flip=0.2&invalid=0.01"
)

// Open returns the reference model that spec describes, such as "leaky?rate=0.6&seed=2", over a suite.
func Open(spec string, items []crosstalk.Item, tasks ...crosstalk.Task) (crosstalk.Model, error) {
	name, query, _ := strings.Cut(spec, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("%s:%s: cannot read the settings: %w", Provider, spec, err)
	}
	var known []string
	for _, m := range models {
		if m.name == name {
			set, seed, err := m.read(values)
			if err != nil {
				return nil, err
			}
			made, err := m.open(set, seed, items, tasks)
			if err != nil {
				return nil, err // not a nil pointer in an interface
			}
			return made, nil
		}
		known = append(known, fmt.Sprintf("%s:%s (%s)", Provider, m.byDefault, m.instrument))
	}
	return nil, fmt.Errorf("%s has no model %q; choose one of: %s", Provider, name, strings.Join(known, ", "))
}

// kind is a kind of model: the instrument whose truth is known, settings with their defaults, and a constructor.
type kind struct {
	name, byDefault, instrument string
	settings                    []setting
	open                        func(set []float64, seed uint64, items []crosstalk.Item,
		tasks []crosstalk.Task) (crosstalk.Model, error)
}

type setting struct {
	name      string
	otherwise float64
}

var models = []kind{
	{"leaky", DefaultLeaky, "leakage", []setting{{"rate", 0.6}, {"copy", 0}},
		func(set []float64, seed uint64, items []crosstalk.Item, _ []crosstalk.Task) (crosstalk.Model, error) {
			return NewLeaky(items, set[0], set[1], seed)
		}},
	{"confused", DefaultConfused, "confusion", []setting{{"line", 0.1}, {"word", 0.05}, {"mask", 0}, {"short", 0}},
		func(set []float64, seed uint64, items []crosstalk.Item, _ []crosstalk.Task) (crosstalk.Model, error) {
			return NewConfused(items, Confusion{set[0], set[1], set[2], set[3]}, seed)
		}},
	{"inconsistent", DefaultInconsistent, "consistency", []setting{{"flip", 0.2}, {"invalid", 0.01}, {"wrong", 0.2}},
		func(set []float64, seed uint64, items []crosstalk.Item, tasks []crosstalk.Task) (crosstalk.Model, error) {
			return NewInconsistent(tasks, items, Inconsistency{set[0], set[1], set[2]}, seed)
		}},
}

func (k kind) read(values url.Values) (set []float64, seed uint64, err error) {
	var names []string
	for _, s := range k.settings {
		names = append(names, s.name)
	}
	for name := range values {
		if name != "seed" && !slices.Contains(names, name) {
			return nil, 0, fmt.Errorf("%s:%s has no setting %q; it has %s and seed",
				Provider, k.name, name, strings.Join(names, ", "))
		}
	}
	for _, s := range k.settings {
		value := s.otherwise
		if given := values[s.name]; given != nil {
			last := given[len(given)-1]
			if value, err = strconv.ParseFloat(last, 64); err != nil {
				return nil, 0, fmt.Errorf("%s:%s: %s is %q; expected a probability, 0 to 1", Provider, k.name, s.name, last)
			}
		}
		set = append(set, value)
	}
	seed = 1
	if given := values["seed"]; given != nil {
		last := given[len(given)-1]
		if seed, err = strconv.ParseUint(last, 10, 64); err != nil {
			return nil, 0, fmt.Errorf("%s:%s: seed is %q; expected a whole number from 0", Provider, k.name, last)
		}
	}
	return set, seed, nil
}

func checkProbability(model, name string, p float64) error {
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("%s:%s: %s is %v; expected a probability, 0 to 1", Provider, model, name, p)
	}
	return nil
}

// base has what the models share: a name that includes the settings, and as endpoint the source of the answers.
type base struct {
	id  crosstalk.Identity
	api crosstalk.API
}

func newBase(api crosstalk.API, content []byte, format string, settings ...any) base {
	return base{crosstalk.Identity{Provider: Provider, Endpoint: fmt.Sprintf("suite:%x", content),
		Name: fmt.Sprintf(format, settings...)}, api}
}

func (b base) Identity() crosstalk.Identity { return b.id }

// API implements crosstalk.Model: Completions for a model that continues a text, else Chat.
func (b base) API() crosstalk.API { return b.api }

// draws returns the random numbers of an answer, which depend only on seed, prompt and sample.
func draws(seed uint64, prompt string, sample int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(prompt))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(sample)))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func promptOf[V any](prompts map[string]V, text string) (prompt string, known bool) {
	if _, known = prompts[text]; known {
		return text, true
	}
	for p := range prompts {
		if strings.HasSuffix(text, p) && len(p) > len(prompt) {
			prompt, known = p, true
		}
	}
	return prompt, known
}

func stranger(model, text string) error {
	return &crosstalk.AskError{Fault: crosstalk.Rejected,
		Message: fmt.Sprintf("%s:%s knows only the suite's own prompts, not %q", Provider, model, text)}
}

func (b base) answered(req crosstalk.Request, text string) crosstalk.Answer {
	return crosstalk.Answer{Status: crosstalk.Text, Text: text, Reason: "stop", Model: b.id.Name,
		Usage: crosstalk.Usage{Prompt: len(strings.Fields(req.Text())), Completion: len(strings.Fields(text))}}
}

// Outcome is a text and its probability.
type Outcome struct {
	Text string
	P    float64
}
