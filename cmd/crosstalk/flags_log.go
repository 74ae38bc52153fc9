package main

import (
	"crosstalk/internal/config"
	"crosstalk/internal/jsonlog"

	"github.com/spf13/cobra"
)

// addLog adds --log, with which other programs can watch a command.
func addLog(c *cobra.Command) {
	config.Declare(c, output, []config.Flag{{Name: "log", To: new("text"), Choices: []string{"text", "json"},
		Help: "text, or json: what is written to stderr as JSON, one object per line"}})
}

// logAsWanted makes a command's stderr a log if --log says so.
func logAsWanted(c *cobra.Command) {
	if f := c.Flags().Lookup("log"); f != nil && f.Value.String() == "json" {
		c.SetErr(jsonlog.New(c.ErrOrStderr()))
	}
}
