package crosstalk_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"crosstalk"
)

// No part of the house imports one that docs/architecture.md says it never does. What that page says remains must
// be there.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{} // by the beginning of a package's path
	for _, row := range regexp.MustCompile(`(?m)^\| (\w+) \| (`+"`[^|]*) \\|").FindAllStringSubmatch(string(page), -1) {
		for _, path := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			parts[path[1]] = row[1]
		}
	}
	never, remain := map[[2]string]bool{}, map[[2]string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^- (\w+) never imports (\w+)(, but)?`).FindAllStringSubmatch(string(page), -1) {
		edge := [2]string{row[1], row[2]}
		if never[edge] = true; row[3] != "" {
			remain[edge] = true
		}
	}
	if len(parts) < 16 || len(never) != 16 || len(remain) > 2 {
		t.Fatalf("%d paths of parts, %d nevers, %d of which remain", len(parts), len(never), len(remain))
	}
	// part is the part that has a package, by the longest beginning of its path.
	part := func(path string) string {
		path, inside := strings.CutPrefix(path, "crosstalk/")
		for inside {
			if name, listed := parts[path]; listed {
				return name
			}
			i := strings.LastIndexByte(path, '/')
			if i < 0 {
				break
			}
			path = path[:i]
		}
		return ""
	}
	list, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		packages := strings.Fields(line)
		from := part(packages[0])
		if from == "" && packages[0] != "crosstalk" && !strings.HasPrefix(packages[0], "crosstalk/internal/") {
			t.Errorf("docs/architecture.md has no part for %s", packages[0])
		}
		for _, imported := range packages[1:] {
			switch edge := [2]string{from, part(imported)}; {
			case remain[edge]:
				delete(remain, edge)
				never[edge] = false
			case never[edge]:
				t.Errorf("%s imports %s: %s never imports %s", packages[0], imported, edge[0], edge[1])
			}
		}
	}
	for edge := range remain {
		t.Errorf("%s does not import %s any more: docs/architecture.md says that it does", edge[0], edge[1])
	}
}

// CITATION.cff cites this version.
func TestCitation(t *testing.T) {
	text, err := os.ReadFile("CITATION.cff")
	if err != nil || !strings.Contains(string(text), "\nversion: "+crosstalk.Version+"\n") {
		t.Errorf("CITATION.cff does not cite version %s (%v)", crosstalk.Version, err)
	}
}
