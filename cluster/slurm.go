package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"crosstalk"
	"crosstalk/internal/atomicfile"
)

// Slurm is a job array, and a job that merges when all its tasks have ended.
type Slurm struct {
	Job
	Program string   // path of crosstalk on the nodes; "" for this program's
	Folder  string   // where it runs: absolute; "" for the current directory
	Options []string // further options of sbatch for both jobs, as in --partition=long
}

// Scripts are the two for sbatch, for a directory that all nodes see. Logs must exist when they are submitted.
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
		if strings.HasPrefix(o, "-a") || strings.HasPrefix(o, "--ar") { // which sbatch takes for --array
			return nil, nil, crosstalk.BadOption("sbatch", " is %q; --shards and --parallel set the array", o)
		}
	}
	array, err = fill("array.sh.tmpl", s)
	merge, errMerge := fill("merge.sh.tmpl", s)
	return array, merge, errors.Join(err, errMerge)
}

// Logs is the directory for what the tasks print.
func (s Slurm) Logs() string {
	if filepath.IsAbs(s.Out) {
		return filepath.Join(s.Out, "logs")
	}
	return filepath.Join(s.Folder, s.Out, "logs")
}

// Write writes the scripts into the directory of the shards, array.sh and merge.sh, makes the directory for logs, and
// returns the paths of the scripts. They are private, and so is the directory if it is new.
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

// Submit writes the scripts, gives them to sbatch and returns the jobs' numbers: the array, and the merge after it.
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
	job, _, _ = strings.Cut(strings.TrimSpace(out), ";") // the cluster's name may follow
	return job, err
}

// Apply gives the manifests to kubectl and returns what it prints.
func (k Kubernetes) Apply() (said string, err error) {
	manifests, err := k.Manifests()
	if err != nil {
		return "", err
	}
	return output(string(manifests), "kubectl", "apply", "-f", "-")
}

// output runs another program with an input and returns what it prints. The error has what the program complains about.
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
