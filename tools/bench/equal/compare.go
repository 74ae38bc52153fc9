//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// renames are the new names of fields by their old ones. A field that was dropped has an empty new name; added has the
// fields that are new.
type renames struct {
	names map[string]string
	added map[string]bool
}

// parseRenames reads old=new,...
func parseRenames(text string) (renames, error) {
	r := renames{map[string]string{}, map[string]bool{}}
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		before, after, ok := strings.Cut(part, "=")
		switch {
		case !ok || before == "" && after == "":
			return r, fmt.Errorf("-renamed %q: expected old=new", part)
		case before == "":
			r.added[after] = true
		default:
			r.names[before] = after
		}
	}
	return r, nil
}

// result is what comparing two files found.
type result struct {
	estimates, equal int    // of the file with more estimates
	first            string // difference; empty if there is none
}

// compare compares two files of estimates. Numbers are the same if they are written the same.
func compare(before, after []byte, renamed renames) (r result, err error) {
	x, err := decode(before)
	if err != nil {
		return r, fmt.Errorf("the old estimates.json: %w", err)
	}
	y, err := decode(after)
	if err != nil {
		return r, fmt.Errorf("the new estimates.json: %w", err)
	}
	old, found := x["estimates"].([]any), y["estimates"].([]any)
	note := func(difference string) {
		if r.first == "" {
			r.first = difference
		}
	}
	r.estimates = max(len(old), len(found))
	delete(x, "estimates")
	delete(y, "estimates")
	for i := range min(len(old), len(found)) {
		if d := renamed.differ(old[i], found[i], ""); d != "" {
			note(fmt.Sprintf("estimate %d (%s): %s", i+1, title(old[i]), d))
			continue
		}
		r.equal++
	}
	if len(old) != len(found) {
		note(fmt.Sprintf("%d estimates, now %d", len(old), len(found)))
	}
	if d := renamed.differ(x, y, ""); d != "" {
		note(d)
	}
	return r, nil
}

// decode reads a file of estimates and keeps numbers as they are written.
func decode(content []byte) (file map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	if list, ok := file["estimates"].([]any); !ok || len(list) == 0 {
		return nil, fmt.Errorf("no estimates")
	}
	return file, nil
}

// title names an estimate by its measure and group.
func title(estimate any) string {
	fields, _ := estimate.(map[string]any)
	words := []string{fmt.Sprint(fields["measure"])}
	by, _ := fields["by"].(map[string]any)
	for _, column := range slices.Sorted(maps.Keys(by)) {
		words = append(words, fmt.Sprint(by[column]))
	}
	return strings.Join(words, " ")
}

// differ returns the first difference of two decoded values, with its path, or "".
func (r renames) differ(x, y any, path string) string {
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		if !ok {
			break
		}
		return r.fields(x, y, path)
	case []any:
		y, ok := y.([]any)
		if !ok {
			break
		}
		for i := range min(len(x), len(y)) {
			if d := r.differ(x[i], y[i], join(path, strconv.Itoa(i))); d != "" {
				return d
			}
		}
		if len(x) != len(y) {
			return fmt.Sprintf("%s: %d entries, now %d", path, len(x), len(y))
		}
		return ""
	default:
		if x == y {
			return ""
		}
	}
	return fmt.Sprintf("%s: %s, now %s", path, show(x), show(y))
}

func (r renames) fields(x, y map[string]any, path string) string {
	known := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(x)) {
		now, ok := r.names[name]
		switch {
		case !ok:
			now = name
		case now == "":
			continue
		}
		value, ok := y[now]
		if !ok {
			return join(path, now) + " is missing"
		}
		known[now] = true
		if d := r.differ(x[name], value, join(path, now)); d != "" {
			return d
		}
	}
	for _, name := range slices.Sorted(maps.Keys(y)) {
		if !known[name] && !r.added[name] {
			return join(path, name) + " is new"
		}
	}
	return ""
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func show(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
