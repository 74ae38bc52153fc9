package study

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/run"
	"crosstalk/run/shard"
	"crosstalk/suite"
)

// Take makes the study one of a shard: it counts, asks and scores the shard's part of the items. Items that share a
// prompt are in the same shard, be it that their clusters say so or that their requests do, so that no request is
// sent by two shards, and that a shard's figures have intervals of their own. Two kinds of requests are apart:
// those that precede all items, such as how an instruction is rewritten, are sent by the first shard that comes;
// and those that are made of answers, such as whether two of them mean the same, can be sent by several.
func (s *Study) Take(ctx context.Context, of shard.Shard) error {
	s.shard = of
	if of.IsZero() || s.IsRecorded() {
		return nil
	}
	clusters, err := s.clusters(ctx)
	if err != nil {
		return err
	}
	s.places = of.Of(clusters)
	s.part = s.Suite.Items.Numbered(s.places)
	return nil
}

func (s *Study) Shard() shard.Shard { return s.shard }

func (s *Study) items() suite.Items {
	if s.places == nil {
		return s.Suite.Items
	}
	return s.part
}

// place is the number in the suite of one of items.
func (s *Study) place(i int) int {
	if s.places == nil {
		return i
	}
	return s.places[i]
}

// clusters are the items that have to be in the same shard. Requests count one condition of each protocol, since
// conditions do not differ in which items share one.
func (s *Study) clusters(ctx context.Context) (*shard.Clusters, error) {
	clusters := &shard.Clusters{}
	var instruments []crosstalk.Instrument
	var askers []*sharing
	for k, p := range s.Protocols {
		n := &sharing{clusters: clusters, item: shard.Everybody}
		if s.reviews != nil {
			if err := s.reviews.ask(ctx, k, p.Conditions[0], n); err != nil {
				return nil, err
			}
		}
		instruments, askers = append(instruments, p.instrument(p.Conditions[0], false)), append(askers, n)
	}
	for i, item := range s.Suite.Items.All() {
		clusters.Add(item.ID, item.Cluster)
		for k, in := range instruments {
			askers[k].item = i
			if _, err := in.Measure(ctx, askers[k], item); err != nil {
				return nil, err
			}
		}
	}
	return clusters, nil
}

// admitShard returns an error if a directory is not for shards like this one.
func (s *Study) admitShard(dir string) error {
	if s.shard.IsZero() {
		return nil
	}
	if _, err := run.ReadManifest(dir); err == nil {
		return fmt.Errorf("%s has a run of all items: use another --out", dir)
	}
	others, err := shard.Runs(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, path := range others {
		other, err := run.ReadManifest(path)
		if err != nil {
			continue // it is not begun, or its own process will say what is wrong
		}
		field := ""
		if other.Plan.Shard.Count != s.shard.Count {
			field = fmt.Sprintf("number of shards is %d, not %d", other.Plan.Shard.Count, s.shard.Count)
		} else {
			field = other.Plan.Whole().Difference(s.Plan().Whole())
		}
		if field != "" {
			return fmt.Errorf("%s has shards of a run with other settings (%s): its %s: use another --out, or the settings of "+
				"that run", dir, path, field)
		}
		return nil // as its process found of the others
	}
	return nil
}

// Divide turns limits that all shards share into one shard's, and returns a sentence for each limit it divided. A
// limit per minute must be at least the number of shards.
func Divide(o *ask.Options, of shard.Shard) (said []string, err error) {
	if of.IsZero() {
		return nil, nil
	}
	divide := func(flag string, n *int, least string) {
		if *n == 0 || err != nil {
			return
		}
		if *n < of.Count {
			err = crosstalk.BadOption(flag, " is %d for %d shards together; expected at least one %s for each",
				*n, of.Count, least)
			return
		}
		part := of.Part(*n)
		said = append(said, fmt.Sprintf("--%s %d is divided among %d shards: %d for this one", flag, *n, of.Count, part))
		*n = part
	}
	divide("rpm", &o.RPM, "request a minute")
	divide("budget-asks", &o.Budget.Asks, "request")
	if cost := o.Budget.Cost; cost > 0 {
		o.Budget.Cost = cost / float64(of.Count)
		said = append(said, fmt.Sprintf("--budget-cost %g is divided among %d shards: %g for this one",
			cost, of.Count, o.Budget.Cost))
	}
	return said, err
}
