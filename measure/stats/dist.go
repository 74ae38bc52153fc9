package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Distributions use only gonum's mathext: its stat/distuv would add linear
// algebra and five seconds to every cold build.

// normalQuantile is the inverse of the standard normal distribution.
func normalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// normalCDF keeps its relative precision in the lower tail.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// tTwoSided is P(|T| >= |t|) for Student's t with df degrees of freedom, with
// its relative precision kept far out. NaN for NaN.
func tTwoSided(t, df float64) float64 {
	switch {
	case math.IsNaN(t) || !(df > 0):
		return math.NaN()
	case math.IsInf(t, 0):
		return 0
	case math.IsInf(df, 1):
		return 2 * normalCDF(-math.Abs(t))
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(df+t*t))
}

// tQuantile is the inverse of Student's t distribution for p >= 1/2.
func tQuantile(p, df float64) float64 {
	if df > 1e4 { // Cornish and Fisher's expansion, where the beta function loses digits
		z := normalQuantile(p)
		z2 := z * z
		return z + z*(z2+1)/(4*df) + z*(5*z2*z2+16*z2+3)/(96*df*df)
	}
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*(1-p)) // df/(df+t^2)
	return math.Sqrt(df * (1 - x) / x)
}

// betaQuantile is the inverse of the beta distribution.
func betaQuantile(p, a, b float64) float64 { return mathext.InvRegIncBeta(a, b, p) }
