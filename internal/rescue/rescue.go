// Package rescue turns a panic in one writer into an error, so that the program and its other writers survive a
// defect.
package rescue

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// PanicError reports a recovered panic.
type PanicError struct {
	What  string // the name of the output
	Value any    // the value passed to panic
	Where string // file:line of the panic, or ""
}

func (e *PanicError) Error() string {
	where := ""
	if e.Where != "" {
		where = " at " + e.Where
	}
	return fmt.Sprintf("%s: cannot be written because of a defect in crosstalk%s: %v; please report it", e.What, where,
		e.Value)
}

// Do calls write and returns its error, or a *PanicError if it panics. what names the output: a file, a page.
func Do(what string, write func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{what, p, where()}
		}
	}()
	return write()
}

// where returns the file and line of the panic. The deferred function that recovers must call it.
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
