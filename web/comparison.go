package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/instrument"
	"crosstalk/internal/rescue"
	"crosstalk/internal/visible"
	"crosstalk/report"
	"crosstalk/report/page"
	"crosstalk/run"
	"crosstalk/study"
)

// WriteComparison writes the page /compare as one file: two runs, or one with several conditions, with their figures
// and the first 200 items that changed.
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
		if x.Run, err = s.listing.read(x.path, names[i]); err != nil {
			return err
		}
		if _, err := run.ReadEstimates(x.path); err != nil {
			return fmt.Errorf("%s: %w", x.path, err)
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
	case p.Figures == nil: // they take a long time
		figures, err := compareFigures(p.A, p.B)
		if err != nil {
			return err
		}
		p.Figures = &figures
	}
	return templates().ExecuteTemplate(w, "compare.html", &p)
}

// figureTable contains the differences between the figures of two sides.
type figureTable struct {
	Rows    []figureRow
	Notes   []string
	Problem string // why there are none
}

type figureRow struct {
	page.Meaning
	Of            string // the group
	Before, After string
	Difference    string // with sign; "~" if no difference is shown
	Interval      string
	P, N          string
	Verdict       string // "better", "worse", "no difference shown"
	Better, Worse bool
}

type comparisons struct {
	mu   sync.Mutex
	kept map[string]*comparison
}

type comparison struct {
	context.Context // ends when the table is complete
	table           figureTable
}

// computing limits the number of concurrent computations.
var computing = make(chan struct{}, 2)

// of returns the differences between two sides, nil if they need more time.
func (c *comparisons) of(ctx context.Context, a, b side) *figureTable {
	k := c.start(a, b)
	if k == nil {
		return &figureTable{Problem: "Too many comparisons at once. Refresh in a while."}
	}
	select {
	case <-k.Done():
		return &k.table
	case <-time.After(shortly):
	case <-ctx.Done():
	}
	return nil
}

// start returns the comparison of two sides and starts it if it is new; nil if too many are being computed.
func (c *comparisons) start(a, b side) *comparison {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := fmt.Sprint(a.Run.ID, a.Run.stamp, a.at, b.Run.ID, b.Run.stamp, b.at)
	if k := c.kept[key]; k != nil {
		return k
	}
	if len(c.kept) == mostKept {
		maps.DeleteFunc(c.kept, func(_ string, k *comparison) bool { return k.Err() != nil })
	}
	if len(c.kept) == mostKept {
		return nil
	}
	if c.kept == nil {
		c.kept = map[string]*comparison{}
	}
	ctx, done := context.WithCancel(context.Background())
	k := &comparison{Context: ctx}
	c.kept[key] = k
	go func() {
		defer done()
		computing <- struct{}{}
		defer func() { <-computing }()
		err := rescue.Do("the comparison", func() (err error) { // observations may be hostile
			k.table, err = compareFigures(a, b)
			return err
		})
		if err != nil {
			named := strings.NewReplacer(a.Run.path, a.Run.Name, b.Run.path, b.Run.Name)
			k.table.Problem = visible.Line(named.Replace(err.Error()))
		}
	}()
	return k
}

func compareFigures(a, b side) (t figureTable, err error) {
	names := run.Names([]string{a.Run.path, b.Run.path})
	var runs []compare.Run
	reference, of := maps.Clone(a.Condition), maps.Clone(b.Condition)
	for i, x := range []side{a, b} {
		info, err := os.Lstat(filepath.Join(x.Run.path, "observations.jsonl"))
		if err != nil {
			return t, err
		}
		if info.Size() > mostCompared {
			return t, fmt.Errorf("these runs are large; use: crosstalk compare %s %s", a.Run.Name, b.Run.Name)
		}
		if i == 1 && a.Run.ID == b.Run.ID {
			continue
		}
		runs = append(runs, compare.Run{Name: names[i], Estimates: x.Run.Estimates,
			Observations: run.ReadObservations(x.Run.path), Settings: study.Settings(x.Run.Manifest)})
	}
	if len(runs) > 1 {
		reference[compare.RunColumn], of[compare.RunColumn] = names[0], names[1]
	}
	result, err := compare.Runs(runs, compare.Options{Reference: reference, Across: []string{"all"}})
	if err != nil {
		return t, err
	}
	across := map[string]bool{}
	for _, c := range result.Comparisons {
		kind := instrument.Of(c.Measure)
		if kind.Measure(c.Measure).ByClass || !crosstalk.HasAll(c.Condition, of) ||
			!crosstalk.HasAll(c.Reference, reference) { // they may have more columns, within answers
			continue
		}
		t.Rows = append(t.Rows, rowOfFigure(c, kind))
		for _, field := range c.Across {
			across[field] = true
		}
		if c.Warnings != nil {
			last := t.Rows[len(t.Rows)-1]
			t.Notes = append(t.Notes, strings.TrimSuffix(last.Label+", "+last.Of, ", ")+": "+strings.Join(c.Warnings, "; "))
		}
	}
	if len(across) > 0 {
		t.Notes = append([]string{"The signatures differ in " + strings.Join(slices.Sorted(maps.Keys(across)), ", ") +
			": part of a difference may come from that."}, t.Notes...)
	}
	if len(t.Rows) == 0 {
		t.Problem = "No figure is about both."
	}
	return t, nil
}

func rowOfFigure(c compare.Comparison, kind crosstalk.Kind) figureRow {
	r := figureRow{Meaning: page.MeaningOf(c.Measure), Before: report.Value(c.ReferenceValue, c.Unit),
		After: report.Value(c.Value, c.Unit), Difference: "~", Verdict: "no difference shown",
		P: report.PValue(c.Adjusted), N: count(c.N)}
	var of []string
	for _, by := range []map[string]string{c.Condition, c.By} {
		for _, column := range report.Columns([]map[string]string{by}) {
			if v := by[column]; v != crosstalk.All && (kind.Column(column).Apart || kind.Column(column).Within) {
				of = append(of, page.Named(column, v))
			}
		}
	}
	slices.Sort(of)
	r.Of = strings.Join(slices.Compact(of), " · ")
	if i := c.Interval; i != nil {
		r.Interval = report.DifferenceInterval(i, c.Unit)
	}
	if !c.Shown {
		return r
	}
	r.Difference = report.Difference(c.Difference, c.Unit)
	up := c.Difference > 0
	switch {
	case c.Better == "":
		r.Verdict = map[bool]string{true: "higher", false: "lower"}[up]
	case up == (c.Better == crosstalk.Higher):
		r.Verdict, r.Better = "better", true
	default:
		r.Verdict, r.Worse = "worse", true
	}
	return r
}
