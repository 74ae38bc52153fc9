package results

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"crosstalk"
	"crosstalk/gate"
	"crosstalk/instrument"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/numbers"
	"crosstalk/internal/ordered"
	"crosstalk/report"
)

// WriteVerdict writes the verdict of a gate in one of report.Formats.
func WriteVerdict(w io.Writer, format string, v gate.Verdict) error {
	return report.WriteResult(w, format, v, v.Checks, func() [][]string { return verdictRecords(v) },
		func() []report.Table { return []report.Table{verdictTable(v)} })
}

func verdictTable(v gate.Verdict) report.Table {
	rows := make([]map[string]string, len(v.Checks))
	for i, c := range v.Checks {
		rows[i] = report.Names(v.Names).By(c.By)
	}
	v.Checks = slices.Clone(v.Checks)
	for i, by := range report.Shorten(rows, 0) {
		v.Checks[i].By = by
	}
	slices.SortStableFunc(v.Checks, func(a, b gate.Check) int {
		return slices.Index(outcomes, outcome(a)) - slices.Index(outcomes, outcome(b))
	})
	requirement := required(v)
	shared, columns := verdictColumns(v)
	t := report.Table{Heading: []string{"gate " + v.Headline()}}
	if requirement != "" {
		t.Heading = append(t.Heading, strings.TrimSpace(requirement))
		for i := range v.Checks {
			v.Checks[i].Requirement = v.Checks[i].Measure
		}
	}
	t.Heading = append(t.Heading, shared...)
	t.Header = slices.Concat([]string{"", "check"}, columns)
	if !v.Passed {
		t.Header = append(t.Header, "why")
	}
	t.Left = len(t.Header)
	t.Header = append(t.Header, "value", "interval", "n")
	for _, c := range v.Checks {
		row := []string{outcome(c), c.Requirement}
		for _, column := range columns {
			value := cmp.Or(c.By[column], crosstalk.All)
			if len(c.By) == 0 {
				value = "-"
			}
			row = append(row, value)
		}
		if !v.Passed {
			row = append(row, cmp.Or(c.Reason, "-"))
		}
		t.Rows = append(t.Rows, append(row, checkValue(c), c.IntervalText(), strconv.Itoa(c.N)))
	}
	names, remarks := make([]string, len(v.Checks)), make([][]string, len(v.Checks))
	for i, c := range v.Checks {
		names[i], remarks[i] = checkName(c, columns), c.Remarks
	}
	t.Notes = report.Warnings(names, remarks)
	return t
}

// outcomes lists the outcomes of a check, the most serious first.
var outcomes = []string{"FAILED", "inconclusive", "passed"}

func outcome(c gate.Check) string {
	switch {
	case c.Passed:
		return outcomes[2]
	case c.Inconclusive:
		return outcomes[1]
	}
	return outcomes[0]
}

// required returns what several checks all require of their measures, such as " no worse than runs/old by more than 1
// point"; "" if they differ.
func required(v gate.Verdict) (required string) {
	for i, c := range v.Checks {
		rest, ok := strings.CutPrefix(c.Requirement, c.Measure+" ")
		if !ok || i > 0 && " "+rest != required || len(v.Checks) == 1 {
			return ""
		}
		required = " " + rest
	}
	return required
}

// columns splits the columns of the figures into those with a common value, for the heading, and the others. A check
// without a figure has none.
func verdictColumns(v gate.Verdict) (shared, columns []string) {
	var by []map[string]string
	for _, c := range v.Checks {
		if len(c.By) > 0 {
			by = append(by, c.By)
		}
	}
	for _, column := range instrument.Columns(by) {
		values := ordered.Distinct(by, func(b map[string]string) string { return cmp.Or(b[column], crosstalk.All) })
		switch {
		case len(values) > 1:
			columns = append(columns, column)
		case values[0] != crosstalk.All:
			shared = append(shared, column+" "+values[0])
		}
	}
	return shared, columns
}

func checkName(c gate.Check, columns []string) string {
	name := c.Requirement
	var parts []string
	for _, column := range columns {
		if value := c.By[column]; value != "" && value != crosstalk.All {
			parts = append(parts, column+" "+value)
		}
	}
	if parts != nil {
		name += " (" + strings.Join(parts, ", ") + ")"
	}
	return name
}

