package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// normalQuantile is the inverse of the standard normal distribution.
func normalQuantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// normalCDF keeps its relative precision in the lower tail.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// tUpper is P(T > t) for t >= 0, by the incomplete beta function, which
// keeps its relative precision far out where 1 - CDF does not.
func tUpper(t, df float64) float64 {
	if math.IsInf(df, 1) {
		return normalCDF(-t)
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(df+t*t)) / 2
}

// tTwoSided is P(|T| >= |t|). NaN for NaN.
func tTwoSided(t, df float64) float64 {
	if math.IsNaN(t) || !(df > 0) {
		return math.NaN()
	}
	if math.IsInf(t, 0) {
		return 0
	}
	return math.Min(1, 2*tUpper(math.Abs(t), df))
}

// tQuantile is the inverse of Student's t distribution.
func tQuantile(p, df float64) float64 {
	if math.IsInf(df, 1) {
		return normalQuantile(p)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// betaQuantile is the inverse of the beta distribution.
func betaQuantile(p, a, b float64) float64 { return mathext.InvRegIncBeta(a, b, p) }
