// Scale measures what large measurements cost: wall clock and CPU time, and the peak memory of the command, which must
// not grow with the number of items.
//
//	go -C tools run ./bench/scale run -n 100000,300000
//	go -C tools run ./bench/scale run -n 1000000
//	go -C tools run ./bench/scale run -n 100000 -samples 1000
//	go -C tools run ./bench/scale run -n 5000 -bytes 10000
//	go -C tools run ./bench/scale score -n 100000,300000,1000000
//	go -C tools run ./bench/scale read -n 100000,300000
//	go -C tools run ./bench/scale read -n 1000000
//	go -C tools run ./bench/scale processes -n 4000 -delay 50ms
//	go -C tools run ./bench/scale journal -n 1000000
//
// run asks n prompts, one answer each, of a local server that answers at once, 64 at a time; with -samples, fewer
// prompts that often, and with -bytes, for answers of about that length. score, which takes both, too, scores n
// recorded answers; read reports, compares and gates a run of n recorded answers. What is in -dir of an earlier
// measurement is not made again. processes asks n prompts from 1, 2, 3 and 4 shards at a time, of a server that answers
// after the delay and takes no more than 16 requests at a time from each process. journal fills a journal with n short
// answers, and saves, finds and counts some more. Each takes a few minutes on two quiet cores.
//
// The command is built first. CPU time and memory are those of its process, as the operating system counts them; the
// server and this program are not in them.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/tools/internal/bench"

	"golang.org/x/sync/errgroup"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: scale run|score|read|processes|journal [flags]")
	}
	b := &measuring{}
	flags := flag.NewFlagSet("scale", flag.ExitOnError)
	n := flags.String("n", "", "numbers of prompts or answers")
	flags.IntVar(&b.samples, "samples", 1, "answers per prompt")
	flags.IntVar(&b.bytes, "bytes", 0, "length of an answer, at least (default: a sentence or three)")
	flags.DurationVar(&b.delay, "delay", 50*time.Millisecond, "of the server, for processes")
	flags.StringVar(&b.dir, "dir", "", "where files are made (default: a temporary directory)")
	flags.Parse(os.Args[2:])
	if err := b.measure(os.Args[1], *n); err != nil {
		log.Fatal(err)
	}
}

type measuring struct {
	crosstalk, dir string
	delay          time.Duration
	samples, bytes int
}

func (b *measuring) measure(what, numbers string) error {
	measures := map[string]struct {
		f func(n int) error
		n string
	}{
		"run":       {b.run, "100000,300000,1000000"},
		"score":     {b.score, "100000,300000,1000000"},
		"read":      {b.read, "100000,300000,1000000"},
		"processes": {b.processes, "4000"},
		"journal":   {b.journal, "1000000"},
	}
	m, known := measures[what]
	if !known {
		return fmt.Errorf("unknown measurement %q; choose one of: run, score, read, processes, journal", what)
	}
	if numbers == "" {
		numbers = m.n
	}
	if b.dir == "" {
		temporary, err := os.MkdirTemp("", "scale")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		b.dir = temporary
	}
	var err error
	if b.crosstalk, err = bench.Program(b.dir); err != nil {
		return err
	}
	for _, text := range strings.Split(numbers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-n has %q; expected numbers above 0, such as 100000,300000", text)
		}
		if err := m.f(n); err != nil {
			return err
		}
	}
	return nil
}

// command runs crosstalk with these arguments. An exit code that is not among ok is an error.
func (b *measuring) command(ok []int, args ...string) (bench.Cost, error) {
	var out strings.Builder
	c := exec.Command(b.crosstalk, args...)
	c.Dir = b.dir
	c.Env = append(os.Environ(), "CROSSTALK_API_KEY=none")
	c.Stderr, c.Stdout = &out, &out
	cost, err := bench.Run(c)
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains(ok, exit.ExitCode()) {
		return cost, nil
	}
	if err != nil {
		text := out.String()
		return cost, fmt.Errorf("crosstalk %s: %w\n%s", strings.Join(args, " "), err, text[max(0, len(text)-2000):])
	}
	return cost, nil
}

// show runs a command and prints its cost.
func (b *measuring) show(what string, n int, ok []int, args ...string) error {
	cost, err := b.command(ok, args...)
	if err == nil {
		fmt.Printf("%-8s %8d: %v, %.0f/s\n", what, n, cost, float64(n)/cost.Wall)
	}
	return err
}

// run asks n prompts.
func (b *measuring) run(n int) error {
	server, err := b.serve(0)
	if err != nil {
		return err
	}
	defer server.Close()
	suite, err := b.suite(n / b.samples)
	if err != nil {
		return err
	}
	return b.show("run", n, nil, asking(server.URL, suite, filepath.Join(b.dir, "run-"+b.named(n)),
		"--concurrency", "64", "--samples", fmt.Sprint(b.samples), "--temperature", "1",
		"--max-tokens", fmt.Sprint(max(1000, b.bytes/4)))...)
}

// named names files of n answers.
func (b *measuring) named(n int) string { return fmt.Sprintf("%d-%d-%d", n, b.samples, b.bytes) }

