// Package shard divides a measurement among processes: which process does which part (--shard), and its items.
package shard

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Shard is one of Count parts of a measurement, written "3/64". The zero value is the whole, written "".
type Shard struct {
	Index int // from 1
	Count int
}

// most is the largest number of shards: as many tasks as a Slurm job array can have at most.
const most = 1 << 20

// Parse reads the value of --shard: "" for the whole measurement, I/N, or "auto" for the shard that the scheduler set
// in the environment, which getenv reads (os.Getenv):
//
//	Slurm array        SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT, SLURM_ARRAY_TASK_MIN
//	Kubernetes job     JOB_COMPLETION_INDEX, and CROSSTALK_SHARDS, the job's completions
//
// The tasks of a Slurm array must be numbered without gaps.
func Parse(text string, getenv func(string) string) (Shard, error) {
	switch text {
	case "":
		return Shard{}, nil
	case "auto":
		return auto(getenv)
	}
	var s Shard
	err := s.UnmarshalText([]byte(text))
	return s, err
}

func auto(getenv func(string) string) (s Shard, err error) {
	var said []string
	number := func(name string, least int) int {
		said = append(said, name+"="+getenv(name))
		n, wrong := strconv.Atoi(getenv(name))
		if err == nil && (wrong != nil || n < least) {
			err = fmt.Errorf("auto: %s is %q; expected a number from %d", name, getenv(name), least)
		}
		return n
	}
	switch {
	case getenv("SLURM_ARRAY_TASK_ID") != "":
		first, last := number("SLURM_ARRAY_TASK_MIN", 0), 0
		s = Shard{number("SLURM_ARRAY_TASK_ID", 0) - first + 1, number("SLURM_ARRAY_TASK_COUNT", 1)}
		if getenv("SLURM_ARRAY_TASK_MAX") != "" {
			last = number("SLURM_ARRAY_TASK_MAX", first)
			if err == nil && last-first+1 != s.Count {
				return s, fmt.Errorf("auto: the job array has %d tasks, from %d to %d; expected one without gaps, as in "+
					"--array=1-%[1]d", s.Count, first, last)
			}
		}
	case getenv("JOB_COMPLETION_INDEX") != "":
		if getenv("CROSSTALK_SHARDS") == "" {
			return s, fmt.Errorf("auto: CROSSTALK_SHARDS is not set: set it to the job's completions, which Kubernetes does " +
				"not tell")
		}
		s = Shard{number("JOB_COMPLETION_INDEX", 0) + 1, number("CROSSTALK_SHARDS", 1)}
	default:
		return s, fmt.Errorf("auto: found neither a Slurm job array (SLURM_ARRAY_TASK_ID) nor a Kubernetes Indexed Job " +
			"(JOB_COMPLETION_INDEX): name the shard, as in 3/64")
	}
	if err == nil {
		if err = s.check(); err != nil {
			err = fmt.Errorf("auto: %s: %w", strings.Join(said, ", "), err)
		}
	}
	return s, err
}

func (s Shard) check() error {
	if s.Count > most {
		return fmt.Errorf("%d/%d is not a shard; expected at most %d shards", s.Index, s.Count, most)
	}
	if s.Index < 1 || s.Index > s.Count {
		return fmt.Errorf("%d/%d is not a shard; expected I/N with I from 1 to N, as in 3/64", s.Index, s.Count)
	}
	return nil
}

// IsZero reports whether s is the whole measurement.
func (s Shard) IsZero() bool { return s == Shard{} }

