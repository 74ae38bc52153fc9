package exec

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Options control how a program is run; the zero value has defaults.
type Options struct {
	// Timeout is the maximum time for one answer; 0: DefaultTimeout.
	Timeout time.Duration
	// Hide are environment variables that the program does not see, besides those with the names of secrets (see
	// environ).
	Hide []string
	// Show are environment variables that it sees nevertheless. Each must be set.
	Show []string
}

// secretName matches the names of variables with keys, tokens and passwords, as in OPENAI_API_KEY,
// AWS_SECRET_ACCESS_KEY, HF_TOKEN and PGPASSWORD.
var secretName = regexp.MustCompile(`(?i)(^|_)` +
	`(apikey|keys?|tokens?|secrets?|credentials?|[a-z]*password|passwd|passphrase)(_|$)`)

// environ splits an environment (NAME=VALUE) into what a program sees and the names of the variables that it does not.
func (o Options) environ(all []string) (seen, hidden []string) {
	has := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, name) })
	}
	for _, variable := range all {
		name, _, _ := strings.Cut(variable, "=")
		if !has(o.Show, name) && (has(o.Hide, name) || secretName.MatchString(name)) {
			hidden = append(hidden, name)
			continue
		}
		seen = append(seen, variable)
	}
	return seen, hidden
}

// check refuses a variable that is not set: its name may be misspelled.
func (o Options) check() error {
	for _, name := range o.Show {
		if _, set := os.LookupEnv(name); !set {
			return fmt.Errorf("cannot pass on the environment variable %q: it is not set", name)
		}
	}
	return nil
}

// hint tells of hidden variables that a program's message mentions.
func hint(said string, hidden []string) string {
	for _, name := range hidden {
		if regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(said) {
			return fmt.Sprintf("\n(programs do not see %s unless --exec-env %[1]s passes it)", name)
		}
	}
	return ""
}
