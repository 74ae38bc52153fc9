package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk"
)

func writeTable(w io.Writer, tables []Table) error {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(strings.Join(t.Heading, " · ") + "\n\n")
		widths := make([]int, len(t.Header))
		for _, row := range append([][]string{t.Header}, t.Rows...) {
			for c, cell := range row {
				widths[c] = max(widths[c], utf8.RuneCountInString(cell))
			}
		}
		for _, row := range append([][]string{t.Header}, t.Rows...) {
			var line strings.Builder
			for c, cell := range row {
				pad := strings.Repeat(" ", widths[c]-utf8.RuneCountInString(cell))
				if c > 0 {
					line.WriteString("  ")
				}
				if c < t.Left {
					line.WriteString(cell + pad)
				} else {
					line.WriteString(pad + cell)
				}
			}
			b.WriteString("  " + strings.TrimRight(line.String(), " ") + "\n")
		}
		b.WriteString("\n")
		for _, n := range t.Notes {
			b.WriteString("  " + n + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var markdownEscape = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "~", `\~`)

func writeMarkdown(w io.Writer, tables []Table) error {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "**%s**\n\n", markdownEscape.Replace(strings.Join(t.Heading, " · ")))
		writeRow := func(cells []string) {
			for _, c := range cells {
				b.WriteString("| " + markdownEscape.Replace(c) + " ")
			}
			b.WriteString("|\n")
		}
		writeRow(t.Header)
		for c := range t.Header {
			if c < t.Left {
				b.WriteString("| --- ")
			} else {
				b.WriteString("| ---: ")
			}
		}
		b.WriteString("|\n")
		for _, row := range t.Rows {
			writeRow(row)
		}
		b.WriteString("\n")
		for _, n := range t.Notes {
			b.WriteString("- " + markdownEscape.Replace(n) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var latexEscape = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "_", `\_`, "%", `\%`, "&", `\&`, "#", `\#`, "$", `\$`,
	"^", `\textasciicircum{}`, "~", `\textasciitilde{}`, "<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, "·", `$\cdot$`,
	"[", "{[}", "*", "{*}") // after a row's \\, LaTeX would read these two as options

var minus = regexp.MustCompile(`-(\d)`)

// latexNumber writes an interval without signs with an en dash, and a minus sign
// in math mode.
func latexNumber(s string) string {
	if !strings.ContainsAny(s, "+-") {
		return strings.ReplaceAll(s, " to ", "--")
	}
	return minus.ReplaceAllString(s, "$$-$$$1")
}

// writeLaTeX writes booktabs tables.
func writeLaTeX(w io.Writer, tables []Table) error {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, n := range t.Notes {
			b.WriteString("% " + n + "\n")
		}
		b.WriteString("\\begin{table}\n\\centering\n")
		fmt.Fprintf(&b, "\\caption{%s}\n", latexEscape.Replace(strings.Join(t.Heading, " · ")))
		fmt.Fprintf(&b, "\\begin{tabular}{%s%s}\n\\toprule\n", strings.Repeat("l", t.Left), strings.Repeat("r", len(t.Header)-t.Left))
		writeRow := func(cells []string) {
			escaped := make([]string, len(cells))
			for i, c := range cells {
				if escaped[i] = latexEscape.Replace(c); i >= t.Left {
					escaped[i] = latexNumber(escaped[i])
				}
			}
			b.WriteString(strings.Join(escaped, " & ") + ` \\` + "\n")
		}
		writeRow(t.Header)
		b.WriteString("\\midrule\n")
		for _, row := range t.Rows {
			writeRow(row)
		}
		b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tidy replaces control characters by spaces. Untrusted names may contain them,
// and a terminal, a table row or a comment would interpret them.
func (t Table) tidy() Table {
	tidied := func(texts []string) []string {
		texts = slices.Clone(texts)
		for i, text := range texts {
			texts[i] = plain(text)
		}
		return texts
	}
	t.Heading, t.Header, t.Notes, t.Rows = tidied(t.Heading), tidied(t.Header), tidied(t.Notes), slices.Clone(t.Rows)
	for i, row := range t.Rows {
		t.Rows[i] = tidied(row)
	}
	return t
}

func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

// writeCSV writes one line per estimate, with a column for every key and count
// that occurs.
func writeCSV(w io.Writer, estimates []crosstalk.Estimate) error {
	by := ByColumns(estimates)
	units := slices.ContainsFunc(estimates, func(e crosstalk.Estimate) bool { return e.Unit != "" })
	counts := map[string]bool{}
	for _, e := range estimates {
		for c := range e.Counts {
			counts[c] = true
		}
	}
	var countColumns []string
	for c := range counts {
		countColumns = append(countColumns, c)
	}
	slices.Sort(countColumns)
	out := csv.NewWriter(w)
	value := []string{"value"}
	if units {
		value = append(value, "unit")
	}
	out.Write(slices.Concat([]string{"measure"}, by, value,
		[]string{"low", "high", "level", "method", "n", "observations", "clusters"}, countColumns,
		[]string{"p", "effect", "signature", "warnings"}))
	for _, e := range estimates {
		record := []string{e.Measure}
		for _, c := range by {
			record = append(record, e.By[c])
		}
		record = append(record, Number(e.Value))
		if units {
			record = append(record, e.Unit)
		}
		if i := e.Interval; i != nil {
			record = append(record, Number(crosstalk.Value(i.Low)), Number(crosstalk.Value(i.High)), Number(crosstalk.Value(i.Level)), i.Method)
		} else {
			record = append(record, "", "", "", "")
		}
		record = append(record, strconv.Itoa(e.N), strconv.Itoa(e.Observations), strconv.Itoa(e.Clusters))
		for _, c := range countColumns {
			record = append(record, strconv.Itoa(e.Counts[c]))
		}
		p, effect := "", ""
		if e.Test != nil {
			p = Number(e.Test.P)
		}
		if e.Effect != nil {
			effect = Number(e.Effect.Value)
		}
		out.Write(append(record, p, effect, e.Signature, strings.Join(e.Warnings, "; ")))
	}
	out.Flush()
	return out.Error()
}
