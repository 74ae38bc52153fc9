package suite

import (
	"cmp"
	"fmt"
	"path/filepath"

	"crosstalk/datasets"
)

// pulled builds suites from what crosstalk suites pull fetched, by the name of
// the data set, from its folder.
var pulled = map[string]func(dir string) (*Suite, error){
	"boolq":  func(string) (*Suite, error) { return loadPublished("boolq") },
	"lcb":    func(dir string) (*Suite, error) { return importLCB(filepath.Join(dir, "test_sets.zip")) },
	"paws-x": func(string) (*Suite, error) { return loadPublished("paws-x") },
	"xnli":   func(string) (*Suite, error) { return loadPublished("xnli") },
}

// PulledDir returns the folder with the files of a data set that was fetched:
//
//	paws-x  LANGUAGE/dev_2k.tsv, LANGUAGE/test_2k.tsv
//	xnli    xnli.dev.tsv, xnli.test.tsv
//	boolq   dev.jsonl
//	lcb     test_sets.zip
//
// If it was not fetched completely, the error is a *datasets.MissingError that
// names the command.
func PulledDir(name string) (string, error) {
	s, ok := datasets.Named(datasets.Suite, name)
	if !ok {
		return "", fmt.Errorf("unknown data set %q (see crosstalk suites list)", name)
	}
	return s.Find()
}

// loadPulled builds a suite from a data set that was fetched.
func loadPulled(from datasets.Source) (*Suite, error) {
	dir, err := from.Find()
	if err != nil {
		return nil, err
	}
	read := pulled[from.Name]
	if read == nil {
		return nil, fmt.Errorf("%s is not a suite; its files are in %s", from.Name, dir)
	}
	s, err := read(dir)
	if err != nil {
		return nil, err
	}
	s.Name, s.License, s.Description = from.Name, from.License, cmp.Or(s.Description, from.What)
	return s, nil
}
