package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A job of one shard is a job.
func TestSmallest(t *testing.T) {
	j := Job{Command: job.Command, Out: "runs/a", Shards: 1, Parallel: 1}
	if err := j.check(); err != nil {
		t.Error(err)
	}
	j = Job{Command: job.Command, Out: "runs/a", Shards: 3, Parallel: -1}
	if err := j.check(); err == nil || !strings.Contains(err.Error(), "parallel is -1") {
		t.Errorf("less than no task at a time: %v", err)
	}
	if got := strings.Join(Job{Command: []string{"--", "a.csv"}}.Sharded(), " "); got != "--shard auto -- a.csv" {
		t.Errorf("a task does %s", got)
	}
}

// The merge has its own name, script and directory, next to the shards'.
func TestMergeBeside(t *testing.T) {
	_, merge, err := Slurm{Job: job, Folder: "/f", Program: "crosstalk"}.Scripts()
	if want := "\nexec crosstalk merge runs/a --out runs/a-merged\n"; err != nil || !strings.HasSuffix(string(merge), want) {
		t.Errorf("%v; want %q in\n%s", err, want, merge)
	}
	k := Kubernetes{Job: job, Image: "i&j:1", Claim: "c"}
	text, err := k.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n  name: \"a\"\n", "\n  name: \"a-merge\"\n", `"merge","runs/a","--out","runs/a-merged"`,
		"image: \"i&j:1\"\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	k.Out = "runs/../../a"
	if _, err := k.Manifests(); err == nil {
		t.Error("a path out of the volume is accepted")
	}
}

// Without a folder and a program, tasks run where and as this program does.
func TestHere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := Slurm{Job: job, Folder: here, Program: self}.Scripts()
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := (Slurm{Job: job}).Scripts(); err != nil || string(got) != string(want) {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// What is refused, or cannot be written, is neither written nor submitted.
func TestNotWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	bad := Slurm{Job: job, Folder: "/f", Program: "crosstalk"}
	bad.Shards = 0
	if _, _, err := bad.Write(); err == nil {
		t.Error("no shards are written")
	}
	if _, _, err := bad.Submit(); err == nil || !strings.Contains(err.Error(), "shards is 0") {
		t.Errorf("no shards are submitted: %v", err)
	}
	if said, err := (Kubernetes{Job: bad.Job, Image: "i:1", Claim: "c"}).Apply(); err == nil || !strings.Contains(err.Error(), "shards is 0") {
		t.Errorf("no shards are applied: %q, %v", said, err)
	}
	if list, err := os.ReadDir("."); err != nil || len(list) > 0 {
		t.Errorf("something was written: %v, %v", list, err)
	}

	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"file", "file/a", "file/a/b"} {
		s := Slurm{Job: job, Folder: here, Program: "crosstalk"}
		s.Out = out
		if array, merge, err := s.Write(); err == nil || array+merge != "" {
			t.Errorf("%s is a file or below one, and %q and %q were written: %v", out, array, merge, err)
		}
	}
	if err := os.MkdirAll(filepath.Join("runs", "a", "merge.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := Slurm{Job: job, Folder: here, Program: "crosstalk"}
	if array, merge, err := s.Write(); err == nil || array+merge != "" {
		t.Errorf("merge.sh is a directory, and %q and %q were written: %v", array, merge, err)
	}
}
