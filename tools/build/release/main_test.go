package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/tools/internal/bench"
)

var all = flag.Bool("all", false, "release the commit for all platforms, and again from another folder with nothing cached")

const address = "https://github.com/OWNER/crosstalk/releases/download/v0.1.0"

// A release for this machine, or with -all for all platforms: what is in its files, whether a wheel can be installed,
// and whether the same commit gives the same bytes.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	tree, err := bench.Tree()
	if err != nil {
		t.Fatal(err)
	}
	r, again := release{tree: tree, version: crosstalk.Version}, release{}
	if err := r.stamp(); err != nil {
		t.Skip("not a clone: ", err)
	}
	host := runtime.GOOS + "/" + runtime.GOARCH
	chosen, err := parsePlatforms(host)
	if err != nil {
		t.Skip(err)
	}
	here := chosen
	again = r
	if *all {
		chosen = platforms
		r, again = cloned(t, tree, "a"), cloned(t, tree, "another-folder")
	}
	r.url, again.url = address, address

	first, second := filepath.Join(t.TempDir(), "dist"), filepath.Join(t.TempDir(), "dist")
	made, err := r.make(first, chosen)
	if err != nil {
		t.Fatal(err)
	}
	sums := strings.Fields(string(read(t, filepath.Join(first, "SHA256SUMS"))))
	if files := 2*len(chosen) + 1; len(sums) != 2*files || len(made) != files+1 {
		t.Errorf("made %q, and SHA256SUMS is %q", made, sums)
	}
	for i := 0; i < len(sums); i += 2 {
		if sum := fmt.Sprintf("%x", sha256.Sum256(read(t, filepath.Join(first, sums[i+1])))); sum != sums[i] {
			t.Errorf("%s: the sum is %s, and SHA256SUMS says %s", sums[i+1], sum, sums[i])
		}
	}
	formula := string(read(t, filepath.Join(first, "crosstalk.rb")))
	for _, p := range chosen {
		checkArchive(t, r, p, filepath.Join(first, r.archiveName(p)))
		checkWheel(t, r, p, filepath.Join(first, r.wheelName(p)))
		i := slices.Index(sums, r.archiveName(p))
		if want := fmt.Sprintf("url \"%s/%s\"\n      sha256 %q\n", address, sums[i], sums[i-1]); strings.Contains(formula, want) != (p.os == "linux" || p.os == "darwin") {
			t.Errorf("the formula for %v is wrong:\n%s", p, formula)
		}
	}
	if ruby, err := exec.LookPath("ruby"); err == nil {
		if out, err := exec.Command(ruby, "-c", filepath.Join(first, "crosstalk.rb")).CombinedOutput(); err != nil {
			t.Errorf("ruby -c: %s\n%s", out, formula)
		}
	}

	if *all {
		t.Setenv("GOCACHE", t.TempDir())
	}
	if _, err := again.make(second, here); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{r.archiveName(here[0]), r.wheelName(here[0])} {
		if !bytes.Equal(read(t, filepath.Join(first, name)), read(t, filepath.Join(second, name))) {
			t.Errorf("%s has other bytes when it is made again", name)
		}
	}
	t.Run("pip", func(t *testing.T) { install(t, filepath.Join(first, r.wheelName(here[0])), r) })
	if _, err := r.make(first, here); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a release where there is one: %v", err)
	}
}

// cloned is a release of a clone of tree.
func cloned(t *testing.T, tree, name string) release {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	if _, err := git(tree, "clone", "--quiet", "--no-hardlinks", ".", folder); err != nil {
		t.Fatal(err)
	}
	r, err := committed(folder)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func checkArchive(t *testing.T, r release, p platform, path string) {
	t.Helper()
	files := unpack(t, path)
	top := fmt.Sprintf("crosstalk-%s-%s-%s/", r.version, p.os, p.arch)
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "docs/ci.md"} {
		if want := read(t, filepath.Join(r.tree, name)); !bytes.Equal(files[top+name].data, want) {
			t.Errorf("%s: %s is not that of the tree", path, name)
		}
	}
	program := files[top+p.program()]
	if program.mode != 0o755 {
		t.Errorf("%s: the program has the mode %o", path, program.mode)
	}
	checkProgram(t, p, program.data, string(files[top+"THIRD-PARTY-NOTICES.txt"].data))
}

// checkProgram checks that a program is for p, has no path of this machine, and that every module in it has a notice.
func checkProgram(t *testing.T, p platform, program []byte, notices string) {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["GOOS"]+"/"+settings["GOARCH"] != p.String() || settings["CGO_ENABLED"] != "0" {
		t.Errorf("the program for %v is for %s/%s, with CGO_ENABLED=%s", p, settings["GOOS"], settings["GOARCH"],
			settings["CGO_ENABLED"])
	}
	if len(info.Deps) < 10 {
		t.Errorf("the program for %v has only %d modules", p, len(info.Deps))
	}
	for _, module := range info.Deps {
		if !strings.Contains(notices, "\n"+module.Path+" "+module.Version+"\n") {
			t.Errorf("no notice for %s %s in the program for %v", module.Path, module.Version, p)
		}
	}
	for _, text := range []string{"Robyn Speer", "WordNet", "Copyright 2009 The Go Authors",
		"the FreeType License (FTL) applies here, not the GPL"} {
		if !strings.Contains(notices, text) {
			t.Errorf("the notices do not mention %q", text)
		}
	}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 && bytes.Contains(program, []byte(home+"/")) {
		t.Errorf("the program for %v contains %s", p, home)
	}
}

