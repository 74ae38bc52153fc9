package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// draw writes the page and the files of plots.
func (r *reportFlags) draw(c *cobra.Command, path string, estimates []crosstalk.Estimate) error {
	if r.html == "none" && r.figures == "" {
		return nil
	}
	answers, collector := page.NewAnswers(estimates), plot.NewCollector(estimates)
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return err
		}
		answers.Add(o)
		collector.Add(o)
	}
	plots := collector.Plots()
	if r.html != "none" {
		if err := r.writePage(c, path, page.Report{Estimates: estimates, Plots: plots, Answers: answers}); err != nil {
			return err
		}
	}
	if r.figures == "" {
		return nil
	}
	return r.writeFigures(c, estimates, plots)
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
	about := page.NewAbout(manifest, p.Estimates)
	p.Title, p.Lead, p.Summary = about.Heading(), about.Sentence, about.Summary()
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

// writeFigures writes each plot in three formats, and the tables.
func (r *reportFlags) writeFigures(c *cobra.Command, estimates []crosstalk.Estimate, plots []plot.Plot) error {
	if err := os.MkdirAll(r.figures, 0o777); err != nil {
		return fmt.Errorf("--figures: %w", err)
	}
	for _, p := range plots {
		for ending, write := range map[string]func(io.Writer) error{".svg": p.WriteSVG, ".pdf": p.WritePDF, ".png": p.WritePNG} {
			if err := atomicfile.Write(filepath.Join(r.figures, p.Name+ending), write); err != nil {
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
		fmt.Fprintf(c.ErrOrStderr(), "%d figures (.svg, .pdf, .png) and tables (.csv, .md, .tex): %s\n", len(plots), r.figures)
	}
	return nil
}
