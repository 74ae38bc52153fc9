// Skipped prints the results of tests as go test does, and then what it does not print: how many comparisons with
// reference data were skipped, and which other tests.
//
//	go test -json ./... | go run ./internal/shared/skipped
//
// It exits with 1 if a test failed or no test was run.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"crosstalk/internal/shared"
)

func main() {
	if !summarize(os.Stdin, os.Stdout) {
		os.Exit(1)
	}
}

// event is a line of go test -json, see go doc test2json.
type event struct {
	Action, Package, Test, Output string
}

// summary counts the tests so far.
type summary struct {
	out         io.Writer
	output      map[string][]event // of the packages that are not finished
	passed      int                // packages
	failed      int                // packages
	comparisons int                // tests without their reference data
	others      []string           // other skipped tests, with their reasons
}

// summarize reads the events of go test -json and reports whether all is well.
func summarize(in io.Reader, out io.Writer) bool {
	s := &summary{out: out, output: map[string][]event{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		var e event
		switch {
		case strings.TrimSpace(line) == "":
		case json.Unmarshal([]byte(line), &e) != nil:
			fmt.Fprint(out, line) // not of a test: of the go command
		default:
			s.add(e)
		}
		if err != nil {
			break
		}
	}
	for name := range s.output { // go test was killed
		fmt.Fprintf(out, "FAIL\t%s\t[not finished]\n", name)
		s.failed++
	}
	if len(s.others) > 0 {
		fmt.Fprintf(out, "other tests skipped: %d\n  %s\n", len(s.others), strings.Join(s.others, "\n  "))
	}
	why := ""
	if s.comparisons > 0 {
		why = ", because ../shared/data does not exist or is incomplete"
	}
	fmt.Fprintf(out, "comparisons with reference data skipped: %d%s\n", s.comparisons, why)
	return s.failed == 0 && s.passed > 0
}

func (s *summary) add(e event) {
	switch {
	case e.Action == "build-output":
		fmt.Fprint(s.out, e.Output)
	case e.Test != "" || e.Action == "output" || e.Action == "start":
		s.output[e.Package] = append(s.output[e.Package], e)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip": // of a package
		s.finish(e.Package, e.Action)
	}
}

// finish prints the output of a package and of its failed tests, and counts what was skipped.
func (s *summary) finish(name, result string) {
	events := s.output[name]
	delete(s.output, name)
	results, said := map[string]string{"": result}, map[string]*strings.Builder{}
	for _, e := range events {
		if said[e.Test] == nil {
			said[e.Test] = new(strings.Builder)
		}
		if e.Action == "output" {
			said[e.Test].WriteString(e.Output)
		} else {
			results[e.Test] = e.Action
		}
	}
	short := name[strings.IndexByte(name, '/')+1:]
	counted := map[string]bool{}
	for _, e := range events {
		test := e.Test
		// A test that was not finished when the package ended is what failed it.
		quiet := results[test] == "pass" || results[test] == "skip"
		if test == "" {
			quiet = result != "fail" && !strings.HasPrefix(e.Output, "ok ") && !strings.HasPrefix(e.Output, "? ")
		}
		if e.Action == "output" && !quiet {
			fmt.Fprint(s.out, e.Output)
		}
		if test == "" || counted[test] {
			continue
		}
		counted[test] = true
		switch {
		case strings.Contains(said[test].String(), shared.Absent):
			s.comparisons++
		case results[test] == "skip":
			s.others = append(s.others, fmt.Sprintf("%s %s: %s", short, test, reason(said[test].String())))
		}
	}
	switch result {
	case "fail":
		s.failed++
	case "pass":
		s.passed++
	}
}

// reason returns what a skipped test said, without its place in the source.
func reason(said string) string {
	for line := range strings.Lines(said) {
		if _, why, found := strings.Cut(line, ".go:"); found && strings.HasPrefix(line, "    ") {
			_, why, _ = strings.Cut(why, ": ")
			return strings.TrimSpace(why)
		}
	}
	return "no reason given"
}
