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
	flags := c.Flags()
	addProtocols(flags, &f.Protocols, namesOf(consistency.Protocols, func(p consistency.Protocol) string { return p.Name }))
	flags.StringVar(&f.ROUGE, "rouge", "", "how ROUGE splits words: unicode, papers (default: the protocol's)")
	flags.StringVar(&f.Free, "free", "text", "how to compare free answers: text, number, model (ask the model), "+
		"or a similarity with the threshold for the same meaning, as in gloss>=0.7")
	flags.StringVar(&f.Quality, "quality", "",
		"an additional scorer of rewritten texts besides BLEU and ROUGE, as in exec:./comet.py")
	flags.StringVar(&f.Identifier, "lid", "", "a fastText model to identify the languages of rewritten texts, "+
		"such as lid.176.ftz (default: a small embedded one)")
	flags.StringVar(&f.Overrides, "overrides", "", "a run with labels of the question reading (crosstalk annotate), "+
		"or a table of reviewed answers; figures are printed with and without them")
	flags.StringSliceVar(&f.by, "by", nil, "group figures by columns of the suite or the recorded data, or by "+languageGroups+"; "+
		"class adds the shares of classes and the transitions between them")
	markSimilarity(flags, "free")
	markSimilarity(flags, "quality")
	config.Path(flags, "lid", "overrides")
	config.Harmless(flags, "rouge", "by")
	addExecEnv(flags, &f.ExecEnv)
}

// study returns the study that the flags describe.
func (f *consistencyFlags) study(c *cobra.Command) study.Consistency {
	f.By = given(c, "by", f.by)
	return f.Consistency
}
