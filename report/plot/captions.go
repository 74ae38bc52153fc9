package plot

import (
	"fmt"
	"io"
	"strings"

	"crosstalk/internal/ordered"
	"crosstalk/report"
)

// WriteMarkdown writes a page that shows the SVG files of plots, which it expects beside it, with their captions.
func WriteMarkdown(w io.Writer, plots []Plot) error {
	return writeEach(w, plots, func(p Plot) string {
		return fmt.Sprintf("![%s](%s.svg)\n\n%s\n", report.Markdown(p.Title), p.Name, report.Markdown(p.caption()))
	})
}

// WriteLaTeX writes a figure for each plot, with its caption and label, that includes
// its PDF file. It needs the package graphicx.
func WriteLaTeX(w io.Writer, plots []Plot) error {
	return writeEach(w, plots, func(p Plot) string {
		return fmt.Sprintf("\\begin{figure}\n\\centering\n\\includegraphics{%s.pdf}\n\\caption{%s}\n\\label{fig:%[1]s}\n"+
			"\\end{figure}\n", p.Name, report.LaTeX(p.caption()))
	})
}

func writeEach(w io.Writer, plots []Plot, text func(Plot) string) error {
	_, err := io.WriteString(w, strings.Join(ordered.Map(plots, text), "\n"))
	return err
}

func (p Plot) caption() string {
	return strings.TrimSpace(strings.TrimSuffix(p.Title, ".") + ". " + p.Note)
}
