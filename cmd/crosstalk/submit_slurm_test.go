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

	"crosstalk/internal/slurmtest"
	"crosstalk/internal/testserver"
)

// A job array on a real Slurm, two tasks at a time, with some killed,
// requeued, or told that their time is over. Submitted again, it finishes what was
// killed; its merge is what a single run is; and at most what was in flight was
// asked again. $CROSSTALK_TEST_SHARDS is the number of shards, 64 at night.
func TestSubmitSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for Slurm")
	}
	t.Parallel()
	slurm := slurmtest.Start(t)
	shards := 5
	if n, err := strconv.Atoi(os.Getenv("CROSSTALK_TEST_SHARDS")); err == nil {
		shards = n
	}
	const concurrency = 2
	disturbances := max(3, shards*12/64)
	suite, out := writeSuite(t, 4*shards), filepath.Join(t.TempDir(), "all shards")
	s := newServer(t, testserver.Options{Latency: 100 * time.Millisecond, Jitter: 20 * time.Millisecond})
	run := func(out string) []string {
		return runLeakage(s, suite, out, "--concurrency", fmt.Sprint(concurrency), "--quiet", "--system", `it's "$(false)"`)
	}
	submit := append([]string{"submit", "slurm", "--shards", fmt.Sprint(shards), "--parallel", "2", "--submit", "--"}, run(out)...)

	start(t, []string{slurm.Environ()}, submit...).expect(0)
	random, disturbed := rand.New(rand.NewPCG(1, 2)), map[string]bool{}
	killed := 0
	for i := range disturbances {
		var job, pid string
		until(t, "a task", func() bool {
			time.Sleep(100 * time.Millisecond) // squeue costs more than until
			for _, job = range slurm.Running() {
				if pid = taskOf(t, job); pid != "" && !disturbed[job] {
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
			slurm.Command("scontrol", "requeue", job).Run()
		case 2: // as before the time limit
			slurm.Command("scancel", "--batch", "--signal=USR1", job).Run()
		}
	}
	slurm.Drain()
	merged := out + "-merged"
	logs, _ := filepath.Glob(filepath.Join(out, "logs", "merge_*.txt"))
	if len(logs) != 1 {
		t.Fatalf("logs of merges: %q", logs)
	}
	if log := readFile(t, logs[0]); killed > 0 && !strings.Contains(log, "unfinished: ") {
		t.Errorf("%d tasks were killed, and the merge says:\n%s", killed, log)
	}

	start(t, []string{slurm.Environ()}, submit...).expect(0)
	slurm.Drain()
	single := filepath.Join(t.TempDir(), "single")
	asked := s.Stats().Attempts
	start(t, nil, run(single)...).expect(0)
	asks := s.Stats().Attempts - asked
	t.Logf("%d shards, %d disturbed, %d of them killed: asked %d times, a single run %d", shards, disturbances, killed, asked, asks)
	if asked < asks || asked > asks+disturbances*concurrency {
		t.Errorf("the shards asked %d times what a single run asks %d times; at most %d were in flight at a disturbance", asked, asks, disturbances*concurrency)
	}
	for _, name := range []string{"estimates.json", "observations.jsonl"} {
		if a, b := readFile(t, merged, name), readFile(t, single, name); a != b || len(a) < 100 {
			t.Errorf("%s differs from that of a single run: %d and %d bytes", name, len(a), len(b))
		}
	}
	noKey(t, out)
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
