package main

import (
	"strings"

	"crosstalk/instrument/leakage"
	"crosstalk/internal/config"
	"crosstalk/internal/ordered"
	"crosstalk/study"
	"crosstalk/study/similarities"

	"github.com/spf13/cobra"
)

// leakageFlags set how answers are scored for leakage.
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
		{Name: "similarity", To: &l.Similarities, Values: "similarities", Reach: similarityReach(),
			Help: "how to compare concept and answer: " + similarities.Usage() + "; models pull fetches models"},
		{Name: "post", To: &l.Post, Choices: posts,
			Help: "how to trim answers: " + strings.Join(posts, ", ") + "; " + byParts + " trims nothing and also scores " +
				"each sentence (default: the protocol's, or the suite's)"},
		{Name: "counts", To: &l.Counts,
			Help: "also estimate how many answers repeat the concept, and how many are the same for different concepts"},
		execEnvFlag(&l.ExecEnv),
	})
	config.Declare(c, often, []config.Flag{byFlag(&l.By, leakage.By, ", or by "+languageGroups)})
}

func (l *leakageFlags) study(r *runFlags) (*study.Study, error) {
	l.Sweep, l.Suite, l.CountOnly = r.sweep, r.suite, r.dry
	return l.split().Open()
}

func (l *leakageFlags) recorded(s *scoreFlags, files []string) (*study.Study, error) {
	l.Columns, l.FileName = s.columns, s.name
	return l.split().Recorded(files, s.model)
}

// split is the study, with the sense of --post.
func (l *leakageFlags) split() study.Leakage {
	of := l.Leakage
	if of.Post == byParts {
		of.Post, of.Windows = string(leakage.None), leakage.Sentences
	} else if of.Post != "" {
		of.Windows = leakage.NoWindows
	}
	return of
}
