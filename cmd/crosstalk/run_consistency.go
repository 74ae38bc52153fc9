package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/free"
	"crosstalk/instrument/consistency/review"
	"crosstalk/instrument/consistency/transcript"
	"crosstalk/internal/config"
	"crosstalk/model/reference"
	"crosstalk/run"
	"crosstalk/suite"

	"github.com/spf13/cobra"
)

type consistencyRun struct {
	running
	consistencyScoring
	from, to, mixed, parts []string
	rewrite                []string
	rewriteTokens          int
	texts                  []string
	instructions           string
	accept                 bool
}

func runConsistencyCommand() *cobra.Command {
	r := &consistencyRun{}
	c := &cobra.Command{
		Use:   "consistency",
		Short: "Measure multisense consistency",
		Long: `Measure multisense consistency: whether a model gives an answer of the same
meaning when the question is put in another language, or in other words. The
model itself rewrites inputs and instructions, in asks of their own, and then
answers in both senses.

What it makes of the instructions is for people to review before it is used:
the command stops and says where it is. --accept-rewrites goes on without.

Without --model a reference model answers, whose consistency is known.`,
		Example: `  crosstalk run consistency
  crosstalk run consistency --model openai:gpt-4o-mini --to de,zh
  crosstalk run consistency --model ollama:llama3.2 --to paraphrase --accept-rewrites
  crosstalk run consistency --model openai:gpt-4o-mini --suite paws-x --from en,de --to en,de --mixed en,de
  crosstalk run consistency --model openai:gpt-4o-mini --suite sums.yaml --rewrite 'equal=Write another formula of the same value. Reply with the formula only.' --to equal --free number`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return r.run(c) },
	}
	r.running.flags(c, reference.Provider+":"+reference.DefaultInconsistent, "consistency")
	f := c.Flags()
	f.StringSliceVar(&r.from, "from", nil, "languages that the suite's items are asked in as they are written (default: the suite's)")
	f.StringSliceVar(&r.to, "to", []string{"de", "zh"}, "what they are rewritten into: languages, "+consistency.Paraphrase+", or names that --rewrite gives")
	f.StringSliceVar(&r.mixed, "mixed", nil, "languages whose own instructions are put to inputs in other languages, too")
	f.StringSliceVar(&r.parts, "part", nil, "what is rewritten at a time: T (instruction and input), I (instruction), X (input) (default: each)")
	f.StringArrayVar(&r.rewrite, "rewrite", nil, "a further sense of inputs, NAME=PROMPT: how the model is told to rewrite, with {text} or the text after it")
	f.IntVar(&r.rewriteTokens, "rewrite-tokens", 0, "the most tokens a rewritten text may have (default: the protocol's)")
	f.StringSliceVar(&r.texts, "texts", nil, "files of inputs that something else has rewritten, to be used instead of the model's own")
	f.StringVar(&r.instructions, "instructions", "", "a file of reviewed instructions to be used instead of the model's own")
	f.BoolVar(&r.accept, "accept-rewrites", false, "use what the model makes of the instructions without a review; the signature says so")
	config.Choices(f, "part", string(consistency.Both), string(consistency.Instructions), string(consistency.Inputs))
	r.consistencyScoring.flags(c)
	f.SortFlags = false
	return c
}

func (r *consistencyRun) run(c *cobra.Command) error {
	if err := r.check(c); err != nil {
		return err
	}
	protocols, err := r.rules()
	if err != nil {
		return err
	}
	s, err := suite.LoadFor("consistency", r.suite)
	if err != nil {
		return err
	}
	rewriter, err := r.rewriter(s)
	if err != nil {
		return err
	}
	senses, err := r.senses(s, rewriter)
	if err != nil {
		return err
	}
	scorers, err := r.open(s.Tasks)
	if err != nil {
		return err
	}
	scorers.in(alone()) // for their names, until there is a run
	reviewing := &reviewing{consistencyRun: r, suite: s, made: map[string]map[string]map[string]crosstalk.Instruction{}}
	if r.instructions != "" {
		if reviewing.imported, err = review.ReadInstructions(r.instructions); err != nil {
			return err
		}
		if len(reviewing.imported) == 0 {
			return fmt.Errorf("%s: there are no instructions", r.instructions)
		}
	}
	study := &study{instrument: "consistency", suite: s, by: r.by, columns: columns{"pair": true, "part": true, consistency.ByClass: true},
		begin: scorers.in, prepare: reviewing.prepare}
	id := s.ID()
	for _, rules := range protocols {
		conditions, err := r.conditions(c, settings{system: rules.System, prefix: s.Prefix,
			decoding:  crosstalk.Decoding{MaxTokens: rules.AnswerTokens, Temperature: &rules.Temperature, TopP: &rules.TopP},
			reference: func(spec string) (crosstalk.Model, error) { return reference.Open(spec, s.Items, s.Tasks...) }})
		if err != nil {
			return err
		}
		set := func(c condition) *consistency.Instrument {
			in := scorers.Instrument
			in.Protocol, in.Prompting, in.Condition, in.Senses, in.Samples = rules, c.Prompting, c.Name, senses, max(1, r.samples)
			in.Rewriting = rewriter
			in.Rewriting.Prompting = r.rewriting(c, rules)
			if _, asks := in.Free.(free.Asked); asks {
				in.Free = free.Asked{Prompting: c.Prompting}
			}
			in.Tasks = reviewing.tasks(c)
			in.Rewrites = r.rewrites(c)
			in.SuiteOf = func(map[string]string) string { return id }
			return &in
		}
		reviewing.protocols = append(reviewing.protocols, reviewed{conditions, set})
		study.protocols = append(study.protocols, protocol{
			scoring:    run.Scoring{Protocol: rules.Name, Rules: set(conditions[0]).Rules(), Samples: max(1, r.samples), By: r.by},
			conditions: conditions,
			set:        func(c condition) crosstalk.Instrument { return set(c) }})
	}
	return r.measure(c, study)
}

