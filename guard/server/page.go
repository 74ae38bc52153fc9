package server

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"sync"

	"crosstalk"
	"crosstalk/guard"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle []byte

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

// pageRow is a row of counts for a language, a route or a model.
type pageRow struct {
	Name                string
	Right, Wrong, Other int
}

// Share is the share of wrong answers among those that could be told, "-" if there are none.
func (r pageRow) Share() string {
	if r.Right+r.Wrong == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(r.Wrong)/float64(r.Right+r.Wrong))
}

// page shows counts and the last verdicts, without texts.
func (s *server) page(w http.ResponseWriter, _ *http.Request) {
	growing := s.calls.settle(quiet)
	tables := map[string][]pageRow{}
	var all pageRow
	passed := 0
	s.count(func() {
		for title, of := range map[string]func(verdictOf) string{
			"Language": func(v verdictOf) string { return v.language }, "Route": func(v verdictOf) string { return v.route },
			"Model": func(v verdictOf) string { return v.model }} {
			rows := map[string]pageRow{}
			for v, n := range s.verdicts {
				row := rows[of(v)]
				row.Name = of(v)
				row.add(v.verdict, n)
				rows[of(v)] = row
			}
			tables[title] = slices.SortedFunc(maps.Values(rows), func(a, b pageRow) int {
				return cmp.Or(b.Wrong-a.Wrong, b.Right+b.Other-a.Right-a.Other, cmp.Compare(a.Name, b.Name))
			})
		}
		for v, n := range s.verdicts {
			all.add(v.verdict, n)
		}
		for _, n := range s.passed {
			passed += n
		}
	})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	pageTemplate().Execute(w, map[string]any{"Version": crosstalk.Version, "Block": s.Block, "All": all,
		"Tables": tables, "Growing": growing, "Passed": passed, "Recent": s.log.last()})
}

func (r *pageRow) add(v guard.Verdict, n int) {
	switch v {
	case guard.Right:
		r.Right += n
	case guard.Wrong:
		r.Wrong += n
	default:
		r.Other += n
	}
}
