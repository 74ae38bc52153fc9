package web

import (
	"encoding/json"
	"html/template"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk/report"
	"crosstalk/report/page"
)

// runPage is what a run's page shows.
type runPage struct {
	frame
	Run       *listed
	Progress  progress
	Summary   []page.Setting
	Settings  []page.Setting
	Headlines []page.Headline
	More      int
	Figures   []shown
	Tables    []table
	Found     []choice
	Answers   string // where they are
	Trouble   string
}

// shown is a figure in a page.
type shown struct {
	drawn
	SVG template.HTML // our own markup; what others wrote in it is escaped where it is written
}

// run shows a run.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	run, err := s.listing.run(r.PathValue("run"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	l, done := s.runs.open(run)
	defer done()
	title, models := titleOf(run)
	p := runPage{Run: run, Progress: progressOf(run, l, true), Answers: "/runs/" + run.ID + "/answers", Trouble: run.Trouble}
	p.frame = frame{Title: heading(title, run, models), Trail: []link{{"Runs", "/"}}}
	if p.Progress.Changing {
		p.Live = "/runs/" + run.ID + "/live.json"
	}
	p.Summary = append(summary(run, models), page.Setting{Name: "state", Value: joined(p.Progress.State, p.Progress.Asks, p.Progress.Detail)})
	if text, err := os.ReadFile(filepath.Join(run.path, "manifest.json")); err == nil {
		p.Settings, _ = page.Settings(text) // it was read before
	}
	p.Headlines, p.More = page.Headlines(run.Estimates)
	p.Tables = tables(report.Tables(run.Estimates), r.URL)
	if l.index != nil {
		if err := p.fill(r, l); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	s.show(w, r, "run.html", p)
}

// fill adds what is in the index.
func (p *runPage) fill(r *http.Request, l look) error {
	pages, err := l.index.Pages(r.Context())
	if err != nil {
		return err
	}
	if pages != nil {
		var list []drawn
		if err := json.Unmarshal(pages, &list); err != nil {
			return err
		}
		for _, d := range list {
			p.Figures = append(p.Figures, shown{d, template.HTML(d.SVG)})
		}
	}
	columns, err := l.index.Columns(r.Context())
	if err != nil {
		return err
	}
	p.Found = newFilter(r.URL, columns).found(p.Answers)
	return nil
}

// heading is a page's title: what was measured, and of whom.
func heading(title string, run *listed, models string) string {
	switch n := strings.Count(models, ", ") + 1; {
	case models == "":
		return title
	case n > 2:
		return title + " of " + count(n) + " models"
	default:
		return title + " of " + strings.Replace(models, ", ", " and ", 1)
	}
}

// summary are the few settings that tell a run from others.
func summary(run *listed, models string) (list []page.Setting) {
	add := func(name string, values ...string) {
		if text := strings.Join(slices.Compact(values), "\n"); text != "" {
			list = append(list, page.Setting{Name: name, Value: text})
		}
	}
	m := run.Manifest
	add("run", run.Name)
	add("suite", m.Plan.Suite)
	add("models", models)
	var protocols, similarities, by []string
	for _, sc := range m.Scoring {
		protocols, similarities, by = append(protocols, sc.Protocol), append(similarities, sc.Similarities...), sc.By
	}
	slices.Sort(similarities)
	add("protocol", protocols...)
	add("similarity", similarities...)
	add("grouped by", strings.Join(by, ", "))
	add("crosstalk", m.Crosstalk)
	return list
}
