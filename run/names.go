package run

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Names names runs by the last parts of their paths, as few as make the
// names unique. A path given twice gets a number.
func Names(paths []string) []string {
	names := make([]string, len(paths))
	for parts := 1; ; parts++ {
		longer := false
		for i, path := range paths {
			all := strings.Split(strings.Trim(filepath.ToSlash(filepath.Clean(path)), "/"), "/")
			longer = longer || len(all) > parts
			names[i] = strings.Join(all[max(0, len(all)-parts):], "/")
		}
		if len(slices.Compact(slices.Sorted(slices.Values(names)))) == len(names) {
			return names
		}
		if !longer {
			break
		}
	}
	for i, name := range names {
		if first := slices.Index(names, name); first < i {
			names[i] += "#" + strconv.Itoa(i+1)
		}
	}
	return names
}
