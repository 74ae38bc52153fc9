package main

import (
	"crosstalk/instrument/consistency"
	"crosstalk/internal/config"
	"crosstalk/internal/ordered"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// consistencyFlags set how answers are scored for consistency.
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
		{Name: "free", To: &f.Free, Reach: similarityReach(),
			Help: "how to compare free answers: text, number, model (ask the model), " +
				"or a similarity with the threshold for the same meaning, as in gloss>=0.7"},
		{Name: "quality", To: &f.Quality, Reach: similarityReach(),
			Help: "an additional scorer of rewritten texts besides BLEU and ROUGE, as in exec:./comet.py"},
		{Name: "lid", To: &f.Identifier, Reach: config.Path,
			Help: "a fastText model to identify the languages of rewritten texts, " +
				"such as lid.176.ftz (default: a small embedded one)"},
		{Name: "overrides", To: &f.Overrides, Reach: config.Path,
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
		{Name: "from", To: &f.From, Reach: config.Nothing,
			Help: "languages in which to ask the suite's own texts (default: the suite's language)"},
		{Name: "to", To: &f.To, Reach: config.Nothing,
			Help: "what to rewrite them into: languages, " + consistency.Paraphrase + ", or names defined with --rewrite"},
	})
	config.Declare(c, asked, []config.Flag{
		{Name: "mixed", To: &f.Mixed, Reach: config.Nothing,
			Help: "languages whose own instructions are also combined with inputs in other languages"},
		{Name: "part", To: &f.Parts,
			Choices: []string{string(consistency.Both), string(consistency.Instructions), string(consistency.Inputs)},
			Help:    "what to rewrite: T (instruction and input), I (instruction), X (input) (default: each in turn)"},
		{Name: "rewrite", To: &f.Rewrite, Whole: true, Reach: config.Nothing,
			Help: "NAME=PROMPT: how to tell the model to rewrite into a language (de), a pair (en>de), " +
				consistency.Paraphrase + ", or another sense of inputs that this defines; NAME:I=PROMPT only for " +
				"instructions; {text} marks the place of the text (default: after the prompt)"},
		{Name: "texts", To: &f.Texts, Reach: config.Path,
			Help: "files of rewritten inputs to use instead of the model's own"},
		{Name: "instructions", To: &f.Instructions, Reach: config.Path,
			Help: "a file of reviewed instructions to use instead of the model's own"},
		{Name: "accept-rewrites", To: &f.AcceptRewrites,
			Help: "use the model's rewritten instructions without a review; the signature records this"},
	})
}

func (f *consistencyFlags) addScore(c *cobra.Command) {
	config.Declare(c, often, []config.Flag{{Name: "task", To: &f.task, Values: "suites", Reach: config.Path,
		Help: "the task file, with classes, answer words and correct answers: an embedded suite or a file (required)"}})
	config.Declare(c, asked, []config.Flag{{Name: "texts", To: &f.Texts, Reach: config.Path,
		Help: "files of rewritten texts, for BLEU and ROUGE"}})
}

func (f *consistencyFlags) study(r *runFlags) (*study.Study, error) {
	f.Sweep, f.Suite = r.sweep, r.suite
	return f.Open()
}

func (f *consistencyFlags) recorded(s *scoreFlags, files []string) (*study.Study, error) {
	f.Columns, f.FileName = s.columns, s.name
	return f.Recorded(files, s.model, f.task)
}
