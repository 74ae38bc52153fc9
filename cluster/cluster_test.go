package cluster

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
)

var job = Job{Command: []string{"run", "leakage", "--out", "runs/a"}, Out: "runs/a", Shards: 3}

func TestSharded(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"run leakage --out runs/a", "run leakage --out runs/a --shard auto"},
		{"score confusion --out a -- -1.csv", "score confusion --out a --shard auto -- -1.csv"},
	} {
		if got := strings.Join(Job{Command: strings.Fields(c.command)}.Sharded(), " "); got != c.want {
			t.Errorf("a task does %s", got)
		}
	}
}

func TestNames(t *testing.T) {
	for out, want := range map[string]string{
		"runs/My sweep_2": "my-sweep-2", "runs/a/": "a", "-x-": "x", strings.Repeat("ab", 30): strings.Repeat("ab", 30)[:longest],
		strings.Repeat("a", longest-1) + "--b": strings.Repeat("a", longest-1), "語": "crosstalk", ".": "", "..": "", "/": "", "runs/..": "",
	} {
		j := job
		j.Out = out
		err := j.check()
		if err == nil && j.Name() != want || (err == nil) != (want != "") {
			t.Errorf("%q becomes the name %q, expected %q: %v", out, j.Name(), want, err)
		}
	}
}

