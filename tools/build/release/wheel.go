package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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
