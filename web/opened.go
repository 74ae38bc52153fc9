package web

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/report/plot"
	"crosstalk/web/index"
)

// mostOpen is how many runs are kept open.
const mostOpen = 32

// opened are the runs that somebody looks at.
type opened struct {
	cache string

	mu   sync.Mutex
	runs map[string]*look
}

// look is a run that somebody looks at.
type look struct {
	tally *tally
	index *index.Index // nil: nothing was observed yet, or it cannot be indexed
	err   error        // why there is no index
	users int
	used  time.Time
}

// open returns what there is to look at in a run, and a function to call when
// that was done.
func (o *opened) open(r *listed) (look, func()) {
	found, done := o.look(r)
	if x := found.index; x != nil && x.Progress().Size < soon {
		ctx, cancel := context.WithTimeout(context.Background(), soonTime)
		defer cancel()
		x.Wait(ctx)
	}
	return found, done
}

// A small index is waited for, that long.
const (
	soon     = 16 << 20 // bytes of observations
	soonTime = 400 * time.Millisecond
)

func (o *opened) look(r *listed) (look, func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.runs[r.ID]
	switch {
	case l == nil:
		o.makeRoom()
		l = &look{tally: &tally{path: r.path}}
		o.runs[r.ID] = l
	case l.users == 0 && l.index != nil && !l.index.Fresh():
		go l.index.Close()
		l.index = nil
	}
	if l.index == nil {
		if l.index, l.err = index.Open(r.path, o.cache, &gallery{book: plot.NewBook(r.Estimates)}); errors.Is(l.err, fs.ErrNotExist) {
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

// makeRoom closes the run that was not looked at for the longest time.
func (o *opened) makeRoom() {
	if o.runs == nil {
		o.runs = map[string]*look{}
	}
	if len(o.runs) < mostOpen {
		return
	}
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

func (o *opened) close() (err error) {
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

// gallery draws a run's figures while its index is built.
type gallery struct{ book *plot.Book }

// drawn is a figure.
type drawn struct {
	Title, Note string
	Wide        bool
	SVG         string
}

func (g *gallery) Add(o crosstalk.Observation) { g.book.Add(o) }

func (g *gallery) Pages() ([]byte, error) {
	var list []drawn
	for _, f := range g.book.Figures() {
		var b strings.Builder
		if err := f.WriteSVG(&b); err != nil {
			return nil, err
		}
		list = append(list, drawn{f.Title, f.Note, f.Width > 361, b.String()})
	}
	return json.Marshal(list)
}
