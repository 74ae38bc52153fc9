package main

import (
	"strings"

	"crosstalk/instrument/leakage"
	"crosstalk/internal/config"
	"crosstalk/study"
	"crosstalk/study/similarities"

	"github.com/spf13/cobra"
)

// leakageFlags set how answers are scored for leakage.
type leakageFlags struct {
	study.Leakage
	by []string
}

// byParts is the value of --post for answers that are also scored in parts.
const byParts = "sentences"

func (l *leakageFlags) add(c *cobra.Command) {
	posts := append(namesOf(leakage.Posts, func(p leakage.Post) string { return string(p) }), byParts)
	protocols := namesOf(leakage.Protocols, func(p leakage.Protocol) string { return p.Name })
	l.Similarities, l.by = []string{"gloss"}, leakage.By
	config.Declare(c, scoring, []config.Flag{
		protocolFlag(&l.Protocols, protocols),
		{Name: "similarity", To: &l.Similarities, Values: "similarities", Reach: similarityReach(),
			Help: "how to compare concept and answer: " + similarities.Usage() + "; models pull fetches models"},
		{Name: "post", To: &l.Post, Choices: posts,
			Help: "how to trim answers: " + strings.Join(posts, ", ") + "; " + byParts + " trims nothing and also scores " +
				"each sentence (default: the protocol's, or the suite's)"},
		{Name: "counts", To: &l.Counts,
			Help: "also estimate how many answers repeat the concept, and how many are the same for different concepts"},
		execEnvFlag(&l.ExecEnv),
	})
	config.Declare(c, often, []config.Flag{byFlag(&l.by, ", or by "+languageGroups)})
}

// study returns the study that the flags describe.
func (l *leakageFlags) study(c *cobra.Command) study.Leakage {
	l.By = given(c, "by", l.by)
	of := l.Leakage
	if of.Post == byParts {
		of.Post, of.Windows = string(leakage.None), leakage.Sentences
	} else if of.Post != "" {
		of.Windows = leakage.NoWindows
	}
	return of
}
