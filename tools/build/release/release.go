package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk"
)

// release holds the inputs of every file of a release.
type release struct {
	tree     string    // root of the main module
	version  string    // 0.1.0
	revision string    // stamped: the commit and its day
	when     time.Time // of the commit; the time of every file in archives
	url      string    // where the archives will be
}

// file is a file of an archive.
type file struct {
	name string // with slashes
	mode fs.FileMode
	data []byte
}

// committed describes a release of the commit that is checked out in tree. It is an error if tree has changes, or if
// the commit has a version's tag and crosstalk.Version is another.
func committed(tree string) (release, error) {
	r := release{tree: tree, version: crosstalk.Version}
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(r.version) {
		return r, fmt.Errorf("crosstalk.Version is %q; expected MAJOR.MINOR.PATCH, "+
			"which archives, wheels and formulas order alike",
			r.version)
	}
	if changes, err := git(tree, "status", "--porcelain"); err != nil || changes != "" {
		return r, errors.Join(err, fmt.Errorf("the tree has changes; commit them first:\n%s", changes))
	}
	tags, err := git(tree, "tag", "--points-at", "HEAD", "--list", "v[0-9]*")
	if err != nil {
		return r, err
	}
	if tags := strings.Fields(tags); len(tags) > 0 && !slices.Contains(tags, "v"+r.version) {
		return r, fmt.Errorf("the commit is tagged %s, and crosstalk.Version is %s", strings.Join(tags, ", "), r.version)
	}
	return r, r.stamp()
}

// stamp sets the revision and the time from the commit that is checked out.
func (r *release) stamp() error {
	head, err := git(r.tree, "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	commit, seconds, _ := strings.Cut(head, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("git log printed %q", head)
	}
	r.when = time.Unix(unix, 0).UTC()
	r.revision = commit[:12] + ", " + r.when.Format(time.DateOnly)
	return nil
}

