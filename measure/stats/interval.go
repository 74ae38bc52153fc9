package stats

import (
	"fmt"
	"math"
	"strings"

	"crosstalk"
)

// Interval is a two-sided confidence interval.
type Interval = crosstalk.Interval

// undefined is the interval of data without information.
func undefined(level float64, method string) Interval {
	return Interval{Low: math.NaN(), High: math.NaN(), Level: level, Method: method}
}

// Bounds is the range of values, and so of their mean.
type Bounds struct{ Low, High float64 }

var (
	// Proportion bounds shares and rates.
	Proportion = Bounds{0, 1}
	// Difference bounds the difference of two proportions.
	Difference = Bounds{-1, 1}
	// Unbounded has no limits.
	Unbounded = Bounds{math.Inf(-1), math.Inf(1)}
)

// Finite reports whether both ends are finite and in order.
func (b Bounds) Finite() bool {
	return !math.IsInf(b.Low, 0) && !math.IsInf(b.High, 0) && b.Low < b.High
}

func (b Bounds) clip(i Interval) Interval {
	i.Low, i.High = math.Max(i.Low, b.Low), math.Min(i.High, b.High)
	return i
}

// unit maps x from the bounds to [0, 1].
func (b Bounds) unit(x float64) float64 { return (x - b.Low) / (b.High - b.Low) }

// interval is between two points that are mapped from [0, 1] to the bounds.
func (b Bounds) interval(low, high, level float64, method string) Interval {
	return Interval{Low: b.back(low), High: b.back(high), Level: level, Method: method, Range: [2]float64{b.Low, b.High}}
}

// back maps u from [0, 1] to the bounds; it cannot leave them by rounding.
func (b Bounds) back(u float64) float64 {
	return math.Min(math.Max(b.Low+u*(b.High-b.Low), b.Low), b.High)
}

// Code identifies a warning. It is the text that people read, with places for its counts.
type Code string

const (
	Empty         Code = "no observations"
	NotFinite     Code = "%d observations are not finite numbers"
	OutOfBounds   Code = "observations lie outside the stated bounds"
	FewItems      Code = "only %d observations (need at least %d)"
	FewClusters   Code = "only %d clusters (need at least %d)"
	OneCluster    Code = "all observations are in one cluster"
	NoVariation   Code = "no variation between clusters"
	SkippedDraw   Code = "the statistic is undefined in %d resamples"
	UndefinedPart Code = "%d parts have no mean"
	LonePart      Code = "%d of the parts averaged have a single cluster, so no known variance"
)

// Below these counts every method depends on assumptions that the data cannot check.
const (
	MinItems    = 30
	MinClusters = 5
)

// Warning explains why a figure is less reliable. Have is the count at fault,
// Want the required count (0 if there is none).
type Warning struct {
	Code       Code
	Have, Want int
}

func (w Warning) String() string {
	counts := []any{w.Have, w.Want}
	return fmt.Sprintf(string(w.Code), counts[:strings.Count(string(w.Code), "%d")]...)
}

// sizeWarnings are the warnings that follow from counts alone.
func sizeWarnings(items, clusters int) []Warning {
	if items == 0 {
		return []Warning{{Code: Empty}}
	}
	var ws []Warning
	if items < MinItems {
		ws = append(ws, Warning{FewItems, items, MinItems})
	}
	switch {
	case clusters == 1 && items > 1:
		ws = append(ws, Warning{Code: OneCluster, Have: 1, Want: MinClusters})
	case clusters < MinClusters:
		ws = append(ws, Warning{FewClusters, clusters, MinClusters})
	}
	return ws
}

// checkLevel panics on an invalid level, which is a programmer's error.
func checkLevel(level float64) {
	if !(level > 0 && level < 1) {
		panic(fmt.Sprintf("stats: confidence level %v is not between 0 and 1", level))
	}
}
