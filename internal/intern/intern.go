// Package intern keeps one copy of equal maps, for data whose millions of rows have the same labels.
package intern

import (
	"maps"
	"slices"
)

// Maps is a set of maps. The zero value is ready. Not safe for concurrent use.
type Maps struct {
	known map[string]map[string]string
	names []string // reused, as is key
	key   []byte
}

// most limits the maps kept: where labels differ from row to row there is nothing to gain.
const most = 1 << 14

// Of returns a map that equals m: the first such map, if it is kept, else m. Neither may be changed afterwards.
func (i *Maps) Of(m map[string]string) map[string]string {
	if kept, found := i.Kept(m); found {
		return kept
	}
	return m
}

// Kept returns the first map that equals m. kept is false if there is none and m is not kept either, because it is
// nil or too many maps are.
func (i *Maps) Kept(m map[string]string) (first map[string]string, kept bool) {
	if m == nil {
		return nil, false
	}
	i.key, i.names = i.key[:0], slices.AppendSeq(i.names[:0], maps.Keys(m))
	slices.Sort(i.names)
	for _, name := range i.names {
		for _, s := range []string{name, m[name]} {
			i.key = append(append(i.key, s...), 0)
		}
	}
	if kept, found := i.known[string(i.key)]; found {
		return kept, true
	}
	if len(i.known) == most {
		return nil, false
	}
	if i.known == nil {
		i.known = map[string]map[string]string{}
	}
	i.known[string(i.key)] = m
	return m, true
}