// asking returns the arguments for a run.
func asking(url, suite, out string, more ...string) []string {
	return append([]string{"run", "confusion",
		"--model", "compatible:m", "--base-url", url + "/v1", "--suite", suite,
		"--out", out, "--quiet", "--format", "json"}, more...)
}

// score scores n recorded answers.
func (b *measuring) score(n int) error {
	args, _, err := b.scoring(n)
	if err != nil {
		return err
	}
	return b.show("score", n, nil, args...)
}

// scoring returns the arguments for scoring n recorded answers, and the run.
func (b *measuring) scoring(n int) (args []string, out string, err error) {
	answers, err := b.answers(n)
	out = filepath.Join(b.dir, "score-"+b.named(n))
	return []string{"score", "confusion", answers, "--out", out, "--quiet", "--format", "json"}, out, err
}

// read times the commands that read a run of n recorded answers, which it makes unless it is there.
func (b *measuring) read(n int) error {
	args, out, err := b.scoring(n)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, "estimates.json")); err != nil {
		if _, err := b.command(nil, args...); err != nil {
			return err
		}
	}
	for _, command := range [][]string{
		{"report", out, "--by", "language", "--format", "json"},
		{"compare", out, out, "--format", "json"},
		{"gate", out, "--require", "lpr>=1%", "--by", "language"},
		{"status", out},
	} {
		if err := b.show(command[0], n, []int{1, 3, 4}, command...); err != nil {
			return err
		}
	}
	return nil
}

// processes asks n prompts for each process, of 1 to 4 at a time.
func (b *measuring) processes(n int) error {
	const concurrency = 16
	server, err := b.serve(b.delay)
	if err != nil {
		return err
	}
	defer server.Close()
	var one float64
	for count := 1; count <= 4; count++ {
		suite, err := b.suite(n * count)
		if err != nil {
			return err
		}
		all := filepath.Join(b.dir, fmt.Sprintf("processes-%d-of-%d", count, n))
		var group errgroup.Group
		server.began, server.ended = time.Time{}, time.Time{}
		started := time.Now()
		for i := range count {
			group.Go(func() error {
				_, err := b.command(nil, asking(server.URL, suite, all,
					"--concurrency", fmt.Sprint(concurrency), "--shard", fmt.Sprintf("%d/%d", i+1, count))...)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		wall := time.Since(started)
		rate := float64(n*count) / server.ended.Sub(server.began).Seconds() // without starting and scoring
		if count == 1 {
			one = rate
		}
		fmt.Printf("%d processes, %d prompts, %d at a time each, %v: %6.1f s, %7.1f/s while asking, %.3f of linear\n",
			count, n*count, concurrency, b.delay, wall.Seconds(), rate, rate/one/float64(count))
	}
	return nil
}

// suite writes a suite of n prompts in six languages as a table.
func (b *measuring) suite(n int) (string, error) {
	return b.table(fmt.Sprintf("suite-%d.jsonl", n), n, func(w *bufio.Writer, i int) {
		l := languages[i%len(languages)]
		fmt.Fprintf(w, `{"id":"p%d","language":%q,"prompt":%q}`+"\n", i, l.code, fmt.Sprintf("%s %d", l.prompt, i))
	})
}

// answers writes n recorded answers to such prompts.
func (b *measuring) answers(n int) (string, error) {
	return b.table("answers-"+b.named(n)+".jsonl", n, func(w *bufio.Writer, i int) {
		prompt := i / b.samples
		l := languages[prompt%len(languages)]
		text := b.long(reply(i - i%len(languages) + prompt%len(languages)))
		fmt.Fprintf(w, `{"id":"p%d","sample":%d,"language":%q,"completion":%q,"model":"m"}`+"\n", prompt, i%b.samples,
			l.code, text)
	})
}

// table writes a file of n lines, unless it is there.
func (b *measuring) table(name string, n int, line func(w *bufio.Writer, i int)) (string, error) {
	path := filepath.Join(b.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	w := bufio.NewWriter(f)
	for i := range n {
		line(w, i)
	}
	return path, errors.Join(w.Flush(), f.Close())
}

// journal fills a journal with n short answers, in this process, and then times what a run and its readers do with it:
// open it, save one answer more, find one, and count all. The rates of the tenths show whether a journal gets slower as
// it grows.
func (b *measuring) journal(n int) error {
	path := filepath.Join(b.dir, fmt.Sprintf("journal-%d.db", n))
	j, err := journal.Open(path)
	if err != nil {
		return err
	}
	started := time.Now()
	var rates []float64 // of tenths
	for part := range 10 {
		from, to := n*part/10, n*(part+1)/10
		took, err := each(1, func(int) error { return fill(j, from, to) })
		if err != nil {
			return errors.Join(err, j.Close())
		}
		rates = append(rates, float64(to-from)/took.Seconds())
	}
	filled := time.Since(started)
	if err := j.Close(); err != nil {
		return err
	}
	open, err := each(1, func(int) (err error) { j, err = journal.Open(path); return err })
	if err != nil {
		return err
	}
	const times = 1000
	save, failed := each(times, func(i int) error { return j.Put(answered(n + i)) })
	found, lost := each(times, func(int) error {
		r := answered(rand.IntN(n))
		_, found, err := j.Get(crosstalk.KeyOf(r.Identity, r.Request))
		if err == nil && !found {
			err = errors.New("an answer is not in the journal")
		}
		return err
	})
	count, err := each(1, func(int) error { _, err := j.Progress(); return err })
	if err := errors.Join(failed, lost, err, j.Close()); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Printf("journal  %8d: filled in %.1f s (%.0f/s; by tenths %.0f), opened in %v, "+
		"one more saved in %v, one found in %v, all counted in %v, %d MB\n",
		n, filled.Seconds(), float64(n)/filled.Seconds(), rates, open, save, found, count, info.Size()/1e6)
	return nil
}

// each does something several times, and returns the mean duration.
func each(times int, do func(i int) error) (time.Duration, error) {
	started := time.Now()
	for i := range times {
		if err := do(i); err != nil {
			return 0, err
		}
	}
	return (time.Since(started) / time.Duration(times)).Round(time.Microsecond), nil
}

// fill saves the answers from one number up to another, as many at a time as a run with a high concurrency.
func fill(j *journal.Journal, from, to int) error {
	var group errgroup.Group
	group.SetLimit(256)
	for i := from; i < to; i++ {
		group.Go(func() error { return j.Put(answered(i)) })
	}
	return group.Wait()
}

// answered returns the record of a number.
func answered(i int) journal.Record {
	l := languages[i%len(languages)]
	r := journal.Record{Identity: crosstalk.Identity{Provider: "compatible", Name: "m"},
		Request: crosstalk.Request{API: crosstalk.Chat,
			Messages: []crosstalk.Message{{Role: "user", Content: fmt.Sprintf("%s %d", l.prompt, i)}}},
		Answer: crosstalk.Answer{Status: crosstalk.Text, Text: strings.Repeat("*", 1+i%7),
			Model: "m", Finish: "stop", Attempts: 1,
			Usage: crosstalk.Usage{Prompt: 12, Completion: 40}, Time: time.UnixMilli(1767225600000 + int64(i))}}
	r.Answer.Key = crosstalk.KeyOf(r.Identity, r.Request)
	return r
}

// server is a local server with OpenAI's API.
type server struct {
	*httptest.Server
	mu           sync.Mutex
	began, ended time.Time // the first request, and the last answer
}

// address is constant because it determines whether two runs are shards of one measurement.
const address = "127.0.0.1:27182"

// long repeats an answer until it has enough bytes.
func (b *measuring) long(text string) string {
	return text + strings.Repeat(" "+text, b.bytes/(len(text)+1))
}

// serve starts a server that answers after a delay.
func (b *measuring) serve(delay time.Duration) (*server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if s.began.IsZero() {
			s.began = time.Now()
		}
		s.mu.Unlock()
		var asked struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) == 0 {
			http.Error(w, "expected messages", http.StatusBadRequest)
			return
		}
		time.Sleep(delay)
		prompt := asked.Messages[len(asked.Messages)-1].Content
		h := fnv.New32a()
		h.Write([]byte(prompt))
		text, _ := json.Marshal(b.long(replyTo(prompt, int(h.Sum32()))))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,`+
			`"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],`+
			`"usage":{"prompt_tokens":12,"completion_tokens":40,"total_tokens":52}}`, text)
		s.mu.Lock()
		s.ended = time.Now()
		s.mu.Unlock()
	}))
	s.Listener.Close()
	s.Listener = listener
	s.Start()
	return s, nil
}

