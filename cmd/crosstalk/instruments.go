package main

import (
	"fmt"
	"io"
	"strings"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/config"
	"crosstalk/internal/ordered"
	"crosstalk/measure/langid/embedded"
	"crosstalk/model/reference"
	"crosstalk/study"
	"crosstalk/study/similarities"

	"github.com/spf13/cobra"
)

// instrument has what its commands need.
type instrument struct {
	name           string
	flags          func() instrumentFlags
	standIn, suite string // defaults: a reference model, and a suite
	requests       func(crosstalk.PromptConfig, []crosstalk.Task, crosstalk.Item) []crosstalk.NamedRequest
}

// instrumentFlags are the flags of an instrument, which describe its studies.
type instrumentFlags interface {
	add(c *cobra.Command)      // how answers are scored
	addRun(c *cobra.Command)   // what is asked
	addScore(c *cobra.Command) // what was recorded

	study(r *runFlags) (*study.Study, error)
	fill(of study.Settings, r *runFlags) // takes over the settings of a study of the instrument
	recorded(s *scoreFlags, files []string) (*study.Study, error)
	note(w io.Writer) // printed after the figures
}

// plainFlags is for an instrument that has only flags for scoring.
type plainFlags struct{}

func (plainFlags) addRun(*cobra.Command)   {}
func (plainFlags) addScore(*cobra.Command) {}
func (plainFlags) note(io.Writer)          {}

// instruments returns all instruments. It is a function, since their commands use it.
func instruments() []instrument {
	return []instrument{
		{"leakage", func() instrumentFlags { return &leakageFlags{} },
			reference.DefaultLeaky, "leakage-en", leakage.Requests},
		{"confusion", func() instrumentFlags { return &confusionFlags{} },
			reference.DefaultConfused, "confusion", confusion.Requests},
		{"consistency", func() instrumentFlags { return &consistencyFlags{} },
			reference.DefaultInconsistent, "consistency", consistency.Requests},
	}
}

type leakageFlags struct {
	plainFlags
	study.Leakage
}

// byParts is the value of --post for answers that are also scored in parts.
const byParts = "sentences"

func (l *leakageFlags) add(c *cobra.Command) {
	posts := append(ordered.Distinct(leakage.Posts, func(p leakage.Post) string { return string(p) }), byParts)
	protocols := ordered.Distinct(leakage.Protocols, func(p leakage.Protocol) string { return p.Name })
	l.Similarities = []string{"gloss"}
	config.Declare(c, scoring, []config.Flag{
		protocolFlag(&l.Protocols, protocols),
		{Name: "similarity", To: &l.Similarities, Values: "similarities",
			Help: "how to compare concept and answer: " + similarities.Usage() + "; models pull fetches models"},
		{Name: "post", To: &l.Post, Choices: posts,
			Help: "how to trim answers: " + strings.Join(posts, ", ") + "; " + byParts + " trims nothing and also scores " +
				"each sentence (default: the protocol's, or the suite's)"},
		{Name: "counts", To: &l.Counts, Rare: true,
			Help: "also estimate how many answers repeat the concept, and how many are the same for different concepts"},
		execEnvFlag(&l.ExecEnv),
	})
	config.Declare(c, often, []config.Flag{byFlag(&l.By, leakage.By, ", or by "+languageGroups)})
}

func (l *leakageFlags) study(r *runFlags) (*study.Study, error) {
	l.Sweep, l.Suite = r.sweep, r.suite
	return l.split().Open()
}

func (l *leakageFlags) fill(of study.Settings, r *runFlags) {
	programs := l.ExecEnv
	l.Leakage = *of.(*study.Leakage)
	l.ExecEnv = programs
	r.fill(l.Sweep, l.Suite)
	if l.Windows == leakage.Sentences {
		l.Post = byParts
	}
}

func (l *leakageFlags) recorded(s *scoreFlags, files []string) (*study.Study, error) {
	l.Columns, l.FileName = s.columns, s.name
	return l.split().Recorded(files, s.model)
}

// split returns the study, with --post applied.
func (l *leakageFlags) split() study.Leakage {
	of := l.Leakage
	if of.Post == byParts {
		of.Post, of.Windows = string(leakage.None), leakage.Sentences
	} else if of.Post != "" {
		of.Windows = leakage.NoWindows
	}
	return of
}

