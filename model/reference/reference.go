// Package reference has models with a known truth, as a phantom is for a
// scanner: they calibrate an instrument, and answer where no language model is
// named. They are never presented as language models.
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

// Provider is the provider's name in "reference:leaky?rate=0.6".
const Provider = "reference"

// The reference models that run where none is named.
const (
	DefaultLeaky        = "leaky?rate=0.6"
	DefaultConfused     = "confused?line=0.1&word=0.05"
	DefaultInconsistent = "inconsistent?flip=0.2&invalid=0.01"
)

// Open returns the reference model of a specification such as
// "leaky?rate=0.6&seed=2" over a suite's items, and tasks if it has any.
func Open(spec string, items []crosstalk.Item, tasks ...crosstalk.Task) (crosstalk.Model, error) {
	name, query, _ := strings.Cut(spec, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("%s:%s: cannot read the settings: %w", Provider, spec, err)
	}
	s := &settings{name: name, values: values}
	var known []string
	for _, m := range models {
		if m.name != name {
			known = append(known, fmt.Sprintf("%s:%s (%s)", Provider, m.byDefault, m.instrument))
			continue
		}
		model, err := m.open(s, items, tasks)
		if err != nil {
			return nil, err
		}
		return model, nil
	}
	return nil, fmt.Errorf("%s has no model %q; choose one of: %s", Provider, name, strings.Join(known, ", "))
}

// models are the reference models: the instrument whose truth is known, and
// how one is made of its settings. open reads all settings before it uses any.
var models = []struct {
	name, byDefault, instrument string
	open                        func(s *settings, items []crosstalk.Item, tasks []crosstalk.Task) (crosstalk.Model, error)
}{
	{"leaky", DefaultLeaky, "leakage", func(s *settings, items []crosstalk.Item, _ []crosstalk.Task) (crosstalk.Model, error) {
		rate, copying, seed := s.probability("rate", 0.6), s.probability("copy", 0), s.seed()
		if err := s.done(); err != nil {
			return nil, err
		}
		l, err := NewLeaky(items, rate, seed)
		if err != nil {
			return nil, err
		}
		return l.WithCopying(copying)
	}},
	{"confused", DefaultConfused, "confusion", func(s *settings, items []crosstalk.Item, _ []crosstalk.Task) (crosstalk.Model, error) {
		of := Confusion{s.probability("line", 0.1), s.probability("word", 0.05), s.probability("mask", 0), s.probability("short", 0)}
		seed := s.seed()
		if err := s.done(); err != nil {
			return nil, err
		}
		return NewConfused(items, of, seed)
	}},
	{"inconsistent", DefaultInconsistent, "consistency", func(s *settings, items []crosstalk.Item, tasks []crosstalk.Task) (crosstalk.Model, error) {
		truth, seed := Inconsistency{s.probability("flip", 0.2), s.probability("invalid", 0.01), s.probability("wrong", 0.2)}, s.seed()
		if err := s.done(); err != nil {
			return nil, err
		}
		return NewInconsistent(tasks, items, truth, seed)
	}},
}

// settings are what follows the name of a model. The first that cannot be read
// is the error.
type settings struct {
	name   string
	values url.Values
	known  []string
	err    error
}

// probability is a number; the model checks that it is from 0 to 1.
func (s *settings) probability(name string, otherwise float64) float64 {
	s.known = append(s.known, name)
	if !s.values.Has(name) {
		return otherwise
	}
	v, err := strconv.ParseFloat(s.last(name), 64)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("%s:%s: %s is %q; expected a probability, 0 to 1", Provider, s.name, name, s.last(name))
	}
	return v
}

func (s *settings) seed() uint64 {
	s.known = append(s.known, "seed")
	if !s.values.Has("seed") {
		return 1
	}
	v, err := strconv.ParseUint(s.last("seed"), 10, 64)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("%s:%s: seed is %q; expected a whole number from 0", Provider, s.name, s.last("seed"))
	}
	return v
}

func (s *settings) last(name string) string { return s.values[name][len(s.values[name])-1] }

// done is the error, if there was one; a setting that nobody asked for is one.
func (s *settings) done() error {
	for name := range s.values {
		if !slices.Contains(s.known, name) {
			last := len(s.known) - 1
			return fmt.Errorf("%s:%s has no setting %q; it has %s and %s", Provider, s.name, name, strings.Join(s.known[:last], ", "), s.known[last])
		}
	}
	return s.err
}

func checkProbability(model, name string, p float64) error {
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("%s:%s: %s is %v; expected a probability, 0 to 1", Provider, model, name, p)
	}
	return nil
}

// draws are the random numbers of an answer, which depend on seed, prompt and
// sample alone.
func draws(seed uint64, prompt string, sample int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(prompt))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(sample)))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// promptOf returns the longest of the prompts that the text ends with.
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

// stranger refuses a text that ends with no prompt of the suite.
func stranger(model, text string) error {
	return &crosstalk.AskError{Fault: crosstalk.Rejected,
		Message: fmt.Sprintf("%s:%s knows only the suite's own prompts, not %q", Provider, model, text)}
}

// Outcome is a text and its probability.
type Outcome struct {
	Text string
	P    float64
}
