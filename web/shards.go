package web

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"crosstalk/report/page"
	"crosstalk/watch"
)

// together makes one row of the shards of a run that are in one directory, in the
// place of the first of them.
func (s *Server) together(rows []listRow) (list []listRow) {
	place := map[string]int{}
	for _, r := range rows {
		of := r.Manifest.Plan.Shard
		if of.IsZero() {
			list = append(list, r)
			continue
		}
		key := fmt.Sprint(filepath.Dir(r.path), of.Count, r.Manifest.Plan.Whole().Hash())
		i, again := place[key]
		if !again {
			i = len(list)
			place[key] = i
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

// stateOf says how far the shards of a run have come.
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
	runs, err := watch.Read(filepath.Dir(shards[0].path), nil, time.Now())
	if err != nil {
		return state
	}
	for _, r := range runs {
		if r.Shards != of.Count {
			continue
		}
		parts := []string{state}
		if r.Requests > 0 {
			of := " of "
			if len(r.Missing) > 0 {
				of = " of about "
			}
			parts = append(parts, count(r.Done)+of+count(r.Requests)+" requests")
		}
		if r.Failed > 0 {
			parts = append(parts, fmt.Sprintf("%s failed", count(r.Failed)))
		}
		if r.Rate > 0 {
			parts = append(parts, fmt.Sprintf("%.1f/s", r.Rate))
		}
		var slow []string
		for _, p := range r.Parts {
			if p.Slow {
				slow = append(slow, p.Shard.String())
			}
		}
		if len(slow) > 0 {
			parts = append(parts, "slow: "+strings.Join(slow[:min(len(slow), 5)], ", "))
		}
		return strings.Join(parts, ", ")
	}
	return state
}