type confusionFlags struct{ study.Confusion }

func (f *confusionFlags) add(c *cobra.Command) {
	protocols := ordered.Distinct(confusion.Protocols, func(p confusion.Protocol) string { return p.Name })
	f.Part = string(confusion.Answer)
	config.Declare(c, scoring, []config.Flag{
		protocolFlag(&f.Protocols, protocols),
		{Name: "lid", To: &f.Identifier,
			Help: "a fastText language identification model: a file, or lid.176 or lid.176.ftz " +
				"after 'crosstalk models pull' (default: a small embedded one)"},
		{Name: "part", To: &f.Part, Choices: []string{string(confusion.Answer), string(confusion.Reasoning)},
			Help: "which part of the answers to score: answer, or reasoning " +
				"(what the model wrote before it, where it is kept apart)"},
		{Name: "threshold", To: &f.Threshold,
			Help: "crosstalk-1: count parts in another language with at least this " + thresholdHelp},
		{Name: "words", To: &f.Words,
			Help: "lcb protocols: a file of English words, one per line (default: an embedded list)"},
	})
	config.Declare(c, often, []config.Flag{byFlag(&f.By, confusion.By, ", by "+languageGroups+
		", or by length_tertile (thirds of the prompts by length)")})
}

func (f *confusionFlags) addRun(c *cobra.Command) {
	config.Declare(c, often, []config.Flag{{Name: "language", To: &f.Languages,
		Help: "only request answers in these languages (default: all languages of the suite)"}})
	config.Declare(c, asked, []config.Flag{
		{Name: "position", To: &f.Positions, Choices: confusion.Positions,
			Help: "where cross-lingual prompts have their instruction: " + strings.Join(confusion.Positions, ", ") +
				" (default: drawn for each prompt)"},
		{Name: "shots", To: &f.Shots, Help: "number of demonstrations before each prompt (default 0)"},
		{Name: "demonstrations", To: &f.Shown, Rare: true,
			Help: "what --shots shows: other (in other languages than the answer's, as in the paper), expected (in the " +
				"answer's), or the paper's own: a file, few_shot_prompting.py (default other)"},
		{Name: "template", To: &f.Templates, Rare: true, Choices: []string{string(confusion.Auto), string(confusion.QA)},
			Help: "qa: put Q: and A: around prompts, as base models need; " +
				"auto: only for demonstrations without a chat API (default auto)"},
	})
	config.Declare(c, sampling, []config.Flag{
		{Name: "beams", To: &f.Beams, Rare: true, Help: "beam width, for servers with beam search; 1 samples (default 1)"},
		{Name: "logprobs", To: &f.Logprobs, Help: "number of candidates to request at each token, " +
			"to measure the model's uncertainty where confusion begins (default: none)"},
	})
}

func (f *confusionFlags) addScore(c *cobra.Command) {
	config.Declare(c, often, []config.Flag{{Name: "language", To: &f.Expect,
		Help: "the language that answers should be in: user (the user's, if the messages tell it), " +
			"prompt (the language of all that the user wrote), or a language such as en (default: the column language)"}})
	config.Declare(c, asked, []config.Flag{{Name: "suite", To: &f.Prompts, Values: "suites",
		Help: "the suite with the prompts of answers that were recorded without them, found by id, " +
			"to group by length: an embedded suite, a file, or the Language Confusion Benchmark's test sets"}})
}

func (f *confusionFlags) study(r *runFlags) (*study.Study, error) {
	f.Sweep, f.Suite = r.sweep, r.suite
	return f.Open()
}

func (f *confusionFlags) fill(of study.Settings, r *runFlags) {
	f.Confusion = *of.(*study.Confusion)
	r.fill(f.Sweep, f.Suite)
}

func (f *confusionFlags) recorded(s *scoreFlags, files []string) (*study.Study, error) {
	f.Columns, f.FileName = s.columns, s.name
	return f.Recorded(files, s.model)
}

func (f *confusionFlags) note(w io.Writer) {
	protocols, err := f.Resolve()
	if f.Identifier == "" && err == nil && !confusion.OnlyProse(protocols) {
		fmt.Fprintf(w, "A small model (%s) identified the languages; published figures use --lid lid.176.\n",
			embedded.Identifier().Name())
	}
}

