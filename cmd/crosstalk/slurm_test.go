//go:build linux

package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slurm is a cluster of one node, this machine, with two processors.
type slurm struct {
	t    *testing.T
	conf string
}

// startSlurm starts a real Slurm that ends with the test. The test is skipped where Slurm is not installed (Debian's
// slurm-wlm), or where it cannot be started: its daemons want to be root.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("skipped: Slurm's daemons want to be root")
	}
	paths := map[string]string{}
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol"} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("skipped: Slurm is not installed (apt-get install slurm-wlm): %v", err)
		}
		paths[program] = path
	}
	dir, err := os.MkdirTemp("", "slurm") // short, for the name of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &slurm{t, filepath.Join(dir, "slurm.conf")}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	key := make([]byte, 128)
	rand.Read(key)
	for name, text := range map[string]string{"key": string(key),
		"slurm.conf": configuration(dir, host, freePort(t), freePort(t))} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	s.daemon(paths["munged"], "--foreground", "--force", "--num-threads=10", "--socket="+at("munge.sock"),
		"--key-file="+at("key"),
		"--pid-file="+at("munged.pid"), "--seed-file="+at("munged.seed"), "--log-file="+at("munged.log"))
	s.until("munged", func() bool { _, err := os.Stat(at("munge.sock")); return err == nil })
	s.daemon(paths["slurmctld"], "-D")
	s.daemon(paths["slurmd"], "-D")
	s.until("Slurm's node", func() bool {
		out, err := s.Command("sinfo", "--noheader", "--format=%T").Output()
		return err == nil && strings.TrimSpace(string(out)) == "idle"
	})
	t.Cleanup(func() { // before the daemons end
		s.Command("scancel", "--full", "--user=root").Run()
		s.Drain()
	})
	return s
}

// configuration of a cluster that starts jobs without delay, and jobs that were requeued after five seconds, the least
// that Slurm can.
func configuration(dir, host string, controller, node int) string {
	return fmt.Sprintf(`ClusterName=crosstalk
SlurmctldHost=%[2]s(127.0.0.1)
SlurmUser=root
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge.sock,cred_expire=5
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd.pid
SlurmctldLogFile=%[1]s/slurmctld.log
SlurmdLogFile=%[1]s/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=10
NodeName=%[2]s NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=test Nodes=%[2]s Default=YES MaxTime=INFINITE State=UP
`, dir, host, controller, node)
}

// Environ returns the environment that Slurm's commands need.
func (s *slurm) Environ() string { return "SLURM_CONF=" + s.conf }

// Command is a command of Slurm.
func (s *slurm) Command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), s.Environ())
	return c
}

// Running are the numbers of the jobs that run, a number for each task.
func (s *slurm) Running() []string {
	s.t.Helper()
	out, err := s.Command("squeue", "--noheader", "--states=RUNNING", "--format=%A").Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// Drain waits until no job runs or is in the queue.
func (s *slurm) Drain() {
	s.t.Helper()
	s.within(30*time.Minute, "the end of all jobs", func() bool {
		out, err := s.Command("squeue", "--noheader").Output()
		return err == nil && len(out) == 0
	})
}

// daemon starts a program that ends with the test.
func (s *slurm) daemon(path string, args ...string) {
	s.t.Helper()
	c := s.Command(path, args...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM} // also when the test is killed
	if err := c.Start(); err != nil {
		s.t.Skipf("skipped: %s does not start: %v", path, err)
	}
	s.t.Cleanup(func() {
		c.Process.Signal(syscall.SIGTERM)
		c.Wait()
	})
}

func (s *slurm) until(what string, condition func() bool) {
	s.t.Helper()
	s.within(5*time.Minute, what, condition)
}

// within waits for at most this long.
func (s *slurm) within(most time.Duration, what string, condition func() bool) {
	s.t.Helper()
	for end := time.Now().Add(most); !condition(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			logs, _ := exec.Command("tail", "-n", "5", filepath.Dir(s.conf)+"/slurmctld.log",
				filepath.Dir(s.conf)+"/slurmd.log").CombinedOutput()
			s.t.Fatalf("waited in vain for %s\n%s", what, logs)
		}
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
