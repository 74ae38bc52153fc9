package plot

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"
	"crosstalk/report"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
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

// trim formats a length with at most two decimals.
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

// WritePDF writes the plot as a page of its size. Texts are outlines.
func (f Plot) WritePDF(w io.Writer) error {
	c := vgpdf.New(vg.Length(f.Width), vg.Length(f.Height))
	f.paint(c)
	_, err := c.WriteTo(w)
	return err
}

func (f Plot) paint(c vg.Canvas) {
	on := page{c, f.Height}
	on.path(rectangle(0, 0, f.Width, f.Height, paper))
	for _, m := range f.Marks {
		m.draw(on.path, on.text)
	}
}

// page is a PDF canvas, whose y axis points upwards.
type page struct {
	vg.Canvas
	height float64
}

func (c page) up(p Point) vg.Point { return vg.Point{X: vg.Length(p.X), Y: vg.Length(c.height - p.Y)} }

func (c page) path(p Path) {
	var path vg.Path
	for _, line := range p.Lines {
		path.Move(c.up(line[0]))
		for _, at := range line[1:] {
			path.Line(c.up(at))
		}
		if p.Closed {
			path.Close()
		}
	}
	if p.Fill != none {
		c.SetColor(p.Fill.onLight())
		c.Fill(path)
	}
	if p.Stroke != none {
		c.SetColor(p.Stroke.onLight())
		c.SetLineWidth(vg.Length(p.Width))
		c.SetLineDash(ordered.Map(p.Dash, func(d float64) vg.Length { return vg.Length(d) }), 0)
		c.Stroke(path)
	}
}

// text fills the outlines of letters. It leaves shaping, as for Arabic, to browsers: the font lacks such letters.
func (c page) text(t Text) {
	lettering.Lock()
	defer lettering.Unlock()
	f, text := faces()[t.Bold], visual(t.Text)
	sin, cos := math.Sincos(t.Turn * math.Pi / 180)
	at := func(x, y float64) vg.Point { // from the anchor, along the text and downwards
		return c.up(Point{t.X + x*cos + y*sin, t.Y - x*sin + y*cos})
	}
	x := -f.width(text) * t.Size * float64(t.Anchor) / 2
	var path vg.Path
	for _, r := range text {
		x += f.outline(&path, f.glyph(r), x, t.Size, at)
	}
	c.SetColor(t.Fill.onLight())
	c.Fill(path)
}

// outline adds a glyph to a path and returns the position after it.
func (f *face) outline(path *vg.Path, g sfnt.GlyphIndex, x, size float64, at func(x, y float64) vg.Point) float64 {
	segments, err := f.LoadGlyph(&f.buffer, g, fixed.Int26_6(f.UnitsPerEm()), nil)
	if err != nil {
		return 0
	}
	place := func(p fixed.Point26_6) vg.Point {
		return at(x+float64(p.X)/f.units*size, float64(p.Y)/f.units*size)
	}
	for i, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				path.Close()
			}
			path.Move(place(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(place(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(place(s.Args[0]), place(s.Args[1]))
		}
	}
	if len(segments) > 0 {
		path.Close()
	}
	return f.advance(g) * size
}

// WriteMarkdown writes a page that shows the SVG files of plots, which must be beside it, with captions.
func WriteMarkdown(w io.Writer, plots []Plot) error {
	return writeEach(w, plots, func(p Plot) string {
		return fmt.Sprintf("![%s](%s.svg)\n\n%s\n", report.Markdown(p.Title), p.Name, report.Markdown(p.caption()))
	})
}

// WriteLaTeX writes a figure for each plot that includes its PDF file. It needs the package graphicx.
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
