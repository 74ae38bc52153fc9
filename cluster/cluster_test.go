package cluster

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

var job = Job{Command: []string{"run", "leakage", "--out", "runs/a"}, Out: "runs/a", Shards: 3}

// A shell reads every word as it was.
func TestQuote(t *testing.T) {
	words := []string{"", "plain-1.0/x=y", "two words", "it's", `"$(id)" ${HOME} \n`, "`id`", "a\nb\tc", "*?[x]", "#", "~", "!", "; id", "é語", "-n", "''"}
	out, err := exec.Command("sh", "-c", `for word in `+shellLine(words)+`; do printf '%s\0' "$word"; done`).Output()
	if err != nil {
		t.Skip("no shell: ", err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("the shell reads %q, expected %q", got, words)
	}
	if line := shellLine(job.Sharded()); line != "run leakage --out runs/a --shard auto" {
		t.Errorf("quotes where none are needed: %s", line)
	}
	files := Job{Command: []string{"score", "confusion", "--out", "a", "--", "-1.csv"}}
	if line := shellLine(files.Sharded()); line != "score confusion --out a --shard auto -- -1.csv" {
		t.Errorf("a task does %s", line)
	}
}

func TestNames(t *testing.T) {
	for out, want := range map[string]string{
		"runs/My sweep_2": "my-sweep-2", "runs/a/": "a", "-x-": "x", strings.Repeat("ab", 30): strings.Repeat("ab", 30)[:longest],
		strings.Repeat("a", longest-1) + "--b": strings.Repeat("a", longest-1), "語": "", ".": "",
	} {
		j := job
		j.Out = out
		err := j.complete()
		if j.Name != want || (err == nil) != (want != "") {
			t.Errorf("%q becomes the name %q, expected %q: %v", out, j.Name, want, err)
		}
	}
}

// Nothing that is written can become a further line of a script or a manifest.
func TestRefused(t *testing.T) {
	for option, s := range map[string]Slurm{
		"sbatch": {Job: job, Folder: "/f", Options: []string{"--partition=a\nrm -rf x"}},
		"out":    {Job: Job{Command: job.Command, Out: "a\nb", Shards: 3}, Folder: "/f"},
		"shards": {Job: Job{Command: job.Command, Out: "a", Shards: 1 << 21}, Folder: "/f"},
		"name":   {Job: Job{Command: job.Command, Out: "a", Shards: 3, Name: "a\nb"}, Folder: "/f"},
	} {
		_, _, err := s.Scripts()
		if bad := new(crosstalk.OptionError); !errors.As(err, &bad) || bad.Option != option {
			t.Errorf("%s: %v", option, err)
		}
	}
	for option, change := range map[string]func(*Kubernetes){
		"out":       func(k *Kubernetes) { k.Out = `a"; id; "` },
		"claim":     func(k *Kubernetes) { k.Claim = "a, b: c" },
		"secret":    func(k *Kubernetes) { k.Secret = "$(A)" },
		"namespace": func(k *Kubernetes) { k.Namespace = "a\nb" },
	} {
		k := Kubernetes{Job: job, Image: "i", Claim: "c"}
		change(&k)
		_, err := k.Manifests()
		if bad := new(crosstalk.OptionError); !errors.As(err, &bad) || bad.Option != option {
			t.Errorf("%s: %v", option, err)
		}
	}
}
