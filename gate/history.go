package gate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/instrument"
	"crosstalk/measure/stats"
	"crosstalk/run"
)

// History contains the figures of runs that differ only by their date, the oldest first.
type History struct {
	Nights  []Night
	Series  []Series
	LeftOut int // unfinished runs
	Kind    crosstalk.Kind
	Suite   string // the first night's, or "recorded answers", whose suites may be named differently in each file
	across  []string
}

// Night is a run of a history.
type Night struct {
	Path, Name string
	Date       time.Time // from the directory's name (2026-11-22), or else when the figures were written
	estimates  []crosstalk.Estimate
}

// Series has the figures of one condition: totals by night, by measure, with any fault first.
type Series struct {
	By       map[string]string
	Measures []string
	Figures  map[string][]*crosstalk.Estimate // of each night, by measure; nil if a night has none
	Change   *Nightly                         // evidence that answers are worse than in the first night; nil: unknown
	Since    int                              // the first night of the change, from 0; -1: none
}

var dated = regexp.MustCompile(`(?:^|\D)(\d{4})-?(\d\d)-?(\d\d)(?:\D|$)`)

func dateOf(path string) (time.Time, error) {
	for _, name := range []string{filepath.Base(path), filepath.Base(filepath.Dir(path))} {
		if m := dated.FindStringSubmatch(name); m != nil {
			if t, err := time.Parse("20060102", m[1]+m[2]+m[3]); err == nil {
				return t, nil
			}
		}
	}
	info, err := os.Stat(filepath.Join(path, "estimates.json"))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// ErrNoHistory reports that runs differ by more than their date.
type ErrNoHistory struct{ why string }

func (e *ErrNoHistory) Error() string {
	return e.why + ": runs of one suite, model and settings are a history; " +
		"to lay out others, use 'crosstalk table RUN... --rows run --columns measure'"
}

// Histories reads the figures of runs. An error is an *ErrNoHistory if they differ by more than their date.
func Histories(paths []string) (h History, err error) {
	names := run.Names(paths)
	for i, path := range paths {
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return h, err
		}
		n := Night{Path: path, Name: names[i]}
		if n.estimates, err = run.ReadEstimates(path); errors.Is(err, run.ErrUnfinished) {
			h.LeftOut++
			continue
		} else if err != nil {
			return h, err
		}
		if n.Date, err = dateOf(path); err != nil {
			return h, err
		}
		kind := instrument.Named(manifest.Plan.Instrument)
		if len(h.Nights) > 0 && kind.Name != h.Kind.Name {
			return h, &ErrNoHistory{fmt.Sprintf("%s and %s are of different instruments", h.Nights[0].Name, n.Name)}
		}
		h.Kind, h.Suite = kind, cmp.Or(h.Suite, manifest.Plan.Suite)
		if Recorded(manifest) && h.Suite != manifest.Plan.Suite {
			h.Suite, h.across = "recorded answers", []string{"suite"}
		}
		h.Nights = append(h.Nights, n)
	}
	if len(h.Nights) < 2 {
		return h, fmt.Errorf("a history needs two finished runs, found %d", len(h.Nights))
	}
	slices.SortStableFunc(h.Nights, func(a, b Night) int {
		return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.Name, b.Name))
	})
	return h, h.collect()
}

