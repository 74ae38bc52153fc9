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

// Distributions use only gonum's mathext: stat/distuv would add linear algebra and five seconds to cold builds.

// NormalQuantile is the inverse of the standard normal distribution.
func NormalQuantile(p float64) float64 { return mathext.NormalQuantile(p) }

// normalCDF keeps its relative precision in the lower tail.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// tTwoSided is P(|T| >= |t|) for Student's t with df degrees of freedom, precise far out. NaN for NaN.
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

// The names of score intervals of differences.
const (
	methodTango = "tango"
	methodMN    = "miettinen-nurminen"
)

// Counts is the number of independent items that observations count as; it need not be whole. Score tests use
// Student's t with DF degrees of freedom; infinite is the normal distribution.
type Counts struct{ N, DF float64 }

// LeastICC is the correlation of two items of a cluster that is assumed at least: a handful of clusters with a fault
// cannot show how alike their items are, and an estimate from them is often near 0.
const LeastICC = 0.3

// EffectiveCounts returns how many independent items a weighted mean over parts with this standard error counts as. Its
// weights sum to 1, like the weights of languages in a mean over them.
//
// Items of one part are N. With the weight u of each item, N is the sum of u^2 over that of u^3, which is less than
// Kish's effective n: faults may lie in parts whose items weigh most. N is divided by the design effect of clusters,
// the ratio of se^2 to that of independent items, but at least that of a correlation of 0.3. So N depends on values
// where there are clusters only. The degrees of freedom depend on the clusters' sizes alone: Satterthwaite's (Bell and
// McCaffrey 2002), infinite without clusters.
func EffectiveCounts(parts []*Clusters, weights []float64, se float64) Counts {
	var all Clusters
	var squares, cubes, pooled, independent float64
	for k, c := range parts {
		s := c.summary()
		all.AddAll(c, 1)
		v := weights[k] * weights[k] / s.n
		squares += v
		cubes += v * weights[k] / s.n
		df := s.df(0)
		if !(df > 1) { // or undefined
			df = 1
		}
		pooled += v * v / df
		for _, x := range s.cells {
			independent += v * x.m * x.about(s.mean) / math.Max(1, s.n-1)
		}
	}
	count := Counts{squares / cubes, math.Inf(1)}
	size := float64(all.n) / all.effectiveN() // mean over items of the number of items in their cluster
	if size == 1 {
		return count
	}
	effect := 1 + (size-1)*LeastICC
	if independent > 0 && se > 0 {
		effect = math.Max(effect, se*se/independent)
	}
	count.N /= effect
	count.DF = squares * squares / pooled
	if names, shared := countClusters(parts); shared {
		count.DF = math.Max(1, math.Min(count.DF, float64(names-1)))
	}
	return count
}

func (c Counts) quantile(level float64) float64 { return tQuantile((1+level)/2, c.DF) }

func (c Counts) p(score float64) float64 { return tTwoSided(score, c.DF) }

// Discordance is the shares of items on which two conditions differ: those that only the first (Wins) or only the
// second (Losses) gets right. Wins - Losses is the difference of the two rates.
type Discordance struct{ Wins, Losses float64 }

// DiscordanceOf are the shares in a weighted mean over parts of paired differences, all of them -1, 0 or 1.
func DiscordanceOf(parts []*Clusters, weights []float64) (d Discordance) {
	for k, c := range parts {
		s := c.summary()
		var squares float64
		for _, x := range s.cells {
			squares += x.m * x.about(0)
		}
		d.Wins += weights[k] * math.Max(squares/s.n+s.mean, 0) / 2
		d.Losses += weights[k] * math.Max(squares/s.n-s.mean, 0) / 2
	}
	return d
}

// Variance returns the variance of one item's difference.
func (d Discordance) Variance() float64 {
	return math.Max(0, d.Wins+d.Losses-(d.Wins-d.Losses)*(d.Wins-d.Losses))
}

// restricted is the variance of the difference of one item if the true difference is as stated, with the likeliest
// share of losses then (Tango 1998, equation 8).
func (d Discordance) restricted(difference float64) float64 {
	b := -d.Wins - d.Losses + (2-d.Wins+d.Losses)*difference
	c := -d.Losses * difference * (1 - difference)
	losses := (math.Sqrt(math.Max(b*b-8*c, 0)) - b) / 4
	return math.Max(0, 2*losses+difference*(1-difference))
}

// score is Tango's statistic of a true difference as stated.
func (d Discordance) score(n, difference float64) float64 {
	return ratio(math.Sqrt(n)*(d.Wins-d.Losses-difference), math.Sqrt(d.restricted(difference)))
}

