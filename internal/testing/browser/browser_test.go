package browser

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const page = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A page</title><meta name="viewport" content="width=device-width">
<style>body { background: white; color: black } a:focus { outline: 2px solid }</style></head>
<body><header><h1>A page</h1></header><main><p><a href="#x">a link</a></p><h2 id="x">More</h2><table><tr><th scope="col">a</th></tr></table></main><footer>end</footer></body></html>`

// The checks are quiet about a good page and say what is wrong with others.
func TestChecks(t *testing.T) {
	b := Start(t)
	for name, c := range map[string]struct {
		old, new string
		want     string // a part of what is said
	}{
		"good":         {},
		"no language":  {` lang="en"`, "", "html has no lang"},
		"no title":     {"A page</title>", "</title>", "no title"},
		"wide":         {"a link", `a link</a></p><p><a href="#x">` + strings.Repeat("wide", 1000), "scrolls sideways"},
		"pale":         {"color: black", "color: #aaa", "contrast 2.32"},
		"two mains":    {"</main>", "</main><main></main>", "2 of main"},
		"no header":    {"<header>", "<div>", "0 of body > header"},
		"levels":       {"<h2", "<h4", "h1 is followed by"},
		"twice":        {"<p>", `<p id="x">`, "id twice: x"},
		"nowhere":      {`href="#x"`, `href="#y"`, "leads nowhere"},
		"script":       {"<main>", `<main><script>1</script>`, "inline script or style"},
		"handler":      {"<main>", `<main onclick="1">`, "inline script or style"},
		"nameless":     {"a link", "", "link (node"},
		"headers":      {` scope="col"`, "", "a table without column headers"},
		"picture":      {"<main>", `<main><svg role="img"></svg>`, "a picture without words"},
		"error":        {"</body>", `<script>throw new Error("x")</script></body>`, "Uncaught"},
		"no label":     {"<main>", `<main><input title="x">`, "without a label"},
		"navs alike":   {"<main>", `<main><nav aria-label="a"></nav><nav aria-label="a"></nav>`, "landmarks of one name"},
		"list":         {"<main>", `<main><ul><div>x</div></ul>`, "no item of it"},
		"request":      {"</body>", `<link rel="stylesheet" href="missing.css"></body>`, "missing.css"},
		"scroll":       {"<table>", `<div style="overflow:auto;width:50px">` + strings.Repeat("wide", 100) + `</div><table>`, "scrolls, but not by keyboard"},
		"no outline":   {"outline: 2px solid", "outline: none", "a link"},
		"out of reach": {"<main>", `<main><a href="#x" tabindex="-1">hidden</a>`, "hidden"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.html")
			if err := os.WriteFile(file, []byte(strings.Replace(page, c.old, c.new, 1)), 0o666); err != nil {
				t.Fatal(err)
			}
			p := b.Open(t, "file://"+filepath.ToSlash(file), Looks[1])
			var said []string
			for _, list := range p.faults() {
				said = append(said, list...)
			}
			said = append(said, p.unreached()...)
			found := slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, c.want) })
			if c.want == "" && len(said) > 0 || c.want != "" && !found {
				t.Errorf("%q; want %q", said, c.want)
			}
		})
	}
}
