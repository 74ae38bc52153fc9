package plot

import (
	"fmt"
	"image/color"
	"math"
)

func hex(c color.RGBA) Ink { return Ink(fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)) }

// onLight is the colour of an ink on a white ground.
func (i Ink) onLight() color.RGBA {
	name := string(i)
	if known, ok := Light[i]; ok {
		name = known
	}
	c := color.RGBA{A: 255}
	fmt.Sscanf(name, "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c
}

// linear undoes the transfer function of sRGB (IEC 61966-2-1).
func linear(c color.RGBA) [3]float64 {
	one := func(v uint8) float64 {
		if x := float64(v) / 255; x > 0.04045 {
			return math.Pow((x+0.055)/1.055, 2.4)
		} else {
			return x / 12.92
		}
	}
	return [3]float64{one(c.R), one(c.G), one(c.B)}
}

// luminance is the relative luminance, 0 to 1 (WCAG 2.2).
func luminance(c color.RGBA) float64 {
	l := linear(c)
	return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
}
