package cluster

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"crosstalk"

	"github.com/goccy/go-yaml"
)

// Kubernetes is an Indexed Job, and a Job that merges when its pods have succeeded. Kubernetes 1.31 or newer takes
// them, also where Pod Security is "restricted". Either Claim or Store is set.
type Kubernetes struct {
	Job           // Out is a relative path, as are the files that Command names
	Image  string // of crosstalk
	Secret string // a Secret whose entries are environment variables of the container that asks: API keys. "" for none

	Claim string // a PersistentVolumeClaim that all pods mount, where paths begin

	// Store is a folder of object storage, as rclone names it, where paths begin: input files are fetched from it, and
	// a shard is stored in it whenever its pod ends. rclone gets its settings from StoreSecret's entries, "" for none.
	Store, StoreSecret string

	CPU, Memory string   // what the container that measures or merges requests, and its limits: 500m, 2Gi
	Pod         []string // further fields of the pods of both jobs, FIELD=YAML: tolerations=[{operator: Exists}]
}

// The values of CPU and Memory unless they are set. A million answers take 200 MB; encoders take more.
const (
	DefaultCPU    = "1"
	DefaultMemory = "1Gi"
)

// Set takes the limits cpu=AMOUNT and memory=AMOUNT, and the secrets of containers that ask, and rclone=NAME.
func (k *Kubernetes) Set(limits, secrets []string) error {
	for _, limit := range limits {
		name, amount, _ := strings.Cut(limit, "=")
		to := map[string]*string{"cpu": &k.CPU, "memory": &k.Memory}[name]
		if to == nil || amount == "" {
			return crosstalk.BadOption("limits", " has %q; expected cpu=AMOUNT or memory=AMOUNT, such as memory=4Gi", limit)
		}
		*to = amount
	}
	for _, name := range secrets {
		to := &k.Secret
		if rclone, found := strings.CutPrefix(name, "rclone="); found {
			to, name = &k.StoreSecret, rclone
		}
		if *to != "" {
			return crosstalk.BadOption("secret", " is given twice; expected NAME, or rclone=NAME beside it")
		}
		*to = name
	}
	return nil
}

// Manifests are both jobs in YAML.
func (k Kubernetes) Manifests() ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	k.Out = path.Clean(k.Out)
	if !regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]*$`).MatchString(k.Out) {
		return nil, crosstalk.BadOption("out", " is %q; expected a path in the volume or the store, as in runs/sweep, of "+
			"letters, digits and . _ -", k.Out)
	}
	if k.Image == "" {
		return nil, crosstalk.BadOption("image", " is missing; expected an image with crosstalk (docs/ci.md#container)")
	}
	if !regexp.MustCompile(`[:@][^/:@]+$`).MatchString(k.Image) {
		return nil, crosstalk.BadOption("image", " is %q; expected a version or a digest too, as in crosstalk:0.1.0: "+
			"shards of different versions are not one measurement", k.Image)
	}
	if (k.Claim == "") == (k.Store == "") {
		return nil, crosstalk.BadOption("claim", " or --store: expected one of them, for where the shards meet")
	}
	if k.StoreSecret != "" && k.Store == "" {
		return nil, crosstalk.BadOption("secret", ": rclone=%s is for --store; API keys are in a Secret of their own",
			k.StoreSecret)
	}
	k.CPU, k.Memory = cmp.Or(k.CPU, DefaultCPU), cmp.Or(k.Memory, DefaultMemory)
	const name, nameIs = `^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`, "lower-case letters, digits, hyphens and dots"
	const amount, amountIs = `^[0-9]+(\.[0-9]+)?(m|[kMGT]i?)?$`, "an amount of Kubernetes, such as 500m or 2Gi"
	for _, o := range []struct{ option, value, pattern, is string }{{"claim", k.Claim, name, nameIs},
		{"secret", k.Secret, name, nameIs}, {"secret", k.StoreSecret, name, nameIs},
		{"cpu", k.CPU, amount, amountIs}, {"memory", k.Memory, amount, amountIs}} {
		if o.value != "" && !regexp.MustCompile(o.pattern).MatchString(o.value) {
			return nil, crosstalk.BadOption(o.option, " is %q; expected %s", o.value, o.is)
		}
	}
	if _, err := k.PodFields(); err != nil {
		return nil, err
	}
	k.Store = strings.TrimSuffix(k.Store, "/")
	if k.Parallel == 0 {
		k.Parallel = k.Shards
	}
	return fill("kubernetes.yaml.tmpl", k)
}

// Field is a field of a pod.
type Field struct {
	Name  string
	Value any
}

// PodFields returns the fields of all pods; fields of Pod replace ours.
func (k Kubernetes) PodFields() ([]Field, error) {
	grace := 60 // what is in flight is saved within 20 seconds
	if k.Store != "" {
		grace = 600 // and the shard is stored
	}
	fields := []Field{
		{"automountServiceAccountToken", false},
		{"securityContext", map[string]any{"runAsNonRoot": true, "runAsUser": 65532, "fsGroup": 65532,
			"seccompProfile": map[string]any{"type": "RuntimeDefault"}}},
		{"terminationGracePeriodSeconds", grace},
	}
	own := len(fields)
	for _, text := range k.Pod {
		name, value, found := strings.Cut(text, "=")
		bad := func(what string) ([]Field, error) { return nil, crosstalk.BadOption("pod", " is %q; %s", text, what) }
		if !found || !regexp.MustCompile(`^[a-z][A-Za-z]*$`).MatchString(name) {
			return bad("expected a field of a pod and its value in YAML, as in 'nodeSelector={pool: cpu}'")
		}
		if slices.Contains([]string{"containers", "initContainers", "restartPolicy", "volumes"}, name) {
			return bad("this field is set by the program")
		}
		f := Field{Name: name}
		if err := yaml.Unmarshal([]byte(value), &f.Value); err != nil || f.Value == nil {
			return bad("its value is not YAML; expected something like 'nodeSelector={pool: cpu}'")
		}
		switch i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name }); {
		case i < 0:
			fields = append(fields, f)
		case i < own:
			fields[i] = f
		default:
			return bad("this field is given twice")
		}
	}
	return fields, nil
}

// Digits is the number of digits in the names of shards' directories.
func (k Kubernetes) Digits() int { return len(fmt.Sprint(k.Shards)) }

// MergeArguments returns the arguments of merge. Where the volume is shared, it waits for the shards.
func (k Kubernetes) MergeArguments() []string {
	arguments := []string{"merge", k.Out, "--out", k.Merged()}
	if k.Claim != "" {
		arguments = append(arguments, "--wait", "168h")
	}
	return arguments
}

// Rclone is the image that moves files between Store and the pods.
func (k Kubernetes) Rclone() string { return "rclone/rclone:1.68.2" }
