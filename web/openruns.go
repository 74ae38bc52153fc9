package web

import (
	"context"
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"crosstalk/report"
	"crosstalk/report/page"
	"crosstalk/report/plot"
	"crosstalk/web/index"
)

// mostOpen is the maximum number of open runs.
const mostOpen = 32

// openRuns are the runs whose pages were requested recently.
type openRuns struct {
	cache string

	mu   sync.Mutex
	runs map[string]*openRun
}

// openRun is a run with its notes and its index.
type openRun struct {
	notes *notebook
	index *index.Index // nil: no observations yet, or see err
	err   error        // why there is no index
	users int
	used  time.Time
}

// ofRun opens the run in the URL for a handler.
func (s *Server) ofRun(
	handle func(http.ResponseWriter, *http.Request, *runEntry, openRun) error,
) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		run, err := s.listing.run(r.PathValue("run"))
		if err != nil {
			return err
		}
		l, done := s.runs.open(run)
		defer done()
		return handle(w, r, run, l)
	}
}

// open returns an open run, and a function to call after using it.
func (o *openRuns) open(r *runEntry) (openRun, func()) {
	found, done := o.acquire(r)
	if x := found.index; x != nil && x.Progress().Size < soon {
		ctx, cancel := context.WithTimeout(context.Background(), soonTime)
		defer cancel()
		x.Wait(ctx)
	}
	return found, done
}

// Requests wait up to soonTime for a small index.
const (
	soon     = 16 << 20 // bytes of observations
	soonTime = 400 * time.Millisecond
)

func (o *openRuns) acquire(r *runEntry) (openRun, func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.runs[r.ID]
	switch {
	case l == nil:
		if len(o.runs) >= mostOpen {
			o.closeOldest()
		}
		if o.runs == nil {
			o.runs = map[string]*openRun{}
		}
		l = &openRun{notes: &notebook{}}
		o.runs[r.ID] = l
	case l.users == 0 && l.index != nil && !l.index.Fresh():
		go l.index.Close()
		l.index = nil
	}
	if l.index == nil {
		l.index, l.err = index.Open(r.path, o.cache, &gallery{plot.NewCollector(report.WorstFirst(r.Estimates))})
		if errors.Is(l.err, fs.ErrNotExist) {
			l.err = nil
		}
	}
	l.users++
	l.used = time.Now()
	return *l, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		l.users--
	}
}

// closeOldest closes the least recently used run that nobody uses.
func (o *openRuns) closeOldest() {
	oldest := ""
	for id, l := range o.runs {
		if l.users == 0 && (oldest == "" || l.used.Before(o.runs[oldest].used)) {
			oldest = id
		}
	}
	if oldest != "" {
		if x := o.runs[oldest].index; x != nil {
			go x.Close()
		}
		delete(o.runs, oldest)
	}
}

func (o *openRuns) close() (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, l := range o.runs {
		if l.index != nil {
			err = errors.Join(err, l.index.Close())
		}
	}
	o.runs = nil
	return err
}

// gallery draws a run's plots while its index is built.
type gallery struct{ *plot.Collector }

// plotSVG is a plot as it is stored in the index.
type plotSVG struct {
	Title, Note string
	Wide        bool
	SVG         template.HTML // our own markup, in which untrusted texts are escaped
}

// Pages implements index.Book.
func (g *gallery) Pages() ([]byte, error) {
	var list []plotSVG
	for _, p := range g.Plots() {
		var b strings.Builder
		if err := p.WriteSVG(&b); err != nil {
			return nil, err
		}
		list = append(list, plotSVG{p.Title, p.Note, p.Width > page.Narrow, template.HTML(b.String())})
	}
	return json.Marshal(list)
}
