//go:build unix

package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program puts a shell script into $PATH, instead of everything else but the shell.
func program(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func TestShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed")
	}
	dir := filepath.Join(t.TempDir(), "it's my folder")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	array, merge, err := Slurm{Job: job, Folder: dir, Program: "/opt/it's/crosstalk"}.Write()
	if err != nil {
		t.Fatal(err)
	}
	if says, err := exec.Command("shellcheck", array, merge).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, says)
	}
}

func TestSubmitSlurm(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	s := Slurm{Job: job, Folder: dir, Program: "crosstalk"}
	program(t, "sbatch", `echo "$@" >> asked; [ "$1" = --parsable ] && echo "42;lab"`)
	array, merge, err := s.Submit()
	if err != nil || array != "42" || merge != "42" {
		t.Fatal(array, merge, err)
	}
	want := "--parsable runs/a/array.sh\n--parsable --dependency=afterany:42 runs/a/merge.sh\n"
	if asked, err := os.ReadFile("asked"); err != nil || string(asked) != want {
		t.Errorf("%q, %v; want %q", asked, err, want)
	}
	if script, err := os.ReadFile("runs/a/array.sh"); err != nil || !strings.Contains(string(script), "\ncrosstalk run leakage --out runs/a --shard auto &\n") {
		t.Errorf("%s, %v", script, err)
	}
	for name, mode := range map[string]os.FileMode{"runs": 0o755, "runs/a": 0o700, "runs/a/logs": 0o700, "runs/a/array.sh": 0o700, "runs/a/merge.sh": 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want %o", name, info.Mode(), err, mode)
		}
	}
	if info, err := os.Stat(s.Logs()); err != nil || !info.IsDir() {
		t.Errorf("no directory for logs: %v", err)
	}

	program(t, "sbatch", `case "$*" in *array.sh) echo 43;; *) echo "no dependencies today" >&2; exit 1;; esac`)
	if _, _, err := s.Submit(); fmt.Sprint(err) != "the array is job 43, and its merge was not submitted: sbatch: exit status 1: no dependencies today" {
		t.Error(err)
	}
	program(t, "another", "")
	if _, _, err := s.Submit(); err == nil || !strings.HasPrefix(err.Error(), "sbatch: ") || !strings.Contains(err.Error(), "not found") {
		t.Error(err)
	}
}

func TestApply(t *testing.T) {
	k := Kubernetes{Job: job, Image: "i:1", Claim: "c"}
	program(t, "kubectl", `[ "$*" = "apply -f -" ] && read -r first && echo "got $first"`)
	manifests, err := k.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(manifests), "\n")
	if said, err := k.Apply(); err != nil || said != "got "+first+"\n" {
		t.Errorf("%q, %v", said, err)
	}
	program(t, "kubectl", "echo no server >&2; exit 1")
	if _, err := k.Apply(); fmt.Sprint(err) != "kubectl: exit status 1: no server" {
		t.Error(err)
	}
}
