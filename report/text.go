package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/internal/ordered"
)

func (t Table) text() string {
	var b strings.Builder
	if len(t.Heading) > 0 {
		b.WriteString(strings.Join(t.Heading, " · ") + "\n\n")
	}
	all := append([][]string{t.Header}, t.Rows...)
	widths := make([]int, len(t.Header))
	for _, row := range all {
		for c, cell := range row {
			widths[c] = max(widths[c], utf8.RuneCountInString(cell))
		}
	}
	for _, spans := range t.Above { // their titles must fit
		at := 0
		for _, s := range spans {
			widths[at] += max(0, utf8.RuneCountInString(s.Title)-spanWidth(widths[at:at+s.Columns]))
			at += s.Columns
		}
	}
	for _, spans := range t.Above {
		b.WriteString("  " + strings.TrimRight(above(spans, widths), " ") + "\n")
	}
	for r, row := range all {
		if slices.Contains(t.Breaks, r-1) {
			b.WriteString("\n")
		}
		cells := make([]string, len(row))
		for c, cell := range row {
			pad := strings.Repeat(" ", widths[c]-utf8.RuneCountInString(cell))
			if cells[c] = cell + pad; c >= t.Left {
				cells[c] = pad + cell
			}
		}
		b.WriteString("  " + strings.TrimRight(strings.Join(cells, strings.Repeat(" ", gap)), " ") + "\n")
	}
	b.WriteString("\n")
	for _, n := range t.Notes {
		b.WriteString("  " + n + "\n")
	}
	return b.String()
}

const gap = 2

func spanWidth(widths []int) (sum int) {
	for _, w := range widths {
		sum += w + gap
	}
	return sum - gap
}

func above(spans []Span, widths []int) string {
	var parts []string
	at := 0
	for _, s := range spans {
		space := spanWidth(widths[at:at+s.Columns]) - utf8.RuneCountInString(s.Title)
		left := space / 2
		if s.Columns == 1 {
			left = space
		}
		parts = append(parts, strings.Repeat(" ", left)+s.Title+strings.Repeat(" ", space-left))
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
	"|", `\textbar{}`, "·", `$\cdot$`,
	"[", "{[}", "*", "{*}") // after a row's \\, LaTeX would read these two as options

var (
	minus = regexp.MustCompile(`-(\d)`)
	power = regexp.MustCompile(`(\d)e-0*(\d+)`)
)

// latexNumber writes an interval without signs with an en dash, and a minus sign and powers of ten in math mode.
func latexNumber(s string) string {
	if power.MatchString(s) {
		return power.ReplaceAllString(s, `$$$1\cdot 10^{-$2}$$`)
	}
	if !strings.ContainsAny(s, "+-") {
		return strings.ReplaceAll(s, " to ", "--")
	}
	return minus.ReplaceAllString(s, "$$-$$$1")
}

// latex lays out a table of booktabs.
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
	fmt.Fprintf(&b, "\\caption{%s}\n", latexEscape.Replace(caption))
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
	return b.String()
}

// latexWords are the kinds of the columns that contain words: those with longer cells than
// names share the line's width.
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

// latexSpans is a row of titles over columns, with a rule below each of several columns.
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
	tidied := func(texts []string) []string { return ordered.Map(texts, plain) }
	t.Heading, t.Header, t.Notes = tidied(t.Heading), tidied(t.Header), tidied(t.Notes)
	t.Caption, t.Label = plain(t.Caption), plain(t.Label)
	t.Rows = ordered.Map(t.Rows, tidied)
	t.Above = ordered.Map(t.Above, func(spans []Span) []Span {
		return ordered.Map(spans, func(s Span) Span { return Span{plain(s.Title), s.Columns} })
	})
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
