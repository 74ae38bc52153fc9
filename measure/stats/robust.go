package stats

import "math"

// stdErr is the cluster-robust standard error of the mean, taken as a ratio of sums (an intercept-only regression):
// CR2, which divides each squared cluster residual by 1 - n_g/N and so is unbiased for independent observations
// (Bell and McCaffrey 2002). It assumes that clusters are independent. NaN with fewer than two clusters.
func (s summary) stdErr() float64 {
	if s.clusters < 2 || math.IsNaN(s.mean) {
		return math.NaN()
	}
	var v float64
	for _, x := range s.cells {
		e := s.residual(x.n, x.sum) / math.Sqrt(1-x.n/s.n)
		v += x.m * e * e
	}
	return math.Sqrt(v) / s.n
}

// residual is the sum of a cluster minus what the mean expects of its size; 0
// where only rounding differs, so that equal clusters have no variance.
func (s summary) residual(n, sum float64) float64 {
	e := sum - s.mean*n
	if math.Abs(e) <= 1e-14*(math.Abs(sum)+math.Abs(s.mean)*n) {
		return 0
	}
	return e
}

// icc is the intraclass correlation: the mean product of the residuals of two observations of one cluster over the
// variance, cut to [0, 1] (Imbens and Kolesár 2016, section 4). NaN when no cluster has two observations or nothing
// varies.
func (s summary) icc() float64 {
	var within, pairs, total float64
	for _, x := range s.cells {
		e := s.residual(x.n, x.sum)
		q := x.about(s.mean)
		within += x.m * (e*e - q)
		pairs += x.m * x.n * (x.n - 1)
		total += x.m * q
	}
	if pairs == 0 || !(total > 0) {
		return math.NaN()
	}
	return math.Min(math.Max(within/pairs/(total/s.n), 0), 1)
}

// df are Satterthwaite degrees of freedom of the CR2 variance (Bell and McCaffrey 2002) when two observations of a
// cluster have correlation rho (Imbens and Kolesár 2016); rho 0 is Bell and McCaffrey's own choice. For N clusters
// of one observation they are N-1. NaN with fewer than two clusters.
func (s summary) df(rho float64) float64 {
	if s.clusters < 2 {
		return math.NaN()
	}
	if math.IsNaN(rho) {
		rho = 0
	}
	// The cluster sums have variance D = diag(v). Their residuals have M = (I - h 1') D (I - 1 h') = D - h u' - u
	// h', with u = v - h T/2 and T = sum v. With A = diag(1/(1-h)), df = tr(AM)^2 / tr(AMAM).
	v := func(x cell) float64 { return x.n * (1 + (x.n-1)*rho) }
	var t float64
	for _, x := range s.cells {
		t += x.m * v(x)
	}
	var trace, dd, dhu, hu, hh, uu float64
	for _, x := range s.cells {
		h := x.n / s.n
		a, d := 1/(1-h), v(x)
		u := d - h*t/2
		trace += x.m * a * (d - 2*h*u)
		dd += x.m * a * a * d * d
		dhu += x.m * a * a * d * h * u
		hu += x.m * a * h * u
		hh += x.m * a * h * h
		uu += x.m * a * u * u
	}
	return trace * trace / (dd - 4*dhu + 2*hu*hu + 2*hh*uu)
}
