//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"

	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/bertscore"
	"crosstalk/measure/similarity/sbert"
	"crosstalk/tools/internal/bench"
)

// scorePairs times n pairs of 120 concepts with answers of 4 to 40 tokens, half
// of which occur twice.
func scorePairs(w io.Writer, dir, scorer string, n int) error {
	// Another process writes the model, so as not to count in the peak.
	if err := exec.Command(os.Args[0], "-write", dir).Run(); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(4, 5))
	words := func(least, most int) string {
		var b strings.Builder
		for range least + rng.IntN(most-least+1) {
			fmt.Fprintf(&b, "w%d ", 1000+rng.IntN(20000))
		}
		return b.String()
	}
	concepts, answers := make([]string, 120), make([]string, n*2/3)
	for i := range concepts {
		concepts[i] = words(1, 2)
	}
	for i := range answers {
		answers[i] = words(2, 38)
	}
	pairs := make([]similarity.Pair, n)
	for i := range pairs {
		pairs[i] = similarity.Pair{A: concepts[rng.IntN(len(concepts))], B: answers[i%len(answers)]}
	}
	ctx := context.Background()
	texts := append(concepts, answers...)
	var visited atomic.Int64
	var scores similarity.Similarity
	var encode func() error
	switch scorer {
	case "sbert":
		s, err := sbert.Load(dir, sbert.Options{Revision: "random"})
		if err != nil {
			return err
		}
		scores, encode = s, func() error { return s.Encode(ctx, texts, func(int, []float32) { visited.Add(1) }) }
	default:
		s, err := bertscore.Load(dir, bertscore.Options{Revision: "random", Layer: 6})
		if err != nil {
			return err
		}
		scores, encode = s, func() error { return s.Encode(ctx, texts, func(int, bertscore.Tokens) { visited.Add(1) }) }
	}
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"encode once", encode},
		{"score pairs", func() error { _, err := scores.Scores(ctx, pairs); return err }},
	} {
		before := bench.CPU()
		if err := step.run(); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %-12s %6.1f CPU s, peak memory so far %.0f MB\n", scorer, step.name, (bench.CPU() - before).Seconds(), bench.Peak())
	}
	fmt.Fprintf(w, "%d pairs, %d distinct texts, %d encoded once\n", len(pairs), len(texts), visited.Load())
	return nil
}
