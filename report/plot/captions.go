package plot

import (
	"fmt"
	"io"
	"strings"

	"crosstalk/report"
)

// WriteMarkdown writes a page that shows the SVG files of plots, which it expects
// beside it, with their captions.
func WriteMarkdown(w io.Writer, plots []Plot) error {
	var b strings.Builder
	for i, p := range plots {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "![%s](%s.svg)\n\n%s\n", report.Markdown(p.Title), p.Name, report.Markdown(p.caption()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteLaTeX writes a figure for each plot, with its caption and label, that includes
// its PDF file. It needs the package graphicx.
func WriteLaTeX(w io.Writer, plots []Plot) error {
	var b strings.Builder
	for i, p := range plots {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "\\begin{figure}\n\\centering\n\\includegraphics{%s.pdf}\n\\caption{%s}\n\\label{fig:%[1]s}\n\\end{figure}\n", p.Name, report.LaTeX(p.caption()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// caption is what the plot shows and how to read it.
func (p Plot) caption() string {
	return strings.TrimSpace(strings.TrimSuffix(p.Title, ".") + ". " + p.Note)
}