func checkValue(c gate.Check) string {
	switch {
	case !c.Value.Defined():
		return "-"
	case c.Reference != nil:
		return numbers.Difference(c.Value, c.Unit) + " " + cmp.Or(c.Unit, "points")
	}
	return numbers.Value(c.Value, c.Unit) + " " + cmp.Or(c.Unit, "%")
}

func verdictRecords(v gate.Verdict) [][]string {
	var by []map[string]string
	for _, c := range v.Checks {
		by = append(by, c.By)
	}
	columns := instrument.Columns(by)
	all := [][]string{slices.Concat([]string{"requirement", "measure"}, columns,
		[]string{"passed", "inconclusive", "side", "reason", "value", "low", "high", "n", "missing_items", "remarks"})}
	for _, c := range v.Checks {
		record := []string{c.Requirement, c.Measure}
		for _, column := range columns {
			record = append(record, c.By[column])
		}
		low, high, more := "", "", ""
		if c.Missing != nil {
			more = strings.Trim(fmt.Sprint(c.Missing), "[]")
		}
		if i := c.Interval; i != nil {
			low, high = report.Number(crosstalk.Value(i.Low)), report.Number(crosstalk.Value(i.High))
		}
		all = append(all, append(record, strconv.FormatBool(c.Passed), strconv.FormatBool(c.Inconclusive), c.Side, c.Reason,
			report.Number(c.Value), low, high, strconv.Itoa(c.N), more, strings.Join(c.Remarks, "; ")))
	}
	return all
}

// junit formats a verdict as JUnit XML: a test case for each check.
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
func WriteJUnit(w io.Writer, v gate.Verdict) error {
	_, columns := verdictColumns(v)
	functions := template.FuncMap{
		"name":      func(c gate.Check) string { return checkName(c, columns) },
		"classname": func(run string) string { return strings.ReplaceAll(run, ".", "_") },
		"details":   details,
		"counts": func(v gate.Verdict) string {
			failures := 0
			for _, c := range v.Checks {
				if !c.Passed {
					failures++
				}
			}
			return fmt.Sprintf(`tests="%d" failures="%d"`, len(v.Checks), failures)
		},
		"xml": func(text string) (string, error) {
			var b strings.Builder
			err := xml.EscapeText(&b, []byte(text))
			return b.String(), err
		},
	}
	return template.Must(template.New("junit").Funcs(functions).Parse(junit)).Execute(w, v)
}

func details(c gate.Check) string {
	lines := []string{fmt.Sprintf("%s, interval %s, n %d", checkValue(c), c.IntervalText(), c.N)}
	return strings.Join(append(lines, c.Remarks...), "\n")
}

// WriteAnnotations writes a GitHub workflow command for each check that failed or has remarks, and a summary.
func WriteAnnotations(w io.Writer, v gate.Verdict) error {
	var b strings.Builder
	_, columns := verdictColumns(v)
	for _, c := range v.Checks {
		if !c.Passed {
			annotate(&b, "error", checkName(c, columns), c.Reason+" ("+details(c)+")")
		} else if len(c.Remarks) > 0 {
			annotate(&b, "warning", checkName(c, columns), details(c))
		}
	}
	annotate(&b, "notice", "crosstalk gate "+v.Run, v.Headline())
	_, err := io.WriteString(w, b.String())
	return err
}

// Workflow commands end at a line break, their properties at some punctuation marks.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func annotate(b *strings.Builder, level, title, message string) {
	fmt.Fprintf(b, "::%s title=%s::%s\n", level, commandProperty.Replace(title), commandData.Replace(message))
}

// Reports states where CI systems look for a verdict; the zero value: nowhere.
type Reports struct {
	Annotations bool   // GitHub workflow commands, on the writer of Write
	JUnit       string // a file of JUnit XML
	Summary     string // a markdown file, to append to
}

// Write writes the verdict to the places in r.
func (r Reports) Write(w io.Writer, v gate.Verdict) error {
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
		f, err := os.OpenFile(r.Summary, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
		if err == nil {
			err = errors.Join(WriteSummary(f, v), f.Close())
		}
		if err != nil {
			return crosstalk.BadOption("summary", ": %w", err)
		}
	}
	return nil
}

// WriteSummary writes the verdict as markdown with a heading.
func WriteSummary(w io.Writer, v gate.Verdict) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### crosstalk gate: %s\n\n", report.Markdown(v.Run))
	report.WriteTable(&b, "markdown", verdictTable(v))
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
