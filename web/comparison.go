package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"crosstalk/run"
)

// mostPairs is the most items of a comparison in a file.
const mostPairs = 200

// WriteComparison writes the page of /compare as one file: two runs, or one with several conditions, their figures, and
// the first 200 items that changed.
func WriteComparison(ctx context.Context, w io.Writer, before, after string) (err error) {
	cache, err := os.MkdirTemp("", "crosstalk-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	s := Server{runs: openRuns{cache: cache}}
	defer func() { err = errors.Join(err, s.Close()) }()
	names := []string{before, before}
	if before != after {
		names = run.Names([]string{before, after})
	}
	p := comparePage{A: side{Name: "a", Title: "before"}, B: side{Name: "b", Title: "after"}}
	p.frame = frame{Title: names[0] + " and " + names[1], Lead: "The same item side by side, before and after.",
		Static: true}
	for i, x := range []struct {
		*side
		path string
	}{{&p.A, before}, {&p.B, after}} {
		if _, err := run.ReadManifest(x.path); err != nil {
			return err
		}
		if _, err := run.ReadEstimates(x.path); err != nil {
			return fmt.Errorf("%s: %w", x.path, err)
		}
		if x.Run = s.listing.read(x.path, names[i]); x.Run == nil {
			return fmt.Errorf("%s: is not a run directory", x.path)
		}
		l, done := s.runs.open(x.Run)
		if l.index != nil {
			err = l.index.Wait(ctx)
		}
		done()
		if err != nil {
			return err
		}
	}
	query := "/compare?a=" + p.A.Run.ID + "&b=" + p.B.Run.ID
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, query, http.NoBody)
	if err != nil {
		return err
	}
	if err := s.pair(r, &p); err != nil {
		return err
	}
	switch {
	case p.Problem+p.Index != "":
		return errors.New(p.Problem + p.Index)
	case p.Figures == nil: // they take long
		figures, err := compareFigures(p.A, p.B)
		if err != nil {
			return err
		}
		p.Figures = &figures
	}
	return templates().ExecuteTemplate(w, "compare.html", &p)
}
