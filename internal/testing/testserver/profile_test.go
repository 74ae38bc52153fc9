package testserver

import (
	"path"
	"strings"
	"testing"
)

func TestProfilesAreReachable(t *testing.T) {
	s := start(t, Options{})
	names := map[string]bool{}
	for _, p := range data().Profiles {
		if names[p.Name] {
			t.Errorf("two profiles are called %s", p.Name)
		}
		names[p.Name] = true
		for _, pattern := range p.Models {
			if _, err := path.Match(pattern, ""); err != nil || pattern != strings.ToLower(pattern) {
				t.Errorf("%s: pattern %s", p.Name, pattern)
			}
			model := strings.NewReplacer("*", "", "[1-4]", "1", "[78]", "7", "[156]", "5", "[5-6]", "5", "[5-8]", "5", "[56]", "5").Replace(pattern)
			if p.Name == "claude-4.5" || p.Name == "claude-5" {
				model = strings.Replace(pattern, "*", "x", 1)
				model = strings.NewReplacer("*", "", "[156]", "5").Replace(model)
			}
			if got := s.opts.profileOf(model); got.Name != p.Name {
				t.Errorf("%s: model %s has the profile %v", p.Name, model, got)
			}
		}
	}
}
