package main

import (
	"fmt"
	"slices"
	"strings"
)

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
