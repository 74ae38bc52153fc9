package page

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/rescue"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/report/plot"
	"crosstalk/run"
)

// Read reads the report of a finished run with these figures: its observations,
// called by names, what people say of them, and their notes. The figures have the names already.
// If a defect leaves the report without plots, it says so in NoPlots.
func Read(path string, estimates []crosstalk.Estimate, names report.Names) (Report, error) {
	r := Report{Estimates: estimates, Answers: NewAnswers(estimates)}
	collector := plot.NewCollector(estimates)
	notes, err := labels.ReadNotes(path)
	if err != nil {
		return r, err
	}
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return r, err
		}
		var note labels.Note
		if len(notes) > 0 {
			note = notes.Of(o) // before it gets the names
		}
		o = names.Observation(o)
		r.Answers.Add(o, note)
		collector.Add(o)
	}
	if err := addLabels(path, collector); err != nil {
		return r, err
	}
	r.NoPlots = rescue.Do("the plots", func() error {
		r.Plots = collector.Plots()
		return nil
	})
	return r, nil
}

// addLabels adds what people say of the run to its plots.
func addLabels(path string, collector *plot.Collector) error {
	opinions, err := labels.Opinions(path)
	for _, opinion := range opinions {
		for _, said := range opinion.Said {
			collector.AddJudgement(said.Observation, said.Weight)
		}
		if len(opinion.Shares) > 0 {
			q := opinion.Question
			collector.AddLabels(plot.Labels{Measure: q.Measure, Title: q.Title, Fault: q.Fault,
				Judge: labels.JudgeColumn, Label: labels.LabelColumn, People: labels.People, Shares: opinion.Shares})
		}
	}
	return err
}

// writeRun writes the page of the run that the report is about, with its settings and
// with the prompts and thoughts in its journal, if it has one.
func (r Report) writeRun(w io.Writer, path string) error {
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return err
	}
	text, err := run.ManifestText(path)
	if err != nil {
		return err
	}
	if r.Settings, err = Settings(text); err != nil {
		return err
	}
	about := NewAbout(manifest, r.Estimates)
	r.Title, r.Lead, r.Summary = about.Heading(), about.Sentence, about.Summary()
	j, err := journal.OpenReader(filepath.Join(path, journal.Name))
	switch {
	case err == nil:
		defer j.Close()
		r.Answers.Prompt = func(key crosstalk.Key) (string, bool) {
			record, found, err := j.Record(key)
			return record.Request.Text(), found && err == nil
		}
		r.Answers.Reasoning = func(key crosstalk.Key) string {
			record, _, _ := j.Record(key) // the zero value if it cannot be read
			return record.Answer.Reasoning
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return r.Write(w)
}

// saveFigures writes each plot as SVG, PDF and PNG, their captions, and the tables as CSV, markdown and
// LaTeX, to a directory. What a defect leaves out is an error; the others are written.
func (r Report) saveFigures(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var failed error
	save := func(name string, write func(io.Writer) error) {
		file := filepath.Join(dir, name)
		failed = errors.Join(failed, rescue.Do(file, func() error { return atomicfile.Write(file, write) }))
	}
	for _, p := range r.Plots {
		save(p.Name+".svg", p.WriteSVG)
		save(p.Name+".pdf", p.WritePDF)
		save(p.Name+".png", p.WritePNG)
	}
	save("plots.md", func(w io.Writer) error { return plot.WriteMarkdown(w, r.Plots) })
	save("plots.tex", func(w io.Writer) error { return plot.WriteLaTeX(w, r.Plots) })
	for ending, format := range map[string]string{".csv": "csv", ".md": "markdown", ".tex": "latex"} {
		save("tables"+ending, func(w io.Writer) error { return report.Write(w, format, r.Estimates) })
	}
	return failed
}
