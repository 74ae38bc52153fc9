package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"crosstalk/internal/visible"
	"crosstalk/report/page"
)

// listRow is a run in the list.
type listRow struct {
	*runEntry
	Title  string
	Models string
	State  string
	Result page.Result // its first figures
	More   int         // conditions that are not shown
	Shards []listRow   // nil: it is one run
}

// listOrders are the orders of the list.
var listOrders = []struct {
	Name  string
	Title string
	less  func(a, b listRow) int
}{
	{"changed", "last changed", func(a, b listRow) int { return b.Changed.Compare(a.Changed) }},
	{"run", "name", func(a, b listRow) int { return strings.Compare(a.Name, b.Name) }},
	{"measured", "instrument and suite", func(a, b listRow) int {
		return cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.Manifest.Plan.Suite, b.Manifest.Plan.Suite))
	}},
	{"models", "models", func(a, b listRow) int { return strings.Compare(a.Models, b.Models) }},
	{"state", "state", func(a, b listRow) int { return strings.Compare(a.State, b.State) }},
}

// list writes the list of runs.
func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	runs, err := s.listing.all()
	if err != nil {
		return err
	}
	rows := make([]listRow, len(runs))
	for i, run := range runs {
		rows[i] = rowOf(run)
	}
	rows = s.together(rows)
	search := strings.TrimSpace(visible.Line(r.URL.Query().Get("q")))
	rows = slices.DeleteFunc(rows, func(r listRow) bool {
		text := r.Name + "\n" + r.Title + "\n" + r.Models + "\n" + r.Manifest.Plan.Suite
		return !strings.Contains(strings.ToLower(text), strings.ToLower(search))
	})
	data := struct {
		frame
		Dir    string
		All    int
		Search string
		Orders []option
		Rows   []listRow
		More   int
	}{frame: frame{Title: "Runs"}, Dir: s.listing.dir, All: len(runs), Search: search}
	for _, o := range listOrders {
		chosen := o.Name == cmp.Or(r.URL.Query().Get("sort"), listOrders[0].Name)
		if chosen {
			slices.SortStableFunc(rows, o.less)
		}
		data.Orders = append(data.Orders, option{o.Name, o.Title, chosen})
	}
	if data.Rows = rows; len(rows) > mostRows {
		data.Rows, data.More = rows[:mostRows], len(rows)-mostRows
	}
	return show(w, http.StatusOK, "list.html", data)
}

// option is a choice of a form.
type option struct {
	Value, Title string
	Chosen       bool
}

// mostRows is the maximum number of runs on the page; the search finds others.
const mostRows = 300

// mostListed is the maximum number of conditions and of measures of a run in the
// list.
const mostListed = 3

func rowOf(run *runEntry) listRow {
	r := listRow{runEntry: run, State: "not finished"}
	about := run.about()
	r.Title, r.Models = about.Title, strings.Join(about.Models, ", ")
	if run.finished {
		r.State = "finished"
	}
	r.Result = page.NewResult(run.Estimates)
	if n := len(r.Result.Parts) - mostListed; n > 0 {
		r.Result.Parts, r.More = r.Result.Parts[:mostListed], n
	}
	r.Result.Measures = r.Result.Measures[:min(len(r.Result.Measures), mostListed)]
	for i, part := range r.Result.Parts {
		r.Result.Parts[i].Figures = part.Figures[:min(len(part.Figures), mostListed)]
	}
	return r
}

// about describes what the run measured and the models.
func (r *runEntry) about() page.About { return page.NewAbout(r.Manifest, r.Estimates) }
