package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Wilson is Wilson's (1927) score interval of a proportion of x successes in n independent trials; x need not be
// whole. Always inside [0, 1]. Undefined unless n > 0 and 0 <= x <= n. As in statsmodels proportion_confint
// "wilson" and R prop.test(correct=FALSE).
func Wilson(x, n, level float64) Interval {
	checkLevel(level)
	if !(n > 0 && x >= 0 && x <= n) {
		return undefined(level, methodWilson)
	}
	z := NormalQuantile((1 + level) / 2)
	p := x / n
	z2 := z * z / n
	mid := (p + z2/2) / (1 + z2)
	half := z / (1 + z2) * math.Sqrt(p*(1-p)/n+z2/(4*n))
	i := Interval{Low: mid - half, High: mid + half, Level: level, Method: methodWilson}
	// At the ends the formula is exact but for rounding.
	if x == 0 {
		i.Low = 0
	}
	if x == n {
		i.High = 1
	}
	return Proportion.clip(i)
}

// ClopperPearson is the exact interval (Clopper and Pearson 1934) of a proportion of x successes in n independent
// trials: it covers at least level. x and n need not be whole, for use with an effective n (Korn and Graubard
// 1998). Undefined unless n > 0 and 0 <= x <= n. As in statsmodels proportion_confint "beta" and R binom.test.
func ClopperPearson(x, n, level float64) Interval {
	checkLevel(level)
	if !(n > 0 && x >= 0 && x <= n) {
		return undefined(level, methodClopper)
	}
	i := Interval{Low: 0, High: 1, Level: level, Method: methodClopper}
	tail := (1 - level) / 2
	if x > 0 {
		i.Low = betaQuantile(tail, x, n-x+1)
	}
	if x < n {
		i.High = betaQuantile(1-tail, x+1, n-x)
	}
	return i
}

// Distributions use only gonum's mathext: its stat/distuv would add linear
// algebra and five seconds to every cold build.

// NormalQuantile is the inverse of the standard normal distribution.
func NormalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// normalCDF keeps its relative precision in the lower tail.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// tTwoSided is P(|T| >= |t|) for Student's t with df degrees of freedom, with
// its relative precision kept far out. NaN for NaN.
func tTwoSided(t, df float64) float64 {
	switch {
	case math.IsNaN(t) || !(df > 0):
		return math.NaN()
	case math.IsInf(df, 1):
		return 2 * normalCDF(-math.Abs(t))
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(df+t*t))
}

// tQuantile is the inverse of Student's t distribution for p >= 1/2; with infinite df, of the normal one.
func tQuantile(p, df float64) float64 {
	if df > 1e4 { // Cornish and Fisher's expansion, where the beta function loses digits
		z := NormalQuantile(p)
		z2 := z * z
		return z + z*(z2+1)/(4*df) + z*(5*z2*z2+16*z2+3)/(96*df*df)
	}
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*(1-p)) // df/(df+t^2)
	return math.Sqrt(df * (1 - x) / x)
}

func betaQuantile(p, a, b float64) float64 { return mathext.InvRegIncBeta(a, b, p) }
