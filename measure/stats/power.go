package stats

import "math"

// Design describes a study of a mean or a mean difference for planning: each item is one draw from a population of
// items and is sampled Samples times. Variances are in squared units of the value.
type Design struct {
	Between float64 // variance of item means (of their differences)
	Within  float64 // variance of one sample (one sample's difference) about its item
	Samples int     // samples per item; 0 means 1
	Effect  float64 // design effect of clustering; 0 means 1
	Size    float64 // items in a cluster; 0 means 1
	Null    float64 // how much larger the variance is in a test whose variance assumes no difference
}

// StdErr is the standard error of the mean over items: the square root of Effect (Between + Within/Samples) / items
// (Miller 2024, sections 3 and 5). NaN without items.
func (d Design) StdErr(items float64) float64 {
	if !(items > 0) {
		return math.NaN()
	}
	return math.Sqrt(d.variance() / items)
}

func (d Design) variance() float64 {
	effect := d.Effect
	if effect == 0 {
		effect = 1
	}
	return effect * (d.Between + d.Within/float64(max(d.Samples, 1)))
}

// Items is the number of items, rounded up, with which a true difference of delta is detected at two-sided significance
// alpha with the stated power: (z_{alpha/2} sqrt(variance+Null) + z_beta sqrt(variance))^2 / delta^2 (Connor 1987;
// Miller 2024, section 5). In clusters the quantiles are Student's t with a degree of freedom for each but one. For m
// comparisons use alpha/m. NaN unless delta is not 0 and alpha and power are between 0 and 1.
func (d Design) Items(delta, alpha, power float64) float64 {
	if delta == 0 {
		return math.NaN()
	}
	n := d.Needs(math.Inf(1), delta, alpha, power)
	if !(d.Size > 1) {
		return n
	}
	least := math.Max(n, 2*d.Size) - 1 // with t it is more; the number that t needs falls with it
	most := 1e3 * least
	for range 100 { // enough for any two numbers, also if they are too large to differ by one
		switch n = math.Ceil((least + most) / 2); {
		case n == most:
			return most
		case d.Needs(n, delta, alpha, power) <= n:
			most = n
		default:
			least = n
		}
	}
	return most
}

// Needs is the number of items that detect delta, with the quantiles of Student's t for so many items. It is at most
// items if and only if Items is, and needs no search.
func (d Design) Needs(items, delta, alpha, power float64) float64 {
	a, b := d.quantiles(items, alpha, power)
	v := d.variance()
	q := a*math.Sqrt(v+d.Null) + b*math.Sqrt(v)
	n := math.Ceil(q * q / (delta * delta) * (1 - 1e-12))
	if d.Size > 1 {
		n = math.Max(n, math.Floor(2*d.Size))
	}
	return n
}

// quantiles returns the quantiles of the test and of its power with n items.
func (d Design) quantiles(items, alpha, power float64) (a, b float64) {
	a, b = zPair(alpha, power)
	if df := items/d.Size - 1; d.Size > 1 && b > 0 {
		df = math.Max(df, 1)
		a, b = tQuantile(1-alpha/2, df), tQuantile(power, df)
	}
	return a, b
}

// Detectable is the smallest true difference that so many items detect, but for Null: the sum of the quantiles of Items
// times the standard error. NaN as for Items, and without visible variance: such data cannot show what they could have
// detected.
func (d Design) Detectable(items, alpha, power float64) float64 {
	a, b := d.quantiles(items, alpha, power)
	se := d.StdErr(items)
	if !(se > 0) {
		return math.NaN()
	}
	return (a + b) * se
}

// zPair are the normal quantiles of a two-sided test and of its power; NaN unless both are between 0 and 1.
func zPair(alpha, power float64) (a, b float64) {
	if !(alpha > 0 && alpha < 1 && power > 0 && power < 1) {
		return math.NaN(), math.NaN()
	}
	return NormalQuantile(1 - alpha/2), NormalQuantile(power)
}

// PairedRates is the design of a comparison of two rates on the same items with a stated share of discordant items
// (Connor 1987): a difference in {-1, 0, 1} with variance discordant - (a-b)^2. NaN variance unless |a-b| <= discordant
// <= min(a+b, 2-a-b).
func PairedRates(a, b, discordant float64) Design {
	d := a - b
	// This implies that a and b are rates.
	if !(discordant >= math.Abs(d)-1e-12 && discordant <= math.Min(a+b, 2-a-b)+1e-12) {
		return Design{Between: math.NaN()}
	}
	return Design{Between: math.Max(0, discordant-d*d), Null: d * d}
}

// IndependentDiscordance is the share of discordant items of two rates that are independent given the item's
// population: a(1-b) + b(1-a). Rates that agree more than by chance have less.
func IndependentDiscordance(a, b float64) float64 { return a*(1-b) + b*(1-a) }
