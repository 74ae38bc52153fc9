package kubernetes

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"crosstalk/cluster"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

var measurement = cluster.Job{Command: []string{"run", "leakage", "--system", "a: $(b) {c} #d \"e\"\n'f'\t\u2028é", "--out", "runs/sweep"},
	Out: "runs/sweep", Shards: 64, Parallel: 8}

// Manifests are decoded strictly into the types that Kubernetes' API publishes, so an unknown or misplaced field, or a
// value of another type, is an error. The API server's rules for these fields are checked one by one.
func TestManifests(t *testing.T) {
	for name, k := range map[string]cluster.Kubernetes{
		"volume": {Job: measurement, Image: "registry.example.org/crosstalk:0.1.0", Claim: "runs", Secret: "keys"},
		"plain":  {Job: measurement, Image: "crosstalk:1", Claim: "runs"},
		"store":  {Job: measurement, Image: "crosstalk:1", Store: "s3:bucket/sweep $(x)", Secret: "keys", StoreSecret: "s3"},
		"pod": {Job: measurement, Image: "crosstalk:1", Claim: "runs", Memory: "4Gi", Pod: []string{"nodeSelector={pool: cpu}",
			"tolerations=[{key: a, operator: Exists}]", "imagePullSecrets=[{name: a}]", "serviceAccountName=b"}},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := k.Manifests()
			if err != nil {
				t.Fatal(err)
			}
			jobs := decode(t, text)
			if len(jobs) != 2 {
				t.Fatalf("%d jobs", len(jobs))
			}
			for _, j := range jobs {
				check(t, j, k)
			}
			shards, merge := jobs[0].Spec, jobs[1].Spec
			if *shards.CompletionMode != batch.IndexedCompletion || *shards.Completions != 64 ||
				*shards.Parallelism != 8 || merge.Completions != nil {
				t.Errorf("the shards are %+v, the merge %+v", shards, merge)
			}
			pod := shards.Template.Spec
			measure := container(t, append(pod.InitContainers, pod.Containers...), "measure")
			want := strings.ReplaceAll(fmt.Sprint(append(append([]string{}, k.Command...), "--shard", "auto")), "$", "$$")
			if got := fmt.Sprint(measure.Args); got != want {
				t.Errorf("the arguments are %q, expected %q", got, want)
			}
		})
	}
}

func decode(t *testing.T, text []byte) (jobs []batch.Job) {
	t.Helper()
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var j batch.Job
		if err := yaml.UnmarshalStrict(document, &j); err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// evaluator is Kubernetes' own of Pod Security levels.
var evaluator = func() policy.Evaluator {
	e, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		panic(err)
	}
	return e
}()

// check checks the rules that the API server has for the fields of a job that we set.
func check(t *testing.T, j batch.Job, k cluster.Kubernetes) {
	t.Helper()
	s, pod := j.Spec, j.Spec.Template.Spec
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Name == "" || j.Namespace != "" {
		t.Errorf("%s %s %s in %q", j.APIVersion, j.Kind, j.Name, j.Namespace)
	}
	if pod.RestartPolicy != core.RestartPolicyNever && pod.RestartPolicy != core.RestartPolicyOnFailure {
		t.Errorf("%s: restartPolicy is %q", j.Name, pod.RestartPolicy)
	}
	if (s.PodFailurePolicy != nil || s.BackoffLimitPerIndex != nil) && pod.RestartPolicy != core.RestartPolicyNever {
		t.Errorf("%s: podFailurePolicy and backoffLimitPerIndex need restartPolicy Never", j.Name)
	}
	if s.BackoffLimitPerIndex != nil && (s.CompletionMode == nil || *s.CompletionMode != batch.IndexedCompletion) {
		t.Errorf("%s: backoffLimitPerIndex needs an Indexed Job", j.Name)
	}
	all := append(append([]core.Container{}, pod.InitContainers...), pod.Containers...)
	if s.PodFailurePolicy != nil {
		for _, r := range s.PodFailurePolicy.Rules {
			if (r.OnExitCodes == nil) == (len(r.OnPodConditions) == 0) {
				t.Errorf("%s: a rule needs one of onExitCodes and onPodConditions: %+v", j.Name, r)
			}
			if r.OnExitCodes != nil {
				container(t, all, *r.OnExitCodes.ContainerName)
			}
		}
	}
	if len(pod.Containers) == 0 {
		t.Errorf("%s has no containers", j.Name)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, r := range evaluator.EvaluatePod(restricted, &j.Spec.Template.ObjectMeta, &pod) {
		if !r.Allowed {
			t.Errorf("%s is not restricted: %s: %s", j.Name, r.ForbiddenReason, r.ForbiddenDetail)
		}
	}
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = (v.PersistentVolumeClaim == nil) != (v.EmptyDir == nil)
	}
	names := map[string]bool{}
	for _, c := range all {
		if c.Image == "" || names[c.Name] {
			t.Errorf("%s: the container %q: %+v", j.Name, c.Name, c)
		}
		names[c.Name] = true
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s: %s mounts %s, which is no volume of one kind", j.Name, c.Name, m.Name)
			}
		}
		secret := map[string]string{"measure": k.Secret, "fetch": k.StoreSecret, "store": k.StoreSecret}[c.Name]
		if (len(c.EnvFrom) == 1) != (secret != "") || secret != "" && c.EnvFrom[0].SecretRef.Name != secret {
			t.Errorf("%s: %s gets %+v", j.Name, c.Name, c.EnvFrom)
		}
		if len(c.Resources.Limits) != 2 || len(c.Resources.Requests) != 2 {
			t.Errorf("%s: %s has the resources %+v", j.Name, c.Name, c.Resources)
		}
		if strings.HasSuffix(c.Image, ":latest") || c.Name == "store" && !regexp.MustCompile(`:\d+\.\d+\.\d+$`).MatchString(c.Image) {
			t.Errorf("%s: the image %s has no version", j.Name, c.Image)
		}
	}
}

func container(t *testing.T, all []core.Container, name string) core.Container {
	t.Helper()
	for _, c := range all {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no container is called %q", name)
	return core.Container{}
}
