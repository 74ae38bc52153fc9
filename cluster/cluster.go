// Package cluster writes and submits jobs that measure in shards and merge them: for Slurm or Kubernetes.
package cluster

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"crosstalk"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/shell"
	"crosstalk/internal/visible"
	"crosstalk/run/shard"
	"crosstalk/study"

	"github.com/goccy/go-yaml"
)

// Job is a measurement whose shards are the tasks of a scheduler's job.
type Job struct {
	Command  []string // the crosstalk command, such as run leakage --out runs/a; without --shard
	Out      string   // the value of its --out
	Shards   int
	Parallel int // tasks at a time; 0 for no limit
}

// Merged returns the directory of the merged run, beside the shards.
func (j Job) Merged() string { return filepath.Clean(j.Out) + "-merged" }

// Sharded returns the command of a task.
func (j Job) Sharded() []string {
	end := slices.Index(j.Command, "--") // files may follow
	if end < 0 {
		end = len(j.Command)
	}
	return slices.Insert(slices.Clone(j.Command), end, "--shard", "auto")
}

// Name returns the last part of Out, in a form that schedulers accept: at most 63 characters, with the index and five
// letters that Kubernetes adds.
func (j Job) Name() string {
	base := strings.ToLower(filepath.Base(j.Out))
	name := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(base, "-"), "-")
	name = strings.TrimRight(name[:min(len(name), longest)], "-")
	return cmp.Or(name, "crosstalk") // the directory's name is in another script
}

const longest = 45

func (j Job) check() error {
	if j.Shards < 1 {
		return crosstalk.BadOption("shards", " is %d; expected a number from 1, as in 64", j.Shards)
	}
	if err := new(shard.Shard).UnmarshalText(fmt.Appendf(nil, "1/%d", j.Shards)); err != nil {
		return crosstalk.BadOption("shards", ": %w", err)
	}
	if j.Parallel < 0 || j.Parallel > j.Shards {
		return crosstalk.BadOption("parallel", " is %d; expected 0 (no limit) to the number of shards, %d", j.Parallel,
			j.Shards)
	}
	base := filepath.Base(j.Out)
	if base == "." || base == ".." || base == string(filepath.Separator) { // no directory can be beside it
		return crosstalk.BadOption("out", " is %q; expected the name of a directory, as in runs/sweep", j.Out)
	}
	return nil
}

//go:embed *.tmpl
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"shell": shell.Quote, "shellLine": shell.Line,
		"yaml": inline, "kube": kube}).ParseFS(files, "*.tmpl"))
})

func fill(name string, data any) ([]byte, error) {
	var out bytes.Buffer
	err := templates().ExecuteTemplate(&out, name, data)
	return out.Bytes(), err
}

func inline(v any) (string, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSpace(out.String()), err
}

// kube encodes a value as inline does, and escapes what Kubernetes expands: in arguments and values, $(NAME) is a
// variable, $$ a dollar.
func kube(v any) (string, error) {
	if words, ok := v.([]string); ok {
		escaped := make([]string, len(words))
		for i, w := range words {
			escaped[i] = strings.ReplaceAll(w, "$", "$$")
		}
		return inline(escaped)
	}
	return inline(strings.ReplaceAll(fmt.Sprint(v), "$", "$$"))
}

var queryName = lazyregexp.New(`[?&]([^?&=\s]+)=`)

// CheckSecrets returns an error, without quoting it, if a command contains a secret: others can read the files of a
// job.
func CheckSecrets(command, headers, params []string, keyVar string) error {
	const written = "it would be written into the job; expected a variable of its environment, as in "
	for _, header := range headers {
		if _, value, _ := strings.Cut(header, "="); !strings.HasPrefix(value, "$") {
			return errors.New("--header after -- has a value: " + written + "--header 'NAME=$VARIABLE'")
		}
	}
	for _, param := range params {
		name, value, _ := strings.Cut(param, "=")
		if secret := study.SecretField(name, value); secret != "" {
			return fmt.Errorf("--param after --: %s is a secret: %s--key-var NAME or --header 'NAME=$VARIABLE'", secret, written)
		}
	}
	if strings.ContainsAny(keyVar, "-.:/+= ") {
		return errors.New("--key-var after -- is not a name: " + written + "--key-var OPENAI_API_KEY")
	}
	for _, arg := range command {
		secret := visible.Message(arg) != visible.Text(arg) // a user name in a URL
		for _, query := range queryName().FindAllStringSubmatch(arg, -1) {
			secret = secret || study.SecretField(query[1], "") != ""
		}
		if secret {
			return errors.New("a URL after -- has a password or a key: " + written + "--header 'NAME=$VARIABLE'")
		}
	}
	return nil
}

// Kubernetes is an Indexed Job and a Job that merges after it, for 1.31 or newer. Either Claim or Store is set.
type Kubernetes struct {
	Job           // Out and the files that Command names are relative paths
	Image  string // image that contains crosstalk
	Secret string // a Secret of environment variables, such as API keys, for the container that asks; "" for none

	Claim string // a PersistentVolumeClaim that all pods mount; paths are relative to it

	// Store is a folder of object storage, as rclone names it, which paths are relative to: input files are fetched from
	// it, and each shard is stored in it when its pod ends. rclone is configured by StoreSecret's entries, "" for none.
	Store, StoreSecret string

	CPU, Memory string   // requests and limits of the container that measures or merges: 500m, 2Gi
	Pod         []string // further fields of the pods of both jobs, FIELD=YAML: tolerations=[{operator: Exists}]
}

