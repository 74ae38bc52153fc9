package main

import (
	"crosstalk/internal/config"

	"github.com/spf13/pflag"
)

// addExecEnv adds the flag that says what programs (exec:) see of the environment.
func addExecEnv(f *pflag.FlagSet, names *[]string) {
	f.StringSliceVar(names, "exec-env", nil,
		"environment variables to pass to exec: programs, which get no API keys, tokens or passwords otherwise")
	config.Sensitive(f, "exec-env", config.Credential)
}

// markSimilarity marks a flag whose values similarities.Open opens, with or
// without a threshold after it.
func markSimilarity(f *pflag.FlagSet, name string) {
	config.Sensitive(f, name, config.Program, `^\s*exec:`)
	config.Sensitive(f, name, config.Address, `(?i)@\s*https?:`)
	config.Sensitive(f, name, config.Expense, paid())
	config.PathIn(f, name, `(?s)^\s*(?:bertscore|sbert):(.*?)(?:\s*>=.*)?$`)
}