// collect makes the series from the totals of each condition.
func (h *History) collect() error {
	for at, night := range h.Nights {
		for _, e := range instrument.Totals(night.estimates) {
			m := h.Kind.Measure(e.Measure)
			if !m.Headline && e.Measure != h.Kind.Faults.Measure {
				continue
			}
			i := slices.IndexFunc(h.Series, func(s Series) bool { return maps.Equal(s.By, e.By) })
			switch {
			case i < 0 && at > 0:
				return h.differs(night, e)
			case i < 0:
				i = len(h.Series)
				h.Series = append(h.Series, Series{By: e.By, Figures: map[string][]*crosstalk.Estimate{}, Since: -1})
			}
			s := &h.Series[i]
			if s.Figures[e.Measure] == nil {
				s.Figures[e.Measure] = make([]*crosstalk.Estimate, len(h.Nights))
				s.Measures = append(s.Measures, e.Measure)
			}
			s.Figures[e.Measure][at] = &e
			if first := s.Figures[e.Measure][0]; first != nil && h.signature(*first) != h.signature(e) {
				return &ErrNoHistory{fmt.Sprintf("%s of %s and %s have different signatures, %s and %s", m.Label,
					h.Nights[0].Name, night.Name, first.Signature, e.Signature)}
			}
		}
	}
	for i, s := range h.Series {
		for at, e := range s.Figures[s.Measures[0]] {
			if e == nil {
				return &ErrNoHistory{fmt.Sprintf("%s and %s have different figures", h.Nights[0].Name, h.Nights[at].Name)}
			}
		}
		faults := slices.DeleteFunc(slices.Clone(s.Measures), func(m string) bool { return !instrument.IsFault(m) })
		h.Series[i].Measures = slices.Concat(faults, slices.DeleteFunc(s.Measures, instrument.IsFault))
	}
	return nil
}

var suiteField = regexp.MustCompile(`\|suite:[^|]*`)

// signature returns a figure's signature, without the suite if that may differ.
func (h *History) signature(e crosstalk.Estimate) string {
	if h.across != nil {
		return suiteField.ReplaceAllString(e.Signature, "")
	}
	return e.Signature
}

// Recorded reports whether a run scored answers that were recorded elsewhere.
func Recorded(m run.Manifest) bool {
	return len(m.Plan.Conditions) > 0 && m.Plan.Conditions[0].Model.Provider == "recorded"
}

// differs returns an error that names a column of the figure whose value the first night lacks.
func (h *History) differs(night Night, e crosstalk.Estimate) error {
	for _, column := range slices.Sorted(maps.Keys(e.By)) {
		if first := h.Series[0].By[column]; first != e.By[column] {
			return &ErrNoHistory{fmt.Sprintf("%s and %s differ by %s, %q and %q", h.Nights[0].Name, night.Name, column, first,
				e.By[column])}
		}
	}
	return &ErrNoHistory{fmt.Sprintf("%s and %s have different figures", h.Nights[0].Name, night.Name)}
}

// historyMargin is the loss that the nightly rule tests: more than chance, less than anybody accepts.
const historyMargin = 0.01

// FindChange judges the nights after the first by the nightly rule, as Rules.Check does with Night and a margin of one
// point: the probability of finding a change that is not there is at most 2.5 %, however many nights there are.
func (h *History) FindChange() error {
	paths := make([]string, len(h.Nights))
	for i, n := range h.Nights {
		paths[i] = n.Path
	}
	runs, err := compare.Open(paths, nil)
	if err != nil {
		return err
	}
	result, err := compare.Runs(runs, compare.Options{Measures: []string{h.Kind.Faults.Measure}, Unpaired: true,
		Across: h.across})
	if err != nil && len(result.Refused) == 0 {
		return err
	}
	for i := range h.Series {
		s := &h.Series[i]
		for _, c := range result.Comparisons {
			differs := false
			for column, value := range s.By {
				differs = differs || cmp.Or(c.By[column], c.Condition[column], value) != value
			}
			if !differs && c.Measure == h.Kind.Faults.Measure && c.Condition[compare.RunColumn] == runs[len(runs)-1].Name {
				s.Change = nightly(c, result.Comparisons, historyMargin)
			}
		}
		if s.Change != nil {
			s.Change.Limit = crosstalk.Value(40 * len(h.Series))
			s.Since = s.Change.begins()
		}
	}
	return nil
}

// begins returns the night, from 1, since which answers are worse: up to the first night whose evidence reaches the
// limit, it is the night since which the evidence is largest. It is -1 if no evidence reaches the limit.
func (n Nightly) begins() int {
	if n.Evidence < n.Limit {
		return -1
	}
	evidence := func(nights []stats.Night) float64 {
		e, _ := stats.NightlyEvidence(nights, float64(n.Margin), n.faults)
		return e
	}
	found := 1
	for evidence(n.nights[:found]) < float64(n.Limit) {
		found++
	}
	first, most := 0, 0.0
	for at := range found {
		if e := evidence(n.nights[at:]); e > most {
			first, most = at, e
		}
	}
	return first + 1
}