// senses are the pairs that the user asks for, checked against the suite.
func (r *consistencyRun) senses(s *suite.Suite, rewriter consistency.Rewriter) (consistency.Senses, error) {
	senses := consistency.Senses{From: r.from, To: r.to, Mixed: r.mixed}
	if len(senses.From) == 0 {
		if s.Language == "" {
			return senses, fmt.Errorf("--from names no language, and the suite %s has several: name those that its items are asked in", s.Name)
		}
		senses.From = []string{s.Language}
	}
	for _, part := range r.parts {
		if p := consistency.Part(part); p != consistency.Both && p != consistency.Instructions && p != consistency.Inputs {
			return senses, fmt.Errorf("--part is %q; expected %s, %s or %s", part, consistency.Both, consistency.Instructions, consistency.Inputs)
		}
		senses.Parts = append(senses.Parts, consistency.Part(part))
	}
	for _, from := range senses.From {
		for _, to := range senses.To {
			if err := rewriter.Check(consistency.Sense(from).To(to)); err != nil {
				return senses, fmt.Errorf("--to: %w", err)
			}
		}
		for _, item := range s.Items {
			if _, ok := item.Input.Texts[from]; !ok {
				return senses, fmt.Errorf("--from: item %s has no text in %s; it has %s", item.ID, from, strings.Join(slices.Sorted(maps.Keys(item.Input.Texts)), ", "))
			}
		}
	}
	for _, language := range slices.Concat(senses.From, senses.Mixed) {
		for _, task := range s.Tasks {
			if _, ok := task.Instructions[language]; !ok {
				return senses, fmt.Errorf("the task %s has no instruction in %s; it has %s", task.Name, language, strings.Join(slices.Sorted(maps.Keys(task.Instructions)), ", "))
			}
		}
	}
	return senses, nil
}

// rewriter says how inputs and instructions are rewritten.
func (r *consistencyRun) rewriter(s *suite.Suite) (consistency.Rewriter, error) {
	w := consistency.Rewriter{Prompts: map[string]string{}}
	for _, text := range r.rewrite {
		name, prompt, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.TrimSpace(prompt) == "" || strings.ContainsAny(name, ">/") {
			return w, fmt.Errorf("--rewrite is %q; expected NAME=PROMPT, as in 'equal=Write another formula of the same value.'", text)
		}
		w.Prompts[name] = prompt
	}
	if len(r.texts) > 0 {
		texts, err := transcript.ReadTexts(r.texts, s.Name, s.Tasks, s.Items)
		if err != nil {
			return w, err
		}
		w.Elsewhere = func(item crosstalk.Item, sense consistency.Sense) ([]string, bool) { return texts.Of("", item, sense) }
	}
	return w, nil
}

// rewriting is how a model is asked to rewrite: as it is asked, but for what a
// sweep varies, so that the conditions of a sweep share their rewritings.
func (r *consistencyRun) rewriting(c condition, rules consistency.Protocol) crosstalk.PromptConfig {
	p := c.Prompting
	p.Prefix, p.Logprobs = "", 0
	p.Decoding.MaxTokens = cmp.Or(r.rewriteTokens, rules.RewriteTokens)
	if _, varies := c.Name["temperature"]; varies {
		p.Decoding.Temperature = &rules.Temperature
	}
	if _, varies := c.Name["top_p"]; varies {
		p.Decoding.TopP = &rules.TopP
	}
	if _, varies := c.Name["system"]; varies && p.API == crosstalk.Chat {
		p.System = rules.System
	}
	p.Decoding.Extra = maps.Clone(p.Decoding.Extra)
	maps.DeleteFunc(p.Decoding.Extra, func(name string, _ any) bool { return c.Name[name] != "" })
	return p
}

// rewrites says in signatures who rewrote, and who looked at it.
func (r *consistencyRun) rewrites(c condition) string {
	inputs, instructions := "own", "reviewed"
	if len(r.texts) > 0 {
		inputs = "elsewhere"
	}
	if r.accepts(c) {
		instructions = "accepted"
	}
	return inputs + "+" + instructions
}

// accepts reports whether a model's instructions are used without a review. A
// reference model's are as they must be.
func (r *consistencyRun) accepts(c condition) bool {
	return r.accept || c.Model.Provider == reference.Provider
}
