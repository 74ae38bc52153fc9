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
	"crosstalk/internal/numbers"
	"crosstalk/internal/rescue"
	"crosstalk/internal/visible"
	"crosstalk/report"
	"crosstalk/report/page"
	"crosstalk/report/results"
	"crosstalk/run"
)

// WriteComparison writes the page /compare as one file: the result of comparing two runs, or the conditions of one, and
// the first 200 items that changed between the conditions of its first figure.
func WriteComparison(ctx context.Context, w io.Writer, before, after string, result results.Comparison) (err error) {
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
	if len(result.Comparisons) == 0 {
		return errors.New("there is nothing to compare")
	}
	first := result.Comparisons[0]
	if run := first.Reference[compare.RunColumn]; run != "" && run == names[1] { // the reference is what was before
		before, after, names[0], names[1] = after, before, names[1], names[0]
	}
	figures := tableOf(result, result.Comparisons)
	p := comparePage{A: side{Name: "a", Title: "before", wanted: first.Reference},
		B: side{Name: "b", Title: "after", wanted: first.Condition}, Figures: &figures}
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
	if p.Problem+p.Index != "" {
		return errors.New(p.Problem + p.Index)
	}
	return templates().ExecuteTemplate(w, "compare.html", &p)
}

// figureTable contains the differences between the figures of two sides.
type figureTable struct {
	Rows     []figureRow
	Level    string // of the intervals: "95 %"
	Adjusted string // how p-values are
	Notes    []string
	Problem  string // why there are none
}

type figureRow struct {
	page.Meaning
	Of            string // the group, and the conditions if there are several
	Before, After string
	Difference    string // with sign; "~" if no difference is shown
	Interval      string
	P, N          string
	Verdict       string // "better", "worse", "no difference shown", "nothing to compare"
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

// compareFigures compares two sides as the command compare does with its default flags and --across all. Where these
// do not compare the two conditions, the one of a is the reference.
func compareFigures(a, b side) (t figureTable, err error) {
	paths := []string{a.Run.path}
	if a.Run.ID != b.Run.ID {
		paths = append(paths, b.Run.path)
	}
	reference, of := map[string]string{}, map[string]string{}
	maps.Copy(reference, a.Condition)
	maps.Copy(of, b.Condition)
	if names := run.Names(paths); len(names) > 1 {
		reference[compare.RunColumn], of[compare.RunColumn] = names[0], names[1]
	}
	for _, path := range paths {
		info, err := os.Lstat(filepath.Join(path, "observations.jsonl"))
		if err != nil {
			return t, err
		}
		if info.Size() > mostCompared {
			return t, fmt.Errorf("these runs are large; use: crosstalk compare %s %s", a.Run.Name, b.Run.Name)
		}
	}
	options := compare.Default
	options.Across = []string{"all"}
	for _, options.Reference = range []map[string]string{nil, reference} {
		runs, err := compare.Open(paths, nil)
		if err != nil {
			return t, err
		}
		result, err := compare.Runs(runs, options)
		if err != nil && len(result.Refused) == 0 {
			return t, err
		}
		shown := slices.DeleteFunc(slices.Clone(result.Comparisons), func(c compare.Comparison) bool {
			return !crosstalk.HasAll(c.Condition, of) || !crosstalk.HasAll(c.Reference, reference) // or more columns
		})
		if len(shown) > 0 {
			return tableOf(results.Comparison{Result: result}, shown), nil
		}
	}
	t.Problem = "No figure is about both."
	return t, nil
}

// tableOf lays out some comparisons of a result.
func tableOf(result results.Comparison, shown []compare.Comparison) figureTable {
	t := figureTable{Level: report.LevelText(result.Level), Adjusted: result.Adjusted()}
	across, unpaired := map[string]bool{}, false
	for i, of := range result.NamesOf(shown) {
		c := shown[i]
		t.Rows = append(t.Rows, rowOfFigure(c, of))
		for _, field := range c.Across {
			across[field] = true
		}
		unpaired = unpaired || !c.Paired
		if c.Warnings != nil {
			last := t.Rows[i]
			t.Notes = append(t.Notes, strings.TrimSuffix(last.Label+", "+last.Of, ", ")+": "+strings.Join(c.Warnings, "; "))
		}
	}
	if unpaired {
		t.Notes = append([]string{results.UnpairedNote}, t.Notes...)
	}
	if len(across) > 0 {
		t.Notes = append([]string{"The signatures differ in " + strings.Join(slices.Sorted(maps.Keys(across)), ", ") +
			": part of a difference may come from that."}, t.Notes...)
	}
	t.Notes = append(t.Notes, result.NotCompared()...)
	return t
}

func rowOfFigure(c compare.Comparison, of string) figureRow {
	r := figureRow{Meaning: page.MeaningOf(c.Measure), Of: of, Before: numbers.Value(c.ReferenceValue, c.Unit),
		After: numbers.Value(c.Value, c.Unit), Difference: "~", Verdict: "no difference shown",
		Interval: numbers.DifferenceInterval(c.Interval, c.Unit), P: report.PValue(c.Adjusted), N: count(c.N)}
	if !c.Difference.Defined() {
		r.Difference, r.Verdict = "-", "nothing to compare"
	}
	if !c.Shown {
		return r
	}
	r.Difference = numbers.Difference(c.Difference, c.Unit)
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
