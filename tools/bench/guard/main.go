//go:build linux

// Guard measures crosstalk guard: the time of a check of 500 tokens, checks per CPU second, memory, and how good
// clients fare beside slow and hostile ones.
//
//	go -C tools run ./bench/guard [-checks 5000] [-duration 1m] [-data DIR]
//
// The texts are in 15 languages and have about 500 tokens (2,000 bytes of Latin letters) each. Some repeat one
// sentence, and every fifth of these has a word of another language. Others, if ../shared/data/words is there, are
// answers of models put together, which have many more different words. For comparison, lingua-go gives
// one label to each text. The service runs in its own process, and so does one of
// net/http with an empty handler, the floor; clients share the machine with them.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"crosstalk/guard"
	"crosstalk/tools/internal/bench"

	"github.com/pemistahl/lingua-go"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "floor" {
		serveFloor()
	}
	checks := flag.Int("checks", 5000, "checks of each kind")
	duration := flag.Duration("duration", time.Minute, "full load beside hostile clients")
	data := flag.String("data", "../../shared/data", "`folder` of the reference data, relative to the folder tools")
	flag.Parse()
	all := texts()
	fmt.Println("a sentence again and again:")
	library(all, *checks)
	answers, err := recorded(*data)
	if err != nil {
		fmt.Printf("answers of models: skipped: no reference data (%v)\n", err)
	} else {
		fmt.Printf("answers of models, %d texts:\n", len(answers))
		library(answers, *checks)
	}
	dir, err := os.MkdirTemp("", "guard")
	bench.Check(err)
	defer os.RemoveAll(dir)
	program, err := bench.Program(dir)
	bench.Check(err)
	floor := start(os.Args[0], "floor")
	defer floor.stop()
	s := start(program, "guard", "--addr", "127.0.0.1:0")
	defer s.stop()
	for _, clients := range []int{1, 4} {
		floor.http("a handler that only reads", clients, all, *checks)
		s.http("a sentence again and again", clients, all, *checks)
		if answers != nil {
			s.http("answers of models", clients, answers, *checks)
		}
	}
	s.load(all, *duration)
}

type text struct {
	language, text string
	wrong          bool
}

func texts() (all []text) {
	sentences := bench.Sentences()
	for i := range 10 * len(sentences) {
		s := sentences[i%len(sentences)]
		var b strings.Builder
		for n := 0; len([]rune(b.String())) < 2000 && b.Len() < 4000; n++ {
			b.WriteString(s.Text)
			b.WriteString([]string{" ", "\n\n", "\n- "}[n*(i+1)%3])
		}
		t := text{s.Language, b.String(), i%5 == 0}
		if t.wrong {
			foreign := "всегда"
			if s.Language == "ru" {
				foreign = "すべて"
			}
			t.text += strings.Replace(s.Text, " ", " "+foreign+" ", 1)
			if !strings.Contains(s.Text, " ") {
				t.text += "пожалуйста " + s.Text
			}
		}
		all = append(all, t)
	}
	return all
}

