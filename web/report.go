package web

import (
	"net/http"
	"path/filepath"
	"time"

	"crosstalk/internal/plainfile"
)

// reportFile is the name of a run's page that is a single file.
const reportFile = "report.html"

// hasReport reports whether the run has a page that is as new as its figures.
func (r *runEntry) hasReport() bool {
	page := stampOf(filepath.Join(r.path, reportFile))
	return page != (fileStamp{}) && !page.time.Before(r.stamp[1].time)
}

// report sends the run's page that 'crosstalk report' wrote. It may come from
// somebody else with the run: its policy keeps it from running or loading anything.
func (s *Server) report(w http.ResponseWriter, r *http.Request) error {
	run, err := s.listing.run(r.PathValue("run"))
	if err != nil {
		return err
	}
	f, err := plainfile.Open(filepath.Join(run.path, reportFile))
	if err != nil {
		return err
	}
	defer f.Close()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "+
		"form-action 'none'; frame-ancestors 'none'; sandbox")
	http.ServeContent(w, r, "", time.Time{}, f)
	return nil
}
