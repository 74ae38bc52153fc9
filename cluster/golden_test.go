package cluster

import (
	"errors"
	"os"
	"strings"
	"testing"

	"crosstalk/internal/testing/golden"
)

// The submitted files equal testdata, to the byte.
func TestGolden(t *testing.T) {
	slurm := Slurm{Job: job, Folder: "/home/me/my project", Program: "/opt/crosstalk", Options: []string{"--mem=4G"}}
	slurm.Parallel = 2
	claim := Kubernetes{Job: job, Image: "registry/crosstalk:1", Claim: "work"}
	store := Kubernetes{Job: job, Image: "registry/crosstalk:1", Store: "s3:bucket/$x/", Secret: "keys", StoreSecret: "s3",
		CPU: "500m", Memory: "2Gi", Pod: []string{"automountServiceAccountToken=true", "priority=3"}}
	store.Command = []string{"run", "leakage", "--out", "runs/a", "--prompt", "$HOME <b>"}
	store.Shards, store.Parallel = 12, 5
	array, merge, err := slurm.Scripts()
	ofClaim, err1 := claim.Manifests()
	ofStore, err2 := store.Manifests()
	if err := errors.Join(err, err1, err2); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{"array.sh": array, "merge.sh": merge, "claim.yaml": ofClaim, "store.yaml": ofStore} {
		golden.Check(t, "testdata/"+name, string(got))
	}
}

// Folders of shards that are given from the root are used as they are.
func TestAbsoluteOut(t *testing.T) {
	s := Slurm{Job: job, Folder: "/f", Program: "crosstalk"}
	for out, want := range map[string]string{"/data/a/": "/data/a/logs", "runs/a/": "/f/runs/a/logs"} {
		s.Out = out
		if got := s.Logs(); got != want {
			t.Errorf("%s has its logs in %s, want %s", out, got, want)
		}
	}
}

// Fields of a pod that nobody can read are refused before anything else is written.
func TestPodRefused(t *testing.T) {
	for _, value := range []string{"hostname: [", "hostname=[a", "hostname=", "automountServiceAccountToken=", "volumes=[]"} {
		k := Kubernetes{Job: job, Image: "i:1", Claim: "c", Pod: []string{value}}
		if text, err := k.Manifests(); err == nil || text != nil || !strings.HasPrefix(err.Error(), "pod is ") {
			t.Errorf("%s: %s, %v", value, text, err)
		}
	}
}

// Directories that cannot be made are errors, and nothing is submitted without its folder for logs.
func TestNoLogs(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err := errors.Join(err, os.MkdirAll("runs/a", 0o700), os.WriteFile("runs/a/logs", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if array, merge, err := (Slurm{Job: job, Folder: here, Program: "crosstalk"}).Write(); err == nil || array+merge != "" {
		t.Errorf("%q and %q were written without logs: %v", array, merge, err)
	}
	if list, err := os.ReadDir("runs/a"); err != nil || len(list) != 1 {
		t.Errorf("something was written: %v, %v", list, err)
	}
}
