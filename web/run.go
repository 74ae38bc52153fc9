package web

import (
	"encoding/json"
	"html/template"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	"crosstalk/internal/plainfile"
	"crosstalk/report"
	"crosstalk/report/page"
)

// runPage is the content of a run's page.
type runPage struct {
	frame
	Run       *runEntry
	Progress  progress
	Summary   []page.Setting
	Settings  []page.Setting
	Result    page.Result
	Marked    string // how many answers have a note
	HasReport bool
	Plots     []plotView
	Tables    []table
	Found     []choice
	Answers   string // their URL
	Trouble   string
}

// plotView is a plot on a page.
type plotView struct {
	plotSVG
	SVG template.HTML // our own markup, in which untrusted texts are escaped
}

// run writes a run's page.
func (s *Server) run(w http.ResponseWriter, r *http.Request, run *runEntry, l openRun) error {
	about := run.about()
	p := runPage{Run: run, Progress: progressOf(run, l, true), Trouble: run.Trouble,
		Answers: "/runs/" + run.ID + "/answers"}
	p.frame = run.frame(about.Heading(), "Result")
	p.Lead, p.Trail[1].To = about.Sentence, ""
	if p.Progress.Changing {
		p.Live, p.Reload = "/runs/"+run.ID+"/live.json", true
	}
	p.HasReport = run.hasReport()
	p.Summary = slices.Concat([]page.Setting{{Name: "run", Value: run.Name}}, about.Summary(),
		[]page.Setting{{Name: "state", Value: joined(p.Progress.State, p.Progress.Asks, p.Progress.Detail)}})
	if text, err := run.manifestText(); err == nil {
		all, _ := page.Settings(text) // it was read before
		p.Settings = append([]page.Setting{page.Signatures(run.Estimates)}, all...)
	}
	p.Result = page.NewResult(run.Estimates)
	p.Tables = tables(report.Tables(run.Estimates), r.URL)
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
		var list []plotSVG
		if err := json.Unmarshal(pages, &list); err != nil {
			return err
		}
		for _, d := range list {
			p.Plots = append(p.Plots, plotView{d, template.HTML(d.SVG)})
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

// reportFile is the name of a run's page that is a single file.
const reportFile = "report.html"

// hasReport reports whether the run has a page that is as new as its figures.
func (r *runEntry) hasReport() bool {
	page := stampOf(filepath.Join(r.path, reportFile))
	return page != (fileStamp{}) && !page.time.Before(r.stamp[1].time)
}

// report sends the run's page that 'crosstalk report' wrote. It may come from
// somebody else with the run: its policy keeps it from running or loading anything.
func (s *Server) report(w http.ResponseWriter, r *http.Request) error {
	run, err := s.listing.run(r.PathValue("run"))
	if err != nil {
		return err
	}
	f, err := plainfile.Open(filepath.Join(run.path, reportFile))
	if err != nil {
		return err
	}
	defer f.Close()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "+
		"form-action 'none'; frame-ancestors 'none'; sandbox")
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}
