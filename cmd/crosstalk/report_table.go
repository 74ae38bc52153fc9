package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// writeTable prints figures that are laid out in a table, or are about other
// observations than the run's own figures.
func (r *reportFlags) writeTable(c *cobra.Command, paths []string) error {
	if name := anyGiven(c, "html", "figures", "corrected"); name != "" {
		return fmt.Errorf("--%s cannot be combined with --measure or flags of tables: such figures are only printed", name)
	}
	return r.table.Write(c.OutOrStdout(), r.format, paths, given(c, "by", r.by), r.measures)
}
