// Package page makes web pages of measurements: a style sheet, templates for
// untrusted answers, and a report in a single file.
//
// Pages have no script. Their Content-Security-Policy allows only the style
// sheet, by its hash: even an answer that got past the escaping could not load,
// run or send anything.
package page

import (
	"bufio"
	"embed"
	"html/template"
	"io"
	"strings"
	"sync"

	"crosstalk"
	"crosstalk/internal/visible"
	"crosstalk/report"
	"crosstalk/report/plot"
)

// Report is the page of a run.
type Report struct {
	Title     string
	Lead      string    // its subject, in a sentence
	Summary   []Setting // the most important settings
	Settings  []Setting // all of them
	Estimates []crosstalk.Estimate
	Plots     []plot.Plot
	NoPlots   error // the defect that left it without plots
	Answers   *Answers
}

// Setting is a named value.
type Setting struct{ Name, Value string }

// Narrow is the greatest width of a plot next to another one, in points.
const Narrow = 400

//go:embed templates
var files embed.FS

// Templates returns new templates of the parts of pages, to which others can be added.
// "card" renders a Card.
func Templates() *template.Template {
	return template.Must(template.New("").Funcs(funcs).ParseFS(files, "templates/*.html"))
}

var templates = sync.OnceValue(Templates)

var funcs = template.FuncMap{
	"visible": visible.Text,
	"line":    visible.Line,
	"svg":     svg,
	"joined":  func(parts []string) string { return strings.Join(parts, " · ") },
	"style":   func() template.CSS { return template.CSS(style) },
	"policy":  func() string { return Policy },
	"version": func() string { return crosstalk.Version },
	"wide":    func(p plot.Plot) bool { return p.Width > Narrow },
	"columns": func(t report.Table, i int) bool { return i < t.Left },
}

// svg is a plot inside a page. It is our own markup, in which untrusted texts are
// escaped.
func svg(p plot.Plot) (template.HTML, error) {
	var b strings.Builder
	err := p.WriteSVG(&b)
	return template.HTML(b.String()), err
}

// Write writes the page.
func (r Report) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	if err := templates().ExecuteTemplate(out, "report.html", r.shown()); err != nil {
		return err
	}
	return out.Flush()
}

// shown is the data of the template.
func (r Report) shown() any {
	return struct {
		Report
		Result   Result
		All      []Setting
		Tables   []report.Table
		Sections []*Section
	}{Report: r, Result: NewResult(r.Estimates), All: append([]Setting{Signatures(r.Estimates)}, r.Settings...),
		Tables: report.Tables(r.Estimates), Sections: r.Answers.sections(r.Estimates)}
}
