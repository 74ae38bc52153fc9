package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// notice matches the names of files, and of folders of files, that must come with a program.
var notice = regexp.MustCompile(`(?i)^((un)?licen[cs]es?|copying|notice|patents|authors|third_party_licenses)` +
	`([.-][a-z-]+)?$`)

// thirdParty is the text of THIRD-PARTY-NOTICES.txt: the licences of Go, of every module that has a package in the
// program for p, and of embedded data. It is an error if a module has none.
func thirdParty(tree string, p platform) ([]byte, error) {
	folders, err := linked(tree, p)
	if err != nil {
		return nil, err
	}
	owners := map[string][]string{} // by "name of the file\ntext"
	for _, owner := range slices.Sorted(maps.Keys(folders)) {
		found := 0
		for _, folder := range folders[owner] {
			texts, err := noticesIn(folder)
			if err != nil {
				return nil, err
			}
			for _, text := range texts {
				if !slices.Contains(owners[text], owner) {
					owners[text] = append(owners[text], owner)
				}
				found++
			}
		}
		if found == 0 && !strings.HasPrefix(owner, data) {
			return nil, fmt.Errorf("%s has no licence in %s", owner, strings.Join(folders[owner], ", "))
		}
	}
	texts := slices.SortedFunc(maps.Keys(owners), func(a, b string) int {
		return cmp.Or(slices.Compare(owners[a], owners[b]), strings.Compare(a, b))
	})
	var out bytes.Buffer
	out.WriteString("crosstalk contains the software and the data below, by others. Their licences and notices:\n")
	for owner := range folders {
		if strings.HasPrefix(owner, "github.com/golang/freetype ") {
			out.WriteString("\nOf FreeType's two licences, the FreeType License (FTL) applies here, not the GPL. Portions of " +
				"this software are\ncopyright (c) The FreeType Project (www.freetype.org). All rights reserved.\n")
		}
	}
	for _, text := range texts {
		name, text, _ := strings.Cut(text, "\n")
		rule := strings.Repeat("=", 80)
		fmt.Fprintf(&out, "\n%s\n%s\n%s\n%s\n\n%s\n", rule,
			strings.Join(owners[name+"\n"+text], "\n"), name, rule, strings.Trim(text, "\n"))
	}
	return out.Bytes(), nil
}

// data begins the name of an owner that is a folder of the main module.
const data = "data of "

// linked returns the folders whose packages are in the program, and the folders above them, by owner: Go, a module with
// its version, or a folder of embedded data.
func linked(tree string, p platform) (map[string][]string, error) {
	folders := map[string][]string{}
	add := func(owner, folder string) {
		if !slices.Contains(folders[owner], folder) {
			folders[owner] = append(folders[owner], folder)
		}
	}
	root, err := goCommand(tree, p, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	add("Go", strings.TrimSpace(root))
	list, err := goCommand(tree, p, "list", "-deps", "-f",
		"{{with .Module}}{{$.Dir}}\t{{.Dir}}\t{{.Path}}\t{{.Version}}\t{{.Main}}{{end}}", p.source())
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(list) {
		part := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(part) != 5 {
			continue // a package of Go
		}
		folder, module, path, version, main := part[0], part[1], part[2], part[3], part[4] == "true"
		for ; len(folder) > len(module); folder = filepath.Dir(folder) {
			if main {
				add(data+filepath.ToSlash(folder[len(module)+1:]), folder)
			} else {
				add(path+" "+version, folder)
			}
		}
		if !main {
			add(path+" "+version, module)
		}
	}
	return folders, nil
}

// noticesIn returns the notices in a folder, each as its name and, after a line break, its text.
func noticesIn(folder string) (texts []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !notice.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		err = errors.Join(err, filepath.WalkDir(filepath.Join(folder, e.Name()),
			func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				texts = append(texts, e.Name()+"\n"+strings.ReplaceAll(string(text), "\r\n", "\n"))
				return err
			}))
	}
	return texts, err
}

// goCommand returns what a go command for p prints.
func goCommand(tree string, p platform, args ...string) (string, error) {
	c := exec.Command("go", args...)
	c.Dir, c.Env = tree, p.environment()
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go %s for %v: %w\n%s", args[0], p, err, complaint.Bytes())
	}
	return string(out), nil
}
