//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"crosstalk/internal/testing/shared"
	"crosstalk/internal/testing/testserver"
)

// A job array on a real Slurm, two tasks at a time, with some killed,
// requeued, or told that their time is over. Submitted again, it finishes what was
// killed; its merge is what a single run is; and at most what was in flight was
// asked again. $CROSSTALK_TEST_SHARDS is the number of shards, 64 at night.
func TestSubmitSlurm(t *testing.T) {
	const concurrency = 2
	t.Parallel()
	array := newArray(t)
	suite := writeSuite(t, 4*array.shards)
	s := newServer(t, testserver.Options{Latency: 100 * time.Millisecond, Jitter: 20 * time.Millisecond})
	run := func(out string) []string {
		return runLeakage(s, suite, out, "--concurrency", fmt.Sprint(concurrency), "--quiet", "--system", `it's "$(false)"`)
	}
	out := filepath.Join(t.TempDir(), "all shards")
	array.measure(run(out), out)
	single := filepath.Join(t.TempDir(), "single")
	asked := s.Stats().Attempts
	start(t, nil, run(single)...).expect(0)
	asks := s.Stats().Attempts - asked
	t.Logf("asked %d times, a single run %d", asked, asks)
	if most := asks + array.disturbances*concurrency; asked < asks || asked > most {
		t.Errorf("the shards asked %d times what a single run asks %d times; expected at most %d, with what was in flight at a disturbance", asked, asks, most)
	}
	sameRun(t, out+"-merged", single)
	noKey(t, out)
}

// The same for recorded answers of four models.
func TestSubmitSlurmScore(t *testing.T) {
	if os.Getenv("CROSSTALK_TEST_SHARDS") == "" {
		t.Skip("scores thousands of answers: set CROSSTALK_TEST_SHARDS=64")
	}
	var files []string
	for _, name := range shared.Names(t, "lcb/outputs") {
		files = append(files, shared.File(t, "lcb/outputs/"+name))
	}
	score := func(out string) []string {
		return append([]string{"score", "confusion", "--quiet", "--out", out}, files...)
	}
	array := newArray(t)
	out := filepath.Join(t.TempDir(), "all")
	array.measure(score(out), out)
	single := filepath.Join(t.TempDir(), "single")
	start(t, nil, score(single)...).expect(0)
	sameRun(t, out+"-merged", single)
}

// sameRun fails if the figures and observations of two runs are not the same, byte
// for byte.
func sameRun(t *testing.T, merged, single string) {
	t.Helper()
	for _, name := range []string{"estimates.json", "observations.jsonl"} {
		if a, b := readFile(t, merged, name), readFile(t, single, name); a != b || len(a) < 100 {
			t.Errorf("%s differs from that of a single run: %d and %d bytes", name, len(a), len(b))
		}
	}
}

// array is a job array on a real Slurm.
type array struct {
	t                    *testing.T
	slurm                *slurm
	shards, disturbances int
}

func newArray(t *testing.T) *array {
	t.Helper()
	if testing.Short() {
		t.Skip("waits for Slurm")
	}
	a := &array{t: t, slurm: startSlurm(t), shards: 5}
	if n, err := strconv.Atoi(os.Getenv("CROSSTALK_TEST_SHARDS")); err == nil {
		a.shards = n
	}
	a.disturbances = max(3, a.shards*12/64)
	return a
}

// measure submits a command that writes to out, disturbs its tasks, and submits it
// again, until the merged run is finished.
func (a *array) measure(command []string, out string) {
	t := a.t
	t.Helper()
	submit := append([]string{"submit", "slurm", "--shards", fmt.Sprint(a.shards), "--parallel", "2", "--submit", "--"}, command...)
	start(t, []string{a.slurm.Environ()}, submit...).expect(0)
	killed := a.disturb()
	a.slurm.Drain()
	t.Logf("%d shards, %d disturbed, %d of them killed", a.shards, a.disturbances, killed)
	logs, _ := filepath.Glob(filepath.Join(out, "logs", "merge_*.txt"))
	if len(logs) != 1 {
		t.Fatalf("logs of merges: %q", logs)
	}
	if log := readFile(t, logs[0]); killed > 0 && !strings.Contains(log, "not all shards are there") {
		t.Errorf("%d tasks were killed, and the merge says:\n%s", killed, log)
	}
	start(t, []string{a.slurm.Environ()}, submit...).expect(0)
	a.slurm.Drain()
}

// disturb kills, requeues or stops running tasks, each at most once, and returns how
// many it killed.
func (a *array) disturb() (killed int) {
	random, disturbed := rand.New(rand.NewPCG(1, 2)), map[string]bool{}
	for i := range a.disturbances {
		var job, pid string
		until(a.t, "a task", func() bool {
			time.Sleep(100 * time.Millisecond) // squeue costs more than until
			for _, job = range a.slurm.Running() {
				if pid = taskOf(a.t, job); pid != "" && !disturbed[job] {
					return true
				}
			}
			return false
		})
		disturbed[job] = true
		time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
		switch i % 3 {
		case 0: // as the kernel does where memory is short
			if n, err := strconv.Atoi(pid); err == nil && syscall.Kill(n, syscall.SIGKILL) == nil {
				killed++
			}
		case 1: // as after a preemption
			a.slurm.Command("scontrol", "requeue", job).Run()
		case 2: // as before the time limit
			a.slurm.Command("scancel", "--batch", "--signal=USR1", job).Run()
		}
	}
	return killed
}

// taskOf returns the process of crosstalk that a job runs, "" if there is none.
func taskOf(t *testing.T, job string) (pid string) {
	t.Helper()
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		environ, _ := os.ReadFile(path)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if strings.Contains(string(environ), "\x00SLURM_JOB_ID="+job+"\x00") && strings.Contains(string(line), "\x00--shard\x00auto\x00") && !strings.Contains(string(line), "array.sh") {
			return filepath.Base(filepath.Dir(path))
		}
	}
	return ""
}
