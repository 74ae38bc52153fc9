//go:build unix

package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Before its time limit a task ends what it does, and goes back to the queue unless it
// was finished by then. One that is stopped otherwise, or fails, does not.
func TestRequeue(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for _, c := range []struct {
		name, signal string // to the script; "" for none
		code         int    // of the program
		requeued     bool
	}{
		{"stopped at the limit", "USR1", 3, true},
		{"finished at the limit", "USR1", 0, false},
		{"cancelled", "TERM", 3, false},
		{"failed", "", 3, false},
		{"finished", "", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			// The signal is repeated, since the script may not know its task yet.
			program := fmt.Sprintf("#!/bin/sh\ntrap 'echo saved > saved; exit %d' TERM\n", c.code)
			if c.signal == "" {
				program = fmt.Sprintf("#!/bin/sh\nexit %d\n", c.code)
			} else {
				program += "while :; do kill -" + c.signal + " $PPID; sleep 0.2; done\n"
			}
			script, _, err := Slurm{Job: job, Folder: dir, Program: "./crosstalk"}.Scripts()
			if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "crosstalk"), []byte(program), 0o755),
				os.WriteFile(filepath.Join(dir, "scontrol"), []byte("#!/bin/sh\necho \"$@\" >> requeued\n"), 0o755),
				os.WriteFile(filepath.Join(dir, "array.sh"), script, 0o600)); err != nil {
				t.Fatal(err)
			}
			run := exec.Command(bash, "array.sh")
			run.Dir = dir
			run.Env = append(os.Environ(), "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"), "SLURM_JOB_ID=7_1")
			out, err := run.CombinedOutput()
			if got := run.ProcessState.ExitCode(); got != c.code || (err == nil) != (c.code == 0) {
				t.Errorf("the script ends with %d, %v; want %d\n%s", got, err, c.code, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "saved")); (err == nil) != (c.signal != "") {
				t.Errorf("the program was stopped: %v", err == nil)
			}
			requeued, err := os.ReadFile(filepath.Join(dir, "requeued"))
			if (err == nil) != c.requeued || c.requeued && strings.TrimSpace(string(requeued)) != "requeue 7_1" {
				t.Errorf("requeued %q, %v; want %v", requeued, err, c.requeued)
			}
		})
	}
}
