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
	estimates, equal int            // of the file with more estimates
	first            string         // difference; empty if there is none
	fields           map[string]int // in how many estimates each field differs
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
	r.estimates, r.fields = max(len(old), len(found)), map[string]int{}
	delete(x, "estimates")
	delete(y, "estimates")
	for i := range min(len(old), len(found)) {
		same := true
		renamed.differ(old[i], found[i], "", func(field, difference string) {
			note(fmt.Sprintf("estimate %d (%s): %s", i+1, title(old[i]), difference))
			same = false
			r.fields[field]++
		})
		if same {
			r.equal++
		}
	}
	if len(old) != len(found) {
		note(fmt.Sprintf("%d estimates, now %d", len(old), len(found)))
	}
	renamed.differ(x, y, "", func(_, difference string) { note(difference) })
	return r, nil
}

// differing lists the fields that differ, each with the number of its estimates.
func (r result) differing() string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(r.fields)) {
		parts = append(parts, fmt.Sprintf("%s %d", field, r.fields[field]))
	}
	return strings.Join(parts, ", ")
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

// differ calls note for each difference of two decoded values, with the field's path.
func (r renames) differ(x, y any, path string, note func(field, difference string)) {
	switch x := x.(type) {
	case map[string]any:
		if y, ok := y.(map[string]any); ok {
			r.fields(x, y, path, note)
			return
		}
	case []any:
		y, ok := y.([]any)
		if !ok {
			break
		}
		for i := range min(len(x), len(y)) {
			r.differ(x[i], y[i], join(path, strconv.Itoa(i)), note)
		}
		if len(x) != len(y) {
			note(path, fmt.Sprintf("%s: %d entries, now %d", path, len(x), len(y)))
		}
		return
	default:
		if x == y {
			return
		}
	}
	note(path, fmt.Sprintf("%s: %s, now %s", path, show(x), show(y)))
}

func (r renames) fields(x, y map[string]any, path string, note func(field, difference string)) {
	known := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(x)) {
		now, ok := r.names[name]
		switch {
		case !ok:
			now = name
		case now == "":
			continue
		}
		known[now] = true
		if value, ok := y[now]; ok {
			r.differ(x[name], value, join(path, now), note)
		} else {
			note(join(path, now), join(path, now)+" is missing")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(y)) {
		if !known[name] && !r.added[name] {
			note(join(path, name), join(path, name)+" is new")
		}
	}
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func show(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}
