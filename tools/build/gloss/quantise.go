package main

import (
	"math"

	"crosstalk/internal/gloss/vectorfile"
)

// quantise returns 4-bit codes of the rows of d. The largest code stands for
// 2.6 standard deviations of the row, and for all beyond.
func quantise(d *dense) []byte {
	const largest = vectorfile.Zero - 1
	codes := make([]byte, d.rows()*vectorfile.Stride)
	parallelRows(d.rows(), func(from, to int) {
		for i := from; i < to; i++ {
			row := d.row(i)
			sum, squares := 0.0, 0.0
			for _, x := range row {
				sum += x
				squares += float64(x * x)
			}
			n := float64(len(row))
			step := 2.6 / largest * math.Sqrt(squares/n-float64(sum/n*(sum/n)))
			for j, x := range row {
				code := vectorfile.Zero + uint8(int8(max(-largest, min(largest, math.Round(x/step)))))
				codes[i*vectorfile.Stride+j/2] |= code << (4 * (j % 2))
			}
		}
	})
	return codes
}
