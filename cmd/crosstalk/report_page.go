package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"

	"crosstalk"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/rescue"
	"crosstalk/report"
	"crosstalk/report/page"

	"github.com/spf13/cobra"
)

// draw writes the page and the files of plots, of figures that have these names. A
// defect in one of them leaves the others.
func (r *reportFlags) draw(c *cobra.Command, path string, estimates []crosstalk.Estimate, names report.Names) error {
	if r.html == "none" && r.figures == "" {
		return nil
	}
	p, err := page.Read(path, estimates, names)
	if err != nil {
		return err
	}
	err = p.NoPlots
	if r.html != "none" {
		err = errors.Join(err, rescue.Do("the page", func() error { return r.writePage(c, path, p) }))
	}
	if r.figures == "" {
		return err
	}
	if failed := p.SaveFigures(r.figures); failed != nil {
		return errors.Join(err, failed)
	}
	r.tell(c, "%d plots (.svg, .pdf, .png), their captions (plots.md, plots.tex) and tables (.csv, .md, .tex): %s\n", len(p.Plots), r.figures)
	return err
}

// writePage writes the page where --html says. That it cannot be written into the run
// is no error.
func (r *reportFlags) writePage(c *cobra.Command, path string, p page.Report) error {
	write := func(w io.Writer) error { return p.WriteRun(w, path) }
	switch r.html {
	case "-":
		return write(c.OutOrStdout())
	case "":
		file := filepath.Join(path, "report.html")
		err := atomicfile.WritePrivate(file, write) // as all files of the run are
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			fmt.Fprintf(c.ErrOrStderr(), "The page was not written: %s is not writable; name another file with --html\n", path)
		} else if err != nil {
			return err
		} else {
			r.tell(c, "Page: %s\n", file)
		}
		return nil
	}
	if err := atomicfile.Write(r.html, write); err != nil {
		return err
	}
	r.tell(c, "Page: %s\n", r.html)
	return nil
}

// tell prints what the user should know, unless only the result is wanted.
func (r *reportFlags) tell(c *cobra.Command, format string, args ...any) {
	if !r.quiet {
		fmt.Fprintf(c.ErrOrStderr(), format, args...)
	}
}
