// Package rescue makes the panic of one writer an error of what it wrote, so
// that what others write, and the program, survive a defect.
package rescue

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// PanicError is a panic that was caught.
type PanicError struct {
	What  string // was written
	Value any    // the panic's
	Where string // file:line of the panic; empty if it is not known
}

func (e *PanicError) Error() string {
	where := ""
	if e.Where != "" {
		where = " at " + e.Where
	}
	return fmt.Sprintf("%s: cannot be written because of a defect in crosstalk%s: %v; please report it", e.What, where,
		e.Value)
}

// Do calls write and returns its error, or a *PanicError if it panics. what names what is written: a file, a page.
func Do(what string, write func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{what, p, where()}
		}
	}()
	return write()
}

// where is the line that panicked, called by the function that recovers.
func where() string {
	pc := make([]uintptr, 16)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for {
		f, more := frames.Next()
		if f.File != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}