// make makes all files in the folder out, which must not exist: it appears when everything is in it. The names are
// those of the files, sorted.
func (r release) make(out string, chosen []platform) (names []string, err error) {
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, fmt.Errorf("%s exists; remove it first", out))
	}
	dir, err := os.MkdirTemp(filepath.Dir(filepath.Clean(out)), ".release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	sums := map[string]string{} // SHA-256 by name
	save := func(name string, data []byte) error {
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(data))
		names = append(names, name)
		return os.WriteFile(filepath.Join(dir, name), data, 0o644)
	}
	for _, p := range chosen {
		notices, err := thirdParty(r.tree, p)
		if err != nil {
			return nil, err
		}
		program, err := r.build(p)
		if err != nil {
			return nil, err
		}
		archive, err := r.archive(p, program, notices)
		if err == nil {
			err = save(r.archiveName(p), archive)
		}
		if err != nil {
			return nil, err
		}
		wheel, err := r.wheel(p, program, notices)
		if err == nil {
			err = save(r.wheelName(p), wheel)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := save("crosstalk.rb", r.formula(chosen, sums)); err != nil {
		return nil, err
	}
	slices.Sort(names)
	var list bytes.Buffer // as sha256sum prints it, for sha256sum --check
	for _, name := range names {
		fmt.Fprintf(&list, "%s  %s\n", sums[name], name)
	}
	if err := save("SHA256SUMS", list.Bytes()); err != nil {
		return nil, err
	}
	return names, errors.Join(os.Chmod(dir, 0o755), os.Rename(dir, out))
}

// archive is a tar.gz, for Windows a zip, of one folder: the program, the licence and notices, and the
// manual.
func (r release) archive(p platform, program, notices []byte) ([]byte, error) {
	manual, err := git(r.tree, "ls-files", "LICENSE", "README.md", "CHANGELOG.md", "docs")
	if err != nil {
		return nil, err
	}
	files := []file{{p.program(), 0o755, program}, {"THIRD-PARTY-NOTICES.txt", 0o644, notices}}
	var sources [][2]string // name and path
	for _, name := range strings.Fields(manual) {
		sources = append(sources, [2]string{name, filepath.Join(r.tree, name)})
	}
	for _, s := range sources {
		data, err := os.ReadFile(s[1])
		if err != nil {
			return nil, err
		}
		files = append(files, file{s[0], 0o644, data})
	}
	top := strings.TrimSuffix(strings.TrimSuffix(r.archiveName(p), ".zip"), ".tar.gz")
	for i := range files {
		files[i].name = top + "/" + files[i].name
	}
	if p.os == "windows" {
		return zipped(files, r.when)
	}
	return tarred(files, r.when)
}

func (r release) archiveName(p platform) string {
	ending := ".tar.gz"
	if p.os == "windows" {
		ending = ".zip"
	}
	return fmt.Sprintf("crosstalk-%s-%s-%s%s", r.version, p.os, p.arch, ending)
}

// git returns the output of a git command, without the last line break.
func git(tree string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir = tree
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, complaint.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// tarred is a tar.gz of files, all of them of the time when and of nobody.
func tarred(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	for _, f := range files {
		h := tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: when, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	err := z.Close()
	return out.Bytes(), err
}

// zipped is a zip of files, all of them of the time when.
func zipped(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		h := zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(&h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

// licences is the SPDX expression for the program: words.bin has its own licence.
const licences = "Apache-2.0 AND CC-BY-SA-4.0"

const summary = "Measure what bleeds through in language models"

func (r release) wheelName(p platform) string {
	return fmt.Sprintf("crosstalk-%s-py3-none-%s.whl", r.version, p.tag)
}

// wheel is a Python wheel without Python: pip puts the program beside python. Its layout is that of
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/ and, for licences, PEP 639.
func (r release) wheel(p platform, program, notices []byte) ([]byte, error) {
	licence, err := os.ReadFile(filepath.Join(r.tree, "LICENSE"))
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile(filepath.Join(r.tree, "README.md"))
	if err != nil {
		return nil, err
	}
	var tags strings.Builder
	for tag := range strings.SplitSeq(p.tag, ".") {
		fmt.Fprintf(&tags, "Tag: py3-none-%s\n", tag)
	}
	info := fmt.Sprintf("crosstalk-%s.dist-info/", r.version)
	files := []file{
		{fmt.Sprintf("crosstalk-%s.data/scripts/%s", r.version, p.program()), 0o755, program},
		{info + "METADATA", 0o644, fmt.Appendf(nil, `Metadata-Version: 2.4
Name: crosstalk
Version: %s
Summary: %s
License-Expression: %s
License-File: LICENSE
License-File: THIRD-PARTY-NOTICES.txt
Project-URL: Homepage, %s
Requires-Python: >=3.7
Description-Content-Type: text/markdown

%s`, r.version, summary, licences, r.homepage(), readme)},
		{info + "WHEEL", 0o644, fmt.Appendf(nil,
			"Wheel-Version: 1.0\nGenerator: crosstalk/tools/build/release\nRoot-Is-Purelib: false\n%s", &tags)},
		{info + "licenses/LICENSE", 0o644, licence},
		{info + "licenses/THIRD-PARTY-NOTICES.txt", 0o644, notices},
	}
	var record bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	return zipped(append(files, file{info + "RECORD", 0o644, record.Bytes()}), r.when)
}

// homepage is the page of the project, which on GitHub and GitLab is before the release's own part of the address.
func (r release) homepage() string {
	page, _, _ := strings.Cut(r.url, "/releases/")
	return strings.TrimSuffix(page, "/-")
}

// formula is a Homebrew formula for those of the platforms that have Homebrew. sums are the SHA-256 of files.
func (r release) formula(chosen []platform, sums map[string]string) []byte {
	var f strings.Builder
	quoted := `"` + strings.ReplaceAll(licences, " AND ", `", "`) + `"`
	fmt.Fprintf(&f, "class Crosstalk < Formula\n  desc %q\n  homepage %q\n  version %q\n  license all_of: [%s]\n",
		summary, r.homepage(), r.version, quoted)
	for _, system := range []struct{ os, homebrew string }{{"darwin", "macos"}, {"linux", "linux"}} {
		if !slices.ContainsFunc(chosen, func(p platform) bool { return p.os == system.os }) {
			continue
		}
		fmt.Fprintf(&f, "\n  on_%s do\n", system.homebrew)
		for _, p := range chosen {
			if p.os != system.os {
				continue
			}
			processor := map[string]string{"amd64": "intel", "arm64": "arm"}[p.arch]
			name := r.archiveName(p)
			fmt.Fprintf(&f, "    on_%s do\n      url \"%s/%s\"\n      sha256 %q\n    end\n", processor, r.url, name, sums[name])
		}
		f.WriteString("  end\n")
	}
	f.WriteString(`
  def install
    bin.install "crosstalk"
    prefix.install "THIRD-PARTY-NOTICES.txt"
    doc.install Dir["docs/*"]
    generate_completions_from_executable(bin/"crosstalk", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/crosstalk --version")
    system bin/"crosstalk", "run", "leakage", "--items", "10", "--out", testpath/"run"
  end
end
`)
	return []byte(f.String())
}
