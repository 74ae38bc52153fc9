package web

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"crosstalk/report/page"
	"crosstalk/run/watch"
)

// together makes one row of the shards of a run that are in one directory, in the
// place of the first of them.
func (s *Server) together(rows []listRow) (list []listRow) {
	place := map[string]int{}
	for _, r := range rows {
		if r.Manifest.Plan.Shard.IsZero() {
			list = append(list, r)
			continue
		}
		whole := watch.Whole(r.path, r.Manifest)
		i, again := place[whole]
		if !again {
			i = len(list)
			place[whole] = i
			all, entry := r, *r.runEntry
			all.runEntry = &entry
			all.Name, all.Trouble, all.Result, all.More = filepath.Dir(r.Name), "", page.Result{}, 0
			list = append(list, all)
		}
		list[i].Shards = append(list[i].Shards, r)
		if r.Changed.After(list[i].Changed) {
			list[i].Changed = r.Changed
		}
	}
	for i := range list {
		if of := list[i].Shards; of != nil {
			slices.SortFunc(of, func(a, b listRow) int { return a.Manifest.Plan.Shard.Index - b.Manifest.Plan.Shard.Index })
			list[i].State = s.stateOf(of)
		}
	}
	return list
}

// stateOf is how far the shards of a run have come.
func (s *Server) stateOf(shards []listRow) string {
	finished := 0
	for _, r := range shards {
		if r.finished {
			finished++
		}
	}
	of := shards[0].Manifest.Plan.Shard
	state := fmt.Sprintf("%d of %d shards finished", finished, of.Count)
	if finished == of.Count {
		return state + "; merge them to see the figures of all"
	}
	runs, _ := watch.Read(filepath.Dir(shards[0].path), nil, time.Now())
	i := slices.IndexFunc(runs, func(r watch.Run) bool { return r.Shards == of.Count })
	if i < 0 {
		return state
	}
	state += ", " + runs[i].Amounts()
	var slow []string
	for _, p := range runs[i].Parts {
		if p.Slow {
			slow = append(slow, p.Shard.String())
		}
	}
	if len(slow) > 0 {
		state += ", slow: " + strings.Join(slow[:min(len(slow), 5)], ", ")
	}
	return state
}
