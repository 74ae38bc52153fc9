package suite

import (
	"path/filepath"
	"strings"

	"crosstalk"
)

// Sources identifies the suites that recorded answers come from: a file, or a
// data set within it, with the hash of its items.
type Sources struct {
	files  []string
	groups map[string]*origin // by dataset; "" for all
}

type origin struct {
	names        []string
	fingerprints Fingerprint
	items        map[[2]string]struct{}
}

// NewSources returns the sources for these files.
func NewSources(files []string) *Sources {
	return &Sources{files: files, groups: map[string]*origin{}}
}

// Add records an item. Adding it again has no effect.
func (s *Sources) Add(file string, item crosstalk.Item) {
	dataset := item.Labels["dataset"]
	name := BaseName(file)
	s.add("", file, name, item)
	if dataset != "" {
		s.add(dataset, file, name+"-"+dataset, item)
	}
}

func (s *Sources) add(group, file, name string, item crosstalk.Item) {
	g := s.groups[group]
	if g == nil {
		g = &origin{items: map[[2]string]struct{}{}}
		s.groups[group] = g
	}
	key := [2]string{item.Labels["dataset"], item.ID}
	if len(s.files) > 1 {
		key[0] = file + "\x00" + key[0]
	}
	if _, again := g.items[key]; again {
		return
	}
	g.items[key] = struct{}{}
	g.fingerprints.Add(item)
	if len(g.names) == 0 || g.names[len(g.names)-1] != name {
		g.names = append(g.names, name)
	}
}

// IDs names the suites as Suite.ID does: all that was met, and each data set.
func (s *Sources) IDs() crosstalk.SuiteIDs {
	ids := crosstalk.SuiteIDs{Column: "dataset", Each: map[string]string{}}
	for dataset, g := range s.groups {
		if dataset == "" {
			ids.All = BaseNames(s.files) + "@" + g.fingerprints.String()
		} else {
			ids.Each[dataset] = strings.Join(g.names, "+") + "@" + g.fingerprints.String()
		}
	}
	return ids
}

// BaseNames names the suite of answers in several files.
func BaseNames(files []string) string {
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = BaseName(file)
	}
	return strings.Join(names, "+")
}

// BaseName is the name of a suite in a file: without folder and endings.
func BaseName(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}
