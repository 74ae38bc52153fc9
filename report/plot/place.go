package plot

// room is the part of a plot in which labels are placed, and what is there.
type room struct {
	left, right, top, bottom float64
	taken                    []box
}

// box is an upright rectangle.
type box struct{ left, right, top, bottom float64 }

// placed is a label of a mark at a point.
type placed struct {
	mark  int
	at    Point
	label string
}

// take reserves the place of some shapes.
func (r *room) take(shapes []Shape) {
	for _, s := range shapes {
		path, ok := s.(Path)
		if !ok {
			continue
		}
		for _, line := range path.Lines {
			b := box{line[0].X, line[0].X, line[0].Y, line[0].Y}
			for _, p := range line {
				b.left, b.right = min(b.left, p.X), max(b.right, p.X)
				b.top, b.bottom = min(b.top, p.Y), max(b.bottom, p.Y)
			}
			r.taken = append(r.taken, b)
		}
	}
}

// place puts a label beside a point: where it hides least, and never outside of
// the room.
func (r *room) place(text string, at Point) Text {
	t := label(0, 0, text, Start, ink, 130)
	t.Size = small
	w := textWidth(t.Text, small, false)
	var best box
	least := -1.0
	for _, up := range []float64{-3, small + 3, -small - 4, 2*small + 4, -2*small - 6, 3*small + 6} {
		for _, left := range []float64{at.X + 6, at.X - 6 - w} {
			left = max(min(left, r.right-w), r.left)
			b := box{left, left + w, at.Y + up - small, at.Y + up + 2}
			if hidden := r.hidden(b); least < 0 || hidden < least {
				best, least = b, hidden
			}
		}
	}
	r.taken = append(r.taken, best)
	t.X, t.Y = best.left, best.bottom-2
	return t
}

// hidden is the area that a box shares with what is there, and that is outside of
// the room.
func (r *room) hidden(b box) (area float64) {
	const line = 1 // lines have a width
	for _, o := range r.taken {
		across := min(b.right, o.right+line) - max(b.left, o.left-line)
		area += max(0, across) * max(0, min(b.bottom, o.bottom+line)-max(b.top, o.top-line))
	}
	return area + (b.right-b.left)*(max(0, r.top-b.top)+max(0, b.bottom-r.bottom))
}
