package web

import (
	"cmp"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"crosstalk/gate"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"
	"crosstalk/report/page"
	"crosstalk/report/plot"
	"crosstalk/run/watch"
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
	Nights []listRow   // runs that differ by their date only, the latest first; nil: it is one run
	Chart  plot.Plot   // of Nights
	Since  []string    // of Nights: what the last one found
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
	if search == "" {
		rows = s.histories(rows)
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

// mostListed is the maximum number of conditions and of measures of a run in the list.
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

// together makes one row of the shards of a run that are in one directory, in the place of the first of them, which
// changed last.
func (s *Server) together(rows []listRow) (list []listRow) {
	whole := func(r listRow) string {
		if r.Manifest.Plan.Shard.IsZero() {
			return "run " + r.ID
		}
		return "shards " + watch.Whole(r.path, r.Manifest)
	}
	for _, of := range ordered.Groups(rows, whole) {
		all, entry := of[0], *of[0].runEntry
		if entry.Manifest.Plan.Shard.IsZero() {
			list = append(list, of...)
			continue
		}
		slices.SortFunc(of, func(a, b listRow) int { return a.Manifest.Plan.Shard.Index - b.Manifest.Plan.Shard.Index })
		entry.Name, entry.Trouble = filepath.Dir(entry.Name), ""
		all.runEntry, all.Shards, all.State, all.Result, all.More = &entry, of, s.stateOf(of), page.Result{}, 0
		list = append(list, all)
	}
	return list
}

// fewestNights is the least number of runs that are one entry of the list.
const fewestNights = 5

// histories makes one entry of finished runs that differ by their date only, in the place of the first of them.
func (s *Server) histories(rows []listRow) (list []listRow) {
	key := func(r listRow) string {
		if r.Shards != nil || !r.finished || r.Trouble != "" {
			return r.Name
		}
		suite := r.Manifest.Plan.Suite
		if gate.Recorded(r.Manifest) {
			suite = "" // each file has its name
		}
		return strings.Join([]string{r.Title, r.Models, suite}, "\x00")
	}
	for _, nights := range ordered.Groups(rows, key) {
		if len(nights) < fewestNights {
			list = append(list, nights...)
			continue
		}
		paths := make([]string, len(nights))
		for i, n := range nights {
			paths[i] = n.path
		}
		h, err := gate.Histories(paths)
		if err != nil { // they differ by more
			list = append(list, nights...)
			continue
		}
		all := nights[0]
		all.Nights, all.Chart, all.Since = nights, h.Plots()[0], h.Last()
		list = append(list, all)
	}
	place := map[string]int{}
	for i, r := range rows {
		place[r.ID] = i
	}
	slices.SortStableFunc(list, func(a, b listRow) int { return place[a.ID] - place[b.ID] })
	return list
}

// stateOf is how far the shards of a run have come.
func (s *Server) stateOf(shards []listRow) string {
	finished := 0
	for _, r := range shards {
		if r.finished {
			finished++
		}
	}
	of := shards[0].Manifest.Plan.Shard
	state := fmt.Sprintf("%d of %d shards finished", finished, of.Count)
	if finished == of.Count {
		return state + "; merge them to see the figures of all"
	}
	runs, _ := watch.Read(filepath.Dir(shards[0].path), nil, time.Now())
	i := slices.IndexFunc(runs, func(r watch.Run) bool { return r.Shards == of.Count })
	if i < 0 {
		return state
	}
	return state + ", " + runs[i].Amounts()
}
