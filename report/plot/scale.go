package plot

import (
	"math"
	"strconv"
)

// scale is an axis: the range of its values and of their positions.
type scale struct {
	low, high float64
	from, to  float64 // positions
	log       bool
}

func (s scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return s.from + (s.to-s.from)*(min(max(v, low), high)-low)/(high-low)
}

// around returns the scale with round ends that includes all values.
func around(values []float64, from, to float64) scale {
	low, high := ends(values)
	if low > high {
		low, high = 0, 1
	}
	if low == high {
		margin := max(math.Abs(low)*0.1, 0.01)
		low, high = low-margin, high+margin
	}
	step := stepOf(high - low)
	return scale{low: math.Floor(low/step+1e-9) * step, high: math.Ceil(high/step-1e-9) * step, from: from, to: to}
}

// stepOf divides a range into about five steps of 1, 2, 2.5 or 5 times a power of
// 10.
func stepOf(span float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(span/5)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if span/(m*power) <= 5.5 {
			return m * power
		}
	}
	return 10 * power
}

func (s scale) ticks() (values []float64) {
	step := stepOf(s.high - s.low)
	for i := math.Ceil(s.low/step - 1e-9); i*step <= s.high+step*1e-9; i++ {
		values = append(values, i*step)
	}
	return values
}

// tick is the label of a value of a measure; shares are percentages.
func tick(v float64, percent bool) string {
	if percent {
		v *= 100
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6+0, 'g', 6, 64) // + 0: no -0
}

// ends are the least and the largest of the finite values; low is above high if there are none.
func ends(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}
