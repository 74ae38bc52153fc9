package suite

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"crosstalk"
)

// A part has the strata of the whole in their shares, spread over clusters, and
// is a part of every larger part.
func TestPart(t *testing.T) {
	for _, name := range []string{"leakage-en", "confusion", "consistency"} {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		whole := s.Items.Len()
		previous := map[string]bool{}
		for _, n := range []int{1, 10, 50, 100, 150, 200} {
			part := s.Part(n)
			if part.Items.Len() != n || s.Items.Len() != whole {
				t.Fatalf("%s: %d of %d items, want %d", name, part.Items.Len(), s.Items.Len(), n)
			}
			if want := fmt.Sprintf("%s[%d of %d]@", name, n, whole); !strings.HasPrefix(part.ID(), want) || part.ID() != s.Part(n).ID() {
				t.Errorf("id %s, want %s...", part.ID(), want)
			}
			ids, last := map[string]bool{}, -1
			for _, item := range part.Items.All() {
				ids[item.ID] = true
				at := indexOf(s, item.ID)
				if at <= last {
					t.Errorf("%s: %s is not in its place", name, item.ID)
				}
				last = at
			}
			for id := range previous {
				if !ids[id] {
					t.Errorf("%s: %s is not among %d items", name, id, n)
				}
			}
			previous = ids
		}
		for _, n := range []int{0, whole, whole + 1} {
			if part := s.Part(n); part != s {
				t.Errorf("%s: %d of %d items are not the suite", name, n, whole)
			}
		}
		count := func(s *Suite, column string) map[string]float64 {
			shares := map[string]float64{}
			for _, item := range s.Items.All() {
				shares[item.Labels[column]] += 1 / float64(s.Items.Len())
			}
			return shares
		}
		for _, column := range []string{"category", "source", "task"} {
			shares := count(s.Part(100), column)
			for value, want := range count(s, column) {
				if got := shares[value]; got == 0 || math.Abs(got-want) > 0.1 {
					t.Errorf("%s: %s %s is %.2f of a part, %.2f of the whole", name, column, value, got, want)
				}
			}
		}
	}
	en, _ := Load("leakage-en")
	if n := en.Part(50).Clusters(); n < 50 { // of 224; of two tests with the same control only the first is drawn early
		t.Errorf("50 items have %d controls", n)
	}
	// Prompts that are asked in several languages are the same in each.
	confusion, _ := Load("confusion")
	asked := map[string]int{}
	for _, item := range confusion.Part(300).Items.All() {
		if item.Labels["task"] == "crosslingual" {
			asked[item.Cluster]++
		}
	}
	if len(asked) == 0 || len(asked) > 26 {
		t.Errorf("cross-lingual prompts: %v", asked)
	}
}

// A large stratum has the larger share of a part, but the first items are one of
// each.
func TestPartOfUnequalStrata(t *testing.T) {
	s := &Suite{Name: "s"}
	for i := range 100 {
		category := "large"
		if i%10 == 0 {
			category = "small"
		}
		s.Items.Add(crosstalk.Item{ID: fmt.Sprint(i), Cluster: fmt.Sprint(i), Labels: map[string]string{"category": category},
			Pair: &crosstalk.Pair{Concept: "c"}})
	}
	for n, want := range map[int]int{2: 1, 20: 2, 50: 5} {
		small := 0
		for _, item := range s.Part(n).Items.All() {
			if item.Labels["category"] == "small" {
				small++
			}
		}
		if small != want {
			t.Errorf("%d of %d items are of the small category, want %d", small, n, want)
		}
	}
}

// The items depend on their ids alone: others that come or go at another place,
// and their order, change nothing but how many are drawn.
func TestPartDependsOnIDs(t *testing.T) {
	s := &Suite{Name: "s"}
	for i := range 20 {
		s.Items.Add(crosstalk.Item{ID: fmt.Sprint(i), Cluster: fmt.Sprint(i / 2), Pair: &crosstalk.Pair{Concept: "c"}})
	}
	turned := &Suite{Name: "s"}
	for i := range s.Items.All() {
		turned.Items.Add(s.Items.At(s.Items.Len() - 1 - i))
	}
	if a, b := s.Part(7).ID(), turned.Part(7).ID(); a != b {
		t.Errorf("%s, in another order %s", a, b)
	}
	if n := s.Part(10).Clusters(); n != 10 {
		t.Errorf("10 items of 10 clusters are of %d", n)
	}
}

func indexOf(s *Suite, id string) int {
	for i, item := range s.Items.All() {
		if item.ID == id {
			return i
		}
	}
	return -1
}
