package plot

// space is the part of a plot in which labels are placed, and what is there.
type space struct {
	left, right, top, bottom float64
	taken                    []box
}

type box struct{ left, right, top, bottom float64 }

type placed struct {
	mark  int
	at    Point
	label string
}

func (s *space) take(shapes []Shape) {
	for _, shape := range shapes {
		path, ok := shape.(Path)
		if !ok {
			continue
		}
		for _, line := range path.Lines {
			b := box{line[0].X, line[0].X, line[0].Y, line[0].Y}
			for _, p := range line {
				b.left, b.right = min(b.left, p.X), max(b.right, p.X)
				b.top, b.bottom = min(b.top, p.Y), max(b.bottom, p.Y)
			}
			s.taken = append(s.taken, b)
		}
	}
}

// place puts a label beside a point: where it hides least, and never outside of the space.
func (s *space) place(text string, at Point) Text {
	t := label(0, 0, text, Start, ink, 130)
	t.Size = small
	w := textWidth(t.Text, small, false)
	var best box
	least := -1.0
	for _, up := range []float64{-3, small + 3, -small - 4, 2*small + 4, -2*small - 6, 3*small + 6} {
		for _, left := range []float64{at.X + 6, at.X - 6 - w} {
			left = max(min(left, s.right-w), s.left)
			b := box{left, left + w, at.Y + up - small, at.Y + up + 2}
			if hidden := s.hidden(b); least < 0 || hidden < least {
				best, least = b, hidden
			}
		}
	}
	s.taken = append(s.taken, best)
	t.X, t.Y = best.left, best.bottom-2
	return t
}

// hidden is the area of a box that covers other things or leaves the space.
func (s *space) hidden(b box) (area float64) {
	const line = 1 // lines have a width
	for _, o := range s.taken {
		across := min(b.right, o.right+line) - max(b.left, o.left-line)
		area += max(0, across) * max(0, min(b.bottom, o.bottom+line)-max(b.top, o.top-line))
	}
	return area + (b.right-b.left)*(max(0, s.top-b.top)+max(0, b.bottom-s.bottom))
}
