package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
)

// TrustVariable is the environment variable that trusts a file which was found: 1 for yes.
const TrustVariable = "CROSSTALK_TRUST_CONFIG"

// Reach says what a flag's values can do beyond the measurement: pairs of what they do, and a regular expression that
// such values match. A file that was only found, and so may have come with somebody else's repository, must not do it.
type Reach []string

// What values can do.
var (
	Nothing    = Reach{}
	Program    = Reach{"runs a program", ""}
	Address    = Reach{"is an address that requests are sent to", ""}
	Credential = Reach{"says where an API key is, or passes one on", ""}
	Access     = Reach{"decides who can connect", ""}
	Expense    = Reach{"asks a provider, with your key and at your expense", ""}
	Path       = Reach{place, "(?s).*"} // is a file or directory: those below the current directory are allowed
)

const (
	place   = "is outside the current directory"
	gitData = "is in the data of git"
)

// If is r for the values that match a pattern. Of a Path, the pattern's last group matches the path.
func (r Reach) If(pattern string) Reach { return Reach{r[0], pattern} }

// reachOf returns what a value of a flag does that a file which was found must not do; "" for nothing.
func reachOf(f *pflag.Flag, value string) string {
	for pair := range slices.Chunk(f.Annotations[reachAnnotation], 2) {
		match, reach := regexp.MustCompile(pair[1]).FindStringSubmatch(value), pair[0]
		if match != nil && reach == place {
			reach = reachOfPath(match[len(match)-1])
		}
		if match != nil && reach != "" {
			return reach
		}
	}
	return ""
}

// reachOfPath is place for a path that leads out of the current directory, and
// gitData for one from which git runs programs.
func reachOfPath(path string) string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == filepath.Separator })
	switch {
	case path == "":
		return ""
	case !filepath.IsLocal(path), strings.HasPrefix(path, "~"), slices.Contains(parts, ".."):
		return place
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		return place
	}
	defer root.Close()
	_, err = root.Stat(path) // follows links, and fails where one leads out
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		return place
	case slices.ContainsFunc(parts, func(part string) bool { return strings.EqualFold(part, ".git") }):
		return gitData
	}
	return ""
}

// refuse returns an error if a setting reaches further than a file may which was found may.
func (s setting) refuse(f *pflag.Flag) error {
	var failed []error
	for _, v := range s.value.scalars {
		if reach := reachOf(f, v.text); reach == Credential[0] {
			failed = append(failed, fmt.Errorf("%s:%d: %s %s", s.file, v.line, s.key, reach))
		} else if reach != "" {
			failed = append(failed, fmt.Errorf("%s:%d: %s %s: %s", s.file, v.line, s.key, reach, v))
		}
	}
	return errors.Join(failed...)
}
