package main

import (
	"slices"
	"strings"

	"crosstalk/internal/config"
)

// Flags of several instruments.

// protocolFlag is the flag of an instrument's protocols, the first by default.
func protocolFlag(chosen *[]string, names []string) config.Flag {
	*chosen = names[:1]
	return config.Flag{Name: "protocol", To: chosen, Choices: names,
		Help: "measuring rules; several are compared: " + strings.Join(names, ", ")}
}

// byFlag declares --by, the columns that group figures; the default is the instrument's.
func byFlag(columns *[]string, standard []string, more string) config.Flag {
	return config.Flag{Name: "by", To: columns, Shown: standard, Reach: config.Nothing,
		Help: "group figures by columns of the suite or the recorded data" + more}
}

// execEnvFlag is the flag that says what programs (exec:) see of the environment.
func execEnvFlag(names *[]string) config.Flag {
	return config.Flag{Name: "exec-env", To: names, Reach: config.Credential,
		Help: "environment variables to pass to exec: programs, which get no API keys, tokens or passwords otherwise"}
}

// similarityReach is the reach of values that similarities.Open opens, with or without a threshold after them.
func similarityReach() config.Reach {
	return slices.Concat(
		config.Program.If(`^\s*exec:`),
		config.Address.If(`(?i)@\s*https?:`),
		config.Expense.If(paid()),
		config.Path.If(`(?s)^\s*(?:bertscore|sbert):(.*?)(?:\s*>=.*)?$`),
	)
}
