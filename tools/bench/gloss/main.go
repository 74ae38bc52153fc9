//go:build unix

// Gloss prints how fast texts are scored with the embedded gloss vectors, on
// one core, and how long the vectors take to load:
//
//	go -C tools run ./bench/gloss [-pairs N]
//
// Beside the time on the clock stands the processor time, which is what counts
// on a busy machine. A pair is a concept of one or two words and an answer of one to ten.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"time"

	"crosstalk/measure/similarity/gloss"
	"crosstalk/tools/internal/bench"
)

var (
	concepts = strings.Fields("yellow koalas teacher piano jazz giraffes doctor red firefighter astronaut Paris sailor")
	words    = strings.Fields(`apple pizza doctor engineer leaves banana blue house river eating loves chocolate painting
		quickly children's books mountains singing beautiful software green salads played guitars coffee yesterday winter
		driving trucks flowers old city walked running stories happiness sandwiches blackbird moonlight teaches`)
	grammar = strings.Fields("the a is of and in she he it with to his")
)

func main() {
	pairs := flag.Int("pairs", 200_000, "pairs to score")
	flag.Parse()
	runtime.GOMAXPROCS(1)

	watch := start()
	vectors, err := gloss.Load()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gloss:", err)
		os.Exit(1)
	}
	clock, processor := watch.stop()
	fmt.Printf("load: %.1f ms, %.1f ms of processor time\n", clock*1000, processor*1000)

	source := rand.New(rand.NewPCG(1, 1))
	for _, x := range []struct {
		name     string
		distinct int
	}{
		{"every answer new", *pairs},
		{"1,000 answers, again and again", 1000},
	} {
		answers := make([]string, x.distinct)
		for i := range answers {
			answers[i] = answer(source)
		}
		runtime.GC()
		watch := start()
		for i := range *pairs {
			concept := concepts[i%len(concepts)]
			if _, ok := vectors.Similarity(concept, answers[i%len(answers)]); !ok {
				fmt.Fprintf(os.Stderr, "gloss: %q and %q are not scored\n", concept, answers[i%len(answers)])
				os.Exit(1)
			}
		}
		clock, processor := watch.stop()
		n := float64(*pairs)
		fmt.Printf("%s: %.0f pairs/s, %.0f per second of processor time\n", x.name, n/clock, n/processor)
	}
}

// watch is a stopwatch of the clock and of this process's processor time.
type watch struct {
	clock     time.Time
	processor time.Duration
}

func start() watch { return watch{time.Now(), bench.CPU()} }

// stop returns the seconds since start.
func (w watch) stop() (clock, processor float64) {
	return time.Since(w.clock).Seconds(), (bench.CPU() - w.processor).Seconds()
}

// answer returns one to ten words, the first of them no grammar, and a number
// that makes most answers differ.
func answer(source *rand.Rand) string {
	text := []string{words[source.IntN(len(words))]}
	for range source.IntN(9) {
		list := words
		if source.IntN(2) == 0 {
			list = grammar
		}
		text = append(text, list[source.IntN(len(list))])
	}
	return fmt.Sprintf("%s %d.", strings.Join(text, " "), source.IntN(1_000_000))
}
