package cluster

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"crosstalk"
)

// Kubernetes is an Indexed Job, and a Job that merges when its pods have succeeded.
// Kubernetes 1.31 or newer takes them. Either Claim or Store is set.
type Kubernetes struct {
	Job           // Out is a relative path, as are the files that Command names
	Image  string // of crosstalk
	Secret string // a Secret whose entries are environment variables of all containers: keys. "" for none

	// Claim is a PersistentVolumeClaim that all pods mount, where paths begin.
	Claim string

	// Store is a folder of object storage, as rclone names it, where paths begin: input files are fetched from it, a
	// shard that is measured is stored in it. rclone gets its settings from Secret.
	Store string
}

// Manifests are both jobs in YAML.
func (k Kubernetes) Manifests() ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	k.Out = path.Clean(k.Out)
	if !regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]*$`).MatchString(k.Out) || strings.Contains(k.Out, "..") {
		return nil, crosstalk.BadOption("out", " is %q; expected a path in the volume or the store, as in runs/sweep, of "+
			"letters, digits and . _ -", k.Out)
	}
	if k.Image == "" {
		return nil, crosstalk.BadOption("image", " is missing; expected an image with crosstalk (docs/ci.md#container)")
	}
	if (k.Claim == "") == (k.Store == "") {
		return nil, crosstalk.BadOption("claim", " or --store: expected one of them, for where the shards meet")
	}
	for _, o := range []struct{ option, name string }{{"claim", k.Claim}, {"secret", k.Secret}} {
		if o.name != "" && !regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`).MatchString(o.name) {
			return nil, crosstalk.BadOption(o.option, " is %q; expected lower-case letters, digits, hyphens and dots", o.name)
		}
	}
	k.Store = strings.TrimSuffix(k.Store, "/")
	if k.Parallel == 0 {
		k.Parallel = k.Shards
	}
	return fill("kubernetes.yaml.tmpl", k)
}

// Retries is how often all shards together may be tried again, where Kubernetes does not count them by shard.
func (k Kubernetes) Retries() int { return 3 * k.Shards }

// Digits is the number of digits in the names of shards' directories.
func (k Kubernetes) Digits() int { return len(fmt.Sprint(k.Shards)) }

// MergeArguments are those of the merge. Where the volume is shared, it waits for the shards.
func (k Kubernetes) MergeArguments() []string {
	arguments := []string{"merge", k.Out, "--out", k.Merged()}
	if k.Claim != "" {
		arguments = append(arguments, "--wait", "168h")
	}
	return arguments
}
