package gate

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/template"

	"crosstalk"
	"crosstalk/internal/atomicfile"
	"crosstalk/report"
)

// junit is a verdict as JUnit XML: a test case for each check.
const junit = xml.Header + `<testsuites {{counts .}}>
  <testsuite name="crosstalk gate {{xml .Run}}" {{counts .}} errors="0" skipped="0" time="0">
{{- range .Checks}}
    <testcase name="{{name . | xml}}" classname="crosstalk.{{classname $.Run | xml}}" time="0">
      {{- if .Passed}}
      <system-out>{{details . | xml}}</system-out>
      {{- else}}
      <failure message="{{xml .Reason}}" type="{{if .Inconclusive}}inconclusive{{else}}requirement{{end}}">
        {{- details . | xml}}</failure>
      {{- end}}
    </testcase>
{{- end}}
  </testsuite>
</testsuites>
`

// WriteJUnit writes the verdict as JUnit XML.
func WriteJUnit(w io.Writer, v Verdict) error {
	_, columns := v.columns()
	functions := template.FuncMap{
		"name":      func(c Check) string { return c.name(columns) },
		"classname": func(run string) string { return strings.ReplaceAll(run, ".", "_") },
		"details":   Check.details,
		"counts": func(v Verdict) string {
			passed, _ := v.count()
			return fmt.Sprintf(`tests="%d" failures="%d"`, len(v.Checks), len(v.Checks)-passed)
		},
		"xml": func(text string) (string, error) {
			var b strings.Builder
			err := xml.EscapeText(&b, []byte(text))
			return b.String(), err
		},
	}
	return template.Must(template.New("junit").Funcs(functions).Parse(junit)).Execute(w, v)
}

func (c Check) details() string {
	lines := []string{fmt.Sprintf("%s, interval %s, n %d", c.value(), c.interval(), c.N)}
	return strings.Join(append(lines, c.Remarks...), "\n")
}

// WriteAnnotations writes a GitHub workflow command for each check that failed or has remarks, and a summary.
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

// Workflow commands end at a line break, and their properties at some punctuation marks.
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
		err := atomicfile.Write(r.JUnit, func(w io.Writer) error { return WriteJUnit(w, v) })
		if err != nil {
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
	report.WriteTable(&b, "markdown", v.table())
	b.WriteString("\n")
	if len(v.Broken) > 0 {
		fmt.Fprintf(&b, "#### Answers that have a fault now, and had none before\n\n")
		t := report.Table{Left: 4, Header: []string{"item", "before", "after", "found"}}
		for _, x := range v.Broken {
			t.Rows = append(t.Rows, []string{x.Item, x.Before, x.After, x.Found})
		}
		report.WriteTable(&b, "markdown", t)
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
