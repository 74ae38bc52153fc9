package main

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// The vectors must come out the same, bit for bit, on every machine. Two rules see to it:
//
//   - A product that is added to something is written float64(x*y), which
//     forbids the compiler to fuse the two operations, as it does on arm64.
//     Logarithm and exponential, whose library versions differ between
//     machines, are our own; square roots are exact everywhere.
//   - Work is split among goroutines by output, or into blocks that do not
//     depend on the number of processors and are summed in order.

// ln returns the natural logarithm of x > 0, by the series of the inverse hyperbolic tangent.
func ln(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction *= 2
		exponent--
	}
	f := (fraction - 1) / (fraction + 1) // at most 0.172
	square := f * f
	sum := 0.0
	for k := 23; k >= 1; k -= 2 {
		sum = float64(sum*square) + 1/float64(k)
	}
	return float64(2*f*sum) + float64(float64(exponent)*math.Ln2)
}

// exp returns e to the power x, by Taylor's series after reduction.
func exp(x float64) float64 {
	k := math.Floor(x/math.Ln2 + 0.5)
	r := x - float64(k*math.Ln2)
	sum := 1.0
	for n := 16.0; n >= 1; n-- {
		sum = 1 + float64(sum*r)/n
	}
	return math.Ldexp(sum, int(k))
}

// pow returns x to the power y, for x > 0.
func pow(x, y float64) float64 { return exp(float64(y * ln(x))) }

// parallel calls f(0) to f(n-1) on all processors and waits for them.
func parallel(n int, f func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wait.Wait()
}

// blockRows is the number of rows that one call of a parallel loop handles.
const blockRows = 1024

// parallelRows calls f on ranges of at most blockRows rows that cover 0 to n.
func parallelRows(n int, f func(from, to int)) {
	parallel((n+blockRows-1)/blockRows, func(i int) {
		f(i*blockRows, min(n, (i+1)*blockRows))
	})
}