func (s Shard) String() string {
	if s.IsZero() {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

// MarshalText implements encoding.TextMarshaler.
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Shard) UnmarshalText(text []byte) error {
	*s = Shard{}
	if len(text) == 0 {
		return nil
	}
	index, count, _ := strings.Cut(string(text), "/")
	i, wrongIndex := strconv.Atoi(index)
	n, wrongCount := strconv.Atoi(count)
	if wrongIndex != nil || wrongCount != nil {
		return fmt.Errorf("%q is not a shard; expected I/N, as in 3/64, or auto", text)
	}
	*s = Shard{i, n}
	return s.check()
}

// Dir returns the shard's run directory in the directory of all shards: DIR/shard-03-of-64.
func (s Shard) Dir(all string) string {
	if s.IsZero() {
		return all
	}
	return filepath.Join(all, fmt.Sprintf("%s%0*d-of-%d", prefix, len(strconv.Itoa(s.Count)), s.Index, s.Count))
}

const prefix = "shard-"

// Runs returns the run directories of shards directly in a directory, sorted. They may be links.
func Runs(all string) (paths []string, err error) {
	entries, err := os.ReadDir(all)
	for _, e := range entries {
		path := filepath.Join(all, e.Name())
		if !IsRun(e.Name()) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// IsRun reports whether a name can be a shard's run directory.
func IsRun(name string) bool { return runs.MatchString(name) }

var runs = regexp.MustCompile(`^` + prefix + `\d+-of-\d+$`)

// Has reports whether the shard has the items of a cluster. It hashes the cluster, so clusters need not be known
// beforehand.
func (s Shard) Has(cluster string) bool {
	return s.IsZero() || hash(cluster)%uint64(s.Count) == uint64(s.Index-1)
}

func hash(text string) uint64 {
	sum := sha256.Sum256([]byte("shard\x00" + text))
	return binary.BigEndian.Uint64(sum[:8])
}

// Part returns the shard's part of n, a budget that all shards share: parts differ by at most one and add up to n.
func (s Shard) Part(n int) int {
	if s.IsZero() {
		return n
	}
	part := n / s.Count
	if s.Index <= n%s.Count {
		part++
	}
	return part
}

// Clusters groups items, by number from 0, that must be in the same shard because they share something. The zero
// value has no items. It is made for millions of them.
type Clusters struct {
	of      []int32  // the parent of each item; a root is its own parent
	hashes  []uint64 // hashes of the items' IDs
	sharing []sharing
}

// sharing is an item and something that it has, as a hash.
type sharing struct {
	what uint64
	item int32
}

// Everybody, in place of an item, means that sharing this does not group items.
const Everybody = -1

// Add adds the next item with its cluster; "" means a separate cluster.
func (c *Clusters) Add(id, cluster string) {
	item := len(c.of)
	c.of, c.hashes = append(c.of, int32(item)), append(c.hashes, hash(id))
	if cluster != "" {
		c.Share(hash(cluster), item)
	}
}

// Share records that an item has something, given as a hash: all items that have it are in one shard.
func (c *Clusters) Share(what uint64, item int) {
	c.sharing = append(c.sharing, sharing{what, int32(item)})
}

func (c *Clusters) root(item int32) int32 {
	for c.of[item] != item {
		c.of[item] = c.of[c.of[item]]
		item = c.of[item]
	}
	return item
}

// Of returns the shard's items, ascending. Clusters are dealt out by size, then by hash, each to the shard with the
// fewest items. If all clusters have the same size, shards differ by at most one cluster.
func (s Shard) Of(c *Clusters) []int {
	slices.SortFunc(c.sharing, func(a, b sharing) int {
		return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.item, b.item))
	})
	for i, one := range c.sharing { // unite items that share something
		if i == 0 || c.sharing[i-1].what != one.what {
			continue
		}
		before := c.sharing[i-1].item
		if before == Everybody {
			c.sharing[i].item = Everybody
			continue
		}
		a, b := c.root(before), c.root(one.item)
		c.of[max(a, b)] = min(a, b) // the root is the first item
	}
	c.sharing = nil
	items := []int{} // not nil: a shard may have none
	sizes := make([]int32, len(c.of))
	for i := range c.of {
		sizes[c.root(int32(i))]++
	}
	type cluster struct {
		root, size int32
		hash       uint64
	}
	all := make([]cluster, 0, len(c.of))
	for root, size := range sizes {
		if size > 0 {
			all = append(all, cluster{int32(root), size, c.hashes[root]})
		}
	}
	slices.SortFunc(all, func(a, b cluster) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.hash, b.hash), cmp.Compare(a.root, b.root))
	})
	loads := make(loads, s.Count)
	for i := range loads {
		loads[i].shard = i + 1
	}
	mine := make([]bool, len(c.of)) // by root
	for _, one := range all {
		mine[one.root] = loads.add(int(one.size)) == s.Index
	}
	for i := range c.of {
		if mine[c.root(int32(i))] {
			items = append(items, i)
		}
	}
	return items
}

// loads is a heap of the shards by number of items: its first is the first shard with the fewest.
type loads []load

type load struct{ shard, items int }

func (l load) compare(other load) int {
	return cmp.Or(cmp.Compare(l.items, other.items), cmp.Compare(l.shard, other.shard))
}

func (l loads) add(items int) (shard int) {
	shard = l[0].shard
	l[0].items += items
	for i := 0; 2*i+1 < len(l); {
		least := 2*i + 1
		if least+1 < len(l) && l[least+1].compare(l[least]) < 0 {
			least++
		}
		if l[i].compare(l[least]) < 0 {
			break
		}
		l[i], l[least] = l[least], l[i]
		i = least
	}
	return shard
}
