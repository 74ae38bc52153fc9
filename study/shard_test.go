package study

import (
	"strings"
	"testing"

	"crosstalk/ask"
	"crosstalk/run/shard"
)

// Shards of different measurements, and a run of all items, never share a directory.
func TestAdmitShard(t *testing.T) {
	t.Chdir(t.TempDir())
	begin := func(out string, l Leakage, of shard.Shard) error {
		l.Items = 12
		s, err := l.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Take(t.Context(), of); err != nil {
			t.Fatal(err)
		}
		m, err := s.Begin(t.Context(), out, ask.Options{})
		if err != nil {
			return err
		}
		return m.Close()
	}
	half := shard.Shard{Index: 1, Count: 2}
	for _, err := range []error{begin("all", Leakage{}, half), begin("all", Leakage{}, shard.Shard{Index: 2, Count: 2}),
		begin("single", Leakage{}, shard.Shard{})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	warm := Leakage{Sweep: Sweep{Temperatures: []string{"1"}}}
	for want, err := range map[string]error{
		"all has shards of a run with other settings (all/shard-1-of-2): its number of shards is 2, not 3: use another --out": begin("all", Leakage{}, shard.Shard{Index: 1, Count: 3}),
		"all has shards of a run with other settings (all/shard-1-of-2): its temperature is 0, not 1: use another --out":      begin("all", warm, half),
		"single has a run of all items: use another --out":                                                                    begin("single", Leakage{}, half),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// Planning asks, and scores nothing: that would take most of its time.
func TestPlanningScoresNothing(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() (*Study, error){
		"leakage": Leakage{Sweep: Sweep{Items: 2}}.Open, "confusion": Confusion{Sweep: Sweep{Items: 2}}.Open} {
		s, err := open()
		if err != nil {
			t.Fatal(err)
		}
		p := s.Protocols[0]
		for _, score := range []bool{false, true} {
			observed, err := p.instrument(p.Conditions[0], score).Measure(t.Context(), &sharing{clusters: &shard.Clusters{}},
				s.Suite.Items.At(0))
			if err != nil || (len(observed) > 0) != score {
				t.Errorf("%s, to score: %v: %d observations, %v", name, score, len(observed), err)
			}
		}
	}
}

func TestDivide(t *testing.T) {
	o := ask.Options{RPM: 100, Budget: ask.Budget{Asks: 101, Cost: 3}}
	said, err := Divide(&o, shard.Shard{Index: 2, Count: 2})
	want := "--rpm 100 is divided among 2 shards: 50 for this one|--budget-asks 101 is divided among 2 shards: 50 for this one|" +
		"--budget-cost 3 is divided among 2 shards: 1.5 for this one"
	if got := strings.Join(said, "|"); err != nil || got != want || o.RPM != 50 || o.Budget.Asks != 50 ||
		o.Budget.Cost != 1.5 {
		t.Errorf("%s, %v: %+v", got, err, o)
	}
	if said, err := Divide(&o, shard.Shard{}); said != nil || err != nil || o.RPM != 50 {
		t.Errorf("%q, %v: %+v", said, err, o)
	}
	o.RPM = 1
	if _, err := Divide(&o, shard.Shard{Index: 1, Count: 2}); err == nil || err.Error() != "rpm is 1 for 2 shards together; expected at least one request a minute for each" {
		t.Error(err)
	}
}
