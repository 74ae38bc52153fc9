package plot

import (
	"io"
	"math"

	"crosstalk/internal/ordered"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// WritePDF writes the plot as a page of the plot's size. Texts are outlines.
func (f Plot) WritePDF(w io.Writer) error {
	c := vgpdf.New(vg.Length(f.Width), vg.Length(f.Height))
	f.paint(c)
	_, err := c.WriteTo(w)
	return err
}

// WritePNG writes the plot as an image with 300 dots per inch.
func (f Plot) WritePNG(w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(f.Width), vg.Length(f.Height)), vgimg.UseDPI(300))
	f.paint(c)
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

func (f Plot) paint(c vg.Canvas) {
	on := page{c, f.Height}
	on.path(rectangle(0, 0, f.Width, f.Height, paper))
	for _, m := range f.Marks {
		m.draw(on.path, on.text)
	}
}

// page is a canvas of PDF or PNG, whose y axis points upwards.
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

// text fills the outlines of the text's letters. Shaping, which Arabic and Indic
// scripts need, is left to browsers: the font has none of their letters.
func (c page) text(t Text) {
	lettering.Lock()
	defer lettering.Unlock()
	f, text := faceOf(t.Bold), visual(t.Text)
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

// outline adds a glyph to a path and returns how far it reaches.
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
