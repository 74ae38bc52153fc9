package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/internal/config"
	"crosstalk/measure/segment/japanese"
	"crosstalk/model"
	"crosstalk/model/reference"
	"crosstalk/run"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

type confusionRun struct {
	running
	confusionScoring
	languages []string
	positions []string
	shots     []int
	templates []string
	beams     []int
	logprobs  int
	asServed  bool
}

func runConfusionCommand() *cobra.Command {
	r := &confusionRun{}
	c := &cobra.Command{
		Use:   "confusion",
		Short: "Measure language confusion",
		Long: `Measure language confusion: how often an answer is not in the language that was
asked for.

What is said to mitigate it can be measured side by side: several values of
--temperature, --top-p, --beams, --shots, --template, --position or --model
make conditions of one run.

Without --model a reference model answers, whose confusion is known.`,
		Example: `  crosstalk run confusion
  crosstalk run confusion --model openai:gpt-4o-mini --language ar,ja,ko --temperature 0.3,0.7,1
  crosstalk run confusion --model ollama:llama3.2 --position start,end,integrated
  crosstalk run confusion --model vllm:my-base-model --api completions --template qa --shots 0,5
  crosstalk run confusion --model vllm:my-model --beams 1,4 --logprobs 20
  crosstalk run confusion --model ollama:llama3.2:3b,ollama:llama3.2:3b-instruct-q4_0`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return r.run(c) },
	}
	r.running.flags(c, reference.Provider+":"+reference.DefaultConfused, "confusion")
	f := c.Flags()
	f.StringSliceVar(&r.languages, "language", nil, "ask for answers in these languages only (default: all of the suite)")
	f.StringSliceVar(&r.positions, "position", nil, "where cross-lingual prompts have their instruction: "+strings.Join(confusion.Positions, ", ")+" (default: as the suite draws it for each)")
	f.IntSliceVar(&r.shots, "shots", nil, "how many demonstrations stand before each prompt (default 0)")
	f.StringSliceVar(&r.templates, "template", nil, "auto, or qa: ask all models with Q: and A:, which base models need (default auto: only for demonstrations to models that take no chat)")
	f.IntSliceVar(&r.beams, "beams", nil, "width of the beam, for servers that have beam search; 1 draws (default 1)")
	f.IntVar(&r.logprobs, "logprobs", 0, "candidates to ask for at each token, to measure the model's doubt where confusions begin (0: none)")
	f.BoolVar(&r.asServed, "logprobs-scaled", false, "the server's log probabilities are of the distribution after temperature, so do not scale them (vLLM: --logprobs-mode processed_logprobs)")
	config.Choices(f, "position", confusion.Positions...)
	config.Choices(f, "template", string(confusion.Auto), string(confusion.QA))
	r.confusionScoring.flags(c)
	f.SortFlags = false
	return c
}

func (r *confusionRun) run(c *cobra.Command) error {
	if err := cmp.Or(r.check(c), r.checkFormats()); err != nil {
		return err
	}
	instruments, lid, err := r.instruments(c)
	if err != nil {
		return err
	}
	s, err := r.suiteOf()
	if err != nil {
		return err
	}
	inJapanese := false
	for _, item := range s.Items {
		code := item.Prompt.Language
		if !slices.Contains(lid.Labels(), code) {
			return fmt.Errorf("item %s: the language %s cannot be identified; the model knows %d others: name one that knows it with --lid, or leave it out with --language", item.ID, code, len(lid.Labels()))
		}
		inJapanese = inJapanese || code == "ja"
	}
	if inJapanese && !r.dry {
		go japanese.Load() // takes a fifth of a second
	}
	format, shown, err := r.formats(s)
	if err != nil {
		return err
	}
	id := s.ID()
	study := &study{instrument: "confusion", suite: s, by: r.by, columns: columns{"position": true}}
	for _, in := range instruments {
		rules := in.Protocol
		in.Samples, in.AsServed = cmp.Or(r.samples, rules.Samples), r.asServed
		in.Prompting.Logprobs = r.logprobs // stands in the rules
		in.SuiteOf = func(map[string]string) string { return id }
		conditions, err := r.conditions(c, settings{prefix: s.Prefix, logprobs: r.logprobs, format: format,
			decoding:  crosstalk.Decoding{MaxTokens: rules.MaxTokens, Temperature: &rules.Temperature, TopP: &rules.TopP},
			reference: func(spec string) (crosstalk.Model, error) { return reference.Open(spec, s.Items) }})
		if err != nil {
			return err
		}
		study.protocols = append(study.protocols, protocol{
			scoring:    run.Scoring{Protocol: rules.Name, Rules: in.Rules(), Samples: in.Samples, By: r.by},
			conditions: conditions,
			set: func(c condition) crosstalk.Instrument {
				of := in
				of.Prompting, of.Condition = c.Prompting, c.Name
				of.Format = formatOf(c.Format, shown)
				return &of
			}})
	}
	if err := r.measure(c, study); err != nil {
		return err
	}
	if !r.dry && !r.quiet {
		r.sayIdentifier(c.ErrOrStderr(), lid)
	}
	return nil
}

