package kernel

import (
	"slices"
	"testing"

	"golang.org/x/sys/cpu"
)

// A machine's kernels are those that its processor runs, the fastest last.
func TestSets(t *testing.T) {
	want := []*Set{portable}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		want = append(want, setAVX2)
	}
	if len(want) > 1 && cpu.X86.HasAVX512F {
		want = append(want, setAVX512)
	}
	if got := Sets(); !slices.Equal(got, want) || Best() != want[len(want)-1] {
		t.Errorf("%d sets, the last %s", len(got), Best().Name)
	}
	for i, s := range want {
		if s.Name != []string{"portable", "avx2", "avx512"}[i] {
			t.Errorf("set %d is %s", i, s.Name)
		}
	}
}
