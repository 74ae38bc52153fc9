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

// WriteSVG writes the plot as an SVG document. Named inks are classes (fill-s0,
// line-ink) besides their colours on a white background, so that the style sheet
// of a page can change them. It has no style attributes and no script.
func (f Plot) WriteSVG(w io.Writer) error {
	out := &svg{bufio.NewWriter(w)}
	width, height := trim(f.Width), trim(f.Height)
	out.print(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 `, width, " ", height, `" width="`, width,
		`pt" height="`, height, `pt" role="img" aria-label="`, escape(f.Title),
		`" font-family="Liberation Sans, Arial, Helvetica, sans-serif"`, ">\n")
	out.print("<title>", escape(f.Title), "</title>\n")
	if f.Note != "" {
		out.print("<desc>", escape(f.Note), "</desc>\n")
	}
	for _, m := range f.Marks {
		described := m.Title != "" || len(m.Data) > 0
		if described {
			out.print("<g")
			for _, d := range m.Data {
				out.print(" data-", attribute(d.Name), `="`, escape(d.Value), `"`)
			}
			out.print("><title>", escape(m.Title), "</title>")
		}
		for _, shape := range m.Shapes {
			shape.draw(out)
		}
		if described {
			out.print("</g>\n")
		}
	}
	out.print("</svg>\n")
	return out.w.Flush()
}

type svg struct{ w *bufio.Writer }

func (s *svg) print(parts ...string) {
	for _, p := range parts {
		s.w.WriteString(p)
	}
}

func (s *svg) path(p Path) {
	s.print(`<path d="`)
	for _, line := range p.Lines {
		for i, at := range line {
			command := "L"
			if i == 0 {
				command = "M"
			}
			s.print(command, trim(at.X), " ", trim(at.Y))
		}
		if p.Closed {
			s.print("Z")
		}
	}
	s.print(`"`)
	var classes []string
	paint := func(attribute string, prefix string, i Ink) {
		if i == none {
			s.print(" ", attribute, `="none"`)
			return
		}
		if _, named := Light[i]; named {
			classes = append(classes, prefix+string(i))
		}
		s.print(" ", attribute, `="`, string(hex(i.onLight())), `"`)
	}
	paint("fill", "fill-", p.Fill)
	if p.Stroke != none {
		paint("stroke", "line-", p.Stroke)
		s.print(` stroke-width="`, trim(p.Width), `"`)
	}
	if p.Dash != nil {
		lengths := ""
		for _, d := range p.Dash {
			lengths += " " + trim(d)
		}
		s.print(` stroke-dasharray="`, lengths[1:], `"`)
	}
	if classes != nil {
		s.print(` class="`, strings.Join(classes, " "), `"`)
	}
	s.print("/>")
}

func (s *svg) text(t Text) {
	s.print(`<text x="`, trim(t.X), `" y="`, trim(t.Y), `" font-size="`, trim(t.Size), `"`)
	if t.Anchor != Start {
		s.print(` text-anchor="`, []string{"start", "middle", "end"}[t.Anchor], `"`)
	}
	if t.Bold {
		s.print(` font-weight="bold"`)
	}
	if t.Turn != 0 {
		s.print(fmt.Sprintf(` transform="rotate(%s %s %s)"`, trim(-t.Turn), trim(t.X), trim(t.Y)))
	}
	s.print(` fill="`, string(hex(t.Fill.onLight())), `"`)
	if _, named := Light[t.Fill]; named {
		s.print(` class="fill-`, string(t.Fill), `"`)
	}
	s.print(` unicode-bidi="isolate">`, escape(t.Text), "</text>")
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

// attribute turns the name of a column into the name of an attribute.
func attribute(name string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return '-'
	}, name)
}
