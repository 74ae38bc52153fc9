package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// removed tells what replaces a command or a flag of an earlier version, by its old name.
var removed = map[string]string{
	"models check":      "use 'crosstalk models MODEL --check'",
	"models list":       "use 'crosstalk models', or 'crosstalk models PROVIDER:'",
	"suites check":      "use 'crosstalk suites FILE --check'",
	"suites list":       "use 'crosstalk suites'",
	"suites new":        "use 'crosstalk init SUITE'",
	"suites show":       "use 'crosstalk suites SUITE'",
	"vacuum":            "answers are never deleted from a journal, so it has hardly any free space; sqlite3 RUN/answers.db VACUUM rewrites it",
	"--annotations":     "GITHUB_ACTIONS=true does the same",
	"--budget-tokens":   "use --budget-asks with --max-tokens, or --budget-cost",
	"--caption":         "edit the caption in the LaTeX file",
	"--comparisons":     "use --level: 0.99 for 5 comparisons, 1 - 0.05 / N for N",
	"--copy":            "calibrate takes 0.2",
	"--fail-after":      "the run stops when the server is down for --patience; --budget-asks limits the requests",
	"--flip":            "use calibrate's --rate",
	"--force":           "remove the file first",
	"--instrument":      "use 'crosstalk init SUITE INSTRUMENT'",
	"--invalid":         "calibrate takes 0.01",
	"--kana":            "use --lid lid.176, or the protocol crosstalk-1",
	"--latin":           "the protocol decides: lcb-paper or lcb-script",
	"--line":            "use calibrate's --rate",
	"--log":             "use 'crosstalk status DIR --format json'",
	"--logprobs-scaled": "make the server return log probabilities before temperature (vLLM: --logprobs-mode raw_logprobs, its default)",
	"--mask":            "calibrate takes 0.1",
	"--metrics":         "use 'crosstalk status DIR --format json'",
	"--min-words":       "the protocol decides: lcb-paper or lcb-script",
	"--name":            "jobs have the name of the last part of --out",
	"--namespace":       "use the namespace of the context (kubectl config set-context --current --namespace NAME)",
	"--revision":        "use MODEL@REVISION",
	"--rewrite-tokens":  "the protocol decides",
	"--rouge":           "the protocol decides: crosstalk-1 or ohmer-2023",
	"--round":           "smilga-2025 rounds to 3 decimals; --protocol gonen-2024 --post none does not round",
	"--schema":          "use 'crosstalk init', which writes crosstalk.schema.json",
	"--short":           "calibrate takes 0.1",
	"--slack":           "--all prints tau-b over the slack",
	"--stdout":          "use 'crosstalk init --config FILE'",
	"--summary":         "set GITHUB_STEP_SUMMARY to the file",
	"--target-power":    "plans are for a power of 80 %",
	"--threshold":       "the protocol decides: lcb-paper or lcb-script",
	"--tie":             "the protocol decides",
	"--tpm":             "the number of concurrent requests adapts to the endpoint's limit; --rpm limits requests",
	"--width":           "label 60 to 100 answers and look at the interval of report --corrected",
	"--word":            "calibrate takes 0.05",
	"--worst":           "--all lists ten disagreements",
}

// insteadOf tells what replaces the command that the first argument of c named, with the
// words of that command; "" if there was none.
func insteadOf(c *cobra.Command, args []string) (path, instead string) {
	if len(args) == 0 {
		return "", ""
	}
	_, path, _ = strings.Cut(c.CommandPath()+" "+args[0], " ")
	return path, removed[path]
}
