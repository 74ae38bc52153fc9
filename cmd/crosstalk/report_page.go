package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/atomicfile"
	"crosstalk/report"
	"crosstalk/report/page"
	"crosstalk/report/plot"
	"crosstalk/run"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// draw writes the page and the files of figures.
func (r *reportFlags) draw(c *cobra.Command, path string, estimates []crosstalk.Estimate) error {
	if r.html == "none" && r.figures == "" {
		return nil
	}
	answers, figures := page.NewAnswers(estimates), plot.NewBook(estimates)
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return err
		}
		answers.Add(o)
		figures.Add(o)
	}
	drawn := figures.Figures()
	if r.html != "none" {
		if err := r.writePage(c, path, page.Report{Estimates: estimates, Figures: drawn, Answers: answers}); err != nil {
			return err
		}
	}
	if r.figures == "" {
		return nil
	}
	return r.writeFigures(c, estimates, drawn)
}

func (r *reportFlags) writePage(c *cobra.Command, path string, p page.Report) error {
	manifest, err := study.ReadManifest(path)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(path, "manifest.json"))
	if err != nil {
		return err
	}
	if p.Settings, err = page.Settings(text); err != nil {
		return err
	}
	p.Title, p.Summary = summaryOf(manifest, p.Estimates)
	j, err := journal.OpenReader(filepath.Join(path, "answers.db"))
	switch {
	case err == nil:
		defer j.Close()
		p.Answers.Prompt = func(key crosstalk.Key) (string, bool) {
			record, found, err := j.Record(key)
			return record.Request.Text(), found && err == nil
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if r.html == "-" {
		return p.Write(c.OutOrStdout())
	}
	file := cmp.Or(r.html, filepath.Join(path, "report.html"))
	err = atomicfile.Write(file, p.Write)
	if r.html == "" && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		fmt.Fprintf(c.ErrOrStderr(), "There is no page: %s cannot be written: name another file with --html\n", path)
		return nil
	}
	if err != nil {
		return err
	}
	if !r.quiet {
		fmt.Fprintf(c.ErrOrStderr(), "Page: %s\n", file)
	}
	return nil
}

// titles are what instruments measure.
var titles = map[string]string{"leakage": "Semantic leakage", "confusion": "Language confusion", "consistency": "Multisense consistency"}

// summaryOf is the page's title and what tells the run from others.
func summaryOf(m run.Manifest, estimates []crosstalk.Estimate) (title string, summary []page.Setting) {
	var models, signatures []string
	for _, e := range estimates {
		if model := e.By["model"]; model != "" && !slices.Contains(models, model) {
			models = append(models, model)
		}
		if !slices.Contains(signatures, e.Signature) {
			signatures = append(signatures, e.Signature)
		}
	}
	title = cmp.Or(titles[m.Plan.Instrument], m.Plan.Instrument)
	switch n := len(models); {
	case n > 2:
		title += fmt.Sprintf(" of %d models", n)
	case n > 0:
		title += " of " + strings.Join(models, " and ")
	}
	add := func(name string, values ...string) {
		if text := strings.Join(values, "\n"); text != "" {
			summary = append(summary, page.Setting{Name: name, Value: text})
		}
	}
	add("suite", m.Plan.Suite)
	add("models", models...)
	for _, s := range m.Scoring {
		add("protocol", s.Protocol)
		add("similarities", s.Similarities...)
		add("grouped by", strings.Join(s.By, ", "))
	}
	add("crosstalk", m.Crosstalk)
	add("signatures", signatures...)
	return title, summary
}

// writeFigures writes each figure in three formats, and the tables.
func (r *reportFlags) writeFigures(c *cobra.Command, estimates []crosstalk.Estimate, figures []plot.Figure) error {
	if err := os.MkdirAll(r.figures, 0o777); err != nil {
		return fmt.Errorf("--figures: %w", err)
	}
	for _, f := range figures {
		for ending, write := range map[string]func(io.Writer) error{".svg": f.WriteSVG, ".pdf": f.WritePDF, ".png": f.WritePNG} {
			if err := atomicfile.Write(filepath.Join(r.figures, f.Name+ending), write); err != nil {
				return err
			}
		}
	}
	for ending, format := range map[string]string{".csv": "csv", ".md": "markdown", ".tex": "latex"} {
		write := func(w io.Writer) error { return report.Write(w, format, estimates) }
		if err := atomicfile.Write(filepath.Join(r.figures, "tables"+ending), write); err != nil {
			return err
		}
	}
	if !r.quiet {
		fmt.Fprintf(c.ErrOrStderr(), "%d figures (.svg, .pdf, .png) and tables (.csv, .md, .tex): %s\n", len(figures), r.figures)
	}
	return nil
}
