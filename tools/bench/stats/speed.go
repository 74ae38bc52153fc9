package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"

	"crosstalk/measure/stats"
)

const million = 1_000_000

var speedShapes = []struct {
	name string
	add  func(c *stats.Clusters, rng *rand.Rand, i int)
}{
	{"2,000 clusters of 500, real values", func(c *stats.Clusters, rng *rand.Rand, i int) {
		c.Add(name(i%2000), rng.NormFloat64())
	}},
	{"100,000 clusters of 10, values 0, 0.5, 1", func(c *stats.Clusters, rng *rand.Rand, i int) {
		c.Add(name(i%100_000), ternary(rng))
	}},
	{"independent, values 0, 0.5, 1", func(c *stats.Clusters, rng *rand.Rand, i int) {
		c.AddIndependent(ternary(rng))
	}},
	{"independent, real values", func(c *stats.Clusters, rng *rand.Rand, i int) {
		c.AddIndependent(rng.NormFloat64())
	}},
	{"1,000,000 named clusters of 1, real values", func(c *stats.Clusters, rng *rand.Rand, i int) {
		c.Add(name(i), rng.NormFloat64())
	}},
}

func ternary(rng *rand.Rand) float64 { return float64(rng.IntN(3)) / 2 }

// speed runs every shape in its own process and checks 3 s and 200 MB.
func speed(out io.Writer) (ok bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	fmt.Fprintln(out, "\n*10,000 bootstrap draws over 1,000,000 observations, BCa: under 3 s and 200 MB")
	ok = true
	for i, s := range speedShapes {
		got, err := exec.Command(self, fmt.Sprint("-shape=", i)).Output()
		if err != nil {
			return false, fmt.Errorf("%s: %w", s.name, err)
		}
		var add, draw, mb, se, truth float64
		if _, err := fmt.Sscan(string(got), &add, &draw, &mb, &se, &truth); err != nil {
			return false, fmt.Errorf("%s: %w", s.name, err)
		}
		mark := " "
		if draw > 3 || mb > 200 {
			mark, ok = "!", false
		}
		fmt.Fprintf(out, "%-44s accumulate %.2f s, draw %.2f s, peak %3.0f MB%s standard error %.4f of the exact\n",
			s.name, add, draw, mb, mark, se/truth)
	}
	return ok, nil
}

// timeShape prints seconds to accumulate and to draw, peak MB, and the
// standard errors of the bootstrap and of CR0.
func timeShape(out io.Writer, shape int) error {
	if shape >= len(speedShapes) {
		return fmt.Errorf("no shape %d", shape)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var c stats.Clusters
	start := time.Now()
	for i := range million {
		speedShapes[shape].add(&c, rng, i)
	}
	added := time.Now()
	b := stats.ClusterBootstrap(&c, stats.BootstrapOptions{Method: stats.BCa, Draws: 10000, Seed: 1})
	drawn := time.Now()
	peak, err := peakMB()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, added.Sub(start).Seconds(), drawn.Sub(added).Seconds(), peak, b.SE, stats.StdErr(&c, stats.CR0))
	return err
}

// peakMB is the largest resident size of this process so far.
func peakMB() (float64, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("peak memory is read from Linux's /proc: %w", err)
	}
	_, rest, ok := strings.Cut(string(b), "VmHWM:")
	if !ok {
		return 0, fmt.Errorf("no VmHWM in /proc/self/status")
	}
	var kb float64
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		return 0, err
	}
	return kb / 1024, nil
}
