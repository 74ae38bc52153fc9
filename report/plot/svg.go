package plot

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"crosstalk/internal/visible"
)

// WriteSVG writes the plot as an SVG document. Named inks are classes (fill-s0, line-ink) besides their colours on
// a white background, so that the style sheet of a page can change them. It has no style attributes and no script.
func (f Plot) WriteSVG(w io.Writer) error {
	out := svg{bufio.NewWriter(w)}
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]s %[2]s" width="%[1]spt" height="%[2]spt" `+
		`role="img" aria-label="%[3]s" font-family="Liberation Sans, Arial, Helvetica, sans-serif">`+
		"\n<title>%[3]s</title>\n", trim(f.Width), trim(f.Height), escape(f.Title))
	if f.Note != "" {
		fmt.Fprintf(out, "<desc>%s</desc>\n", escape(f.Note))
	}
	for _, m := range f.Marks {
		described := m.Title != "" || len(m.Data) > 0
		if described {
			out.WriteString("<g")
			for _, d := range m.Data {
				fmt.Fprintf(out, ` data-%s="%s"`, attribute(d.Name), escape(d.Value))
			}
			fmt.Fprintf(out, "><title>%s</title>", escape(m.Title))
		}
		m.draw(out.path, out.text)
		if described {
			out.WriteString("</g>\n")
		}
	}
	out.WriteString("</svg>\n")
	return out.Flush()
}

type svg struct{ *bufio.Writer }

func (s svg) path(p Path) {
	s.WriteString(`<path d="`)
	for _, line := range p.Lines {
		for i, at := range line {
			command := "L"
			if i == 0 {
				command = "M"
			}
			s.WriteString(command + trim(at.X) + " " + trim(at.Y))
		}
		if p.Closed {
			s.WriteString("Z")
		}
	}
	var classes []string
	colour := func(i Ink, prefix string) string {
		if i == none {
			return "none"
		}
		if _, named := Light[i]; named {
			classes = append(classes, prefix+string(i))
		}
		return string(hex(i.onLight()))
	}
	fmt.Fprintf(s, `" fill="%s"`, colour(p.Fill, "fill-"))
	if p.Stroke != none {
		fmt.Fprintf(s, ` stroke="%s" stroke-width="%s"`, colour(p.Stroke, "line-"), trim(p.Width))
	}
	for i, d := range p.Dash {
		s.WriteString([]string{` stroke-dasharray="`, " "}[min(i, 1)] + trim(d))
	}
	if p.Dash != nil {
		s.WriteString(`"`)
	}
	if classes != nil {
		fmt.Fprintf(s, ` class="%s"`, strings.Join(classes, " "))
	}
	s.WriteString("/>")
}

func (s svg) text(t Text) {
	fmt.Fprintf(s, `<text x="%s" y="%s" font-size="%s"`, trim(t.X), trim(t.Y), trim(t.Size))
	if t.Anchor != Start {
		fmt.Fprintf(s, ` text-anchor="%s"`, []string{"start", "middle", "end"}[t.Anchor])
	}
	if t.Bold {
		s.WriteString(` font-weight="bold"`)
	}
	if t.Turn != 0 {
		fmt.Fprintf(s, ` transform="rotate(%s %s %s)"`, trim(-t.Turn), trim(t.X), trim(t.Y))
	}
	fmt.Fprintf(s, ` fill="%s"`, hex(t.Fill.onLight()))
	if _, named := Light[t.Fill]; named {
		fmt.Fprintf(s, ` class="fill-%s"`, t.Fill)
	}
	fmt.Fprintf(s, ` unicode-bidi="isolate">%s</text>`, escape(t.Text))
}

// trim is a length with at most two decimals.
func trim(x float64) string {
	s := strings.TrimRight(strconv.FormatFloat(x, 'f', 2, 64), "0")
	if s = strings.TrimSuffix(s, "."); s == "-0" {
		return "0"
	}
	return s
}

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

func escape(s string) string { return markup.Replace(visible.Line(s)) }

func attribute(name string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return '-'
	}, name)
}