// P is the two-sided p-value of the score test of no difference: without clusters McNemar's; 1 if no item differs.
func (d Discordance) P(c Counts) float64 { return c.p(d.score(c.N, 0)) }

// Interval is Tango's (1998) score interval of the difference: what the score test of a difference does not reject.
// Where items differ in one direction only it may be narrower than binomial counts allow, so it contains the exact
// limits of the net losses and wins, too. At 95 % these are inside it for differences of a few points.
//
// One more loss or one less win never raises an end.
func (d Discordance) Interval(c Counts, level float64) Interval {
	i := scoreInterval(d.Wins-d.Losses, c.quantile(level), level, methodTango,
		func(x float64) float64 { return d.score(c.N, x) })
	if net := d.Losses - d.Wins; net >= 0 {
		i.Low = math.Min(i.Low, -ClopperPearson(net*c.N, c.N, level).High)
	}
	if net := d.Wins - d.Losses; net >= 0 {
		i.High = math.Max(i.High, ClopperPearson(net*c.N, c.N, level).High)
	}
	return i
}

// ItemsForMargin is the number of items with which the interval of the difference lies above -margin with this power,
// if these shares are the true ones (as Nam 1997). NaN unless the difference is above -margin.
func (d Discordance) ItemsForMargin(margin, level, power float64) float64 {
	checkLevel(level)
	gap := d.Wins - d.Losses + margin
	if !(gap > 0 && margin > 0) {
		return math.NaN()
	}
	root := NormalQuantile((1+level)/2)*math.Sqrt(d.restricted(-margin)) + NormalQuantile(power)*math.Sqrt(d.Variance())
	n := math.Ceil(root * root / (gap * gap) * (1 - 1e-12))
	for d.Interval(Counts{n, math.Inf(1)}, level).Low < -margin-1e-9 && d.Variance() == 0 {
		n++
	}
	return n
}

// Rate is a share of Counts independent items.
type Rate struct {
	Counts
	Value float64
}

// against are the counts of the difference of two rates.
func (r Rate) against(other Rate) Counts {
	a, b := 1/r.N, 1/other.N
	df := (a + b) * (a + b) / (a*a/r.DF + b*b/other.DF)
	if math.IsInf(r.DF, 1) && math.IsInf(other.DF, 1) {
		df = math.Inf(1)
	}
	return Counts{r.N + other.N, df}
}

// scoreAgainst is Miettinen and Nurminen's (1985) statistic of a true difference as stated: the variance is that of the
// likeliest rates with this difference, times N/(N-1).
func (r Rate) scoreAgainst(other Rate, difference float64) float64 {
	low, high := math.Max(0, -difference), math.Min(1, 1-difference)
	slope := func(rate, x, n float64) float64 { return n * (x - rate) / (rate * (1 - rate)) }
	for range 50 { // the likelihood has one maximum
		if mid := (low + high) / 2; slope(mid+difference, r.Value, r.N)+slope(mid, other.Value, other.N) > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	b := (low + high) / 2
	a := b + difference
	n := r.N + other.N
	variance := math.Max(0, a*(1-a)/r.N+b*(1-b)/other.N) * n / (n - 1)
	return ratio(r.Value-other.Value-difference, math.Sqrt(variance))
}

// PAgainst is the two-sided p-value of the score test that rates of different items are equal; 1 if both are 0 or 1.
func (r Rate) PAgainst(other Rate) float64 { return r.against(other).p(r.scoreAgainst(other, 0)) }

// Minus is Miettinen and Nurminen's (1985) score interval of the difference of two rates of different items.
func (r Rate) Minus(other Rate, level float64) Interval {
	return scoreInterval(r.Value-other.Value, r.against(other).quantile(level), level, methodMN,
		func(x float64) float64 { return r.scoreAgainst(other, x) })
}

// ratio is a score over its standard error, either of which may be 0 but for rounding.
func ratio(score, se float64) float64 {
	if math.Abs(score) < 1e-12 {
		return 0
	}
	return score / se
}

// scoreInterval has the differences whose score is within the quantile. It falls with them, from 0 at the measured one.
func scoreInterval(measured, quantile, level float64, method string, score func(difference float64) float64) Interval {
	checkLevel(level)
	end := func(inside, outside float64) float64 {
		for range 50 {
			if mid := (inside + outside) / 2; math.Abs(score(mid)) <= quantile {
				inside = mid
			} else {
				outside = mid
			}
		}
		return inside
	}
	return Interval{Low: end(measured, -1), High: end(measured, 1), Level: level, Method: method}
}
