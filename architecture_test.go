package crosstalk_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"crosstalk"
)

// Packages import what the list of docs/architecture.md has further down.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(string(page), -1)
	place := map[string]int{}
	for i, row := range rows {
		for _, name := range regexp.MustCompile("`([^`.]+)`").FindAllStringSubmatch(row[1], -1) {
			place[name[1]] = i
		}
	}
	// room is the package of the list that has a package.
	room := func(path string) (name string, listed bool) {
		path, inside := strings.CutPrefix(path, "crosstalk/")
		if !inside || strings.HasPrefix(path, "internal/") {
			return "", false
		}
		for name = path; name != "."; {
			if _, listed = place[name]; listed {
				return name, true
			}
			i := strings.LastIndexByte(name, '/')
			if i < 0 {
				t.Errorf("docs/architecture.md does not list %s", path)
				break
			}
			name = name[:i]
		}
		return "", false
	}
	list, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(list)) {
		packages := strings.Fields(line)
		from, listed := room(packages[0])
		if !listed {
			continue
		}
		for _, imported := range packages[1:] {
			if to, listed := room(imported); listed && to != from {
				if n++; place[from] > place[to] {
					t.Errorf("%s imports %s: in docs/architecture.md, %s comes after %s", packages[0], imported, from, to)
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("%d imports were checked", n)
	}
}

// CITATION.cff cites this version.
func TestCitation(t *testing.T) {
	text, err := os.ReadFile("CITATION.cff")
	if err != nil || !strings.Contains(string(text), "\nversion: "+crosstalk.Version+"\n") {
		t.Errorf("CITATION.cff does not cite version %s (%v)", crosstalk.Version, err)
	}
}
