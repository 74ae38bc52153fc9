// Package page makes web pages about measurements: a style sheet, templates for untrusted answers, and a report in a
// single file.
//
// Pages have no script. Their Content-Security-Policy allows only the style sheet, by its hash: even an answer that
// escaped the escaping could not load, run or send anything.
package page

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"crosstalk"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/rescue"
	"crosstalk/internal/visible"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/report/plot"
	"crosstalk/run"
	"crosstalk/run/figures"
)

// Report is the page of a run.
type Report struct {
	Title     string
	Lead      string               // its subject in a sentence
	Summary   []Setting            // the most important settings
	Settings  []Setting            // all of them
	Figures   []crosstalk.Estimate // as in the run
	Estimates []crosstalk.Estimate // with people's names
	Plots     []plot.Plot
	NoPlots   error // the defect because of which it has no plots
	Answers   *Answers
	path      string // of the run
}

// Setting is a named value.
type Setting struct{ Name, Value string }

// Narrow is the greatest width in points of a plot next to another one.
const Narrow = 400

//go:embed templates
var files embed.FS

// Templates returns new templates for the parts of pages, to which others can be added. "card" renders a Card.
func Templates() *template.Template {
	return template.Must(template.New("").Funcs(funcs).ParseFS(files, "templates/*.html"))
}

var templates = sync.OnceValue(Templates)

var funcs = template.FuncMap{
	"visible": visible.Text,
	"line":    visible.Line,
	"svg":     svg,
	"joined":  func(parts []string) string { return strings.Join(parts, " · ") },
	"style":   func() template.CSS { return template.CSS(Style) },
	"policy":  func() string { return Policy },
	"version": func() string { return crosstalk.Version },
	"wide":    func(p plot.Plot) bool { return p.Width > Narrow },
	"columns": func(t report.Table, i int) bool { return i < t.Left },
}

// svg returns a plot for a page. It is our own markup, in which untrusted texts are escaped.
func svg(p plot.Plot) (template.HTML, error) {
	var b strings.Builder
	err := p.WriteSVG(&b)
	return template.HTML(b.String()), err
}

// Write writes the page.
func (r Report) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	data := struct {
		Report
		Result   Result
		All      []Setting
		Tables   []report.Table
		Sections []*Section
	}{Report: r, Result: NewResult(r.Estimates), All: append([]Setting{Signatures(r.Estimates)}, r.Settings...),
		Tables: report.Tables(report.WorstFirst(r.Estimates)), Sections: r.Answers.sections(r.Estimates)}
	if err := templates().ExecuteTemplate(out, "report.html", data); err != nil {
		return err
	}
	return out.Flush()
}

// WriteHistory writes a page about runs by date: the headings of the tables, the plots, and the tables.
func WriteHistory(w io.Writer, title string, tables []report.Table, plots []plot.Plot) error {
	return templates().ExecuteTemplate(w, "history.html", struct {
		Title  string
		Tables []report.Table
		Plots  []plot.Plot
	}{title, tables, plots})
}

// Files names where to write the page of a run, its plots and its tables.
type Files struct {
	HTML    string // a file, - for Output.Page, or none; empty: report.html in the run
	Figures string // a directory for plots and tables; empty: none
}

// Output is where Files.Write writes everything that does not go into a file.
type Output struct {
	Page     io.Writer
	Notes    io.Writer // lists the files written
	Warnings io.Writer // lists the files that could not be written
}

func (f Files) none() bool { return f.HTML == "none" && f.Figures == "" }

// Read is like Read, for these files. If there are none, it only reads figures, and observations for observe.
func (f Files) Read(path string, by []string, names report.Names,
	observe func(crosstalk.Observation)) (r Report, err error) {
	if !f.none() {
		return Read(path, by, names, observe)
	}
	r.Figures, err = figures.Set{By: by}.Of(path)
	if err != nil || observe == nil {
		return r, err
	}
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return r, err
		}
		observe(o)
	}
	return r, nil
}

// Write writes the page and the files of a report from Read. A defect in one of them does not affect the others.
// Failing to write the page into the run is only a warning.
func (f Files) Write(to Output, p Report) error {
	if f.none() {
		return nil
	}
	err := p.NoPlots
	if f.HTML != "none" {
		err = errors.Join(err, rescue.Do("the page", func() error { return f.writePage(to, p) }))
	}
	if f.Figures == "" {
		return err
	}
	return errors.Join(err, SaveFigures(to.Notes, f.Figures, p.Plots, func(w io.Writer, format string) error {
		return report.Write(w, format, p.Estimates)
	}))
}

func (f Files) writePage(to Output, p Report) error {
	file, save := f.HTML, atomicfile.Write
	switch f.HTML {
	case "-":
		return p.writeRun(to.Page)
	case "":
		file, save = filepath.Join(p.path, "report.html"), atomicfile.WritePrivate // like all files of the run
	}
	err := save(file, p.writeRun)
	switch {
	case f.HTML == "" && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)):
		fmt.Fprintf(to.Warnings, "The page was not written: %s is not writable; name another file with --html\n", p.path)
	case err != nil:
		return err
	default:
		fmt.Fprintf(to.Notes, "Page: %s\n", file)
	}
	return nil
}

