package stats

import "math"

// Wilson is Wilson's (1927) score interval of a proportion of x successes in
// n independent trials; x need not be whole. Always inside [0, 1]. Undefined
// unless n > 0 and 0 <= x <= n. As in statsmodels proportion_confint "wilson"
// and R prop.test(correct=FALSE).
func Wilson(x, n, level float64) Interval {
	checkLevel(level)
	if !(n > 0 && x >= 0 && x <= n) {
		return undefined(level, methodWilson)
	}
	z := normalQuantile((1 + level) / 2)
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

// ClopperPearson is the exact interval (Clopper and Pearson 1934) of a
// proportion of x successes in n independent trials: it covers at least
// level. x and n need not be whole, for use with an effective n (Korn and
// Graubard 1998). Undefined unless n > 0 and 0 <= x <= n. As in statsmodels
// proportion_confint "beta" and R binom.test.
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
