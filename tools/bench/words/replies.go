package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"strings"

	"crosstalk/guard"
	"crosstalk/measure/stats"
	"crosstalk/tools/internal/bench"
)

// reply is an item of the replies' data.
type reply struct {
	ID, Language, Text, Label, Kind string
	Foreign                         []known
}

// replyTables prints how many clean replies are flagged, how many confused ones are missed, and how many foreign spans
// are found with an overlap (intersection over union) of at least half. It leaves out replies in the wrong region of a
// language.
func replyTables(o options) error {
	all, err := bench.ReadLines[*reply](filepath.Join(o.data, "replies", "replies.jsonl"))
	if err != nil {
		return err
	}
	var parts []string
	for _, half := range o.halves {
		if half == "a" {
			parts = append(parts, "a")
		} else {
			parts = append(parts, "b, first part", "b, second part")
		}
	}
	for _, part := range parts {
		var clean, flagged, unclear, confused, missed, unsure, spans, right, named int
		for _, r := range all {
			if replyPart(r.ID) != part || r.Kind == "wrong-region" {
				continue
			}
			j, err := guard.Check(r.Text, r.Language)
			if err != nil {
				return fmt.Errorf("%s: %w", r.ID, err)
			}
			if r.Label == "clean" {
				clean++
				if j.Verdict == guard.Wrong {
					flagged++
				}
				if j.Verdict == guard.CannotTell {
					unclear++
				}
				continue
			}
			confused++
			if j.Verdict != guard.Wrong {
				missed++
				if j.Verdict == guard.CannotTell {
					unsure++
				}
			}
			for _, f := range r.Foreign {
				spans++
				for _, s := range j.Spans {
					both, either := min(f.End, s.End)-max(f.Start, s.Start), max(f.End, s.End)-min(f.Start, s.Start)
					if 2*both >= either && both > 0 {
						right++
						if base(s.Language) == base(f.Language) {
							named++
						}
						break
					}
				}
			}
		}
		fmt.Printf("\nReplies, half %s\n", part)
		row := func(what string, k, n int, note string) {
			ci := stats.Wilson(float64(k), float64(n), 0.95)
			fmt.Printf("  %-28s %4d of %4d  %5.1f %% (%.1f to %.1f)%s\n", what,
				k, n, 100*float64(k)/float64(n), 100*ci.Low, 100*ci.High, note)
		}
		row("clean, flagged", flagged, clean, fmt.Sprintf("; cannot tell %d", unclear))
		row("confused, missed", missed, confused, fmt.Sprintf("; cannot tell %d of these", unsure))
		row("spans, overlap of half", right, spans, "")
		row("of these, language right", named, right, "")
	}
	return nil
}

// replyPart says which part of the replies an item belongs to: half a, on which the rules were chosen, or a part of
// half b, by the second bit of the hash. The errors of the first part were read when most rules were there; of those of
// the second part, only the number and the kinds are known.
func replyPart(id string) string {
	h := fnv.New32a()
	io.WriteString(h, id)
	switch h.Sum32() & 3 {
	case 1:
		return "b, first part"
	case 3:
		return "b, second part"
	}
	return "a"
}

func base(tag string) string {
	b, _, _ := strings.Cut(tag, "-")
	return b
}