// Defaults of CPU and Memory. A million answers take 200 MB; encoders take more.
const (
	DefaultCPU    = "1"
	DefaultMemory = "1Gi"
)

// Set parses limits, cpu=AMOUNT and memory=AMOUNT, and secrets: NAME for the containers that ask, and rclone=NAME.
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

// Manifests returns both jobs as YAML.
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

// Field is a field of a pod's specification.
type Field struct {
	Name  string
	Value any
}

// PodFields returns the fields of all pods; fields in Pod replace the built-in ones.
func (k Kubernetes) PodFields() ([]Field, error) {
	grace := 60 // requests in flight are saved within 20 seconds
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

// Digits returns the number of digits in the names of shards' directories.
func (k Kubernetes) Digits() int { return len(fmt.Sprint(k.Shards)) }

// MergeArguments returns the arguments of merge. On a shared volume, merge waits for the shards.
func (k Kubernetes) MergeArguments() []string {
	arguments := []string{"merge", k.Out, "--out", k.Merged()}
	if k.Claim != "" {
		arguments = append(arguments, "--wait", "168h")
	}
	return arguments
}

// Rclone returns the image that moves files between Store and the pods.
func (k Kubernetes) Rclone() string { return "rclone/rclone:1.68.2" }

// Slurm is a job array, and a job that merges after all its tasks have ended.
type Slurm struct {
	Job
	Program string   // path of crosstalk on the nodes; "" for the path of this program
	Folder  string   // absolute working directory; "" for the current one
	Options []string // further sbatch options for both jobs, such as --partition=long
}

// Scripts returns the two scripts for sbatch, for a directory that all nodes share. Logs must exist before submission.
func (s Slurm) Scripts() (array, merge []byte, err error) {
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	if s.Folder == "" {
		if s.Folder, err = os.Getwd(); err != nil {
			return nil, nil, err
		}
	}
	if s.Program == "" {
		if s.Program, err = os.Executable(); err != nil {
			return nil, nil, err
		}
	}
	if bad := regexp.MustCompile(`["\\%\x00-\x1f\x7f]`).FindString(s.Logs()); bad != "" {
		return nil, nil, crosstalk.BadOption("out", " %s contains %q, which Slurm does not take in the name of a log",
			s.Logs(), bad)
	}
	for _, o := range s.Options {
		if !regexp.MustCompile(`^--?[A-Za-z][^\x00-\x1f]*$`).MatchString(o) {
			return nil, nil, crosstalk.BadOption("sbatch", " is %q; expected an option of sbatch, as in --partition=long", o)
		}
		if strings.HasPrefix(o, "-a") || strings.HasPrefix(o, "--ar") { // sbatch reads it as --array
			return nil, nil, crosstalk.BadOption("sbatch", " is %q; --shards and --parallel set the array", o)
		}
	}
	array, err = fill("array.sh.tmpl", s)
	merge, errMerge := fill("merge.sh.tmpl", s)
	return array, merge, errors.Join(err, errMerge)
}

// Logs returns the directory for the tasks' output.
func (s Slurm) Logs() string {
	if filepath.IsAbs(s.Out) {
		return filepath.Join(s.Out, "logs")
	}
	return filepath.Join(s.Folder, s.Out, "logs")
}

// Write writes the scripts array.sh and merge.sh into the directory of the shards, makes the directory for logs, and
// returns the paths of the scripts. The scripts are private, and so is the directory if it is new.
func (s Slurm) Write() (array, merge string, err error) {
	arrayScript, mergeScript, err := s.Scripts()
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(s.Out)), 0o777); err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(s.Logs(), 0o700); err != nil {
		return "", "", err
	}
	array, merge = filepath.Join(s.Out, "array.sh"), filepath.Join(s.Out, "merge.sh")
	for path, script := range map[string][]byte{array: arrayScript, merge: mergeScript} {
		if err := errors.Join(atomicfile.WriteBytesPrivate(path, script), os.Chmod(path, 0o700)); err != nil {
			return "", "", err
		}
	}
	return array, merge, nil
}

// Submit writes the scripts, passes them to sbatch and returns the jobs' numbers: the array, and the merge after it.
func (s Slurm) Submit() (array, merge string, err error) {
	arrayFile, mergeFile, err := s.Write()
	if err != nil {
		return "", "", err
	}
	if array, err = sbatch(arrayFile); err != nil {
		return "", "", err
	}
	if merge, err = sbatch("--dependency=afterany:"+array, mergeFile); err != nil {
		return "", "", fmt.Errorf("the array is job %s, and its merge was not submitted: %w", array, err)
	}
	return array, merge, nil
}

func sbatch(args ...string) (job string, err error) {
	out, err := output("", "sbatch", append([]string{"--parsable"}, args...)...)
	job, _, _ = strings.Cut(strings.TrimSpace(out), ";") // sbatch may append the cluster's name
	return job, err
}

// Apply passes the manifests to kubectl and returns its output.
func (k Kubernetes) Apply() (said string, err error) {
	manifests, err := k.Manifests()
	if err != nil {
		return "", err
	}
	return output(string(manifests), "kubectl", "apply", "-f", "-")
}

// output runs a program with an input and returns its standard output. The error includes its messages.
func output(input, program string, args ...string) (string, error) {
	var complaint bytes.Buffer
	c := exec.Command(program, args...)
	c.Stdin, c.Stderr = strings.NewReader(input), &complaint
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(complaint.String()))
	}
	return string(out), nil
}