// language is a language with a prompt and an answer in it.
type language struct{ code, prompt, answer string }

var languages = []language{
	{"en", "Tell me something about the number",
		"The number is well known, and people have counted with it for a very long time."},
	{"de", "Erzähle mir etwas über die Zahl",
		"Die Zahl ist gut bekannt, und die Menschen rechnen schon sehr lange mit ihr."},
	{"fr", "Raconte-moi quelque chose sur le nombre",
		"Ce nombre est bien connu, et les gens comptent avec lui depuis très longtemps."},
	{"es", "Cuéntame algo sobre el número",
		"El número es muy conocido, y la gente cuenta con él desde hace mucho tiempo."},
	{"it", "Raccontami qualcosa sul numero",
		"Il numero è ben conosciuto, e la gente lo usa per contare da molto tempo."},
	{"pt", "Conte-me algo sobre o número",
		"O número é bem conhecido, e as pessoas contam com ele há muito tempo."},
}

// replyTo answers a prompt in its language, and now and then in English.
func replyTo(prompt string, seed int) string {
	for i, l := range languages {
		if strings.HasPrefix(prompt, l.prompt) {
			return reply(seed - seed%len(languages) + i)
		}
	}
	return languages[0].answer
}

// reply returns the answer to the prompt of this number.
func reply(i int) string {
	answer := languages[i%len(languages)].answer
	if i%97 == 0 {
		answer = languages[0].answer
	}
	return strings.Repeat(answer+" ", 1+i%3) + fmt.Sprintf("(%d)", i%1000)
}
