//go:build unix

// Confusion measures crosstalk score confusion: wall and processor seconds and
// peak memory for a file of recorded answers, and for a stream of generated
// ones whose length does not show in the memory.
//
//	go run ./bench/confusion [-passes 5] [-lid FILE] [-words FILE] FILE...
//	go run ./bench/confusion -rows 10000000
//
// The reference data has files of some 6,500 answers. Each pass is a process
// of its own; files take turns. The generated answers come through a pipe, in
// 15 languages, each with an id of its own.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	passes := flag.Int("passes", 5, "passes over the files")
	rows := flag.Int("rows", 0, "rows of the stream, after one of a tenth")
	lid := flag.String("lid", "", "fastText model (default: the embedded one)")
	words := flag.String("words", "", "list of words (default: the embedded one)")
	flag.Parse()
	dir, err := os.MkdirTemp("", "confusion")
	check(err)
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "crosstalk")
	out, err := exec.Command("go", "build", "-o", program, "./cmd/crosstalk").CombinedOutput()
	if err != nil {
		log.Fatalf("go build: %v\n%s", err, out)
	}
	args := []string{"score", "confusion", "--protocol", "lcb-script", "--format", "json", "--quiet"}
	if *lid != "" {
		args = append(args, "--lid", *lid)
	}
	if *words != "" {
		args = append(args, "--words", *words)
	}
	costs := map[string][]cost{}
	for range *passes {
		for _, file := range flag.Args() {
			costs[file] = append(costs[file], measure(program, append(args, file)))
		}
	}
	for _, file := range flag.Args() {
		fmt.Printf("%s: %v (median of %d)\n", filepath.Base(file), median(costs[file]), *passes)
	}
	for _, n := range []int{*rows / 10, *rows} {
		if n == 0 {
			continue
		}
		pipe := filepath.Join(dir, fmt.Sprintf("stream-%d.csv", n))
		check(syscall.Mkfifo(pipe, 0o600))
		go generate(pipe, n)
		c := measure(program, append(args, pipe))
		fmt.Printf("%d rows: %v, %.0f rows per processor second\n", n, c, float64(n)/c.processor)
	}
}

// cost is what a run of the program took.
type cost struct {
	wall, processor float64 // seconds
	peak            float64 // MB
}

func (c cost) String() string {
	return fmt.Sprintf("%.2f s, %.2f processor s, peak %.0f MB", c.wall, c.processor, c.peak)
}

func measure(program string, args []string) cost {
	c := exec.Command(program, args...)
	c.Stderr = os.Stderr
	start := time.Now()
	check(c.Run())
	wall := time.Since(start).Seconds()
	s := c.ProcessState
	peak := float64(s.SysUsage().(*syscall.Rusage).Maxrss) / 1024 // kilobytes on Linux
	return cost{wall, (s.UserTime() + s.SystemTime()).Seconds(), peak}
}

func median(costs []cost) cost {
	by := func(of func(cost) float64) float64 {
		var values []float64
		for _, c := range costs {
			values = append(values, of(c))
		}
		return slices.Sorted(slices.Values(values))[len(values)/2]
	}
	return cost{by(func(c cost) float64 { return c.wall }), by(func(c cost) float64 { return c.processor }), by(func(c cost) float64 { return c.peak })}
}

// sentences are long enough to be checked, one a language.
var sentences = []struct{ language, text string }{
	{"ar", "تحكي لنا الجدة حكاية طويلة كل مساء"}, {"de", "Die Großmutter erzählt jeden Abend eine lange Geschichte"},
	{"en", "Grandmother tells us a long story every evening"}, {"es", "La abuela nos cuenta una larga historia cada noche"},
	{"fr", "La grand-mère nous raconte une longue histoire chaque soir"}, {"hi", "दादी हमें हर शाम एक लंबी कहानी सुनाती हैं"},
	{"id", "Nenek menceritakan kisah yang panjang setiap malam"}, {"it", "La nonna ci racconta ogni sera una lunga storia"},
	{"ja", "おばあさんは毎晩長い話をしてくれます。"}, {"ko", "할머니는 매일 저녁 우리에게 긴 이야기를 해 주신다"},
	{"pt", "A avó conta-nos uma longa história todas as noites"}, {"ru", "Бабушка каждый вечер рассказывает нам длинную историю"},
	{"tr", "Büyükannem her akşam bize uzun bir hikâye anlatır"}, {"vi", "Bà kể cho chúng tôi một câu chuyện dài mỗi tối"},
	{"zh", "奶奶每天晚上给我们讲一个很长的故事。"},
}

func generate(path string, rows int) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	check(err)
	w := bufio.NewWriterSize(f, 1<<16)
	fmt.Fprintln(w, "id,model,task,source,language,completion")
	for i := range rows {
		s, other := sentences[i%len(sentences)], sentences[i%7]
		answer := s.text
		if i%10 == 0 {
			answer += "\n" + other.text
		}
		fmt.Fprintf(w, "%d,m,monolingual,s%d,%s,\"%s\"\n", i, i%3, s.language, answer)
	}
	check(w.Flush())
	check(f.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
