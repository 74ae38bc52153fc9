package main

import (
	"crosstalk/instrument/consistency"
	"crosstalk/internal/config"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// consistencyFlags set how answers are scored for consistency.
type consistencyFlags struct {
	study.Consistency
	by []string
}

func (f *consistencyFlags) add(c *cobra.Command) {
	protocols := namesOf(consistency.Protocols, func(p consistency.Protocol) string { return p.Name })
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
			Help: "a run with labels of the question reading (crosstalk annotate), " +
				"or a table of reviewed answers; figures are printed with and without them"},
		execEnvFlag(&f.ExecEnv),
	})
	config.Declare(c, often, []config.Flag{byFlag(&f.by, ", or by "+languageGroups+"; "+
		"class adds the shares of classes and the transitions between them")})
}

// study returns the study that the flags describe.
func (f *consistencyFlags) study(c *cobra.Command) study.Consistency {
	f.By = given(c, "by", f.by)
	return f.Consistency
}
