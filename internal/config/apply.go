package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/strictyaml"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FileFlag is the name of the flag that selects the file.
const FileFlag = "config"

// Load sets a command's flags from the file that --config names, or else from the standard file if it exists in the
// current directory. A file that was only found is not trusted: what reaches further than a found file may is refused
// unless TrustVariable says otherwise. removed is Parse's. Call it after the command line is parsed and before
// the command runs.
func Load(c *cobra.Command, standard string, removed func(string) string) (Applied, error) {
	name, err := c.Flags().GetString(FileFlag)
	named := c.Flags().Changed(FileFlag)
	none, nothing := named && name == "", !named && len(flagsOf(c)) == 0
	if err != nil || !configurable(c) || none || nothing {
		return Applied{}, err
	}
	trust := named
	if !named {
		name = standard
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return Applied{}, nil
		}
		if err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
			return Applied{}, fmt.Errorf("%s: is not a regular file; "+
				"name it with --%s to read it, or use --%[2]s '' to read none", name, FileFlag)
		}
		text := cmp.Or(os.Getenv(TrustVariable), "0")
		if trust, err = strconv.ParseBool(text); err != nil {
			return Applied{}, fmt.Errorf("the environment variable %s is %.40q; expected 1 or 0", TrustVariable, text)
		}
	}
	text, err := strictyaml.ReadFile(name, limits.Bytes)
	if err != nil {
		return Applied{}, err
	}
	f, err := Parse(name, text, c.Root(), removed)
	if err != nil {
		return Applied{}, err
	}
	applied, err := f.Apply(c, trust)
	applied.Found = !named
	return applied, err
}

// Apply sets the flags of a command, except those set on the command line. Of several keys for a flag, the innermost
// wins. A file that is not trusted must not set what has a Reach.
func (f *File) Apply(c *cobra.Command, trust bool) (Applied, error) {
	var path []string
	for at := c; at.HasParent(); at = at.Parent() {
		path = append([]string{at.Name()}, path...)
	}
	var applied Applied
	var failed, untrusted []error
	for _, flag := range flagsOf(c) {
		if flag.Changed {
			continue
		}
		for n := len(path); n >= 0; n-- {
			key := join(strings.Join(path[:n], "."), flag.Name)
			v, found := f.settings[key]
			if !found {
				continue
			}
			one := setting{flag.Name, key, f.name, v}
			if !trust {
				if err := one.refuse(flag); err != nil {
					untrusted = append(untrusted, err)
					break
				}
			}
			if err := set(flag, v); err != nil {
				line := v.line
				if m := new(mismatch); errors.As(err, &m) {
					line = m.line
				}
				err = fmt.Errorf("%s:%d: %s: %w (for '%s')", f.name, line, key, err, c.CommandPath())
				failed = append(failed, err)
			}
			applied.settings = append(applied.settings, one)
			break
		}
	}
	if untrusted != nil {
		failed = append(failed, fmt.Errorf("%w\nNobody named %[2]s, so it must not set this. "+
			"If you trust the file, add --%[3]s %[2]s or set %[4]s=1",
			errors.Join(untrusted...), f.name, FileFlag, TrustVariable))
	}
	return applied, errors.Join(failed...)
}

// set gives a flag the value, as the command line would.
func set(f *pflag.Flag, v value) error {
	if m := kindOf(f).check(v); m != nil {
		return m
	}
	f.Changed = true
	texts := []string{} // literal: commas do not split them
	for _, s := range v.scalars {
		texts = append(texts, s.text)
	}
	if list, several := f.Value.(pflag.SliceValue); several {
		return list.Replace(texts)
	}
	return f.Value.Set(texts[0])
}

// Applied lists the flags of a command that a file has set.
type Applied struct {
	Found    bool // nobody named the file
	settings []setting
}

type setting struct {
	flag, key, file string
	value           value
}

// String names the file and the flags.
func (a Applied) String() string {
	if len(a.settings) == 0 {
		return ""
	}
	var flags []string
	for _, s := range a.settings {
		flags = append(flags, "--"+s.flag)
	}
	return fmt.Sprintf("%s sets %s", a.settings[0].file, strings.Join(flags, ", "))
}

// Explain extends an error of a command with the places where the flags that it mentions were set.
func (a Applied) Explain(err error) error {
	if err == nil {
		return nil
	}
	message := err.Error()
	for _, s := range a.settings {
		if s.concerns(message) {
			err = fmt.Errorf("%w\n%s:%d: %s is set here", err, s.file, s.value.line, s.key)
		}
	}
	return err
}

// concerns reports whether a message mentions the flag, its value together with
// its name in words, or a value that is unlikely to appear by chance.
func (s setting) concerns(message string) bool {
	has := func(text string) bool {
		return regexp.MustCompile(`(^|[^\pL\pN_-])` + regexp.QuoteMeta(text) + `($|[^\pL\pN_-])`).MatchString(message)
	}
	return has("--"+s.flag) || slices.ContainsFunc(s.value.scalars, func(v scalar) bool {
		return v.text != "" && has(v.text) && (len(v.text) >= 6 || has(strings.ReplaceAll(s.flag, "-", " ")) || has(s.flag))
	})
}
