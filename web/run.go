package web

import (
	"encoding/json"
	"net/http"
	"slices"

	"crosstalk/report"
	"crosstalk/report/page"
)

// runPage is the content of a run's page.
type runPage struct {
	frame
	Run      *runEntry
	Progress progress
	Summary  []page.Setting
	Settings []page.Setting
	Result   page.Result
	Marked   string // how many answers have a note
	Plots    []plotSVG
	Tables   []report.Table
	Found    []choice
	Answers  string // their URL
	Trouble  string
}

// run writes a run's page.
func (s *Server) run(w http.ResponseWriter, r *http.Request, run *runEntry, l openRun) error {
	about := run.about()
	p := runPage{Run: run, Progress: progressOf(run, l), Trouble: run.Trouble,
		Answers: "/runs/" + run.ID + "/answers"}
	p.frame = run.frame(about.Heading(), "Result")
	p.Lead, p.Trail[1].To = about.Sentence, ""
	if p.Progress.Changing {
		p.Live, p.Reload = "/runs/"+run.ID+"/live.json", true
	}
	p.Summary = slices.Concat([]page.Setting{{Name: "run", Value: run.Name}}, about.Summary(),
		[]page.Setting{{Name: "state", Value: joined(p.Progress.State, p.Progress.Asks, p.Progress.Detail)}})
	if text, err := run.manifestText(); err == nil {
		all, _ := page.Settings(text) // it was read before
		p.Settings = append([]page.Setting{page.Signatures(run.Estimates)}, all...)
	}
	p.Result = page.NewResult(run.Estimates)
	p.Tables = report.Tables(report.WorstFirst(run.Estimates))
	if l.index != nil {
		if err := p.fill(r, l); err != nil {
			return err
		}
	}
	return show(w, http.StatusOK, "run.html", p)
}

// fill adds the plots and findings from the index.
func (p *runPage) fill(r *http.Request, l openRun) error {
	pages, err := l.index.Pages(r.Context())
	if err != nil {
		return err
	}
	if pages != nil {
		if err := json.Unmarshal(pages, &p.Plots); err != nil {
			return err
		}
	}
	columns, err := l.index.Columns(r.Context())
	if err != nil {
		return err
	}
	p.Found = newFilter(r.URL, columns).findings(p.Answers)
	p.Marked = l.notes.read(r.Context(), p.Run.path, l.index).String()
	return nil
}
