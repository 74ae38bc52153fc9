package main

import (
	"crosstalk/model/reference"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

func runLeakageCommand() *cobra.Command {
	var r runFlags
	var l leakageFlags
	c := command("run leakage", cobra.NoArgs, func(c *cobra.Command, _ []string) error {
		return r.run(c, func() (*study.Study, error) {
			s := l.study(c)
			s.Sweep, s.Suite, s.CountOnly = r.sweep, r.suite, r.dry
			return s.Open()
		})
	})
	r.add(c, reference.Provider+":"+reference.DefaultLeaky, "leakage-en")
	l.add(c)
	return c
}
