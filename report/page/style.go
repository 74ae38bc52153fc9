package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"

	"crosstalk/report/plot"
)

//go:embed style.css
var sheet string

// style is the style sheet, including the colours of plots.
var style = strings.NewReplacer(
	"/*light*/", inks(plot.Light), "/*dark*/", inks(plot.Dark), "/*inks*/", classes()).Replace(sheet)

// Style is the style sheet of all pages.
func Style() string { return style }

// Policy is the Content-Security-Policy of a page with Style in a style element.
var Policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
}()

var inkNames = []plot.Ink{"ink", "soft", "rule", "paper", "s0", "s1", "s2", "s3", "s4", "s5"}

// inks declares the colours.
func inks(colours map[plot.Ink]string) string {
	var b strings.Builder
	for _, name := range inkNames {
		fmt.Fprintf(&b, "--%s:%s;", name, colours[name])
	}
	return b.String()
}

// classes gives plots the colours of the page.
func classes() string {
	var b strings.Builder
	for _, name := range inkNames {
		fmt.Fprintf(&b, ".fill-%s{fill:var(--%s)}.line-%s{stroke:var(--%s)}", name, name, name, name)
	}
	return b.String()
}
