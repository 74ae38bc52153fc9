package main

import (
	"fmt"
	"io"
	"strings"

	"crosstalk/instrument/confusion"
	"crosstalk/internal/config"
	"crosstalk/measure/langid/embedded"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// confusionFlags say how answers become figures of confusion.
type confusionFlags struct {
	confusion.Options
	threshold float64
	minWords  int
	lid       string
	words     string
	by        []string
}

func (f *confusionFlags) add(c *cobra.Command) {
	var protocols, latins []string
	for _, p := range confusion.Protocols {
		protocols = append(protocols, p.Name)
	}
	for _, l := range confusion.Latins {
		latins = append(latins, string(l))
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.Protocols, "protocol", protocols[:1], "measuring rules; several are compared: "+strings.Join(protocols, ", "))
	config.Choices(flags, "protocol", protocols...)
	flags.StringVar(&f.lid, "lid", "", "a fastText model that identifies languages: a file, or lid.176 or lid.176.ftz once pulled (default: a small embedded one)")
	flags.StringVar(&f.words, "words", "", "a list of English words, one per line (default: an embedded one)")
	flags.Float64Var(&f.threshold, "threshold", 0, "probability that a line's language needs, instead of the protocol's rule")
	flags.IntVar(&f.minWords, "min-words", 0, "do not check lines of fewer words, instead of the protocol's rule")
	flags.StringVar(&f.Latin, "latin", "", "letters of other scripts in Latin-script languages, instead of the protocol's rule: "+strings.Join(latins, ", "))
	config.Choices(flags, "latin", latins...)
	flags.BoolVar(&f.Kana, "kana", false, "let kana decide between Japanese and Chinese, which small identifiers confuse")
	flags.StringSliceVar(&f.by, "by", confusion.By, "group figures by columns of the suite or the recorded data")
	config.Path(flags, "lid", "words")
	config.Harmless(flags, "by")
}

// study returns the study that the flags describe.
func (f *confusionFlags) study(c *cobra.Command) study.Confusion {
	f.Threshold, f.MinWords = pointer(c, "threshold", f.threshold), pointer(c, "min-words", f.minWords)
	return study.Confusion{Options: f.Options, Identifier: f.lid, Words: f.words, By: given(c, "by", f.by)}
}

// noteIdentifier says that the identifier is not that of published figures.
func (f *confusionFlags) noteIdentifier(w io.Writer) {
	if f.lid == "" {
		fmt.Fprintf(w, "Languages were identified by the small embedded model (%s); published figures use lid.176 (--lid lid.176).\n",
			embedded.Identifier().Name())
	}
}
