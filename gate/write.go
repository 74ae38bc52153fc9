package gate

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/ordered"
	"crosstalk/report"
	"crosstalk/run"
)

// Write writes a verdict in one of report.Formats.
func Write(w io.Writer, format string, v Verdict) error {
	return report.WriteResult(w, format, v, v.Checks, v.records,
		func() []report.Table { return []report.Table{v.table()} })
}

// Headline states the result in a few words.
func (v Verdict) Headline() string {
	checks := fmt.Sprintf("%d checks", len(v.Checks))
	if len(v.Checks) == 1 {
		checks = "1 check"
	}
	switch _, open := v.count(); {
	case v.Passed:
		return "passed: " + checks
	case v.Inconclusive:
		return fmt.Sprintf("inconclusive: %d of %s", open, checks)
	case open > 0:
		return fmt.Sprintf("failed: %d of %s, and %d inconclusive", v.Failed(), checks, open)
	default:
		return fmt.Sprintf("failed: %d of %s", v.Failed(), checks)
	}
}

func (v Verdict) table() report.Table {
	rows := make([]map[string]string, len(v.Checks))
	for i, c := range v.Checks {
		rows[i] = v.Names.By(c.By)
	}
	v.Checks = slices.Clone(v.Checks)
	for i, by := range report.Shorten(rows, 0) {
		v.Checks[i].By = by
	}
	slices.SortStableFunc(v.Checks, func(a, b Check) int {
		return slices.Index(results, a.outcome()) - slices.Index(results, b.outcome())
	})
	required := v.required()
	shared, columns := v.columns()
	t := report.Table{Heading: []string{"gate " + v.Headline()}}
	if required != "" {
		t.Heading = append(t.Heading, strings.TrimSpace(required))
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
		row := []string{c.outcome(), c.Requirement}
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
		t.Rows = append(t.Rows, append(row, c.value(), c.interval(), strconv.Itoa(c.N)))
	}
	names, remarks := make([]string, len(v.Checks)), make([][]string, len(v.Checks))
	for i, c := range v.Checks {
		names[i], remarks[i] = c.name(columns), c.Remarks
	}
	t.Notes = report.Warnings(names, remarks)
	return t
}

// results lists the results of a check, the most serious first.
var results = []string{"FAILED", "inconclusive", "passed"}

func (c Check) outcome() string {
	switch {
	case c.Passed:
		return results[2]
	case c.Inconclusive:
		return results[1]
	}
	return results[0]
}

// required returns what several checks all require of their measures, such as " no worse than runs/old by more than 1
// point"; "" if they differ.
func (v Verdict) required() (required string) {
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
func (v Verdict) columns() (shared, columns []string) {
	var by []map[string]string
	for _, c := range v.Checks {
		if len(c.By) > 0 {
			by = append(by, c.By)
		}
	}
	for _, column := range report.Columns(by) {
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

func (c Check) name(columns []string) string {
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

func (c Check) value() string {
	switch {
	case !c.Value.Defined():
		return "-"
	case c.Reference != nil:
		return report.Difference(c.Value, c.Unit) + " " + cmp.Or(c.Unit, "points")
	}
	return report.Value(c.Value, c.Unit) + " " + cmp.Or(c.Unit, "%")
}

func (c Check) interval() string {
	if c.Reference != nil {
		return report.DifferenceInterval(c.Interval, c.Unit)
	}
	return report.Interval(c.Interval, c.Unit)
}

func (v Verdict) records() [][]string {
	var by []map[string]string
	for _, c := range v.Checks {
		by = append(by, c.By)
	}
	columns := report.Columns(by)
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

// Broken is an item that the reference answered without a fault and the run with one.
type Broken struct{ Item, Before, After, Found string }

const (
	mostBroken    = 3
	mostFaulty    = 10000 // limit on answers with a fault that are searched for broken ones
	longestQuoted = 300   // characters of an answer
)

// brokenOf returns the first broken answers of a run, none if a run has no observations.
func brokenOf(before, after string) ([]Broken, error) {
	var faulty []Broken
	places := map[string]int{}
	err := faults(after, func(o crosstalk.Observation, found string) bool {
		if _, again := places[keyOf(o)]; found != "" && !again {
			places[keyOf(o)] = len(faulty)
			faulty = append(faulty, Broken{Item: o.Item, After: quoted(o), Found: found})
		}
		return len(faulty) < mostFaulty
	})
	if err != nil || len(faulty) == 0 {
		return nil, err
	}
	var broken []int
	err = faults(before, func(o crosstalk.Observation, found string) bool {
		if at, is := places[keyOf(o)]; is && found == "" && faulty[at].Before == "" && o.NotScored == "" {
			faulty[at].Before = quoted(o)
			broken = append(broken, at)
		}
		return true
	})
	slices.Sort(broken)
	list := make([]Broken, 0, mostBroken)
	for _, at := range broken[:min(len(broken), mostBroken)] {
		list = append(list, faulty[at])
	}
	return list, err
}

// faults calls each with a run's observations of any fault, and the finding, until it returns false.
func faults(path string, each func(o crosstalk.Observation, found string) bool) error {
	m, err := run.ReadManifest(path)
	if err != nil {
		return err
	}
	kind := instrument.Named(m.Plan.Instrument)
	for o, err := range run.ReadObservations(path) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		fault, decides := kind.Fault(o)
		if !decides {
			continue
		}
		found := ""
		if fault.Value == 1 {
			titles := kind.Finding(fault.Finding).Titles
			found = titles[len(titles)-1]
		}
		if !each(fault, found) {
			return nil
		}
	}
	return nil
}

// keyOf is equal for answers to one item asked in the same way, whatever the model and its settings.
func keyOf(o crosstalk.Observation) string {
	return fmt.Sprintf("%q %q %d", o.Item, o.Variant, o.Sample)
}

func quoted(o crosstalk.Observation) string {
	text := ""
	for _, t := range o.Texts {
		if t.Role == crosstalk.Side {
			text = strings.Join(strings.Fields(t.Text), " ")
		}
	}
	if runes := []rune(text); len(runes) > longestQuoted {
		return string(runes[:longestQuoted-1]) + "…"
	}
	return text
}
