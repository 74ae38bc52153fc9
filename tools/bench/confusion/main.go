//go:build unix

// Confusion measures crosstalk score confusion: wall and processor seconds and
// peak memory for a file of recorded answers, and for a stream of generated
// ones whose length does not show in the memory.
//
//	go -C tools run ./bench/confusion [-passes 5] [-lid FILE] [-words FILE] FILE...
//	go -C tools run ./bench/confusion -rows 10000000
//
// The reference data has files of some 6,500 answers. Each pass is a process
// of its own; files take turns. The generated answers come through a pipe, in
// 15 languages, each with an id of its own.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"crosstalk/tools/internal/bench"
)

func main() {
	passes := flag.Int("passes", 5, "passes over the files")
	rows := flag.Int("rows", 0, "rows of the stream, after one of a tenth")
	lid := flag.String("lid", "", "fastText model (default: the embedded one)")
	words := flag.String("words", "", "list of words (default: the embedded one)")
	flag.Parse()
	dir, err := os.MkdirTemp("", "confusion")
	bench.Check(err)
	defer os.RemoveAll(dir)
	program, err := bench.Program(dir)
	bench.Check(err)
	args := []string{"score", "confusion", "--protocol", "lcb-script", "--format", "json", "--quiet"}
	if *lid != "" {
		args = append(args, "--lid", *lid)
	}
	if *words != "" {
		args = append(args, "--words", *words)
	}
	costs := map[string][]bench.Cost{}
	for range *passes {
		for _, file := range flag.Args() {
			costs[file] = append(costs[file], measure(program, append(args, file)))
		}
	}
	for _, file := range flag.Args() {
		fmt.Printf("%s: %v (median of %d)\n", filepath.Base(file), bench.MedianCost(costs[file]), *passes)
	}
	for _, n := range []int{*rows / 10, *rows} {
		if n == 0 {
			continue
		}
		pipe := filepath.Join(dir, fmt.Sprintf("stream-%d.csv", n))
		bench.Check(syscall.Mkfifo(pipe, 0o600))
		go generate(pipe, n)
		c := measure(program, append(args, pipe))
		fmt.Printf("%d rows: %v, %.0f rows per CPU second\n", n, c, float64(n)/c.CPU)
	}
}

func measure(program string, args []string) bench.Cost {
	c := exec.Command(program, args...)
	c.Stderr = os.Stderr
	cost, err := bench.Run(c)
	bench.Check(err)
	return cost
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
	bench.Check(err)
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
	bench.Check(w.Flush())
	bench.Check(f.Close())
}
