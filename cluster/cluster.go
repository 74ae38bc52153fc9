// Package cluster writes and submits jobs that measure in shards and merge them: for Slurm or Kubernetes.
package cluster

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/shell"
	"crosstalk/internal/visible"
	"crosstalk/run/shard"
	"crosstalk/study"
)

// Job is a measurement whose shards are the tasks of a scheduler's job.
type Job struct {
	Command  []string // of crosstalk, as in run leakage --out runs/a; without --shard
	Out      string   // the value of its --out
	Shards   int
	Parallel int // tasks at a time; 0 for no limit
}

// Merged is the directory of the merged run, beside the shards'.
func (j Job) Merged() string { return filepath.Clean(j.Out) + "-merged" }

// Sharded is the command of a task.
func (j Job) Sharded() []string {
	end := slices.Index(j.Command, "--") // files follow
	if end < 0 {
		end = len(j.Command)
	}
	return slices.Insert(slices.Clone(j.Command), end, "--shard", "auto")
}

// Name is the last part of Out as schedulers take names. Kubernetes adds an index and five letters: 63 at most.
func (j Job) Name() string {
	base := strings.ToLower(filepath.Base(j.Out))
	name := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(base, "-"), "-")
	name = strings.TrimRight(name[:min(len(name), longest)], "-")
	return cmp.Or(name, "crosstalk") // of a directory in another script
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
	if base == "." || base == ".." || base == string(filepath.Separator) { // there is no directory beside it
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

// inline writes a value as JSON, which is YAML.
func inline(v any) (string, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSpace(out.String()), err
}

// kube is inline for what Kubernetes expands: in arguments and values, $(NAME) is a variable, $$ a dollar.
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

// CheckSecrets returns an error, which does not quote it, if a command, its headers, parameters or the name of the
// variable of its key have a secret: the files of a job are kept where others can read them.
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
		secret := visible.Message(arg) != visible.Text(arg) // a user in a URL
		for _, query := range queryName().FindAllStringSubmatch(arg, -1) {
			secret = secret || study.SecretField(query[1], "") != ""
		}
		if secret {
			return errors.New("a URL after -- has a password or a key: " + written + "--header 'NAME=$VARIABLE'")
		}
	}
	return nil
}
