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
	Title     string
	Models    string
	State     string
	Headlines []page.Headline
}

// listColumns are the columns that the list can be ordered by.
var listColumns = []struct {
	Name  string
	Title string
	less  func(a, b listRow) int
}{
	{"changed", "Changed", func(a, b listRow) int { return b.Changed.Compare(a.Changed) }},
	{"run", "Run", func(a, b listRow) int { return strings.Compare(a.Name, b.Name) }},
	{"measured", "Measured", func(a, b listRow) int {
		return cmp.Or(strings.Compare(a.Title, b.Title), strings.Compare(a.Manifest.Plan.Suite, b.Manifest.Plan.Suite))
	}},
	{"models", "Models", func(a, b listRow) int { return strings.Compare(a.Models, b.Models) }},
	{"state", "State", func(a, b listRow) int { return strings.Compare(a.State, b.State) }},
}

// list writes the list of runs.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	runs, err := s.listing.all()
	if err != nil {
		s.fail(w, r, err)
		return
	}
	rows := make([]listRow, len(runs))
	for i, run := range runs {
		rows[i] = rowOf(run)
	}
	search := strings.TrimSpace(visible.Line(r.URL.Query().Get("q")))
	if search != "" {
		rows = slices.DeleteFunc(rows, func(r listRow) bool {
			return !strings.Contains(strings.ToLower(r.Name+"\n"+r.Title+"\n"+r.Models+"\n"+r.Manifest.Plan.Suite), strings.ToLower(search))
		})
	}
	order := orderOf(r.URL.Query().Get("sort"))
	data := struct {
		frame
		Dir     string
		All     int
		Search  string
		Columns []sortable
		Rows    []listRow
		More    int
	}{frame: frame{Title: "Runs"}, Dir: s.listing.dir, All: len(runs), Search: search}
	for _, c := range listColumns {
		if c.Name == order.column {
			slices.SortStableFunc(rows, func(a, b listRow) int { return order.turn(c.less(a, b)) })
		}
		h := order.header(c.Name, c.Title, r.URL, "sort", "")
		h.Words = true
		data.Columns = append(data.Columns, h)
	}
	if data.Rows = rows; len(rows) > mostRows {
		data.Rows, data.More = rows[:mostRows], len(rows)-mostRows
	}
	s.show(w, r, "list.html", data)
}

// mostRows is the maximum number of runs on the page; the search finds others.
const mostRows = 300

func rowOf(run *runEntry) listRow {
	r := listRow{runEntry: run, State: "not finished"}
	about := run.about()
	r.Title, r.Models = about.Title, strings.Join(about.Models, ", ")
	if run.finished {
		r.State = "finished"
	}
	r.Headlines, _ = page.Headlines(run.Estimates)
	r.Headlines = r.Headlines[:min(len(r.Headlines), 3)]
	return r
}

// about describes what the run measured and the models.
func (r *runEntry) about() page.About { return page.NewAbout(r.Manifest, r.Estimates) }
