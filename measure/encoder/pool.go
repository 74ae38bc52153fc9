package encoder

import "math"

// Mean returns the mean over tokens of hidden states of the given width (Reimers and Gurevych 2019, section 3), summed
// in float64.
func Mean(hidden []float32, width int) []float32 {
	sum := make([]float64, width)
	for row := hidden; len(row) > 0; row = row[width:] {
		for i, v := range row[:width] {
			sum[i] += float64(v)
		}
	}
	mean := make([]float32, width)
	n := float64(len(hidden) / width)
	for i, v := range sum {
		mean[i] = float32(v / n)
	}
	return mean
}

// Normalize divides v by its Euclidean length; a zero vector stays as it is.
func Normalize(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
}
