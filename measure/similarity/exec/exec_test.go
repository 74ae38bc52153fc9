package exec

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"crosstalk/measure/similarity"
)

// The test binary is the program too: BEHAVE says how it behaves.
func TestMain(m *testing.M) {
	if b := os.Getenv("BEHAVE"); b != "" {
		behave(b)
		return
	}
	os.Exit(m.Run())
}

func behave(how string) {
	type row struct {
		ID           int
		A, B, Source string
	}
	var rows []row
	score := func(r row) { fmt.Printf("{\"id\": %d, \"score\": %d}\n", r.ID, len(r.A)-len(r.B)+100*len(r.Source)) }
	if how == "deaf" {
		os.Stdin.Close()
		time.Sleep(time.Minute)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 4*maxLine)
	for lines.Scan() {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		rows = append(rows, r)
		switch how {
		case "score":
			score(r)
		case "backwards": // in pairs, the second first
			if len(rows)%2 == 0 {
				score(rows[len(rows)-1])
				score(rows[len(rows)-2])
			}
		case "null":
			fmt.Printf("{\"id\": %d, \"score\": null}\n", r.ID)
		case "error":
			fmt.Printf("{\"id\": %d, \"error\": \"out of memory\"}\n", r.ID)
		case "die":
			fmt.Fprintln(os.Stderr, "no module named comet")
			os.Exit(1)
		case "letter":
			fmt.Println("x")
		case "chatter":
			fmt.Println("Loading model...")
		case "twice":
			score(r)
			score(r)
		case "word":
			fmt.Printf("{\"id\": %d, \"score\": \"high\"}\n", r.ID)
		case "echo": // what it reads, as it reads it
			fmt.Fprintln(os.Stderr, lines.Text())
			os.Exit(1)
		case "no id":
			fmt.Println(`{"score": 1}`)
		case "long line":
			fmt.Println(strings.Repeat("x", 300))
		case "padded":
			fmt.Printf("\n \n\t{\"id\": %d, \"score\": 0.5, \"model\": %q}  \n", r.ID, strings.Repeat("x", maxLine-200))
		case "too long":
			fmt.Printf("{\"id\": %d, \"score\": 0.5, \"model\": %q}\n", r.ID, strings.Repeat("x", maxLine))
		case "other id":
			fmt.Printf("{\"id\": %d, \"score\": 1}\n", r.ID+2)
		case "earlier id":
			fmt.Printf("{\"id\": %d, \"score\": 1}\n", r.ID-1)
		case "quiet":
			os.Exit(1)
		case "talk":
			fmt.Fprint(os.Stderr, strings.Repeat("é", 3000))
			fmt.Fprint(os.Stderr, strings.Repeat("x", 1000)+"\n")
			os.Exit(1)
		case "environment":
			fmt.Fprintln(os.Stderr, strings.Join(os.Environ(), "\n"))
			os.Exit(1)
		case "keyless":
			fmt.Fprintln(os.Stderr, "set SOME_API_KEY")
			os.Exit(1)
		case "hang":
			time.Sleep(time.Minute)
		}
	}
	if file := os.Getenv("AT_END"); file != "" {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

func scorer(t *testing.T, how string, timeout time.Duration) *Scorer {
	t.Helper()
	t.Setenv("BEHAVE", how)
	s, err := New("'"+os.Args[0]+"'", Options{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var pairs = []similarity.Pair{{A: "koalas", B: "leaves"}, {A: "a\nb", B: "“ü”"}, {A: "", B: "xx"}, {A: "abc", B: ""},
	{A: "ein", B: "eins", Source: "one"}, {A: "", B: "zwei", Source: "two"}}

func TestScores(t *testing.T) {
	for _, how := range []string{"score", "backwards"} {
		s := scorer(t, how, 0)
		for range 2 { // the program stays
			got, err := s.Scores(context.Background(), pairs)
			if err != nil {
				t.Fatal(how, err)
			}
			for i, p := range pairs {
				if want := float64(len(p.A) - len(p.B) + 100*len(p.Source)); got[i] != want {
					t.Errorf("%s: pair %d: got %g, want %g", how, i, got[i], want)
				}
			}
		}
	}
}

func TestManyAtOnceDoNotBlock(t *testing.T) {
	s := scorer(t, "score", 0)
	many := make([]similarity.Pair, 5000)
	for i := range many {
		many[i] = similarity.Pair{A: strings.Repeat("x", i%300), B: strings.Repeat("y", 100)}
	}
	var callers sync.WaitGroup
	for range 3 {
		callers.Go(func() {
			got, err := s.Scores(context.Background(), many)
			if err != nil || got[299] != 199 {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	callers.Wait()
}

func TestNullIsUndefined(t *testing.T) {
	got, err := scorer(t, "null", 0).Scores(context.Background(), pairs[:1])
	if err != nil || !math.IsNaN(got[0]) {
		t.Errorf("got %v, %v; want NaN", got, err)
	}
}

func TestFailures(t *testing.T) {
	for how, want := range map[string]string{
		"error":   "could not score pair 0: out of memory",
		"die":     "it said:\nno module named comet",
		"chatter": `wrote "Loading model..."; expected a line like {"id": 0, "score": 0.83}`,
		"letter":  `wrote "x"; expected a line`,
		"twice":   "which was not asked or answered before",
		"word":    "the score is not a number",
		"hang":    "has not answered for 2s",
		"echo":    "it said:\n{\"id\":0,\"a\":\"<a> & \",\"b\":\"b\"}",
		"no id":   `wrote "{\"score\": 1}"; expected a line like {"id": 0, "score": 0.83}`,

		"long line":  `wrote "` + strings.Repeat("x", 200) + `"; expected`,
		"too long":   "ended with 2 of 2 scores missing",
		"other id":   `answered id 2, which was not asked or answered before: {"id": 2, "score": 1}`,
		"earlier id": `answered id -1, which was not asked`,
		"quiet":      "ended with 2 of 2 scores missing",
		"talk":       "it said:\n" + "\ufffd" + strings.Repeat("é", 499) + strings.Repeat("x", 1000),
	} {
		s := scorer(t, how, 2*time.Second)
		_, err := s.Scores(context.Background(), []similarity.Pair{{A: "<a> & ", B: "b"}, {A: "c", B: "d"}})
		if err == nil || !strings.Contains(err.Error(), want) ||
			how == "quiet" && strings.Contains(err.Error(), "it said") {
			t.Errorf("%s: got %v; want %q", how, err, want)
		}
		if _, again := s.Scores(context.Background(), pairs[:2]); again == nil {
			t.Errorf("%s: scored after it had failed", how)
		}
	}
}

// Close waits for the program to end with its input, and then knows its last output.
func TestCloseEndsTheInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "end")
	t.Setenv("AT_END", file)
	s := scorer(t, "score", 0)
	if err := s.Close(); err != nil || s.process != nil {
		t.Error(err)
	}
	for range 2 { // it starts again
		if _, err := s.Scores(t.Context(), pairs[:1]); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Errorf("the program did not end by itself: %v", err)
		}
	}
}

func TestTail(t *testing.T) {
	var said tail
	most := strings.Repeat("b", tailSize-1)
	for _, c := range []struct{ text, want string }{{"", ""}, {" a\n", "a"}, {most, most}, {"é", most[1:] + "é"},
		{most, "\ufffd" + most}} {
		if n, err := said.Write([]byte(c.text)); n != len(c.text) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if got := said.String(); got != c.want {
			t.Errorf("%.20q... of %d bytes, want %.20q...", got, len(got), c.want)
		}
	}
}

// A program that stops reading its input is an error, however long it keeps running.
func TestStoppedReading(t *testing.T) {
	s := scorer(t, "deaf", 20*time.Second)
	_, err := s.Scores(t.Context(), []similarity.Pair{{A: strings.Repeat("x", maxLine)}})
	if err == nil || !strings.Contains(err.Error(), ": stopped reading: ") {
		t.Error(err)
	}
}

func TestCancelEndsTheProgram(t *testing.T) {
	s := scorer(t, "hang", 0)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := s.Scores(ctx, pairs); err == nil || ctx.Err() == nil {
		t.Errorf("got %v; want the context's error", err)
	}
	if s.process != nil {
		t.Error("the program is still there")
	}
}

func TestNewRefusesWhatCannotRun(t *testing.T) {
	for command, want := range map[string]string{
		"":                        "expected a command",
		"no-such-program-exists":  "cannot be run",
		"python3 'unclosed quote": "a quote ' is not closed",
	} {
		if _, err := New(command, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v; want %q", command, err, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for command, want := range map[string][]string{
		`python3 "my script.py"  --name 'a "b"' ''`: {"python3", "my script.py", "--name", `a "b"`, ""},
		" a\tb\nc ":   {"a", "b", "c"},
		`a"b c"d'e'f`: {"ab cdef"},
		"":            nil,
		" ":           nil,
	} {
		got, err := split(command)
		if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
}

// A program sees no keys, and is not blamed for what it cannot see.
func TestEnvironment(t *testing.T) {
	t.Setenv("SOME_API_KEY", "one")
	t.Setenv("GATEWAY_PASS", "two")
	t.Setenv("OTHER_TOKEN", "three")
	t.Setenv("TOKENIZERS_PARALLELISM", "four")
	said := func(how string, o Options) string {
		t.Setenv("BEHAVE", how)
		s, err := New("'"+os.Args[0]+"'", o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, err = s.Scores(context.Background(), make([]similarity.Pair, 1))
		return fmt.Sprint(err)
	}
	text := said("environment", Options{Hide: []string{"GATEWAY_PASS"}, Show: []string{"OTHER_TOKEN"}})
	for _, want := range []string{"OTHER_TOKEN=three", "TOKENIZERS_PARALLELISM=four", "BEHAVE=environment"} {
		if !strings.Contains(text, want) {
			t.Errorf("the program does not see %s: %s", want, text)
		}
	}
	for _, secret := range []string{"SOME_API_KEY", "GATEWAY_PASS"} {
		if strings.Contains(text, secret) {
			t.Errorf("the program sees %s: %s", secret, text)
		}
	}
	if got := said("keyless", Options{}); !strings.HasSuffix(got, "set SOME_API_KEY\n(programs do not see SOME_API_KEY unless --exec-env SOME_API_KEY passes it)") {
		t.Error(got)
	}
	if got := said("keyless", Options{Show: []string{"SOME_API_KEY"}}); !strings.HasSuffix(got, "set SOME_API_KEY") {
		t.Error(got)
	}
	if _, err := New("'"+os.Args[0]+"'", Options{Show: []string{"NO_SUCH_KEY"}}); err == nil || !strings.Contains(err.Error(), `"NO_SUCH_KEY"`) {
		t.Error(err)
	}
}

func TestSecretName(t *testing.T) {
	for name, secret := range map[string]bool{
		"OPENAI_API_KEY": true, "AWS_SECRET_ACCESS_KEY": true, "AWS_ACCESS_KEY_ID": true, "AWS_BEARER_TOKEN_BEDROCK": true, "HF_TOKEN": true, "GITHUB_TOKEN": true,
		"PGPASSWORD": true, "DB_PASSWORD": true, "CLIENT_SECRET": true, "APIKEY": true, "my_secret": true, "GOOGLE_APPLICATION_CREDENTIALS": true,
		"PATH": false, "HOME": false, "PWD": false, "OLDPWD": false, "KEYBOARD": false, "TOKENIZERS_PARALLELISM": false, "HF_HOME": false, "MONKEY": false, "CUDA_VISIBLE_DEVICES": false,
	} {
		if secretName.MatchString(name) != secret {
			t.Errorf("%s: %v", name, !secret)
		}
	}
}

// A line may be long, and blank ones are passed over.
func TestPadded(t *testing.T) {
	got, err := scorer(t, "padded", 0).Scores(t.Context(), pairs[:2])
	if err != nil || got[0] != 0.5 || got[1] != 0.5 {
		t.Errorf("%v, %v", got, err)
	}
}

// A program that no longer exists is an error each time it is started.
func TestGone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "score")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := New(file+" a|b", Options{})
	if err != nil {
		t.Skip(err)
	}
	if s.Name() != "exec:"+file+" a/b" || s.options.Timeout != 5*time.Minute {
		t.Error(s.Name(), s.options.Timeout)
	}
	os.Remove(file)
	for range 2 {
		if _, err := s.Scores(t.Context(), pairs[:1]); err == nil || !strings.HasPrefix(err.Error(), "exec:"+file+" a|b: cannot be run: ") {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// What is secret is hidden unless it is to be shown, in any case of letters, and what is hidden is named.
func TestEnviron(t *testing.T) {
	seen, hidden := Options{Hide: []string{"Other"}, Show: []string{"a_key"}}.environ([]string{"A_KEY=1", "B_KEY=2", "OTHER=3", "THIRD=4=5", "="})
	if fmt.Sprint(seen) != "[A_KEY=1 THIRD=4=5 =]" || fmt.Sprint(hidden) != "[B_KEY OTHER]" {
		t.Errorf("%q, %q", seen, hidden)
	}
	for said, want := range map[string]string{"set B_KEY!": "\n(programs do not see B_KEY unless --exec-env B_KEY passes it)", "B_KEYS, AB_KEY": "", "": ""} {
		if got := hint(said, []string{"A_KEY", "B_KEY"}); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
