//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// kubeJob is what our manifests have of a Job. That Kubernetes takes all of it is
// tested in tools/servers/kubernetes.
type kubeJob struct {
	Metadata struct{ Name string }
	Spec     struct {
		Completions int
		Template    struct {
			Spec struct {
				First []kubeContainer `yaml:"initContainers"`
				Then  []kubeContainer `yaml:"containers"`
			}
		}
	}
}

type kubeContainer struct {
	Name          string
	Restart       string `yaml:"restartPolicy"`
	Command, Args []string
	Folder        string `yaml:"workingDir"`
	Env           []struct{ Name, Value string }
}

// kubelet runs the pods of jobs, as far as ours need it: containers one after the
// other but for those that always run, which get TERM in the end, in a folder in
// place of /data, which keeps between pods what a volume keeps.
type kubelet struct {
	t      *testing.T
	volume string // "" for a new folder in each pod
}

// pod runs the containers of a pod. If one fails, it returns how, and ends.
func (k kubelet) pod(ctx context.Context, j kubeJob, index int) (said string) {
	work := k.volume
	if work == "" {
		work = k.t.TempDir()
	}
	for _, c := range append(j.Spec.Template.Spec.First, j.Spec.Template.Spec.Then...) {
		if c.Folder != "/data" {
			k.t.Errorf("%s works in %s", c.Name, c.Folder)
		}
		values := map[string]string{"JOB_COMPLETION_INDEX": fmt.Sprint(index)}
		environ := []string{"PATH=" + os.Getenv("PATH"), "JOB_COMPLETION_INDEX=" + fmt.Sprint(index)}
		for _, e := range c.Env {
			values[e.Name] = strings.ReplaceAll(expandKube(e.Value, values), "/data", work)
			environ = append(environ, e.Name+"="+values[e.Name])
		}
		var line []string
		for _, word := range append(c.Command, c.Args...) {
			line = append(line, expandKube(word, values))
		}
		program := line[0]
		if len(c.Command) == 0 { // the image's own program
			program, environ = os.Args[0], append(environ, asCommand+"=1")
		} else {
			line = line[1:]
		}
		for i := range line {
			line[i] = strings.Replace(line[i], "sleep 30", "sleep 0.2", 1)
		}
		command := exec.CommandContext(ctx, program, line...)
		command.Dir, command.Env = work, environ
		command.WaitDelay = time.Second
		if c.Restart == "Always" {
			out := new(bytes.Buffer)
			command.Stdout, command.Stderr = out, out
			if err := command.Start(); err != nil {
				return err.Error()
			}
			defer func() {
				time.Sleep(100 * time.Millisecond) // its trap is set
				command.Process.Signal(syscall.SIGTERM)
				if err := command.Wait(); err != nil {
					said += fmt.Sprintf("%s: %v\n%s", c.Name, err, out)
				}
			}()
			continue
		}
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Sprintf("%s: %v\n%s", c.Name, err, out)
		}
	}
	return ""
}

// expandKube expands $(NAME) and $$ as Kubernetes does.
func expandKube(text string, values map[string]string) string {
	return regexp.MustCompile(`\$\$|\$\([A-Za-z_]\w*\)`).ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		if value, known := values[found[2:len(found)-1]]; known {
			return value
		}
		return found
	})
}

// The pods of the manifests come to what a single run comes to: with a volume, and
// with object storage, which rclone has in a folder here.
func TestSubmitKubernetes(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	for _, test := range []struct{ name, flag string }{{"volume", "--claim=runs"}, {"store", "--store=:local:" + store}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := kubelet{t: t}
			place := store
			if test.name == "volume" {
				place = t.TempDir()
				k.volume = place
			} else if _, err := exec.LookPath("rclone"); err != nil {
				t.Skip("skipped: rclone is not installed")
			}
			if err := os.WriteFile(filepath.Join(place, "questions.csv"), []byte(questions()), 0o666); err != nil {
				t.Fatal(err)
			}
			run := []string{"run", "confusion", "--suite", "questions.csv", "--quiet", "--system", `$(HOME) $$x "y" 'z'`}
			submit := append([]string{"submit", "kubernetes", "--shards", "3", "--image", "crosstalk:1", test.flag, "--"}, append(run, "--out", "runs/all")...)
			jobs := readJobs(t, start(t, nil, submit...).expect(0).stdout.Bytes())
			if len(jobs) != 2 || jobs[0].Metadata.Name != "all" || jobs[1].Metadata.Name != "all-merge" || jobs[0].Spec.Completions != 3 {
				t.Fatalf("%+v", jobs)
			}

			merged := make(chan string)
			ctx, stop := context.WithCancel(t.Context())
			go func() { merged <- k.pod(ctx, jobs[1], 0) }() // waits for the shards
			for i := range jobs[0].Spec.Completions {
				if said := k.pod(ctx, jobs[0], i); said != "" {
					t.Errorf("shard %d: %s", i, said)
					stop()
				}
			}
			if said := <-merged; said != "" {
				t.Errorf("the merge: %s", said)
			}
			stop()
			single := start(t, nil, append(run, "--suite", filepath.Join(place, "questions.csv"), "--out", filepath.Join(place, "single"))...)
			single.expect(0)
			if a, b := readFile(t, place, "runs/all-merged/estimates.json"), readFile(t, place, "single/estimates.json"); a != b {
				t.Errorf("the merged figures differ from those of a single run:\n%s\n%s", a, b)
			}
			if text := readFile(t, place, "runs/all-merged/manifest.json"); !strings.Contains(text, `$(HOME) $$x`) {
				t.Errorf("the system message is another:\n%s", text)
			}
		})
	}
}

func readJobs(t *testing.T, text []byte) (jobs []kubeJob) {
	t.Helper()
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var j kubeJob
		if err := yaml.Unmarshal(document, &j); err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		jobs = append(jobs, j)
	}
	return jobs
}
