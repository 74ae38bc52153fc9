package report

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/ordered"
)

// Table is a table for people: a heading, rows and notes.
type Table struct {
	Heading []string   // shared by all rows: "model reference:leaky", ...
	Header  []string   // column titles
	Left    int        // number of columns from the left that contain words
	Rows    [][]string // cells, in the order of Header
	Notes   []string   // signatures and warnings

	Above  [][]Span // titles over several columns, above Header: the top level first
	Breaks []int    // rows that start a new group
	Bold   []Place  // the best cells: marked if the format can

	Caption string // of a table in LaTeX; empty: Heading
	Label   string // of a table in LaTeX; empty: none
}

// Span is a title over adjacent columns.
type Span struct {
	Title   string
	Columns int
}

// Place is a cell of Table.Rows.
type Place struct{ Row, Column int }

func (t Table) bold(row, column int) bool { return slices.Contains(t.Bold, Place{row, column}) }

var layouts = map[string]func(Table) string{"table": Table.text, "markdown": Table.markdown, "latex": Table.latex}

// WriteTable writes a table as "table", "markdown" or "latex". Its texts are lines (Line).
func WriteTable(w io.Writer, format string, t Table) error { return WriteTables(w, format, []Table{t}) }

// WriteTables writes several tables as WriteTable does.
func WriteTables(w io.Writer, format string, tables []Table) error {
	layout, ok := layouts[format]
	if !ok {
		return cmp.Or(CheckFormat(format),
			fmt.Errorf("tables are not written as %s; expected table, markdown or latex", format))
	}
	texts := ordered.Map(tables, func(t Table) string { return layout(t.Tidy()) })
	_, err := io.WriteString(w, strings.Join(texts, "\n"))
	return err
}

var firstNumber = regexp.MustCompile(`\d+`)

// Warnings merges warnings of the same kind into one that names the rows and, if the warning has a number, the range
// of its first number. of[i] are the warnings of the row called rows[i].
func Warnings(rows []string, of [][]string) (list []string) {
	const maxNamed = 8 // the most rows that a warning names
	type warning struct {
		row, text, kind string
		number          int
	}
	var all []warning
	for i, warnings := range of {
		for _, text := range warnings {
			w := warning{row: rows[i], text: text, kind: text}
			if at := firstNumber.FindStringIndex(text); at != nil {
				w.number, _ = strconv.Atoi(text[at[0]:at[1]])
				w.kind = text[:at[0]] + "#" + text[at[1]:]
			}
			all = append(all, w)
		}
	}
	byNumber := func(a, b warning) int { return a.number - b.number }
	for _, alike := range ordered.Groups(all, func(w warning) string { return w.kind }) {
		text, named := alike[0].text, ordered.Map(alike, func(w warning) string { return w.row })
		low, top := slices.MinFunc(alike, byNumber).number, slices.MaxFunc(alike, byNumber).number
		if at := firstNumber.FindStringIndex(text); at != nil && low < top {
			text = fmt.Sprintf("%s%d to %d%s", text[:at[0]], low, top, text[at[1]:])
		}
		switch n := len(named); {
		case n == len(rows) && n > 1:
			named = []string{"every row"}
		case n > maxNamed:
			named = append(named[:maxNamed:maxNamed], fmt.Sprintf("and %d more rows", n-maxNamed))
		}
		list = append(list, fmt.Sprintf("warning: %s: %s", strings.Join(named, ", "), text))
	}
	return list
}

// LaTeX escapes a text for LaTeX.
func LaTeX(text string) string { return latexText(Line(text)) }

// latexText escapes a line for LaTeX, which has no pictures of control characters (␛).
func latexText(line string) string {
	return latexEscape.Replace(strings.Map(func(r rune) rune {
		if r >= '␀' && r <= '␡' {
			return ' '
		}
		return r
	}, line))
}

// Markdown escapes a text for markdown.
func Markdown(text string) string { return markdownEscape.Replace(Line(text)) }

func (t Table) text() string {
	var b strings.Builder
	if len(t.Heading) > 0 {
		b.WriteString(strings.Join(t.Heading, " · ") + "\n\n")
	}
	rows := append([][]string{t.Header}, t.Rows...)
	widths := columnWidths(rows)
	for _, spans := range t.Above { // the spans' titles must fit
		at := 0
		for _, s := range spans {
			widths[at] += max(0, Width(s.Title)-spanWidth(widths[at:at+s.Columns]))
			at += s.Columns
		}
	}
	for _, spans := range t.Above {
		b.WriteString(indent + strings.TrimRight(above(spans, widths), " ") + "\n")
	}
	for r, row := range rows {
		if slices.Contains(t.Breaks, r-1) {
			b.WriteString("\n")
		}
		b.WriteString(strings.TrimRight(indent+Pad(row, widths, t.Left), " ") + "\n")
	}
	b.WriteString("\n")
	for _, n := range t.Notes {
		b.WriteString(indent + n + "\n")
	}
	return b.String()
}

