package stats

import (
	"math"
	"math/rand/v2"
)

// binomial draws from the binomial distribution with n trials: by inversion for a small mean, else by transformed
// rejection (Hörmann 1993, "The generation of binomial random variates", algorithm BTRS).
func binomial(rng *rand.Rand, n int, p float64) int {
	if p > 0.5 {
		return n - binomial(rng, n, 1-p)
	}
	if n <= 0 || p <= 0 {
		return 0
	}
	if float64(n)*p < 10 {
		return binomialInversion(rng, n, p)
	}
	N := float64(n)
	spq := math.Sqrt(N * p * (1 - p))
	b := 1.15 + 2.53*spq
	a := -0.0873 + 0.0248*b + 0.01*p
	c := N*p + 0.5
	alpha := (2.83 + 5.1/b) * spq
	vr := 0.92 - 4.2/b
	lpq := math.Log(p / (1 - p))
	m := math.Floor((N + 1) * p)
	h := logFactorial(m) + logFactorial(N-m)
	for {
		u := rng.Float64() - 0.5
		v := rng.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + c)
		if k < 0 || k > N {
			continue
		}
		if us >= 0.07 && v <= vr {
			return int(k)
		}
		v = math.Log(v * alpha / (a/(us*us) + b))
		if v <= h-logFactorial(k)-logFactorial(N-k)+(k-m)*lpq {
			return int(k)
		}
	}
}

// binomialInversion walks up the distribution function; its mean cost is np.
func binomialInversion(rng *rand.Rand, n int, p float64) int {
	q := 1 - p
	s := p / q
	f := math.Exp(float64(n) * math.Log1p(-p)) // P(0); at least e^-14 here
	u := rng.Float64()
	for k := 0; ; k++ {
		if u < f || k == n {
			return k
		}
		u -= f
		f *= s * float64(n-k) / float64(k+1)
	}
}

// logFactorial of a whole k >= 0, by Stirling's series where four terms give all digits.
func logFactorial(k float64) float64 {
	if k < 32 {
		return smallFactorials[int(k)]
	}
	return (k+0.5)*math.Log(k) - k + 0.9189385332046727 + (1-(1-2/(7*k*k))/(30*k*k))/(12*k)
}

var smallFactorials = func() (t [32]float64) {
	for k := 2; k < len(t); k++ {
		t[k] = t[k-1] + math.Log(float64(k))
	}
	return t
}()
