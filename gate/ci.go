package gate

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"crosstalk"
	"crosstalk/internal/atomicfile"
	"crosstalk/report"
)

// WriteJUnit writes the verdict as JUnit XML: a test case for each check.
func WriteJUnit(w io.Writer, v Verdict) error {
	type failure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	type testCase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Time    string   `xml:"time,attr"`
		Failure *failure `xml:"failure"`
		Out     string   `xml:"system-out,omitempty"`
	}
	type suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Time     string     `xml:"time,attr"`
		Cases    []testCase `xml:"testcase"`
	}
	type suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Suites   []suite  `xml:"testsuite"`
	}
	passed, _ := v.count()
	s := suite{Name: "crosstalk gate " + v.Run, Tests: len(v.Checks), Failures: len(v.Checks) - passed, Time: "0"}
	_, columns := v.columns()
	for _, c := range v.Checks {
		t := testCase{Name: c.name(columns), Class: "crosstalk." + strings.ReplaceAll(v.Run, ".", "_"), Time: "0",
			Out: c.details()}
		if !c.Passed {
			kind := "requirement"
			if c.Inconclusive {
				kind = "inconclusive"
			}
			t.Failure = &failure{Message: c.Reason, Type: kind, Text: c.details()}
			t.Out = ""
		}
		s.Cases = append(s.Cases, t)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suites{Tests: s.Tests, Failures: s.Failures, Suites: []suite{s}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (c Check) details() string {
	lines := []string{fmt.Sprintf("%s, interval %s, n %d", c.value(), c.interval(), c.N)}
	return strings.Join(append(lines, c.Remarks...), "\n")
}

// WriteAnnotations writes a GitHub workflow command for each check that failed
// or has remarks, and a summary.
func WriteAnnotations(w io.Writer, v Verdict) error {
	var b strings.Builder
	_, columns := v.columns()
	for _, c := range v.Checks {
		if !c.Passed {
			annotate(&b, "error", c.name(columns), c.Reason+" ("+c.details()+")")
		} else if len(c.Remarks) > 0 {
			annotate(&b, "warning", c.name(columns), c.details())
		}
	}
	annotate(&b, "notice", "crosstalk gate "+v.Run, v.Headline())
	_, err := io.WriteString(w, b.String())
	return err
}

// Workflow commands end at a line break, and their properties at some
// punctuation marks.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func annotate(b *strings.Builder, level, title, message string) {
	fmt.Fprintf(b, "::%s title=%s::%s\n", level, commandProperty.Replace(title), commandData.Replace(message))
}

// Reports say where CI systems look for a verdict. Its zero value says nowhere.
type Reports struct {
	Annotations bool   // GitHub workflow commands, on the writer of Write
	JUnit       string // a file of JUnit XML
	Summary     string // a markdown file, to append to
}

// Write writes the verdict where the reports say.
func (r Reports) Write(w io.Writer, v Verdict) error {
	if r.Annotations {
		if err := WriteAnnotations(w, v); err != nil {
			return err
		}
	}
	if r.JUnit != "" {
		if err := saveJUnit(r.JUnit, v); err != nil {
			return crosstalk.BadOption("junit", ": %w", err)
		}
	}
	if r.Summary != "" {
		if err := appendSummary(r.Summary, v); err != nil {
			return crosstalk.BadOption("summary", ": %w", err)
		}
	}
	return nil
}

func saveJUnit(file string, v Verdict) error {
	return atomicfile.Write(file, func(w io.Writer) error { return WriteJUnit(w, v) })
}

func appendSummary(file string, v Verdict) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(WriteSummary(f, v), f.Close())
}

// WriteSummary writes the verdict as markdown with a heading.
func WriteSummary(w io.Writer, v Verdict) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### crosstalk gate: %s\n\n", report.Markdown(v.Run))
	if err := report.WriteTable(&b, "markdown", v.table()); err != nil {
		return err
	}
	b.WriteString("\n")
	if len(v.Broken) > 0 {
		fmt.Fprintf(&b, "#### Answers that have a fault now, and had none before\n\n")
		t := report.Table{Left: 4, Header: []string{"item", "before", "after", "found"}}
		for _, x := range v.Broken {
			t.Rows = append(t.Rows, []string{x.Item, x.Before, x.After, x.Found})
		}
		if err := report.WriteTable(&b, "markdown", t); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