type consistencyFlags struct {
	plainFlags
	study.Consistency
	task string
}

func (f *consistencyFlags) add(c *cobra.Command) {
	protocols := ordered.Distinct(consistency.Protocols, func(p consistency.Protocol) string { return p.Name })
	f.Free = "text"
	config.Declare(c, scoring, []config.Flag{
		protocolFlag(&f.Protocols, protocols),
		{Name: "free", To: &f.Free,
			Help: "how to compare free answers: text, number, model (ask the model), " +
				"or a similarity with the threshold for the same meaning, as in gloss>=0.7"},
		{Name: "quality", To: &f.Quality, Rare: true,
			Help: "an additional scorer of rewritten texts besides BLEU and ROUGE, as in exec:./comet.py"},
		{Name: "lid", To: &f.Identifier,
			Help: "a fastText model to identify the languages of rewritten texts, " +
				"such as lid.176.ftz (default: a small embedded one)"},
		{Name: "overrides", To: &f.Overrides, Rare: true,
			Help: "a run with labels of the question reading (crosstalk annotate); " +
				"figures are printed with and without them"},
		execEnvFlag(&f.ExecEnv),
	})
	config.Declare(c, often, []config.Flag{byFlag(&f.By, nil, ", or by "+languageGroups+"; "+
		"class adds the shares of classes and the transitions between them")})
}

func (f *consistencyFlags) addRun(c *cobra.Command) {
	f.To = []string{"de", "zh"}
	config.Declare(c, often, []config.Flag{
		{Name: "from", To: &f.From,
			Help: "languages in which to ask the suite's own texts (default: the suite's language)"},
		{Name: "to", To: &f.To,
			Help: "what to rewrite them into: languages, " + consistency.Paraphrase + ", or names defined with --rewrite"},
	})
	config.Declare(c, asked, []config.Flag{
		{Name: "mixed", To: &f.Mixed, Rare: true,
			Help: "languages whose own instructions are also combined with inputs in other languages"},
		{Name: "part", To: &f.Parts,
			Choices: []string{string(consistency.Both), string(consistency.Instructions), string(consistency.Inputs)},
			Help:    "what to rewrite: T (instruction and input), I (instruction), X (input) (default: each in turn)"},
		{Name: "rewrite", To: &f.Rewrite, Whole: true,
			Help: "NAME=PROMPT: how to tell the model to rewrite into a language (de), a pair (en>de), " +
				consistency.Paraphrase + ", or another sense of inputs that this defines; NAME:I=PROMPT only for " +
				"instructions; {text} marks the place of the text (default: after the prompt)"},
		{Name: "texts", To: &f.Texts,
			Help: "files of rewritten inputs to use instead of the model's own"},
		{Name: "instructions", To: &f.Instructions, Rare: true,
			Help: "a file of reviewed instructions to use instead of the model's own"},
		{Name: "accept-rewrites", To: &f.AcceptRewrites,
			Help: "use the model's rewritten instructions without a review; the signature records this"},
	})
}

func (f *consistencyFlags) addScore(c *cobra.Command) {
	config.Declare(c, often, []config.Flag{{Name: "task", To: &f.task, Values: "suites",
		Help: "the task file, with classes, answer words and correct answers: an embedded suite or a file (required)"}})
	config.Declare(c, asked, []config.Flag{{Name: "texts", To: &f.Texts,
		Help: "files of rewritten texts, for BLEU and ROUGE"}})
}

func (f *consistencyFlags) study(r *runFlags) (*study.Study, error) {
	f.Sweep, f.Suite = r.sweep, r.suite
	return f.Open()
}

func (f *consistencyFlags) fill(of study.Settings, r *runFlags) {
	programs := f.ExecEnv
	f.Consistency = *of.(*study.Consistency)
	f.ExecEnv = programs
	r.fill(f.Sweep, f.Suite)
}

func (f *consistencyFlags) recorded(s *scoreFlags, files []string) (*study.Study, error) {
	f.Columns, f.FileName = s.columns, s.name
	return f.Recorded(files, s.model, f.task)
}
