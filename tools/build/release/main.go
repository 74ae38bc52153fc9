// Release makes the files of a release: an archive and a Python wheel for each of six platforms, a Homebrew formula,
// and SHA256SUMS. It publishes nothing.
//
//	go -C tools run ./build/release -url https://github.com/OWNER/crosstalk/releases/download/v0.1.0
//
// The version is crosstalk.Version; the commit and its day are stamped into the program. The tree must be committed.
// The same commit and the same version of Go give the same bytes on every machine.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"crosstalk/tools/internal/bench"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	f := flag.NewFlagSet("release", flag.ExitOnError)
	url := f.String("url", "",
		"where the archives will be: an `address` without the file's name, for the Homebrew formula")
	out := f.String("out", "../dist", "the `folder` to make; must not exist")
	only := f.String("platforms", strings.Join(names(platforms), ","), "platforms, separated by commas")
	notices := f.String("notices", "", "write only the third-party notices of one platform, to this `file`")
	f.Parse(args)
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	chosen, err := parsePlatforms(*only)
	if err != nil {
		return err
	}
	tree, err := bench.Tree()
	if err != nil {
		return err
	}
	if *notices != "" {
		if len(chosen) != 1 {
			return errors.New("-notices needs -platforms with one platform, such as -platforms linux/amd64")
		}
		text, err := thirdParty(tree, chosen[0])
		if err != nil {
			return err
		}
		return os.WriteFile(*notices, text, 0o666)
	}
	if *url == "" {
		return errors.New("-url is missing; expected where the archives will be, such as " +
			"-url https://github.com/OWNER/crosstalk/releases/download/v0.1.0")
	}
	r, err := committed(tree)
	if err != nil {
		return err
	}
	r.url = strings.TrimSuffix(*url, "/")
	made, err := r.make(*out, chosen)
	for _, name := range made {
		fmt.Fprintln(stdout, filepath.Join(*out, name))
	}
	return err
}

type platform struct {
	os, arch string
	tag      string // of wheels, see https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/
}

// platforms are those of a release. The programs for Linux are static, so their wheels suit every C library and the
// oldest tags that pip accepts. macOS 12 is the oldest that Go 1.26 supports.
var platforms = []platform{
	{"linux", "amd64", "manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win_amd64"},
	{"windows", "arm64", "win_arm64"},
}

func (p platform) String() string { return p.os + "/" + p.arch }

// program returns the name of the program.
func (p platform) program() string {
	switch p.os {
	case "windows":
		return "crosstalk.exe"
	}
	return "crosstalk"
}

func names(list []platform) (names []string) {
	for _, p := range list {
		names = append(names, p.String())
	}
	return names
}

func parsePlatforms(list string) (chosen []platform, err error) {
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown platform %q; choose from: %s", name, strings.Join(names(platforms), ", "))
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

// environment is that of a go command for p. It leaves nothing that changes the program to the caller's settings.
func (p platform) environment() []string {
	return append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOWORK=off")
}

// build builds the program for p. Nothing in it depends on where it is built.
func (r release) build(p platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, p.program())
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X 'main.revision="+r.revision+"'",
		"-o", program, "./cmd/crosstalk")
	c.Dir, c.Env = r.tree, p.environment()
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for %v: %w\n%s", p, err, out)
	}
	return os.ReadFile(program)
}

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
		"{{with .Module}}{{$.Dir}}\t{{.Dir}}\t{{.Path}}\t{{.Version}}\t{{.Main}}{{end}}", "./cmd/crosstalk")
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

// goCommand returns the output of a go command for p.
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
