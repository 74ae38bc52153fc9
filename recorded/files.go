package recorded

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"crosstalk/internal/table"
)

// Files replaces each folder among paths by the files of JSON Lines in it and below, in
// the order of their names: the sessions of coding assistants are such folders.
func Files(paths []string) (files []string, err error) {
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path) // reading it says what is wrong
			continue
		}
		n := len(files)
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && slices.Contains([]string{".jsonl", ".ndjson"}, table.Format(file)) {
				files = append(files, file)
			}
			return err
		})
		if err == nil && len(files) == n {
			err = fmt.Errorf("%s: has no files of JSON Lines (.jsonl)", path)
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}
