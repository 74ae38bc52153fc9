package main

import (
	"strings"

	"crosstalk/instrument/consistency"
	"crosstalk/internal/config"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// consistencyFlags say how answers become figures of consistency.
type consistencyFlags struct {
	consistency.Options
	execFlags
	free      string
	quality   string
	lid       string
	overrides string
	by        []string
}

func (f *consistencyFlags) add(c *cobra.Command) {
	var protocols []string
	for _, p := range consistency.Protocols {
		protocols = append(protocols, p.Name)
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.Protocols, "protocol", protocols[:1], "measuring rules; several are compared: "+strings.Join(protocols, ", "))
	config.Choices(flags, "protocol", protocols...)
	flags.StringVar(&f.ROUGE, "rouge", "", "how ROUGE splits words, instead of the protocol's rule: unicode, papers")
	flags.StringVar(&f.free, "free", "text", "how free answers are compared: text, number, model (asks it), or a similarity and the lowest score of answers that mean the same, as in gloss>=0.7")
	flags.StringVar(&f.quality, "quality", "", "another scorer of rewritten texts beside BLEU and ROUGE, as in exec:./comet.py")
	flags.StringVar(&f.lid, "lid", "", "a fastText model that identifies the languages of rewritten texts, such as lid.176.ftz (default: a small embedded one)")
	flags.StringVar(&f.overrides, "overrides", "", "a file of answers that people have read (crosstalk review answers); figures are given with and without them")
	flags.StringSliceVar(&f.by, "by", nil, "group figures by columns of the suite or the recorded data; class adds the shares of classes and the transitions between them")
	markSimilarity(flags, "free")
	markSimilarity(flags, "quality")
	config.Path(flags, "lid", "overrides")
	config.Harmless(flags, "rouge", "by")
	f.execFlags.add(flags)
}

// study returns the study that the flags describe.
func (f *consistencyFlags) study(c *cobra.Command) study.Consistency {
	return study.Consistency{Options: f.Options, Free: f.free, Quality: f.quality, Identifier: f.lid, Overrides: f.overrides, By: given(c, "by", f.by), ExecEnv: f.execEnv}
}
