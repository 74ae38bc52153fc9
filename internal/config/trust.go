package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
)

// TrustVariable is the environment variable that trusts a file which was found:
// 1 for yes.
const TrustVariable = "CROSSTALK_TRUST_CONFIG"

// Reach is what a flag's value can do beyond the measurement. A file that was
// only found, and so may have come with somebody else's repository, must not do
// it.
type Reach string

// What values can do.
const (
	Program    Reach = "runs a program"
	Address    Reach = "is an address that requests are sent to"
	Credential Reach = "says where an API key is, or passes one on"
	Access     Reach = "decides who can connect"
	Expense    Reach = "asks a provider, with your key and at your expense"
	place      Reach = "is outside the current directory"
	gitData    Reach = "is in the data of git"
)

const (
	sensitiveAnnotation = "config-sensitive" // pairs of a reach and a pattern
	harmlessAnnotation  = "config-harmless"
)

// Sensitive marks a flag whose values have such a reach. With patterns (regular
// expressions), only values that match one of them have it.
func Sensitive(flags *pflag.FlagSet, name string, reach Reach, patterns ...string) {
	if patterns == nil {
		patterns = []string{""}
	}
	f := mustLookup(flags, name)
	var pairs []string
	for _, pattern := range patterns {
		pairs = append(pairs, string(reach), pattern)
	}
	annotate(f, sensitiveAnnotation, append(f.Annotations[sensitiveAnnotation], pairs...))
}

// Path marks flags whose values are the paths of files or directories, to read
// or to write: a file that was only found can name those below the current
// directory.
func Path(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		Sensitive(flags, name, place, "(?s).*")
	}
}

// PathIn marks a flag some of whose values contain a path: what the last group of
// the pattern matches.
func PathIn(flags *pflag.FlagSet, name, pattern string) { Sensitive(flags, name, place, pattern) }

// Harmless marks flags of free text whose values reach nothing.
func Harmless(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		annotate(mustLookup(flags, name), harmlessAnnotation, []string{"true"})
	}
}

func mustLookup(flags *pflag.FlagSet, name string) *pflag.Flag {
	f := flags.Lookup(name)
	if f == nil {
		panic("config: there is no flag " + name)
	}
	return f
}

func annotate(f *pflag.Flag, key string, values []string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = values
}

// Marked reports whether the flag's reach is known: its values are numbers,
// durations, booleans or choices, or it is marked with one of the functions
// above. A pattern that does not compile panics.
func Marked(f *pflag.Flag) bool {
	if k := kindOf(f); k.base != "text" || k.choices != nil {
		return true
	}
	pairs, sensitive := f.Annotations[sensitiveAnnotation]
	for pair := range slices.Chunk(pairs, 2) {
		regexp.MustCompile(pair[1])
	}
	_, harmless := f.Annotations[harmlessAnnotation]
	return sensitive != harmless
}

// reachOf is what a value of a flag does that a file which was found must not
// do; "" for nothing.
func reachOf(f *pflag.Flag, value string) Reach {
	for pair := range slices.Chunk(f.Annotations[sensitiveAnnotation], 2) {
		match := regexp.MustCompile(pair[1]).FindStringSubmatch(value)
		switch reach := Reach(pair[0]); {
		case match == nil:
		case reach != place:
			return reach
		default:
			if reach := reachOfPath(match[len(match)-1]); reach != "" {
				return reach
			}
		}
	}
	return ""
}

// reachOfPath is place for a path that leads out of the current directory, and
// gitData for one from which git runs programs.
func reachOfPath(path string) Reach {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == filepath.Separator })
	switch {
	case path == "":
		return ""
	case outside(path, parts):
		return place
	case slices.ContainsFunc(parts, func(part string) bool { return strings.EqualFold(part, ".git") }):
		return gitData
	}
	return ""
}

// outside reports whether a path, or a link on its way, leads out of the current
// directory.
func outside(path string, parts []string) bool {
	if !filepath.IsLocal(path) || strings.HasPrefix(path, "~") || slices.Contains(parts, "..") {
		return true
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		return true
	}
	defer root.Close()
	_, err = root.Stat(path) // follows links, and fails where one leads out
	return err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// trusted reports whether the environment trusts a file that was found.
func trusted() (bool, error) {
	text := os.Getenv(TrustVariable)
	if text == "" {
		return false, nil
	}
	yes, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("the environment variable %s is %.40q; expected 1 or 0", TrustVariable, text)
	}
	return yes, nil
}

// refuse returns an error if a setting reaches further than that of a file which
// was found may.
func (s setting) refuse(f *pflag.Flag) error {
	var failed []error
	for _, v := range s.value.scalars {
		reach := reachOf(f, v.text)
		if reach == "" {
			continue
		}
		found := ""
		if reach != Credential {
			found = ": " + v.String()
		}
		failed = append(failed, fmt.Errorf("%s:%d: %s %s%s", s.file, v.line, s.key, reach, found))
	}
	return errors.Join(failed...)
}

// distrust ends the error of a file that was only found.
func distrust(name string, failed error) error {
	return fmt.Errorf("%w\nNobody named %[2]s, so it must not set this. If you trust the file, add --%[3]s %[2]s or set %[4]s=1", failed, name, Flag, TrustVariable)
}
