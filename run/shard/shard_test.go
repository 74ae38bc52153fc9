package shard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if value, is := strings.CutPrefix(pair, name+"="); is {
				return value
			}
		}
		return ""
	}
}

func TestParse(t *testing.T) {
	slurm := func(id, first, last, count string) []string {
		return []string{"SLURM_ARRAY_TASK_ID=" + id, "SLURM_ARRAY_TASK_MIN=" + first, "SLURM_ARRAY_TASK_MAX=" + last, "SLURM_ARRAY_TASK_COUNT=" + count}
	}
	for _, test := range []struct {
		text        string
		environment []string
		want        string // or the error, in part
	}{
		{"", nil, ""},
		{"3/64", nil, "3/64"},
		{"1/1", nil, "1/1"},
		{"0/4", nil, "I from 1 to N"},
		{"5/4", nil, "I from 1 to N"},
		{"1/0", nil, "I from 1 to N"},
		{"1/1048577", nil, "at most 1048576 shards"},
		{"1", nil, "expected I/N"},
		{"a/4", nil, "expected I/N"},
		{"auto", nil, "found neither"},
		{"auto", slurm("1", "1", "64", "64"), "1/64"},
		{"auto", slurm("63", "0", "63", "64"), "64/64"},
		{"auto", slurm("12", "10", "13", "4"), "3/4"},
		{"auto", slurm("9", "1", "9", "5"), "without gaps"},
		{"auto", slurm("x", "1", "9", "9"), `SLURM_ARRAY_TASK_ID is "x"`},
		{"auto", []string{"SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_COUNT=4", "SLURM_ARRAY_TASK_MIN=1"}, "2/4"},
		{"auto", []string{"SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_COUNT=4"}, `SLURM_ARRAY_TASK_MIN is ""`},
		{"auto", []string{"JOB_COMPLETION_INDEX=0", "CROSSTALK_SHARDS=8"}, "1/8"},
		{"auto", []string{"JOB_COMPLETION_INDEX=8", "CROSSTALK_SHARDS=8"}, "auto: JOB_COMPLETION_INDEX=8, CROSSTALK_SHARDS=8: 9/8 is not a shard; expected I/N with I from 1 to N"},
		{"auto", []string{"JOB_COMPLETION_INDEX=0"}, "CROSSTALK_SHARDS is not set"},
	} {
		s, err := Parse(test.text, environment(test.environment...))
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%q in %v: %q, want %q", test.text, test.environment, got, test.want)
		}
	}
}

func TestMostShards(t *testing.T) {
	if s, err := Parse("1048576/1048576", environment()); err != nil || s.Count != 1<<20 {
		t.Error(s, err)
	}
}

func TestText(t *testing.T) {
	s := struct {
		Shard Shard `json:"shard,omitzero"`
	}{Shard{3, 64}}
	text, err := json.Marshal(s)
	if err != nil || string(text) != `{"shard":"3/64"}` {
		t.Errorf("%s, %v", text, err)
	}
	s.Shard = Shard{}
	if err := json.Unmarshal(text, &s); err != nil || s.Shard != (Shard{3, 64}) {
		t.Errorf("%v, %v", s, err)
	}
	if dir := s.Shard.Dir("runs"); !strings.HasSuffix(dir, "shard-03-of-64") {
		t.Error(dir)
	}
}

// Every item is in one shard, clusters are whole, and shards are as even as
// clusters of one size allow.
func TestOf(t *testing.T) {
	for _, n := range []int{0, 1, 7, 109, 1000} {
		for _, count := range []int{1, 4, 64} {
			for _, size := range []int{1, 3} {
				cluster := func(item int) int { return item % max(1, n/size) }
				c := &Clusters{}
				for i := range n {
					c.Add(fmt.Sprint("item ", i), "")
				}
				c.Share(1<<40, Everybody)
				for i := range n {
					c.Share(uint64(cluster(i)), i)
					c.Share(1<<40, i)
				}
				owner := map[int]int{}
				least, most, all := n, 0, 0
				for i := 1; i <= count; i++ {
					items := Shard{i, count}.Of(c)
					if items == nil || !slices.IsSorted(items) {
						t.Fatalf("shard %d/%d of %d items: %v", i, count, n, items)
					}
					all += len(items)
					least, most = min(least, len(items)), max(most, len(items))
					for _, item := range items {
						if first, again := owner[cluster(item)]; again && first != i {
							t.Fatalf("the cluster of item %d of %d is in the shards %d and %d of %d", item, n, first, i, count)
						}
						owner[cluster(item)] = i
					}
				}
				if all != n || most-least > size+n%size {
					t.Errorf("%d items in clusters of %d, %d shards: %d items in all, from %d to %d", n, size, count, all, least, most)
				}
			}
		}
	}
}

// A large cluster makes its shard wait for no other.
func TestUneven(t *testing.T) {
	c := &Clusters{}
	for i := range 12 {
		cluster := ""
		if i >= 6 {
			cluster = "large"
		}
		c.Add(fmt.Sprint("item ", i), cluster)
	}
	for i := 1; i <= 2; i++ {
		if items := (Shard{i, 2}).Of(c); len(items) != 6 || (items[0] < 6) == (items[5] >= 6) {
			t.Errorf("shard %d has the items %v; want six alone or the six of the cluster", i, items)
		}
	}
}

// A cluster that is read is in one shard, and shards get about as many.
func TestHas(t *testing.T) {
	counts := make([]int, 5)
	for i := range 5000 {
		in := 0
		for k := range counts {
			if (Shard{k + 1, 5}).Has(fmt.Sprint(i)) {
				counts[k]++
				in++
			}
		}
		if in != 1 {
			t.Fatalf("cluster %d is in %d shards", i, in)
		}
	}
	if slices.Min(counts) < 900 || slices.Max(counts) > 1100 {
		t.Error(counts)
	}
	if !(Shard{}).Has("any") {
		t.Error("the whole does not have everything")
	}
}

func TestPart(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 1000} {
		sum := 0
		for i := 1; i <= 64; i++ {
			part := Shard{i, 64}.Part(n)
			if part < n/64 || part > n/64+1 {
				t.Errorf("shard %d gets %d of %d", i, part, n)
			}
			sum += part
		}
		if sum != n {
			t.Errorf("%d of %d", sum, n)
		}
	}
}

// Items go to the shard with the fewest, the first of several.
func TestLoads(t *testing.T) {
	for shards := 1; shards < 12; shards++ {
		heap, plain := make(loads, shards), make([]int, shards)
		for i := range heap {
			heap[i].shard = i + 1
		}
		for k := range 200 {
			items := 1 + k*k%7
			least := slices.Index(plain, slices.Min(plain))
			plain[least] += items
			if got := heap.add(items); got != least+1 {
				t.Fatalf("%d shards, step %d: %d, want %d", shards, k, got, least+1)
			}
		}
	}
}
