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
	round int
	tie   float64
	by    []string
}

func (l *leakageFlags) add(c *cobra.Command) {
	f, posts := c.Flags(), namesOf(leakage.Posts, func(p leakage.Post) string { return string(p) })
	addProtocols(f, &l.Protocols, namesOf(leakage.Protocols, func(p leakage.Protocol) string { return p.Name }))
	f.StringVar(&l.Post, "post", "", "how to trim answers: "+strings.Join(posts, ", ")+" (default: the protocol's)")
	config.Choices(f, "post", posts...)
	f.IntVar(&l.round, "round", leakage.Exact,
		"round similarities to N decimals (-1: do not round); overrides the protocol's rule")
	f.Float64Var(&l.tie, "tie", 0, "treat similarities that differ by at most this as a tie")
	f.StringVar(&l.Windows, "windows", "", "also score answers in parts: "+leakage.Sentences+", "+leakage.NoWindows+" (default: the suite's)")
	config.Choices(f, "windows", leakage.Sentences, leakage.NoWindows)
	f.BoolVar(&l.Counts, "counts", false,
		"also estimate how many answers repeat the concept, and how many are the same for different concepts")
	f.StringSliceVar(&l.Similarities, "similarity", []string{"gloss"},
		"how to compare concept and answer: "+similarities.Usage()+"; models pull fetches models")
	f.StringSliceVar(&l.by, "by", leakage.By, "group figures by columns of the suite or the recorded data, or by "+languageGroups)
	markSimilarity(f, "similarity")
	config.Harmless(f, "by")
	addExecEnv(f, &l.ExecEnv)
}

// study returns the study that the flags describe.
func (l *leakageFlags) study(c *cobra.Command) study.Leakage {
	l.Round, l.Tie = pointer(c, "round", l.round), pointer(c, "tie", l.tie)
	l.By = given(c, "by", l.by)
	return l.Leakage
}