// A path that a shell completed with a slash is in the manifests without it.
func TestCompletedPath(t *testing.T) {
	manifests := func(out string) string {
		text, err := Kubernetes{Job: Job{Command: job.Command, Out: out, Shards: 3}, Image: "i:1", Store: "s3:a"}.Manifests()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, out := range []string{"runs/a/", "./runs/a"} {
		if got, want := manifests(out), manifests("runs/a"); got != want {
			t.Errorf("of %s: %s", out, got)
		}
	}
}

// Options of sbatch stand in both scripts. Those that begin as that of the array does
// are others.
func TestSlurmOptions(t *testing.T) {
	array, merge, err := Slurm{Job: job, Folder: "/f", Program: "crosstalk", Options: []string{"--account=a", "-A a", "--mem=4G"}}.Scripts()
	for _, script := range []string{string(array), string(merge)} {
		if err != nil || !strings.Contains(script, "\n#SBATCH --account=a\n#SBATCH -A a\n#SBATCH --mem=4G\n") {
			t.Errorf("%v\n%s", err, script)
		}
	}
	parallel := job
	parallel.Parallel = 3
	for want, j := range map[string]Job{"1-3": job, "1-3%3": parallel} {
		array, _, err := Slurm{Job: j, Folder: "/f", Program: "crosstalk"}.Scripts()
		if err != nil || !strings.Contains(string(array), "\n#SBATCH --array="+want+"\n") {
			t.Errorf("%v; want the array %s:\n%s", err, want, array)
		}
	}
}

// Each shard is tried four times by itself, and bad usage once. The merge waits for the shards of a volume; in a store
// they are fetched when they are there.
func TestRetries(t *testing.T) {
	for _, k := range []Kubernetes{{Claim: "c"}, {Store: "s3:a/"}} {
		k.Job, k.Image = job, "i:1"
		text, err := k.Manifests()
		if want := "\n  completions: 3\n  parallelism: 3\n  backoffLimitPerIndex: 3 "; err != nil ||
			!strings.Contains(string(text), want) || strings.Count(string(text), "restartPolicy: Never") != 1 ||
			!strings.Contains(string(text), "containerName: measure, operator: In, values: [2]}") {
			t.Errorf("%v; want %q in\n%s", err, want, text)
		}
		if strings.Contains(string(text), `"--wait","168h"]`) != (k.Claim != "") {
			t.Errorf("the wait of the merge in\n%s", text)
		}
	}
}

// API keys are only in the container that asks, and the store's keys in rclone's.
func TestSecretsApart(t *testing.T) {
	k := Kubernetes{Job: job, Image: "i:1", Store: "s3:a", Secret: "keys", StoreSecret: "s3"}
	text, err := k.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.Split(string(text), "\n      - name: ")[1:] {
		name := strings.Fields(c)[0]
		if got, want := strings.Contains(c, `name: "keys"`), name == "measure"; got != want {
			t.Errorf("%s has the API keys: %v", name, got)
		}
		if got, want := strings.Contains(c, `name: "s3"`), name == "fetch" || name == "store"; name != "work" && got != want {
			t.Errorf("%s has the store's: %v", name, got)
		}
	}
}

// Fields of --pod are in both jobs, in the place of ours.
func TestPodFields(t *testing.T) {
	k := Kubernetes{Job: job, Image: "i:1", Claim: "c", Memory: "2.5Gi", CPU: "250m", Pod: []string{"nodeSelector={pool: cpu}",
		"terminationGracePeriodSeconds=90", `tolerations=[{key: "a=b", operator: Exists}]`}}
	text, err := k.Manifests()
	for want, n := range map[string]int{"\n      nodeSelector: {\"pool\":\"cpu\"}\n": 2, "\n      terminationGracePeriodSeconds: 90\n": 2,
		"Seconds: 60\n": 0, "\n      tolerations: [{\"key\":\"a=b\",\"operator\":\"Exists\"}]\n": 2,
		`requests: {cpu: "250m", memory: "2.5Gi"}`: 2, `limits: {cpu: "250m", memory: "2.5Gi"}`: 2} {
		if err != nil || strings.Count(string(text), want) != n {
			t.Errorf("%v; want %q %d times in\n%s", err, want, n, text)
		}
	}
}

// Nothing that is written can become a further line of a script or a manifest, and
// what no cluster could run is refused.
func TestRefused(t *testing.T) {
	slurm := func(change func(*Slurm)) func() error {
		return func() error {
			s := Slurm{Job: job, Folder: "/f", Program: "crosstalk"}
			change(&s)
			_, _, err := s.Scripts()
			return err
		}
	}
	kubernetes := func(change func(*Kubernetes)) func() error {
		return func() error {
			k := Kubernetes{Job: job, Image: "i:1", Claim: "c"}
			change(&k)
			_, err := k.Manifests()
			return err
		}
	}
	for _, c := range []struct {
		refuse func() error
		want   string
	}{
		{slurm(func(s *Slurm) { s.Options = []string{"--partition=a\nrm -rf x"} }), "sbatch is"},
		{slurm(func(s *Slurm) { s.Options = []string{"partition=long"} }), `sbatch is "partition=long"; expected an option of sbatch`},
		{slurm(func(s *Slurm) { s.Options = []string{"--array=1-9"} }), "--shards and --parallel set the array"},
		{slurm(func(s *Slurm) { s.Options = []string{"--array 1-9"} }), "--shards and --parallel set the array"},
		{slurm(func(s *Slurm) { s.Options = []string{"--partition=long", "-a 1-4"} }), `sbatch is "-a 1-4"; --shards and --parallel set the array`},
		{slurm(func(s *Slurm) { s.Options = []string{"-a1-4"} }), "--shards and --parallel set the array"},
		{slurm(func(s *Slurm) { s.Options = []string{"--ar=1-4"} }), `sbatch is "--ar=1-4"; --shards and --parallel set the array`},
		{slurm(func(s *Slurm) { s.Out = "a\nb" }), "out /f/a\nb/logs contains"},
		{slurm(func(s *Slurm) { s.Out = "runs/50%" }), `out /f/runs/50%/logs contains "%", which Slurm does not take`},
		{slurm(func(s *Slurm) { s.Out = "." }), `out is "."; expected the name of a directory`},
		{slurm(func(s *Slurm) { s.Shards = 0 }), "shards is 0; expected a number from 1"},
		{slurm(func(s *Slurm) { s.Shards = 1 << 21 }), "shards: "},
		{slurm(func(s *Slurm) { s.Parallel = 4 }), "parallel is 4; expected 0 (no limit) to the number of shards, 3"},
		{kubernetes(func(k *Kubernetes) { k.Out = `a"; id; "` }), "out is"},
		{kubernetes(func(k *Kubernetes) { k.Out = "/runs/all" }), `out is "/runs/all"; expected a path in the volume`},
		{kubernetes(func(k *Kubernetes) { k.Claim = "a, b: c" }), "claim is"},
		{kubernetes(func(k *Kubernetes) { k.Claim = "Runs" }), `claim is "Runs"; expected lower-case letters`},
		{kubernetes(func(k *Kubernetes) { k.Claim = "" }), "claim or --store: expected one of them"},
		{kubernetes(func(k *Kubernetes) { k.Store = "s3:a" }), "claim or --store: expected one of them"},
		{kubernetes(func(k *Kubernetes) { k.Image = "" }), "image is missing"},
		{kubernetes(func(k *Kubernetes) { k.Image = "a.b:5000/c" }), `image is "a.b:5000/c"; expected a version or a digest too`},
		{kubernetes(func(k *Kubernetes) { k.Image = "c:" }), `image is "c:"; expected a version or a digest`},
		{kubernetes(func(k *Kubernetes) { k.Secret = "$(A)" }), "secret is"},
		{kubernetes(func(k *Kubernetes) { k.StoreSecret = "a" }), "secret: rclone=a is for --store"},
		{kubernetes(func(k *Kubernetes) { k.Claim, k.Store, k.StoreSecret = "", "s3:a", "A" }), `secret is "A"; expected lower`},
		{kubernetes(func(k *Kubernetes) { k.CPU = "one" }), `cpu is "one"; expected an amount of Kubernetes`},
		{kubernetes(func(k *Kubernetes) { k.Memory = "2Gb" }), `memory is "2Gb"; expected an amount of Kubernetes`},
		{kubernetes(func(k *Kubernetes) { k.Pod = []string{"tolerations"} }), `pod is "tolerations"; expected a field of a pod`},
		{kubernetes(func(k *Kubernetes) { k.Pod = []string{"a b=c"} }), "expected a field of a pod"},
		{kubernetes(func(k *Kubernetes) { k.Pod = []string{"containers=[]"} }), "this field is set by the program"},
		{kubernetes(func(k *Kubernetes) { k.Pod = []string{"hostname=[a"} }), "its value is not YAML"},
		{kubernetes(func(k *Kubernetes) { k.Pod = []string{"hostname="} }), "its value is not YAML"},
		{kubernetes(func(k *Kubernetes) { k.Pod = []string{"hostname=a", "hostname=b"} }), "this field is given twice"},
	} {
		err := c.refuse()
		if bad := new(crosstalk.OptionError); !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
}

// Secrets and limits go where they belong, each once.
func TestSet(t *testing.T) {
	for _, c := range []struct {
		limits, secrets []string
		want            Kubernetes
		wrong           string
	}{
		{[]string{"cpu=2", "memory=4Gi"}, []string{"keys", "rclone=s3"},
			Kubernetes{CPU: "2", Memory: "4Gi", Secret: "keys", StoreSecret: "s3"}, ""},
		{nil, []string{"rclone=s3"}, Kubernetes{StoreSecret: "s3"}, ""},
		{nil, []string{"a", "b"}, Kubernetes{}, "secret is given twice"},
		{nil, []string{"rclone=a", "rclone=b"}, Kubernetes{}, "secret is given twice"},
		{[]string{"disk=1"}, nil, Kubernetes{}, `limits has "disk=1"; expected cpu=AMOUNT or memory=AMOUNT`},
		{[]string{"cpu="}, nil, Kubernetes{}, `limits has "cpu="`},
	} {
		var k Kubernetes
		err := k.Set(c.limits, c.secrets)
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) || c.wrong == "" &&
			(err != nil || !reflect.DeepEqual(k, c.want)) {
			t.Errorf("%v %v: %+v, %v; want %+v %s", c.limits, c.secrets, k, err, c.want, c.wrong)
		}
	}
}
