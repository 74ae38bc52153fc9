package suite

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"strings"
)

// starters are commented files to begin a suite with, by instrument.
//
//go:embed starters/*.yaml
var starters embed.FS

// Starter returns a commented file of a small suite to edit: valid as it is,
// but for its size.
func Starter(name, instrument string) ([]byte, error) {
	if !suiteName().MatchString(name) {
		return nil, fmt.Errorf("%.40q is not a valid suite name; use only letters, digits, '.', '-' and '_'", name)
	}
	text, err := starters.ReadFile(path.Join("starters", instrument+".yaml"))
	if err != nil {
		var known []string
		for _, i := range instruments {
			known = append(known, i.name)
		}
		return nil, fmt.Errorf("unknown instrument %q; choose one of: %s", instrument, strings.Join(known, ", "))
	}
	return bytes.Replace(text, []byte("suite: NAME"), []byte("suite: "+name), 1), nil
}
