// Browse measures how long 'crosstalk serve' takes to show a large run: the time to index it, and then that of pages of
// its answers.
//
//	go -C tools run ./bench/browse -answers 1000000
//
// The run is made of answers with two or three observations each, as language confusion has them. Times of pages are of
// whole HTTP exchanges over loopback; "cold" is the first one of a server that was just started over a built index.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk"
	"crosstalk/run"
	"crosstalk/tools/internal/bench"
	"crosstalk/web"
)

func main() {
	answers := flag.Int("answers", 1_000_000, "answers of the run")
	rounds := flag.Int("rounds", 20, "times that each page is asked for")
	keep := flag.String("dir", "", "where the run is made, or was (default: a temporary directory)")
	flag.Parse()
	if err := measure(*answers, *rounds, *keep); err != nil {
		log.Fatal(err)
	}
}

func measure(answers, rounds int, dir string) error {
	if dir == "" {
		temporary, err := os.MkdirTemp("", "browse")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	path := filepath.Join(dir, "large")
	if _, err := os.Stat(path); err != nil {
		if err := makeRun(path, answers); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(cacheOf(dir)); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(path, "observations.jsonl"))
	if err != nil {
		return err
	}
	fmt.Printf("%d answers, observations.jsonl %.0f MB, %d CPUs\n", answers, float64(info.Size())/1e6, runtime.NumCPU())
	at, err := index(dir, answers)
	if err != nil {
		return err
	}
	if files, _ := filepath.Glob(filepath.Join(cacheOf(dir), "*.db")); len(files) == 1 {
		if info, err := os.Stat(files[0]); err == nil {
			fmt.Printf("the index %.0f MB\n", float64(info.Size())/1e6)
		}
	}
	err = pages(dir, at, rounds)
	fmt.Printf("peak memory, pages included: %.0f MB\n", bench.Peak())
	return err
}

// cacheOf returns the path of the indexes of the runs in a directory.
func cacheOf(dir string) string { return filepath.Join(dir, ".index") }

// index times building the index, with the first page meanwhile. It is an error if that has another number of answers.
func index(dir string, answers int) (run string, err error) {
	s, err := web.New(dir, web.Options{Cache: cacheOf(dir)})
	if err != nil {
		return "", err
	}
	server := httptest.NewServer(s)
	defer server.Close()
	list, _, err := get(server.URL + "/")
	if err != nil {
		return "", err
	}
	run = regexp.MustCompile(`/runs/[0-9a-f]+`).FindString(list)
	cpu, begun, first := bench.CPU(), time.Now(), time.Duration(0)
	for {
		page, _, err := get(server.URL + run + "/live.json")
		if err != nil {
			return "", err
		}
		var is struct {
			Index    string // what is missing from the index
			Changing bool
		}
		if err := json.Unmarshal([]byte(page), &is); err != nil {
			return "", err
		}
		if first == 0 && !strings.Contains(is.Index, " 0 answers so far") {
			first = time.Since(begun)
		}
		if is.Index == "" && !is.Changing {
			break
		}
		if !is.Changing {
			return "", errors.New(is.Index)
		}
		time.Sleep(50 * time.Millisecond)
	}
	page, _, err := get(server.URL + run + "/answers")
	if err != nil {
		return "", err
	}
	if n := counted.FindStringSubmatch(page); n == nil || strings.ReplaceAll(n[1], "\u202f", "") != strconv.Itoa(answers) {
		return "", fmt.Errorf("the index is not that of the run: %q; expected %d answers", n, answers)
	}
	fmt.Printf("index: %.1f s, %.1f CPU s; the first answers can be looked through after %.2f s; peak memory %.0f MB\n",
		time.Since(begun).Seconds(), (bench.CPU() - cpu).Seconds(), first.Seconds(), bench.Peak())
	return run, s.Close()
}

// counted is the number of answers that a page of answers is of.
var counted = regexp.MustCompile(`([0-9\x{202f}]+) answers?</h2>`)

// pages times pages of the indexed run.
func pages(dir, run string, rounds int) error {
	for _, p := range []struct{ name, query string }{
		{"first page", ""},
		{"last page", "?before=1099511627776"},
		{"page in the middle", "?after=500000"},
		{"a language, in the middle", "?is.language=ja&after=500000"},
		{"wrong language", "?is.found=wrong+language"},
		{"a language and a model", "?is.language=ja&is.model=model-b&is.found=wrong+word"},
		{"a frequent word", "?q=w1"},
		{"a rare word", "?q=w29999"},
		{"a beginning of four letters", "?q=w123"},
		{"a word of every answer", "?q=item"},
		{"three words", "?q=w7+w13+w21"},
		{"a word, with a filter", "?q=w13&is.language=ja"},
		{"two words as they stand", "?q=%22w0+w1%22"},
	} {
		s, err := web.New(dir, web.Options{Cache: cacheOf(dir)})
		if err != nil {
			return err
		}
		server := httptest.NewServer(s)
		_, cold, err := get(server.URL + run + "/answers" + p.query)
		var warm []time.Duration
		for range rounds {
			_, took, failed := get(server.URL + run + "/answers" + p.query)
			if failed != nil {
				err = failed
			}
			warm = append(warm, took)
		}
		server.Close()
		if s.Close(); err != nil {
			return err
		}
		slices.Sort(warm)
		fmt.Printf("%-27s cold %6.1f ms, then fastest %6.1f ms, median %6.1f ms, slowest %6.1f ms (n = %d)\n",
			p.name, ms(cold), ms(warm[0]), ms(warm[rounds/2]), ms(warm[rounds-1]), rounds)
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func get(url string) (body string, took time.Duration, err error) {
	begun := time.Now()
	r, err := http.Get(url)
	if err != nil {
		return "", 0, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, r.Status)
	}
	return string(text), time.Since(begun), err
}

var (
	languages = []string{"ar", "de", "en", "es", "fr", "hi", "id", "it", "ja", "ko", "pt", "ru", "tr", "vi", "zh"}
	models    = []string{"model-a", "model-b", "model-c", "model-d"}
	sources   = []string{"news", "chat", "questions"}
)

// makeRun writes a run of made-up answers: 60 words each, a tenth of them with a wrong line, a twentieth of the others
// with a wrong word.
func makeRun(path string, answers int) error {
	d, err := run.Create(path, run.Recorded("confusion", "made-up", "models"))
	if err != nil {
		return err
	}
	defer d.Close()
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 5, 29_999)
	recorder, err := d.Record()
	if err != nil {
		return err
	}
	defer recorder.Discard()
	for i := range answers {
		for _, o := range observe(r, zipf, i) {
			if err := recorder.AddAt(o, run.Place{}); err != nil {
				return err
			}
		}
	}
	if err := recorder.Commit(); err != nil {
		return err
	}
	return d.WriteEstimates([]crosstalk.Estimate{{Measure: "lpr", Value: 0.9, N: answers, Observations: answers,
		By: map[string]string{"model": "model-a"}, Signature: "made up"}})
}

func observe(r *rand.Rand, zipf *rand.Zipf, i int) []crosstalk.Observation {
	var text strings.Builder
	for w := range 60 {
		if w > 0 {
			text.WriteByte(" \n"[min(1, max(0, w%20-18))])
		}
		fmt.Fprintf(&text, "w%d", zipf.Uint64())
	}
	base := crosstalk.Observation{Item: fmt.Sprintf("item-%d", i), Cluster: fmt.Sprintf("item-%d", i), Value: 1,
		Condition: map[string]string{"model": models[r.IntN(len(models))]},
		Labels: map[string]string{"language": languages[r.IntN(len(languages))],
			"source": sources[r.IntN(len(sources))], "task": "monolingual"}}
	line, accuracy, word := base, base, base
	line.Measure, accuracy.Measure, word.Measure = "lpr", "line_accuracy", "wpr"
	line.AddText(crosstalk.Side, "answer", text.String())
	switch {
	case r.IntN(10) == 0:
		line.Value, line.Finding, word.Value, word.NotScored = 0, "line", crosstalk.Undefined, "line error"
		word.Implied = true
		line.Spans = []crosstalk.Span{{Line: 1, Start: 0, End: 10,
			Text: text.String()[:10], Language: "en", Probability: 0.9}}
	case r.IntN(20) == 0:
		word.Value, word.Finding = 0, "word"
		word.Spans = []crosstalk.Span{{Line: 1, Start: 0, End: 2, Text: "w0"}}
	}
	return []crosstalk.Observation{line, accuracy, word}
}
