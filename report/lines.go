package report

import (
	"io"
	"strings"

	"crosstalk/internal/visible"

	"github.com/rivo/uniseg"
)

// All tables in a terminal are laid out here: two spaces between columns, by the width that a text takes on the screen,
// with characters made visible that would control a terminal, hide text or turn its direction.
const indent, gap = "  ", "  "

// Line returns a text for a line of a table or a message: line breaks and tabs are spaces, and characters that control
// a terminal, are invisible or turn the direction of text are marks, such as ⟨RLO⟩.
func Line(text string) string { return visible.Line(breaks.Replace(text)) }

var breaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ", "\v", " ", "\f", " ",
	"\u0085", " ", "\u2028", " ", "\u2029", " ")

// Width returns the number of terminal columns that a text takes.
func Width(text string) int { return uniseg.StringWidth(text) }

// Cut returns a text of at most this number of columns; a longer one ends in "…".
func Cut(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	var b strings.Builder
	used, state := 0, -1
	for {
		var cluster string
		var w int
		cluster, text, w, state = uniseg.FirstGraphemeClusterInString(text, state)
		if used += w; used > columns-1 {
			break
		}
		b.WriteString(cluster)
	}
	return strings.TrimRight(b.String(), " ") + "…"
}

// Wrap breaks a text at spaces into lines of at most this number of columns; longer words are cut.
func Wrap(text string, columns int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && Width(line)+1+Width(word) > columns {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + Cut(word, columns))
	}
	return append(lines, line)
}

// Pad joins the cells of a row in columns of these widths, of which the first left have words, the others numbers.
func Pad(cells []string, widths []int, left int) string {
	var b strings.Builder
	for i, cell := range cells {
		space := strings.Repeat(" ", max(0, widths[i]-Width(cell)))
		if i > 0 {
			b.WriteString(gap)
		}
		if i < left {
			b.WriteString(cell + space)
		} else {
			b.WriteString(space + cell)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// columnWidths returns the width of the widest cell of each column. Rows may differ in length.
func columnWidths(rows [][]string) (widths []int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	return widths
}

// WriteRows writes rows of cells as a table without a heading, of which the first left columns have words.
func WriteRows(w io.Writer, rows [][]string, left int) error {
	t := Table{Rows: rows}.Tidy()
	widths := columnWidths(t.Rows)
	var b strings.Builder
	for _, row := range t.Rows {
		b.WriteString(Pad(row, widths, left) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
