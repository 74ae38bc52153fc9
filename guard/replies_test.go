package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// reply is one of the replies of assistants in testdata/replies, with the parts that are in another language.
type reply struct {
	name, tag, text string
	confused        bool
	seen            bool // rules were chosen on it: not on those of unseen*.txt
	foreign         []Span
}

// readReplies reads testdata/replies: archives of texts whose names are a tag, "confused" if they are, and a kind. Parts
// in another language are marked ⟦en|so⟧.
func readReplies(t *testing.T) (all []reply) {
	t.Helper()
	files, err := filepath.Glob("testdata/replies/*.txt")
	if err != nil || files == nil {
		t.Fatal("no replies", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range txtar.Parse(data).Files {
			tag, kind, _ := strings.Cut(f.Name, " ")
			r := reply{name: fmt.Sprintf("%s %d %s", filepath.Base(name), i+1, f.Name), tag: tag,
				confused: strings.HasPrefix(kind, "confused "), seen: !strings.HasPrefix(filepath.Base(name), "unseen")}
			var text strings.Builder
			for rest := strings.TrimRight(string(f.Data), "\n"); rest != ""; {
				before, marked, found := strings.Cut(rest, "⟦")
				text.WriteString(before)
				if !found {
					break
				}
				part, after, closed := strings.Cut(marked, "⟧")
				language, words, ok := strings.Cut(part, "|")
				if !closed || !ok {
					t.Fatalf("%s: expected ⟦language|words⟧, found ⟦%s", r.name, marked)
				}
				start := text.Len()
				text.WriteString(words)
				r.foreign = append(r.foreign, Span{Start: start, End: text.Len(), Language: language})
				rest = after
			}
			r.text = text.String()
			if r.confused != (r.foreign != nil) {
				t.Errorf("%s: %d parts in another language", r.name, len(r.foreign))
			}
			all = append(all, r)
		}
	}
	return all
}

// found reports whether a span overlaps with a part by at least half of what both have together.
func (s Span) found(part Span) bool {
	both, either := min(s.End, part.End)-max(s.Start, part.Start), max(s.End, part.End)-min(s.Start, part.Start)
	return both > 0 && 2*both >= either
}

// TestReplies counts the clean replies that are flagged, the confused ones that are missed, and the parts that are
// found.
// Its limits are what the rules do today. With -v it lists the errors on those that rules were chosen on.
func TestReplies(t *testing.T) {
	for _, part := range []struct {
		name            string
		seen            bool
		flagged, missed int // at most
		parts           int // at least
	}{
		{"rules chosen on it", true, 19, 12, 521},
		{"unseen", false, 3, 1, 97},
	} {
		t.Run(part.name, func(t *testing.T) {
			var clean, flagged, unclear, confused, missed, unsure, parts, found int
			for _, r := range readReplies(t) {
				if r.seen != part.seen {
					continue
				}
				j, err := Check(r.text, r.tag)
				if err != nil {
					t.Fatal(err)
				}
				var list []string
				for _, s := range j.Spans {
					list = append(list, fmt.Sprintf("%s %s %.2f [%s] %s", s.Language, s.Kind, s.P, r.text[s.Start:s.End], s.Excuse))
				}
				wrong := r.confused != (j.Verdict == Wrong)
				for _, f := range r.foreign {
					parts++
					ok := false
					for _, s := range j.Spans {
						ok = ok || s.found(f)
					}
					if ok {
						found++
					} else {
						wrong = true
					}
				}
				if r.confused {
					confused++
					if j.Verdict != Wrong {
						missed++
					}
					if j.Verdict == CannotTell {
						unsure++
					}
				} else {
					clean++
					if j.Verdict == Wrong {
						flagged++
					}
					if j.Verdict == CannotTell {
						unclear++
					}
				}
				if part.seen && (wrong || j.Verdict == CannotTell) {
					t.Logf("%s: %s: %s", r.name, j.Verdict, strings.Join(list, ", "))
				}
			}
			t.Logf("%d of %d clean replies flagged (cannot tell %d), %d of %d confused ones missed (cannot tell %d), %d of %d parts found",
				flagged, clean, unclear, missed, confused, unsure, found, parts)
			if flagged > part.flagged || missed > part.missed || found < part.parts {
				t.Errorf("expected at most %d flagged, %d missed, and at least %d found", part.flagged, part.missed, part.parts)
			}
		})
	}
}