// recorded returns texts of 500 tokens that are answers of models one after the other.
func recorded(dir string) (all []text, err error) {
	answers, err := bench.ReadLines[struct{ Language, Text string }](filepath.Join(dir, "words/clean.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	of := map[string]*strings.Builder{} // a language's answers so far
	for _, a := range answers {
		b := of[a.Language]
		if b == nil {
			b = &strings.Builder{}
			of[a.Language] = b
		}
		b.WriteString(a.Text + "\n\n")
		if rs := []rune(b.String()); len(rs) >= 2000 || b.Len() >= 4000 {
			all = append(all, text{a.Language, strings.ToValidUTF8(b.String()[:min(b.Len(), 4000)], ""), false})
			b.Reset()
		}
	}
	return all, nil
}

// times are sorted durations.
type times []time.Duration

func (t times) at(p float64) time.Duration { return t[min(len(t)-1, int(p*float64(len(t))))] }

func (t times) String() string {
	slices.Sort(t)
	return fmt.Sprintf("median %v, p99 %v, longest %v", t.at(0.5), t.at(0.99), t[len(t)-1])
}

// threadTime returns the processor time of the thread.
func threadTime() time.Duration {
	var t unix.Timespec
	bench.Check(unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t))
	return time.Duration(t.Nano())
}

// timed does something with n texts, again and again the same ones, and returns how long each took and how many it did
// in a CPU second.
func timed(all []text, n int, do func(text)) (took times, rate float64) {
	before := bench.CPU()
	for i := range n {
		start := time.Now()
		do(all[i%len(all)])
		took = append(took, time.Since(start))
	}
	return took, float64(n) / (bench.CPU() - before).Seconds()
}

// library measures guard.Check in this process, on one core. Recorded answers may have words of another language of
// their own, so those that are flagged need not be errors.
func library(all []text, n int) {
	runtime.LockOSThread() // for threadTime, which does not count what else the machine does
	defer runtime.UnlockOSThread()
	guard.Check("a", "de") // reads the models
	took, rate := timed(all, len(all), func(t text) {
		_, err := guard.Check(t.text, t.language)
		bench.Check(err)
	})
	fmt.Printf("guard.Check, 500 tokens, each text for the first time: %v; %.0f checks a CPU second\n", took, rate)
	var spent times
	missed, made, flagged := 0, 0, 0
	took, rate = timed(all, n, func(t text) {
		start := threadTime()
		j, err := guard.Check(t.text, t.language)
		spent = append(spent, threadTime()-start)
		bench.Check(err)
		switch wrong := j.Verdict == guard.Wrong; {
		case t.wrong:
			made++
			if !wrong {
				missed++
			}
		case wrong:
			flagged++
		}
	})
	fmt.Printf("guard.Check, 500 tokens: %v; in processor time %v; %.0f checks a CPU second; "+
		"%d of %d made with words of another language missed, %d other texts flagged\n",
		took, spent, rate, missed, made, flagged)
	const fewer = 20 // times, since it is slow
	detector := lingua.NewLanguageDetectorBuilder().FromLanguages(linguaLanguages...).WithPreloadedLanguageModels().Build()
	took, rate = timed(all, n/fewer, func(t text) { detector.DetectLanguageOf(t.text) })
	fmt.Printf("lingua-go, one label a text: %v; %.0f texts a CPU second\n", took, rate)
}

// linguaLanguages are the 15 of the benchmark.
var linguaLanguages = []lingua.Language{lingua.Arabic, lingua.German, lingua.English, lingua.Spanish, lingua.French,
	lingua.Hindi, lingua.Indonesian, lingua.Italian, lingua.Japanese, lingua.Korean, lingua.Portuguese, lingua.Russian,
	lingua.Turkish, lingua.Vietnamese, lingua.Chinese}

type service struct {
	process *exec.Cmd
	address string
}

func start(program string, args ...string) *service {
	c := exec.Command(program, args...)
	said, err := c.StderrPipe()
	bench.Check(err)
	bench.Check(c.Start())
	line, err := bufio.NewReader(said).ReadString('\n')
	bench.Check(err)
	go io.Copy(io.Discard, said)
	_, address, _ := strings.Cut(strings.TrimSpace(line), "http://")
	return &service{c, strings.TrimSuffix(address, "/")}
}

// serveFloor is a service whose handler reads the body and always sends the same answer: the cost of net/http itself.
func serveFloor() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	bench.Check(err)
	fmt.Fprintf(os.Stderr, "http://%s/\n", l.Addr())
	bench.Check(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"verdict":"ok","action":"allow"}`)
	})))
}

func (s *service) stop() {
	s.process.Process.Signal(os.Interrupt)
	fmt.Printf("ended with %v\n", s.process.Wait())
}

// status returns a number of /proc/PID/status, in MB, or a count.
func (s *service) status(name string) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	bench.Check(err)
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			x, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return x / 1024
		}
	}
	return 0
}

// cpu returns the processor time of the service, in seconds.
func (s *service) cpu() float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	bench.Check(err)
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+2:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

func body(t text) []byte {
	data, _ := json.Marshal(map[string]string{"text": t.text, "language": t.language})
	return data
}

// ask checks a text and reports whether the verdict is right.
func (s *service) ask(client *http.Client, data []byte, wrong bool) (bool, error) {
	response, err := client.Post("http://"+s.address+"/v1/check", "application/json", bytes.NewReader(data))
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	var got struct{ Verdict string }
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil || response.StatusCode != 200 {
		return false, fmt.Errorf("status %d: %v", response.StatusCode, err)
	}
	return (got.Verdict == "wrong") == wrong, nil
}

// http measures checks over HTTP, by some clients at a time.
func (s *service) http(name string, clients int, all []text, n int) {
	took := make(times, n)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	before := s.cpu()
	var group errgroup.Group
	group.SetLimit(clients)
	for i := range n {
		t := all[i%len(all)]
		data := body(t)
		group.Go(func() error {
			start := time.Now()
			_, err := s.ask(client, data, t.wrong)
			took[i] = time.Since(start)
			return err
		})
	}
	bench.Check(group.Wait())
	fmt.Printf("over HTTP, %d at a time, %s: %v; %.0f checks a CPU second of the service; memory %.0f MB\n",
		clients, name, took, float64(n)/(s.cpu()-before), s.status("VmRSS"))
}

// load runs good clients beside hostile ones.
func (s *service) load(all []text, duration time.Duration) {
	var good, bad, refused atomic.Int64
	var wrong sync.Map
	end := time.Now().Add(duration)
	var group sync.WaitGroup
	run := func(n int, client func(r *rand.Rand)) {
		for i := range n {
			group.Go(func() {
				for r := rand.New(rand.NewPCG(1, uint64(i))); time.Now().Before(end); {
					client(r)
				}
			})
		}
	}
	bodies := make([][]byte, len(all))
	for i, t := range all {
		bodies[i] = body(t)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}, Timeout: 10 * time.Second}
	run(8, func(r *rand.Rand) {
		i := r.IntN(len(all))
		if _, err := s.ask(client, bodies[i], all[i].wrong); err != nil {
			bad.Add(1)
			wrong.Store(err.Error(), true)
			return
		}
		good.Add(1)
	})
	dial := func(f func(net.Conn)) {
		c, err := net.DialTimeout("tcp", s.address, time.Second)
		if err != nil {
			refused.Add(1)
			time.Sleep(10 * time.Millisecond)
			return
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(20 * time.Second))
		f(c)
	}
	head := "POST /v1/check HTTP/1.1\r\nHost: localhost\r\n"
	hostile := []func(*rand.Rand){
		func(r *rand.Rand) { // writes a header a byte at a time
			dial(func(c net.Conn) {
				for i := range head {
					if _, err := c.Write([]byte{head[i]}); err != nil {
						return
					}
					time.Sleep(200 * time.Millisecond)
				}
			})
		},
		func(r *rand.Rand) { // announces a body and sends little of it
			dial(func(c net.Conn) {
				fmt.Fprintf(c, "%sContent-Length: 8000000\r\n\r\n{", head)
				for range 20 {
					time.Sleep(500 * time.Millisecond)
					if _, err := c.Write([]byte("x")); err != nil {
						return
					}
				}
			})
		},
		func(r *rand.Rand) { // sends a large body that is no JSON
			dial(func(c net.Conn) {
				fmt.Fprintf(c, "%sContent-Length: 7000000\r\n\r\n", head)
				c.Write(bytes.Repeat([]byte("[{"), 3_500_000))
				io.CopyN(io.Discard, c, 100)
			})
		},
		func(r *rand.Rand) { // a large text of short lines
			line := []string{"- word\n", "| a | b |\n", "\"", "а b ", "（", "请", "\xff"}[r.IntN(7)]
			data := body(text{"de", strings.Repeat(line, 300_000/len(line)), false})
			dial(func(c net.Conn) {
				fmt.Fprintf(c, "%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", head, len(data), data)
				io.Copy(io.Discard, c)
			})
		},
		func(r *rand.Rand) { // a stream of small pieces that stops
			dial(func(c net.Conn) {
				fmt.Fprintf(c, "POST /v1/check/stream HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
				fmt.Fprintf(c, "15\r\n{\"language\":\"de\"}   \n\r\n")
				for range 2000 {
					if _, err := fmt.Fprintf(c, "f\r\n{\"text\":\"a b\"}\n\r\n"); err != nil {
						return
					}
				}
				time.Sleep(time.Second)
			})
		},
	}
	clients := []int{100, 100, 4, 1, 4} // many slow ones, and one whose texts take long
	for i, f := range hostile {
		run(clients[i], f)
	}
	first, most := s.status("VmRSS"), 0.0
	files := func() int {
		list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.process.Process.Pid))
		return len(list)
	}
	group.Go(func() {
		for time.Now().Before(end) {
			most = max(most, s.status("VmRSS"))
			time.Sleep(200 * time.Millisecond)
		}
	})
	before := s.cpu()
	group.Wait()
	fmt.Printf("%v beside hostile clients: %d checks answered, %d lost, %d hostile connections refused; %.0f CPU s\n",
		duration, good.Load(), bad.Load(), refused.Load(), s.cpu()-before)
	wrong.Range(func(key, _ any) bool { fmt.Println("  lost:", key); return true })
	ended := time.Now()
	for files() > 16 && time.Since(ended) < 2*time.Minute { // idle connections end after half a minute
		time.Sleep(time.Second)
	}
	fmt.Printf("memory %.0f MB before, at most %.0f MB, %.0f MB after (peak %.0f MB); %d open files after %.0f s\n",
		first, most, s.status("VmRSS"), s.status("VmHWM"), files(), time.Since(ended).Seconds())
}