// suiteOf loads the suite, in the languages that are wanted.
func (r *confusionRun) suiteOf() (*suite.Suite, error) {
	s, err := suite.LoadFor("confusion", r.suite)
	if err != nil || len(r.languages) == 0 {
		return s, err
	}
	of := map[string]bool{}
	for _, item := range s.Items {
		of[item.Prompt.Language] = true
	}
	for _, language := range r.languages {
		if !of[language] {
			return nil, fmt.Errorf("--language: the suite %s asks for no answers in %q: choose of %s", s.Name, language, strings.Join(slices.Sorted(maps.Keys(of)), ", "))
		}
	}
	part := *s
	part.Items = slices.DeleteFunc(slices.Clone(s.Items), func(item crosstalk.Item) bool { return !slices.Contains(r.languages, item.Prompt.Language) })
	return &part, nil
}

// checkFormats refuses settings of the prompt and the search that mean
// nothing.
func (r *confusionRun) checkFormats() error {
	for _, position := range r.positions {
		if !slices.Contains(confusion.Positions, position) {
			return fmt.Errorf("--position is %q; expected %s", position, strings.Join(confusion.Positions, ", "))
		}
	}
	for _, template := range r.templates {
		if _, err := confusion.ParseTemplate(template); err != nil {
			return fmt.Errorf("--template: %w", err)
		}
	}
	for _, n := range r.shots {
		if n < 0 {
			return fmt.Errorf("--shots is %d; expected 0 or more", n)
		}
	}
	for _, n := range r.beams {
		if n < 1 {
			return fmt.Errorf("--beams is %d; expected 1 or more", n)
		}
		for _, name := range r.models {
			if _, err := model.Beams(name, n); err != nil {
				return fmt.Errorf("--beams: %w", err)
			}
		}
	}
	if r.logprobs < 0 || r.logprobs == 1 {
		return fmt.Errorf("--logprobs is %d; expected 0, or at least 2 candidates, since some servers give the token taken as the first", r.logprobs)
	}
	for _, name := range r.models {
		if err := model.HasLogprobs(name); err != nil && r.logprobs > 0 {
			return fmt.Errorf("--logprobs: %w", err)
		}
	}
	return nil
}

// formats are the axes of the prompt's settings, and the demonstrations.
func (r *confusionRun) formats(s *suite.Suite) (axes []axis, shown map[string][]crosstalk.Demonstration, err error) {
	shown = s.Demonstrations
	from := ""
	if len(r.shots) > 0 && slices.Max(r.shots) > 0 && shown == nil {
		own, err := suite.Load("confusion")
		if err != nil {
			return nil, nil, err
		}
		shown, from = own.Demonstrations, own.ID()
	}
	set := func(name string, values []string) {
		if len(values) > 0 {
			axes = append(axes, axis{name, values, func(c *condition, i int) { c.setFormat(name, values[i]) }})
		}
	}
	set("position", r.positions)
	set("template", r.templates)
	var counts, widths []string
	for _, n := range r.shots {
		counts = append(counts, strconv.Itoa(n))
	}
	set("shots", counts)
	if from != "" {
		set("demonstrations", []string{from}) // of another suite than the one that is asked
	}
	for _, n := range r.beams {
		widths = append(widths, strconv.Itoa(n))
	}
	if len(widths) > 0 {
		axes = append(axes, axis{"beams", widths, func(c *condition, i int) {
			extra, _ := model.Beams(c.name, r.beams[i]) // checked before
			for name, value := range extra {
				c.setExtra(name, value)
			}
		}})
	}
	return axes, shown, nil
}

// setFormat sets one of the instrument's own settings.
func (c *condition) setFormat(name, value string) {
	if c.Format == nil {
		c.Format = map[string]string{}
	}
	c.Format[name] = value
}

// formatOf reads the settings of a condition.
func formatOf(set map[string]string, shown map[string][]crosstalk.Demonstration) confusion.Format {
	n, _ := strconv.Atoi(set["shots"]) // "" is 0
	return confusion.Format{Position: set["position"], Shots: n, Template: confusion.Template(cmp.Or(set["template"], string(confusion.Auto))), Demonstrations: shown}
}
