package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// number reads null as NaN.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// vector is one case of testdata: a function, its input, and what the
// reference makes of it.
type vector struct {
	Func string
	In   struct {
		X, Y, N, A, B, C, Values, P     json.RawMessage
		Units                           [][]number
		Groups, Items                   []int
		Slack                           [2]float64
		Level, Null, Rho, DF, Tolerance float64
		SD, SE, Delta, Alpha, Power     float64
	}
	Want []number
}

func scalar(t *testing.T, raw json.RawMessage) (x float64) {
	t.Helper()
	if err := json.Unmarshal(raw, &x); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return x
}

func list[T any](t *testing.T, raw json.RawMessage) (xs []T) {
	t.Helper()
	if err := json.Unmarshal(raw, &xs); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return xs
}

func (v vector) clusters(t *testing.T) *Clusters {
	var c Clusters
	for i, x := range list[float64](t, v.In.Values) {
		if v.In.Groups == nil {
			c.AddIndependent(x)
			continue
		}
		c.Add(Cluster(v.In.Groups[i]), x)
	}
	return &c
}

func TestReferenceVectors(t *testing.T) {
	for _, file := range []string{"scipy.json", "r.json"} {
		b, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var data struct{ Cases []vector }
		if err := json.Unmarshal(b, &data); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(data.Cases) == 0 {
			t.Fatalf("%s has no cases", file)
		}
		for i, v := range data.Cases {
			t.Run(fmt.Sprintf("%s/%s/%d", file, v.Func, i+2), func(t *testing.T) { v.check(t) })
		}
	}
}

func (v vector) check(t *testing.T) {
	got := v.compute(t)
	if len(got) != len(v.Want) {
		t.Fatalf("got %d values %v, want %v", len(got), got, v.Want)
	}
	tolerance := 1e-9
	if v.In.Tolerance > 0 {
		tolerance = v.In.Tolerance
	}
	for i, w := range v.Want {
		want := float64(w)
		if math.IsNaN(want) != math.IsNaN(got[i]) ||
			math.Abs(got[i]-want) > tolerance*math.Abs(want)+1e-15 {
			t.Errorf("value %d: got %.15g, want %.15g", i, got[i], want)
		}
	}
}

// compute runs the function under test on the vector's input.
func (v vector) compute(t *testing.T) []float64 {
	in := v.In
	ends := func(i Interval) []float64 { return []float64{i.Low, i.High} }
	switch v.Func {
	case "wilson":
		return ends(Wilson(scalar(t, in.X), scalar(t, in.N), in.Level))
	case "clopper-pearson":
		return ends(ClopperPearson(scalar(t, in.X), scalar(t, in.N), in.Level))
	case "t-test":
		r := TTest(v.clusters(t), in.Null)
		return []float64{r.Statistic, r.P, r.DF, r.Effect}
	case "t-interval":
		r := TTest(v.clusters(t), 0)
		return ends(TInterval(r.Value, r.SE, r.DF, Unbounded, in.Level))
	case "paired-t":
		r := TTest(v.clusters(t), 0)
		return []float64{r.Statistic, r.P, r.DF}
	case "t-quantile":
		return []float64{tQuantile(scalar(t, in.P), in.DF)}
	case "t-tail":
		return []float64{tTwoSided(scalar(t, in.X), in.DF)}
	case "welch": // the difference of independent means by Combine is Welch's test
		var a, b Clusters
		for _, x := range list[float64](t, in.A) {
			a.AddIndependent(x)
		}
		for _, x := range list[float64](t, in.B) {
			b.AddIndependent(x)
		}
		e := Combine([]*Clusters{&a, &b}, func(m []float64) float64 { return m[0] - m[1] }, Unbounded, 0.95)
		return []float64{e.Value / e.SE, e.P(0), e.DF}
	case "cr0", "cr1": // the plain sandwich, from the same residuals
		sum := v.clusters(t).summary()
		var squares float64
		for _, x := range sum.cells {
			squares += x.m * math.Pow(sum.residual(x.n, x.sum), 2)
		}
		if v.Func == "cr1" {
			squares *= sum.clusters / (sum.clusters - 1)
		}
		return []float64{math.Sqrt(squares) / sum.n}
	case "icc":
		return []float64{v.clusters(t).summary().icc()}
	case "df":
		c := v.clusters(t)
		return []float64{c.summary().df(in.Rho), c.summary().stdErr()}
	case "mcnemar":
		return []float64{McNemar(int(scalar(t, in.B)), int(scalar(t, in.C)))}
	case "sign-flip":
		return []float64{SignFlip(v.clusters(t), 200000, 1)}
	case "holm":
		return Holm(list[float64](t, in.P))
	case "pearson":
		r := Pearson(list[float64](t, in.X), list[float64](t, in.Y), in.Level)
		return []float64{r.Value, r.P, r.Interval.Low, r.Interval.High}
	case "kendall":
		return []float64{KendallTauB(list[float64](t, in.X), list[float64](t, in.Y), in.Slack[0], in.Slack[1])}
	case "cohen":
		return []float64{CohenKappa(list[int](t, in.A), list[int](t, in.B))}
	case "krippendorff":
		units, all := make([][]int, len(in.Units)), make([]int, len(in.Units))
		for u, row := range in.Units {
			all[u] = u
			for _, x := range row {
				if !math.IsNaN(float64(x)) {
					units[u] = append(units[u], int(x))
				}
			}
		}
		return []float64{NominalAlpha(units)(all)}
	case "items":
		return []float64{Design{Between: in.SD * in.SD}.Items(in.Delta, in.Alpha, in.Power)}
	case "mde":
		return []float64{Design{Between: in.SE * in.SE}.Detectable(1, in.Alpha, in.Power)}
	case "components":
		var n Nested
		for i, x := range list[float64](t, in.Values) {
			group, item := in.Groups[i]-in.Groups[0], in.Items[i]-in.Items[0]
			for group >= len(n) {
				n = append(n, nil)
			}
			for item >= len(n[group]) {
				n[group] = append(n[group], nil)
			}
			n[group][item] = append(n[group][item], x)
		}
		c := n.Components()
		return []float64{c.Cluster, c.Item, c.Sample}
	case "bootstrap":
		return v.bootstrap(t)
	}
	t.Fatalf("unknown function %q", v.Func)
	return nil
}

// bootstrap compares within Monte Carlo error: it returns the reference's
// figure where ours is near enough.
func (v vector) bootstrap(t *testing.T) []float64 {
	const draws = 100000
	var n, sum []float64 // of the clusters
	for i, x := range list[float64](t, v.In.Values) {
		for g := v.In.Groups[i]; g >= len(n); {
			n, sum = append(n, 0), append(sum, 0)
		}
		n[v.In.Groups[i]]++
		sum[v.In.Groups[i]] += x
	}
	mean := func(clusters []int) float64 {
		var all, of float64
		for _, g := range clusters {
			of += n[g]
			all += sum[g]
		}
		return all / of
	}
	b := UnitBootstrap(len(n), mean, draws, 0.95, 4)
	got := []float64{b.Mean, b.SE, b.Interval.Low, b.Interval.High}
	// Standard errors in units of SE: of the mean 1/sqrt(draws), of SE itself
	// about 0.7 times that, of a 2.5 % quantile about 2.7 times; both sides
	// vary, and resampled means are discrete.
	for i, slack := range []float64{1, 0.7, 2.7, 2.7} {
		if want := float64(v.Want[i]); math.Abs(got[i]-want) < 4*slack*b.SE/math.Sqrt(draws)+1e-3*b.SE {
			got[i] = want
		}
	}
	return got
}
