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
	"syscall"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/rescue"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/report/page"
	"crosstalk/report/plot"
	"crosstalk/run"
	"crosstalk/study"

	"github.com/spf13/cobra"
)

// draw writes the page and the files of plots, of figures that have these names.
func (r *reportFlags) draw(c *cobra.Command, path string, estimates []crosstalk.Estimate, names report.Names) error {
	if r.html == "none" && r.figures == "" {
		return nil
	}
	answers, collector := page.NewAnswers(estimates), plot.NewCollector(estimates)
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return err
		}
		o = names.Observation(o)
		answers.Add(o)
		collector.Add(o)
	}
	if err := addLabels(path, collector); err != nil {
		return err
	}
	// A defect in one of them leaves the others.
	var plots []plot.Plot
	err := rescue.Do("the plots", func() error {
		plots = collector.Plots()
		return nil
	})
	if r.html != "none" {
		err = errors.Join(err, rescue.Do("the page", func() error {
			return r.writePage(c, path, page.Report{Estimates: estimates, Plots: plots, Answers: answers})
		}))
	}
	if r.figures == "" {
		return err
	}
	return errors.Join(err, r.writeFigures(c, estimates, plots))
}

// addLabels adds what people say of the run to its plots.
func addLabels(path string, collector *plot.Collector) error {
	given, err := labels.Read(path)
	if err != nil || len(given) == 0 {
		return err
	}
	design, err := labels.ReadDesign(path)
	if err != nil {
		return err
	}
	first, err := labels.Open(path)
	if err != nil {
		return err
	}
	for _, q := range labels.QuestionsOf(first.Question.Instrument) {
		if q.Several || !slices.ContainsFunc(given, func(l labels.Label) bool { return l.Question == q.Name }) {
			continue
		}
		sheet, err := labels.OpenQuestion(path, q.Name)
		if err != nil {
			return err
		}
		for _, said := range sheet.Said(design, given) {
			collector.AddJudgement(said.Observation, said.Weight)
		}
		if shares := sheet.Shares(design, given); len(shares) > 0 {
			collector.AddLabels(plot.Labels{Measure: q.Measure, Title: q.Title, Fault: q.Fault, Judge: labels.JudgeColumn, Label: labels.LabelColumn,
				People: labels.People, Shares: shares})
		}
	}
	return nil
}

func (r *reportFlags) writePage(c *cobra.Command, path string, p page.Report) error {
	manifest, err := study.ReadManifest(path)
	if err != nil {
		return err
	}
	text, err := run.ManifestText(path)
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
		p.Answers.Reasoning = func(key crosstalk.Key) string {
			record, _, _ := j.Record(key) // the zero value if it cannot be read
			return record.Answer.Reasoning
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if r.html == "-" {
		return p.Write(c.OutOrStdout())
	}
	file := cmp.Or(r.html, filepath.Join(path, "report.html"))
	write := atomicfile.Write
	if r.html == "" {
		write = atomicfile.WritePrivate // as all files of the run are
	}
	err = write(file, p.Write)
	if r.html == "" && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)) {
		fmt.Fprintf(c.ErrOrStderr(), "The page was not written: %s is not writable; name another file with --html\n", path)
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
	var failed error
	save := func(name string, write func(io.Writer) error) {
		file := filepath.Join(r.figures, name)
		failed = errors.Join(failed, rescue.Do(file, func() error { return atomicfile.Write(file, write) }))
	}
	for _, p := range plots {
		save(p.Name+".svg", p.WriteSVG)
		save(p.Name+".pdf", p.WritePDF)
		save(p.Name+".png", p.WritePNG)
	}
	for ending, format := range map[string]string{".csv": "csv", ".md": "markdown", ".tex": "latex"} {
		save("tables"+ending, func(w io.Writer) error { return report.Write(w, format, estimates) })
	}
	if failed != nil {
		return failed
	}
	if !r.quiet {
		fmt.Fprintf(c.ErrOrStderr(), "%d plots (.svg, .pdf, .png) and tables (.csv, .md, .tex): %s\n", len(plots), r.figures)
	}
	return nil
}