func spanWidth(widths []int) (sum int) {
	for _, w := range widths {
		sum += w + len(gap)
	}
	return sum - len(gap)
}

func above(spans []Span, widths []int) string {
	var parts []string
	at := 0
	for _, s := range spans {
		space := spanWidth(widths[at:at+s.Columns]) - Width(s.Title)
		left := space / 2
		if s.Columns == 1 {
			left = space
		}
		parts = append(parts, strings.Repeat(" ", left)+s.Title+strings.Repeat(" ", space-left))
		at += s.Columns
	}
	return strings.Join(parts, gap)
}

// titles returns the titles of columns in one line, including those above them.
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

var markdownEscape = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "~", `\~`)

func (t Table) markdown() string {
	var b strings.Builder
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
	b.WriteString(strings.Repeat("| --- ", t.Left) + strings.Repeat("| ---: ", len(t.Header)-t.Left) + "|\n")
	for r, row := range t.Rows {
		writeRow(r, row)
	}
	b.WriteString("\n")
	for _, n := range t.Notes {
		b.WriteString("- " + markdownEscape.Replace(n) + "\n")
	}
	return b.String()
}

var latexEscape = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "_", `\_`, "%", `\%`, "&", `\&`,
	"#", `\#`, "$", `\$`, "^", `\textasciicircum{}`, "~", `\textasciitilde{}`, "<", `\textless{}`, ">", `\textgreater{}`,
	"|", `\textbar{}`, "·", `$\cdot$`, "⟨", `$\langle$`, "⟩", `$\rangle$`,
	"[", "{[}", "*", "{*}") // LaTeX would read these two after a row's \\ as options

var (
	minus = regexp.MustCompile(`-(\d)`)
	power = regexp.MustCompile(`(\d)e-0*(\d+)`)
)

// latexNumber formats an interval without signs with an en dash, and a minus sign and powers of ten in math mode.
func latexNumber(s string) string {
	if power.MatchString(s) {
		return power.ReplaceAllString(s, `$$$1\cdot 10^{-$2}$$`)
	}
	if !strings.ContainsAny(s, "+-") {
		return strings.ReplaceAll(s, " to ", "--")
	}
	return minus.ReplaceAllString(s, "$$-$$$1")
}

// latex lays out a table with booktabs.
func (t Table) latex() string {
	var b strings.Builder
	for _, n := range t.Notes {
		b.WriteString("% " + n + "\n")
	}
	b.WriteString("\\begin{table}\n\\centering\n")
	caption := strings.Join(t.Heading, " · ")
	if t.Caption != "" {
		caption = strings.TrimSuffix(t.Caption, ".") + "."
	}
	fmt.Fprintf(&b, "\\caption{%s}\n", latexText(caption))
	if t.Label != "" {
		fmt.Fprintf(&b, "\\label{%s}\n", t.Label)
	}
	fmt.Fprintf(&b, "\\begin{tabular}{%s%s}\n\\toprule\n", t.latexWords(), strings.Repeat("r", len(t.Header)-t.Left))
	for _, spans := range t.Above {
		b.WriteString(latexSpans(spans))
	}
	writeRow := func(row int, cells []string) {
		escaped := make([]string, len(cells))
		for i, c := range cells {
			if escaped[i] = latexText(c); i >= t.Left && row >= 0 {
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
	return b.String()
}

// latexWords returns the column types for columns of words: those with cells longer than names share the line's
// width.
func (t Table) latexWords() string {
	kinds := slices.Repeat([]string{"l"}, t.Left)
	var long []int
	for i := range t.Left {
		if slices.ContainsFunc(t.Rows, func(row []string) bool { return tooLong(row[i], 2*maxName) }) {
			long = append(long, i)
		}
	}
	for _, i := range long {
		kinds[i] = fmt.Sprintf(`p{%.2f\linewidth}`, 0.8/float64(len(long)))
	}
	return strings.Join(kinds, "")
}

// latexSpans returns a row of titles over columns, with a rule below each title over several.
func latexSpans(spans []Span) string {
	var cells, rules []string
	at := 1
	for _, s := range spans {
		switch {
		case s.Title == "":
			cells = append(cells, strings.Repeat(" & ", s.Columns-1))
		case s.Columns == 1:
			cells = append(cells, latexText(s.Title))
		default:
			cells = append(cells, fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, s.Columns, latexText(s.Title)))
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

// Tidy makes the texts of a table safe to print (Line).
func (t Table) Tidy() Table {
	tidied := func(texts []string) []string { return ordered.Map(texts, Line) }
	t.Heading, t.Header, t.Notes = tidied(t.Heading), tidied(t.Header), tidied(t.Notes)
	t.Caption, t.Label = Line(t.Caption), Line(t.Label)
	t.Rows = ordered.Map(t.Rows, tidied)
	t.Above = ordered.Map(t.Above, func(spans []Span) []Span {
		return ordered.Map(spans, func(s Span) Span { return Span{Line(s.Title), s.Columns} })
	})
	return t
}
