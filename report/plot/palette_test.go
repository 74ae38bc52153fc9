package plot

import (
	"fmt"
	"image/color"
	"math"
	"testing"
)

type triple [3]float64

// vision are linear transformations of linear RGB: what people see without one
// kind of cones (Machado, Oliveira & Fernandes 2009, table 1, severity 1.0).
var vision = map[string][3]triple{
	"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func colour(name string) color.RGBA { return Ink(name).onLight() }

// lab is CIE L*a*b* of linear sRGB, white D65.
func lab(rgb triple) triple {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124564*rgb[0] + 0.3575761*rgb[1] + 0.1804375*rgb[2]) / 0.95047)
	y := f(0.2126729*rgb[0] + 0.7151522*rgb[1] + 0.0721750*rgb[2])
	z := f((0.0193339*rgb[0] + 0.1191920*rgb[1] + 0.9503041*rgb[2]) / 1.08883)
	return triple{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func seen(c color.RGBA, by [3]triple) triple {
	l, out := linear(c), triple{}
	for i, row := range by {
		out[i] = min(max(row[0]*l[0]+row[1]*l[1]+row[2]*l[2], 0), 1)
	}
	return lab(out)
}

// difference is CIEDE2000 (Sharma, Wu & Dalal 2005).
func difference(p, q triple) float64 {
	const degree = math.Pi / 180
	mean := (math.Hypot(p[1], p[2]) + math.Hypot(q[1], q[2])) / 2
	g := 0.5 * (1 - math.Sqrt(math.Pow(mean, 7)/(math.Pow(mean, 7)+math.Pow(25, 7))))
	polar := func(t triple) (c, h float64) {
		a := t[1] * (1 + g)
		if h = math.Atan2(t[2], a) / degree; h < 0 {
			h += 360
		}
		return math.Hypot(a, t[2]), h
	}
	c1, h1 := polar(p)
	c2, h2 := polar(q)
	turn, hue := h2-h1, (h1+h2)/2
	if c1*c2 == 0 {
		turn, hue = 0, h1+h2
	} else if math.Abs(turn) > 180 {
		turn -= math.Copysign(360, turn)
		hue = math.Mod(hue+180, 360)
	}
	light, chroma := (p[0]+q[0])/2, (c1+c2)/2
	t := 1 - 0.17*math.Cos((hue-30)*degree) + 0.24*math.Cos(2*hue*degree) +
		0.32*math.Cos((3*hue+6)*degree) - 0.20*math.Cos((4*hue-63)*degree)
	sl := 1 + 0.015*(light-50)*(light-50)/math.Sqrt(20+(light-50)*(light-50))
	dl, dc, dh := (q[0]-p[0])/sl, (c2-c1)/(1+0.045*chroma), 2*math.Sqrt(c1*c2)*math.Sin(turn/2*degree)/(1+0.015*chroma*t)
	rt := -math.Sin(60*math.Exp(-math.Pow((hue-275)/25, 2))*degree) * 2 * math.Sqrt(math.Pow(chroma,
		7)/(math.Pow(chroma, 7)+math.Pow(25, 7)))
	return math.Sqrt(dl*dl + dc*dc + dh*dh + rt*dc*dh)
}

// Pairs of Sharma, Wu & Dalal 2005, table 1.
func TestDifference(t *testing.T) {
	for _, c := range []struct {
		p, q triple
		want float64
	}{
		{triple{50, 2.6772, -79.7751}, triple{50, 0, -82.7485}, 2.0425},
		{triple{50, -1.3802, -84.2814}, triple{50, 0, -82.7485}, 1.0000},
		{triple{50, 0, 0}, triple{50, -1, 2}, 2.3669},
		{triple{50, 2.5, 0}, triple{73, 25, -18}, 27.1492},
		{triple{50, 2.5, 0}, triple{61, -5, 29}, 22.8977},
		{triple{2.0776, 0.0795, -1.1350}, triple{0.9033, -0.0636, -0.5514}, 0.9082},
	} {
		if got := difference(c.p, c.q); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%v and %v: %.4f; want %.4f", c.p, c.q, got, c.want)
		}
	}
}

func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Series can be told apart by everybody, in print, and from the ground.
func TestPalette(t *testing.T) {
	for name, inks := range map[string]map[Ink]string{"light": Light, "dark": Dark} {
		ground, closest, nearest := colour(inks[paper]), math.Inf(1), math.Inf(1)
		for i, a := range series {
			if c := contrast(colour(inks[a]), ground); c < 3 {
				t.Errorf("%s: %s has a contrast of %.2f to the ground; WCAG 1.4.11 asks for 3", name, a, c)
			}
			for _, b := range series[:i] {
				for kind, cones := range vision {
					d := difference(seen(colour(inks[a]), cones), seen(colour(inks[b]), cones))
					if closest = min(closest, d); d < 15 {
						t.Errorf("%s: %s and %s differ by %.1f with %s", name, a, b, d, kind)
					}
				}
				d := math.Abs(seen(colour(inks[a]), vision["all cones"])[0] - seen(colour(inks[b]), vision["all cones"])[0])
				if nearest = min(nearest, d); d < 5.5 {
					t.Errorf("%s: the lightness of %s and %s differs by %.1f", name, a, b, d)
				}
			}
		}
		t.Logf("%s: smallest difference %.1f, of lightness %.1f", name, closest, nearest)
		for ink, want := range map[Ink]float64{ink: 7, soft: 4.5} {
			if c := contrast(colour(inks[ink]), ground); c < want {
				t.Errorf("%s: %s has a contrast of %.2f to the ground; want %g", name, ink, c, want)
			}
		}
	}
	signs := map[string]bool{}
	for i := range series {
		signs[fmt.Sprint(hatches[i], len(markers[i]), markers[i][0], dashes[i])] = true
	}
	if len(signs) != len(series) {
		t.Errorf("%d signs of %d series", len(signs), len(series))
	}
}

// Maps get darker with depth, to everybody, and their numbers can be read.
func TestShades(t *testing.T) {
	const steps = 200
	for kind, cones := range vision {
		last := math.Inf(1)
		for i := range steps + 1 {
			ground, _ := shade(float64(i) / steps)
			l := seen(ground.onLight(), cones)[0]
			if l >= last+0.3 { // rounding to 8 bits
				t.Errorf("%s: at %d of %d it gets lighter: %.2f after %.2f", kind, i, steps, l, last)
			}
			last = l
		}
	}
	for i := range steps + 1 {
		ground, text := shade(float64(i) / steps)
		if c := contrast(ground.onLight(), text.onLight()); c < 4.5 {
			t.Errorf("at %d of %d the contrast is %.2f", i, steps, c)
		}
	}
}

// linear undoes the transfer function of sRGB (IEC 61966-2-1).
func linear(c color.RGBA) [3]float64 {
	var l [3]float64
	for i, v := range []uint8{c.R, c.G, c.B} {
		if l[i] = float64(v) / 255; l[i] > 0.04045 {
			l[i] = math.Pow((l[i]+0.055)/1.055, 2.4)
		} else {
			l[i] /= 12.92
		}
	}
	return l
}

// luminance is the relative luminance, 0 to 1 (WCAG 2.2).
func luminance(c color.RGBA) float64 {
	l := linear(c)
	return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
}
