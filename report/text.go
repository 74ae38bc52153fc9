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
		if len(t.Heading) > 0 {
			b.WriteString(strings.Join(t.Heading, " · ") + "\n\n")
		}
		widths := make([]int, len(t.Header))
		for _, row := range append([][]string{t.Header}, t.Rows...) {
			for c, cell := range row {
				widths[c] = max(widths[c], utf8.RuneCountInString(cell))
			}
		}
		t.widen(widths)
		for _, spans := range t.Above {
			b.WriteString("  " + strings.TrimRight(t.above(spans, widths), " ") + "\n")
		}
		for r, row := range append([][]string{t.Header}, t.Rows...) {
			if slices.Contains(t.Breaks, r-1) {
				b.WriteString("\n")
			}
			var line strings.Builder
			for c, cell := range row {
				pad := strings.Repeat(" ", widths[c]-utf8.RuneCountInString(cell))
				if c > 0 {
					line.WriteString(strings.Repeat(" ", gap))
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

// gap is the space between columns.
const gap = 2

// spanWidth is the width of columns next to each other.
func spanWidth(widths []int) (sum int) {
	for _, w := range widths {
		sum += w + gap
	}
	return sum - gap
}

// widen makes room for the titles above columns.
func (t Table) widen(widths []int) {
	for _, spans := range t.Above {
		at := 0
		for _, s := range spans {
			if missing := utf8.RuneCountInString(s.Title) - spanWidth(widths[at:at+s.Columns]); missing > 0 {
				widths[at] += missing
			}
			at += s.Columns
		}
	}
}

// above centres titles over their columns.
func (t Table) above(spans []Span, widths []int) string {
	var parts []string
	at := 0
	for _, s := range spans {
		room := spanWidth(widths[at:at+s.Columns]) - utf8.RuneCountInString(s.Title)
		left := room / 2
		if s.Columns == 1 {
			left = room
		}
		parts = append(parts, strings.Repeat(" ", left)+s.Title+strings.Repeat(" ", room-left))
		at += s.Columns
	}
	return strings.Join(parts, strings.Repeat(" ", gap))
}

// titles are the titles of columns in one line, with those above them.
func (t Table) titles() []string {
	titles := slices.Clone(t.Header)
	for i := range t.Above {
		at := 0
		for _, s := range t.Above[len(t.Above)-1-i] {
			for c := at; c < at+s.Columns; c++ {
				titles[c] = strings.TrimSpace(s.Title + " " + titles[c])
			}
			at += s.Columns
		}
	}
	return titles
}

var markdownEscape = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "~", `\~`)

func writeMarkdown(w io.Writer, tables []Table) error {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		if len(t.Heading) > 0 {
			fmt.Fprintf(&b, "**%s**\n\n", markdownEscape.Replace(strings.Join(t.Heading, " · ")))
		}
		writeRow := func(row int, cells []string) {
			for c, cell := range cells {
				if cell = markdownEscape.Replace(cell); t.bold(row, c) {
					cell = "**" + cell + "**"
				}
				b.WriteString("| " + cell + " ")
			}
			b.WriteString("|\n")
		}
		writeRow(-1, t.titles())
		for c := range t.Header {
			if c < t.Left {
				b.WriteString("| --- ")
			} else {
				b.WriteString("| ---: ")
			}
		}
		b.WriteString("|\n")
		for r, row := range t.Rows {
			writeRow(r, row)
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

var (
	minus = regexp.MustCompile(`-(\d)`)
	power = regexp.MustCompile(`(\d)e-0*(\d+)`)
)

// latexNumber writes an interval without signs with an en dash, and a minus sign and
// powers of ten in math mode.
func latexNumber(s string) string {
	if power.MatchString(s) {
		return power.ReplaceAllString(s, `$$$1\cdot 10^{-$2}$$`)
	}
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
		caption := t.Caption
		if caption == "" {
			caption = strings.Join(t.Heading, " · ")
		} else {
			caption = strings.TrimSuffix(caption, ".") + "."
		}
		fmt.Fprintf(&b, "\\caption{%s}\n", latexEscape.Replace(caption))
		if t.Label != "" {
			fmt.Fprintf(&b, "\\label{%s}\n", t.Label)
		}
		fmt.Fprintf(&b, "\\begin{tabular}{%s%s}\n\\toprule\n", strings.Repeat("l", t.Left), strings.Repeat("r", len(t.Header)-t.Left))
		for _, spans := range t.Above {
			b.WriteString(latexSpans(spans))
		}
		writeRow := func(row int, cells []string) {
			escaped := make([]string, len(cells))
			for i, c := range cells {
				if escaped[i] = latexEscape.Replace(c); i >= t.Left && row >= 0 {
					escaped[i] = latexNumber(escaped[i])
				}
				if t.bold(row, i) {
					escaped[i] = `\textbf{` + escaped[i] + "}"
				}
			}
			b.WriteString(strings.Join(escaped, " & ") + ` \\` + "\n")
		}
		writeRow(-1, t.Header)
		b.WriteString("\\midrule\n")
		for r, row := range t.Rows {
			if slices.Contains(t.Breaks, r) {
				b.WriteString("\\midrule\n")
			}
			writeRow(r, row)
		}
		b.WriteString("\\bottomrule\n\\end{tabular}\n\\end{table}\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// latexSpans is a row of titles over columns, with a rule below each of several
// columns.
func latexSpans(spans []Span) string {
	var cells, rules []string
	at := 1
	for _, s := range spans {
		switch {
		case s.Title == "":
			cells = append(cells, strings.Repeat(" & ", s.Columns-1))
		case s.Columns == 1:
			cells = append(cells, latexEscape.Replace(s.Title))
		default:
			cells = append(cells, fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, s.Columns, latexEscape.Replace(s.Title)))
			rules = append(rules, fmt.Sprintf(`\cmidrule(lr){%d-%d}`, at, at+s.Columns-1))
		}
		at += s.Columns
	}
	row := strings.Join(cells, " & ") + ` \\` + "\n"
	if rules != nil {
		row += strings.Join(rules, " ") + "\n"
	}
	return row
}

// Tidy replaces control characters by spaces. Untrusted names may contain them,
// and a terminal, a table row or a comment would interpret them.
func (t Table) Tidy() Table {
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
	t.Caption, t.Label = plain(t.Caption), plain(t.Label)
	t.Above = slices.Clone(t.Above)
	for i, spans := range t.Above {
		t.Above[i] = slices.Clone(spans)
		for j := range spans {
			t.Above[i][j].Title = plain(spans[j].Title)
		}
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
