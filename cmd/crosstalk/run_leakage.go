package main

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/leakage"
	"crosstalk/measure/similarity"
	"crosstalk/model/reference"
	"crosstalk/run"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

type leakageRun struct {
	running
	leakageScoring
}

func runLeakageCommand() *cobra.Command {
	r := &leakageRun{}
	c := &cobra.Command{
		Use:   "leakage",
		Short: "Measure semantic leakage",
		Long: `Measure semantic leakage: how often the answer to a prompt that mentions a
concept is nearer in meaning to the concept than the answer to the same prompt
without it. 50 % is no leakage.

Without --model a reference model answers, whose leakage is known.`,
		Example: `  crosstalk run leakage
  crosstalk run leakage --model openai:gpt-4o-mini --samples 5 --temperature 0,0.5,1
  crosstalk run leakage --model ollama:llama3.2,ollama:qwen2.5 --suite my-suite.yaml --by category
  crosstalk run leakage --model openai:my-model --base-url http://localhost:8000/v1
  crosstalk run leakage --model anthropic:claude-sonnet-4-5 --dry-run --prices prices.yaml`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return r.run(c) },
	}
	r.running.flags(c, reference.Provider+":"+reference.DefaultLeaky, "leakage-en")
	r.leakageScoring.flags(c)
	c.Flags().SortFlags = false
	return c
}

func (r *leakageRun) run(c *cobra.Command) error {
	if err := r.check(c); err != nil {
		return err
	}
	protocols, err := r.rules(c)
	if err != nil {
		return err
	}
	s, err := suite.LoadFor("leakage", r.suite)
	if err != nil {
		return err
	}
	if slices.Contains(r.similarities, "gloss") && s.Language != "" && !strings.HasPrefix(s.Language, "en") {
		return fmt.Errorf("gloss knows English only, and the suite %s is in %q: choose another --similarity, such as bertscore or openai:text-embedding-3-large", s.Name, s.Language)
	}
	var similarities []opened
	if !r.dry {
		if similarities, err = openSimilarities(r.similarities, suiteLanguage(s)); err != nil {
			return err
		}
	}
	var placed []similarity.Similarity
	study := &study{instrument: "leakage", suite: s, by: r.by, columns: columns{"similarity": true},
		begin: func(around surroundings) { placed = place(similarities, around) }}
	id := s.ID()
	for _, rules := range protocols {
		conditions, err := r.conditions(c, settings{system: rules.System, prefix: s.Prefix,
			decoding:  crosstalk.Decoding{MaxTokens: rules.MaxTokens, Temperature: &rules.Temperature},
			reference: func(spec string) (crosstalk.Model, error) { return reference.Open(spec, s.Items) }})
		if err != nil {
			return err
		}
		samples := r.samples
		if samples == 0 {
			samples = rules.Samples
		}
		study.protocols = append(study.protocols, protocol{
			scoring:    run.Scoring{Protocol: rules.Name, Rules: rules, Similarities: r.similarities, Samples: samples, By: r.by},
			conditions: conditions,
			set: func(c condition) crosstalk.Instrument {
				return &leakage.Instrument{Protocol: rules, Similarities: placed, Prompting: c.Prompting, Samples: samples,
					Condition: c.Name, SuiteOf: func(map[string]string) string { return id }}
			}})
	}
	return r.measure(c, study)
}
