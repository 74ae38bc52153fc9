package page

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
)

// Files says where the page of a run goes, and the files of its plots and tables.
type Files struct {
	HTML    string // a file, - for Output.Page, or none; empty: report.html in the run
	Figures string // a directory for plots and tables; empty: none
}

// Output is where Files.Write writes what is in no file.
type Output struct {
	Page     io.Writer
	Notes    io.Writer // which files it wrote
	Warnings io.Writer // which it could not
}

// Write writes the page and the files of a finished run, of figures that have these
// names already. A defect in one of them leaves the others. That the page cannot be
// written into the run is a warning, no error.
func (f Files) Write(to Output, path string, estimates []crosstalk.Estimate, names report.Names) error {
	if f.HTML == "none" && f.Figures == "" {
		return nil
	}
	p, err := Read(path, estimates, names)
	if err != nil {
		return err
	}
	err = p.NoPlots
	if f.HTML != "none" {
		err = errors.Join(err, rescue.Do("the page", func() error { return f.writePage(to, path, p) }))
	}
	if f.Figures == "" {
		return err
	}
	if failed := p.saveFigures(f.Figures); failed != nil {
		return errors.Join(err, failed)
	}
	fmt.Fprintf(to.Notes, "%d plots (.svg, .pdf, .png), their captions (plots.md, plots.tex) and tables (.csv, .md, .tex): %s\n",
		len(p.Plots), f.Figures)
	return err
}

func (f Files) writePage(to Output, path string, p Report) error {
	write := func(w io.Writer) error { return p.writeRun(w, path) }
	file, save := f.HTML, atomicfile.Write
	switch f.HTML {
	case "-":
		return write(to.Page)
	case "":
		file, save = filepath.Join(path, "report.html"), atomicfile.WritePrivate // as all files of the run are
	}
	err := save(file, write)
	switch {
	case f.HTML == "" && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)):
		fmt.Fprintf(to.Warnings, "The page was not written: %s is not writable; name another file with --html\n", path)
	case err != nil:
		return err
	default:
		fmt.Fprintf(to.Notes, "Page: %s\n", file)
	}
	return nil
}
