package main

import (
	"os"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/config"
	"crosstalk/run/shard"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// shardFlag chooses the part of a measurement that this process does.
type shardFlag struct{ text string }

func (s *shardFlag) add(c *cobra.Command) {
	config.Declare(c, limits, []config.Flag{{Name: "shard", To: &s.text, Reach: config.Nothing,
		Help: "measure one of several parts of the items, in OUT/shard-I-of-N, as in 3/64; auto takes it from a Slurm " +
			"job array or a Kubernetes Indexed Job; 'crosstalk merge' makes one run of all (default: all items)"}})
}

// take makes a study one of the shard and divides the limits that shards share. It returns what the user should know.
func (s *shardFlag) take(c *cobra.Command, of *study.Study, o *ask.Options) (notes []string, err error) {
	if s.text == "" && c.Flags().Changed("shard") { // of a variable that is not set, say
		return nil, crosstalk.BadOption("shard", " is empty; expected I/N, as in 3/64, or auto")
	}
	part, err := shard.Parse(s.text, os.Getenv)
	if err != nil {
		return nil, crosstalk.BadOption("shard", ": %w", err)
	}
	if err := of.Take(c.Context(), part); err != nil {
		return nil, err
	}
	return study.Divide(o, part)
}
