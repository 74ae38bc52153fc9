package plot

import (
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"
)

// face is the font for measuring texts and, except in browsers, for drawing them.
// It has Latin, Greek, Cyrillic and Hebrew letters.
type face struct {
	*sfnt.Font
	buffer sfnt.Buffer
	units  float64
}

// lettering guards the faces, whose buffers are shared.
var lettering sync.Mutex

var faces = sync.OnceValue(func() (f [2]*face) {
	for i, ttf := range [][]byte{liberationsansregular.TTF, liberationsansbold.TTF} {
		parsed, err := sfnt.Parse(ttf)
		if err != nil {
			panic("plot: an embedded font: " + err.Error())
		}
		f[i] = &face{Font: parsed, units: float64(parsed.UnitsPerEm())}
	}
	return f
})

func faceOf(bold bool) *face {
	if bold {
		return faces()[1]
	}
	return faces()[0]
}

// glyph is the index of a rune's glyph in the font, 0 if it has none.
func (f *face) glyph(r rune) sfnt.GlyphIndex {
	g, _ := f.GlyphIndex(&f.buffer, r)
	return g
}

// advance is the width of a glyph, in ems. A letter that is missing from the font is
// one em wide: browsers take it from another font, and images have a box.
func (f *face) advance(g sfnt.GlyphIndex) float64 {
	if g == 0 {
		return 1
	}
	a, err := f.GlyphAdvance(&f.buffer, g, fixed.Int26_6(f.UnitsPerEm()), font.HintingNone)
	if err != nil {
		return 1
	}
	return float64(a) / f.units
}

func (f *face) width(s string) (w float64) {
	for _, r := range s {
		w += f.advance(f.glyph(r))
	}
	return w
}

func textWidth(s string, size float64, bold bool) float64 {
	lettering.Lock()
	defer lettering.Unlock()
	return faceOf(bold).width(s) * size
}

// cut shortens a text to a width, with an ellipsis. A width of 0 means no limit.
func cut(s string, size, most float64) string {
	if most <= 0 || textWidth(s, size, false) <= most {
		return s
	}
	runes := []rune(s)
	if len(runes) > 200 {
		runes = runes[:200]
	}
	for n := len(runes) - 1; n > 0; n-- {
		if t := strings.TrimSpace(string(runes[:n])) + "…"; textWidth(t, size, false) <= most {
			return t
		}
	}
	return "…"
}

// visual puts letters in visual order, from left to right.
func visual(s string) string {
	var p bidi.Paragraph
	p.SetString(s)
	order, err := p.Order()
	if err != nil {
		return s
	}
	var b strings.Builder
	for i := range order.NumRuns() {
		run := order.Run(i)
		if run.Direction() == bidi.RightToLeft {
			b.WriteString(bidi.ReverseString(run.String()))
		} else {
			b.WriteString(run.String())
		}
	}
	return b.String()
}
