package cluster

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"crosstalk"
)

// Slurm is a job array, and a job that merges when all its tasks have ended.
type Slurm struct {
	Job
	Program string   // path of crosstalk on the nodes; "" for that of this program
	Folder  string   // where it runs: absolute; "" for the current directory
	Options []string // further options of sbatch for both jobs, as in --partition=long
}

// Scripts are the two for sbatch. They must be in a directory that all nodes see;
// Logs must exist when they are submitted.
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
		if name, _, _ := strings.Cut(o, "="); strings.HasPrefix(name, "--array") || strings.HasPrefix(name, "-a") {
			return nil, nil, crosstalk.BadOption("sbatch", " is %q; the array is that of --shards and --parallel", o)
		}
	}
	array, err = fill("array.sh.tmpl", s)
	if err != nil {
		return nil, nil, err
	}
	merge, err = fill("merge.sh.tmpl", s)
	return array, merge, err
}

// Logs is the directory for what the tasks print.
func (s Slurm) Logs() string { return filepath.Join(s.absolute(), "logs") }

// absolute is the directory of the shards.
func (s Slurm) absolute() string {
	if filepath.IsAbs(s.Out) {
		return filepath.Clean(s.Out)
	}
	return filepath.Join(s.Folder, s.Out)
}
