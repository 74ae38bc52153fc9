package suite

import (
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

var colours = []string{"black", "blue", "brown", "green", "grey", "orange", "pink", "purple", "red", "white", "yellow"}

// Every slot of leakage-colours and leakage-recipes takes all colours, and
// none follows "a", which would be wrong before "orange".
func TestColoursFitEverySlot(t *testing.T) {
	for name, wordings := range map[string]int{"leakage-colours": 2, "leakage-recipes": 1} {
		s := suiteNamed(t, name)
		byControl := map[string][]string{}
		for _, i := range s.Items.All() {
			byControl[i.Pair.Control] = append(byControl[i.Pair.Control], i.Pair.Concept)
			before, _, found := strings.Cut(strings.ToLower(i.Pair.Test), i.Pair.Concept)
			if words := strings.Fields(before); !found || len(words) > 0 && words[len(words)-1] == "a" {
				t.Errorf("%s: %q", i.ID, i.Pair.Test)
			}
		}
		for control, concepts := range byControl {
			slices.Sort(concepts)
			if !slices.Equal(slices.Compact(slices.Clone(concepts)), colours) || len(concepts) != wordings*len(colours) {
				t.Errorf("%s: %q has the concepts %q", name, control, concepts)
			}
		}
	}
}

func TestColoursAreBalanced(t *testing.T) {
	s := suiteNamed(t, "leakage-colours")
	items := map[string]int{}
	for _, i := range s.Items.All() {
		items[i.Labels["category"]]++
	}
	if s.Items.Len() < 720 || len(items) != 3 || items["objects"] != items["names"] || items["names"] != items["expressions"] {
		t.Errorf("%d items: %v", s.Items.Len(), items)
	}
}

// A name must be removable wherever a story uses it, and its sense is
// recorded for reviewers.
func TestOpenEndedSuites(t *testing.T) {
	for name, concepts := range map[string]int{"leakage-stories": 25, "leakage-recipes": 11, "leakage-poems": 12, "leakage-adverts": 12} {
		s := suiteNamed(t, name)
		seen := map[string]bool{}
		for _, i := range s.Items.All() {
			p := i.Pair
			seen[p.Concept] = true
			removed := slices.ContainsFunc(p.Remove, func(r string) bool { return strings.HasPrefix(r, p.Concept) })
			named := name == "leakage-stories" || name == "leakage-adverts"
			if !removed || named && p.Sense == "" {
				t.Errorf("%s: remove %q, sense %q", i.ID, p.Remove, p.Sense)
			}
		}
		if s.MaxTokens != 300 || s.Windows != Sentences || len(seen) != concepts || s.Items.Len() < 60 || s.Clusters() < 10 {
			t.Errorf("%s: %d tokens, windows %q, %d concepts, %d items, %d controls", name, s.MaxTokens, s.Windows, len(seen), s.Items.Len(), s.Clusters())
		}
	}
}

func TestContextSuite(t *testing.T) {
	s := suiteNamed(t, "leakage-context")
	items, controls := map[crosstalk.Carrier]int{}, map[crosstalk.Carrier]map[string]bool{}
	requests := map[string]string{}
	for _, i := range s.Items.All() {
		c := i.Pair.Context
		if controls[c.Carrier] == nil {
			controls[c.Carrier] = map[string]bool{}
		}
		items[c.Carrier]++
		controls[c.Carrier][i.Cluster] = true
		if template, _, _ := strings.Cut(i.ID, "/"); requests[c.Prompt] == "" {
			requests[c.Prompt] = template
		} else if requests[c.Prompt] != template {
			t.Errorf("%s: same request as %s", i.ID, requests[c.Prompt])
		}
	}
	for _, c := range crosstalk.Carriers {
		if items[c] < 30 || len(controls[c]) < 10 {
			t.Errorf("%s: %d items, %d controls", c, items[c], len(controls[c]))
		}
	}
}

func suiteNamed(t *testing.T, name string) *Suite {
	t.Helper()
	s, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
