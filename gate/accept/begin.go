package accept

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"crosstalk/internal/atomicfile"
	"crosstalk/internal/plainfile"
)

// acceptFile is an acceptance's file in the run: its settings before the first item was asked, and then its result.
const acceptFile = "accept.json"

// maxAcceptFile limits its size, far above what it can reach.
const maxAcceptFile = 1 << 20

// begin writes the settings before anything is asked. An acceptance that was begun earlier continues if its settings
// are the same: another order or margin would be another chance.
func begin(dir string, of Result) error {
	a, _ := os.Stat(of.Settings.Baseline) // nil for a model, which never equals a run
	b, _ := os.Stat(dir)
	if os.SameFile(a, b) {
		return fmt.Errorf("%s is the baseline itself: its answers would be taken for those of the model: use another --out",
			dir)
	}
	path := filepath.Join(dir, acceptFile)
	file, err := plainfile.Read(path, maxAcceptFile)
	if errors.Is(err, fs.ErrNotExist) {
		return write(dir, of)
	} else if err != nil {
		return err
	}
	var was Result
	if err := json.Unmarshal(file, &was); err != nil {
		return fmt.Errorf("%s: is not the file of an acceptance: %w", path, err)
	}
	if field := difference(reflect.ValueOf(was.Settings), reflect.ValueOf(of.Settings)); field != "" {
		return fmt.Errorf("%s: an acceptance with other settings was begun: its %s. A second one is a second chance to be "+
			"wrong: continue that one, or ask for new answers with another --out", path, field)
	}
	return nil
}

// difference returns the first setting that differs, with both values; "" if none does.
func difference(was, now reflect.Value) string {
	for i := range now.NumField() {
		a, b := was.Field(i), now.Field(i)
		name, _, _ := strings.Cut(now.Type().Field(i).Tag.Get("json"), ",")
		if a.Kind() == reflect.Struct {
			if field := difference(a, b); field != "" {
				return field
			}
		} else if name != "-" && !a.Equal(b) {
			return fmt.Sprintf("%s is %v, not %v", strings.ReplaceAll(name, "_", " "), a, b)
		}
	}
	return ""
}

func write(dir string, of Result) error {
	b, err := json.MarshalIndent(of, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytesPrivate(filepath.Join(dir, acceptFile), append(b, '\n'))
}