// Read reads the report of a finished run in one pass over its observations: its figures, grouped by columns (nil:
// those of the measurement), its answers and plots with these names, and human judgements of them. observe, if not nil,
// sees each observation without the names. If a defect prevents plots, it is in NoPlots. With an error, the figures
// known so far are returned too.
func Read(path string, by []string, names report.Names, observe func(crosstalk.Observation)) (Report, error) {
	r := Report{path: path}
	written, err := run.ReadEstimates(path)
	if err != nil {
		return r, err
	}
	if by == nil {
		r.Figures = written
	}
	notes, err := labels.ReadNotes(path)
	if err != nil {
		return r, err
	}
	r.Answers = newAnswers(written, by)
	collector := plot.NewCollector(nil)
	all, err := figures.Of(path, func(yield func(crosstalk.Observation, error) bool) {
		for o, err := range run.ReadObservations(path) {
			if !yield(o, err) || err != nil {
				return
			}
			if observe != nil {
				observe(o)
			}
			var note labels.Note
			if len(notes) > 0 {
				note = notes.Of(o) // before the names replace values
			}
			o.Condition = names.By(o.Condition)
			r.Answers.Add(o, note)
			collector.Add(o)
		}
	}, figures.Set{By: by})
	if err != nil {
		return r, err
	}
	r.Figures, r.Estimates = all[0], names.Estimates(all[0])
	opinions, err := labels.Opinions(path)
	if err != nil {
		return r, err
	}
	for _, o := range opinions {
		collector.AddOpinion(o)
	}
	r.NoPlots = rescue.Do("the plots", func() error {
		r.Plots = collector.PlotsOf(report.WorstFirst(r.Estimates))
		return nil
	})
	return r, nil
}

// writeRun writes the page with the settings of the run and, if it has a journal, with prompts and thoughts.
func (r Report) writeRun(w io.Writer) error {
	manifest, err := run.ReadManifest(r.path)
	if err != nil {
		return err
	}
	text, err := run.ManifestText(r.path)
	if err != nil {
		return err
	}
	if r.Settings, err = Settings(text); err != nil {
		return err
	}
	about := NewAbout(manifest, r.Estimates)
	r.Title, r.Lead, r.Summary = about.Heading(), about.Sentence, about.Summary()
	j, err := run.OpenAnswers(r.path)
	switch {
	case err == nil:
		defer j.Close()
		r.Answers.Asked = j.Known
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return r.Write(w)
}

// SaveFigures writes to a directory each plot as SVG and PDF, their captions, and the tables that write writes, as
// CSV, markdown and LaTeX. If a defect prevents one, that is an error, but the others are written. A note lists
// the files.
func SaveFigures(notes io.Writer, dir string, plots []plot.Plot, write func(w io.Writer, format string) error) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var failed error
	save := func(name string, write func(io.Writer) error) {
		file := filepath.Join(dir, name)
		failed = errors.Join(failed, rescue.Do(file, func() error { return atomicfile.Write(file, write) }))
	}
	for _, p := range plots {
		save(p.Name+".svg", p.WriteSVG)
		save(p.Name+".pdf", p.WritePDF)
	}
	save("plots.md", func(w io.Writer) error { return plot.WriteMarkdown(w, plots) })
	save("plots.tex", func(w io.Writer) error { return plot.WriteLaTeX(w, plots) })
	for ending, format := range map[string]string{".csv": "csv", ".md": "markdown", ".tex": "latex"} {
		save("tables"+ending, func(w io.Writer) error { return write(w, format) })
	}
	if failed == nil {
		fmt.Fprintf(notes, "%d plots (.svg, .pdf), their captions (plots.md, plots.tex) and "+
			"tables (.csv, .md, .tex): %s\n", len(plots), dir)
	}
	return failed
}

// Settings lists all settings in a run's manifest, one per value, named by its path.
func Settings(manifest []byte) ([]Setting, error) {
	var v any
	d := json.NewDecoder(strings.NewReader(string(manifest)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var settings []Setting
	flatten(&settings, "", v)
	return settings, nil
}

func flatten(settings *[]Setting, name string, v any) {
	below := func(key string) string { return strings.TrimPrefix(name+" › "+key, " › ") }
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			flatten(settings, below(key), v[key])
		}
	case []any:
		var plain []string
		for i, item := range v {
			switch item.(type) {
			case map[string]any, []any:
				flatten(settings, below(fmt.Sprint(i+1)), item)
			default:
				plain = append(plain, fmt.Sprint(item))
			}
		}
		if plain != nil {
			*settings = append(*settings, Setting{name, strings.Join(plain, ", ")})
		}
	case nil:
	default:
		if text := fmt.Sprint(v); text != "" {
			*settings = append(*settings, Setting{name, text})
		}
	}
}

//go:embed style.css
var sheet string

// Style is the style sheet of all pages, including the colours of plots.
var Style = strings.NewReplacer("/*light*/", inks("--%[1]s:%[2]s;", plot.Light),
	"/*dark*/", inks("--%[1]s:%[2]s;", plot.Dark),
	"/*inks*/", inks(".fill-%[1]s{fill:var(--%[1]s)}.line-%[1]s{stroke:var(--%[1]s)}", nil)).Replace(sheet)

// Policy is the Content-Security-Policy for a page with Style in a style element.
var Policy = PolicyOf(Style)

// PolicyOf returns the Content-Security-Policy for a page with this style sheet in a style element.
func PolicyOf(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
}

// inks returns a declaration with the name and the colour of each ink.
func inks(declaration string, colours map[plot.Ink]string) string {
	var b strings.Builder
	for _, name := range []plot.Ink{"ink", "soft", "rule", "paper", "s0", "s1", "s2", "s3", "s4", "s5"} {
		fmt.Fprintf(&b, declaration, name, colours[name])
	}
	return b.String()
}