// checkWheel checks a wheel as pip does, and its tags.
func checkWheel(t *testing.T, r release, p platform, path string) {
	t.Helper()
	files := unpack(t, path)
	info := "crosstalk-" + r.version + ".dist-info/"
	rows, err := csv.NewReader(bytes.NewReader(files[info+"RECORD"].data)).ReadAll()
	if err != nil || len(rows) != len(files) {
		t.Fatalf("%s: RECORD has %d files of %d: %v", path, len(rows), len(files), err)
	}
	for _, row := range rows {
		sum := sha256.Sum256(files[row[0]].data)
		if want := "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]); row[0] != info+"RECORD" &&
			(row[1] != want || row[2] != fmt.Sprint(len(files[row[0]].data))) {
			t.Errorf("%s: RECORD says %q, expected %s", path, row, want)
		}
	}
	var tags []string
	for line := range strings.Lines(string(files[info+"WHEEL"].data)) {
		if tag, ok := strings.CutPrefix(line, "Tag: py3-none-"); ok {
			tags = append(tags, strings.TrimSpace(tag))
		}
	}
	if got := "-py3-none-" + strings.Join(tags, ".") + ".whl"; !strings.HasSuffix(path, got) {
		t.Errorf("%s: WHEEL has the tags %s", path, got)
	}
	form := map[string]string{"linux": `^(manylinux2014|manylinux_\d+_\d+|musllinux_\d+_\d+)_(x86_64|aarch64)$`,
		"darwin": `^macosx_\d+_0_(x86_64|arm64)$`, "windows": `^win_(amd64|arm64)$`}[p.os]
	processor := map[string]string{"linux/amd64": "x86_64", "linux/arm64": "aarch64", "darwin/amd64": "x86_64"}[p.String()]
	for _, tag := range tags {
		if !regexp.MustCompile(form).MatchString(tag) || !strings.HasSuffix(tag, "_"+cmp.Or(processor, p.arch)) {
			t.Errorf("%s: the tag %s", path, tag)
		}
	}
	program := files["crosstalk-"+r.version+".data/scripts/"+p.program()]
	if program.mode != 0o755 {
		t.Errorf("%s: the program has the mode %o", path, program.mode)
	}
	checkProgram(t, p, program.data, string(files[info+"licenses/THIRD-PARTY-NOTICES.txt"].data))
}

// install installs a wheel in a fresh virtual environment and runs what it brings.
func install(t *testing.T, wheel string, r release) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	venv := filepath.Join(t.TempDir(), "venv")
	if out, err := exec.Command(python, "-m", "venv", venv).CombinedOutput(); err != nil {
		t.Skipf("python3 makes no virtual environment: %v\n%s", err, out)
	}
	bin := filepath.Join(venv, "bin")
	if runtime.GOOS == "windows" {
		bin = filepath.Join(venv, "Scripts")
	}
	for _, command := range []struct{ name, args, want string }{
		{"pip", "install --no-index --disable-pip-version-check " + wheel, "Successfully installed crosstalk-" + r.version},
		{"crosstalk", "--version", "crosstalk " + r.version + " (" + r.revision + ")\n"},
		{"crosstalk", "run leakage --quiet --items 4 --out " + filepath.Join(venv, "run"), "leak rate"},
		{"pip", "show --files crosstalk", "THIRD-PARTY-NOTICES.txt"},
		{"pip", "check", "No broken requirements"},
		{"pip", "uninstall --yes crosstalk", "Successfully uninstalled"},
	} {
		c := exec.Command(filepath.Join(bin, command.name), strings.Fields(command.args)...)
		c.Dir = venv
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), command.want) {
			t.Fatalf("%s %s: %v, expected %q in\n%s", command.name, command.args, err, command.want, out)
		}
	}
	if _, err := os.Stat(filepath.Join(bin, "crosstalk")); err == nil {
		t.Error("pip uninstall left the program")
	}
}

func TestCommitted(t *testing.T) {
	tree := t.TempDir()
	do := func(args ...string) {
		t.Helper()
		if _, err := git(tree, append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	do("init", "--quiet")
	do("commit", "--quiet", "--allow-empty", "--message", "First", "--date", "2026-01-02T03:04:05Z")
	r, err := committed(tree)
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{12}, \d{4}-\d\d-\d\d$`).MatchString(r.revision) {
		t.Errorf("revision %q: %v", r.revision, err)
	}
	do("tag", "v9.9.9")
	if _, err := committed(tree); err == nil || !strings.Contains(err.Error(), "tagged v9.9.9") {
		t.Errorf("another version's tag: %v", err)
	}
	do("tag", "v"+crosstalk.Version)
	if _, err := committed(tree); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "new.go"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := committed(tree); err == nil || !strings.Contains(err.Error(), "?? new.go") {
		t.Errorf("a tree with changes: %v", err)
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                                 "-url is missing",
		"-platforms plan9/amd64":           `unknown platform "plan9/amd64"; choose from: linux/amd64, `,
		"-url https://example.org upwards": `unexpected argument "upwards"`,
	} {
		if err := run(strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", args, err, want)
		}
	}
}

// unpack reads an archive or a wheel.
func unpack(t *testing.T, path string) map[string]file {
	t.Helper()
	files := map[string]file{}
	packed := read(t, path)
	if !strings.HasSuffix(path, ".tar.gz") {
		z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			files[f.Name] = file{f.Name, f.Mode().Perm(), readAll(t, r)}
		}
		return files
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = file{h.Name, h.FileInfo().Mode().Perm(), readAll(t, r)}
	}
}

func readAll(t *testing.T, r io.Reader) []byte {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
