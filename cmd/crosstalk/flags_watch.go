package main

import (
	"crosstalk/ask"
	"crosstalk/internal/config"
	"crosstalk/internal/jsonlog"
	"crosstalk/watch"

	"github.com/spf13/cobra"
)

// watchFlags say how other programs can watch a run.
type watchFlags struct{ log, metrics string }

func (w *watchFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&w.log, "log", "text", "text, or json: what is written to stderr as JSON, one object per line")
	config.Choices(c.Flags(), "log", "text", "json")
	c.Flags().StringVar(&w.metrics, "metrics", "", "HOST:PORT: serve counts for Prometheus at http://HOST:PORT/metrics during the run (default: none)")
	config.Sensitive(c.Flags(), "metrics", config.Access)
}

// logAsWanted makes a command's stderr a log if --log says so.
func logAsWanted(c *cobra.Command) {
	if f := c.Flags().Lookup("log"); f != nil && f.Value.String() == "json" {
		c.SetErr(jsonlog.New(c.ErrOrStderr()))
	}
}

// serve serves the counts of a session until the function that it returns is
// called.
func (w *watchFlags) serve(s *ask.Session, planned int) (stop func(), err error) {
	if w.metrics == "" {
		return func() {}, nil
	}
	return watch.ServeMetrics(w.metrics, s, planned)
}
