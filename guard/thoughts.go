package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/prose"
	"crosstalk/model/thoughts"
)

// Thought is the kind of masked parts in which a model thinks before it answers: "<think>...</think>".
const Thought prose.Kind = "thought"

// hideThoughts returns a text with spaces in place of a model's thoughts, and where these are.
func hideThoughts(text string) (answer string, hidden []prose.Span) {
	parts := thoughts.Parts(text)
	if len(parts) == 0 || len(parts) == 1 && parts[0].Kind == thoughts.Answer {
		return text, nil
	}
	blank, thinks := []byte(text), false
	for _, p := range parts {
		if p.Kind == thoughts.Answer {
			thinks = false
			continue
		}
		for i := p.Start; i < p.End; i++ {
			if blank[i] != '\n' {
				blank[i] = ' '
			}
		}
		if !thinks {
			hidden, thinks = append(hidden, prose.Span{Start: p.Start, Kind: Thought}), true
		}
		hidden[len(hidden)-1].End = p.Start + len(strings.TrimRightFunc(text[p.Start:p.End], unicode.IsSpace))
	}
	return string(blank), hidden
}

// longestMarker is the length in bytes of the markers that may begin a text's thoughts.
const longestMarker = 64

// thinking reports whether the text has nothing but thoughts so far, or too little to tell. Once it has more, the text
// is looked at from there on.
func (s *Stream) thinking(all, added string) bool {
	s.mayEnd = s.mayEnd || strings.ContainsAny(added, ">]▷") && // the marker at a thought's end
		thoughts.Marked(all[max(0, len(all)-len(added)-longestMarker):])
	switch {
	case s.answering:
		return false
	case strings.TrimSpace(added) == "", len(all) < s.partAgain, s.inThought && !s.mayEnd:
		return true
	}
	parts := thoughts.Parts(all)
	first, last := parts[0], parts[len(parts)-1]
	s.inThought, s.mayEnd = last.Kind == thoughts.Thought, false
	switch {
	case first.Kind == thoughts.Answer:
		text := strings.TrimSpace(all)
		first, _ := utf8.DecodeRuneInString(text)
		s.answering = len(text) >= longestMarker || !strings.ContainsRune("<[◁", first)
	case last.Kind == thoughts.Answer:
		s.answering = true
		s.from, s.line, s.fence = last.Start, max(s.line, last.Start), ""
	default: // each time later, so that a text of nothing but markers takes no longer than any other
		s.parted++
		s.partAgain = len(all) + s.parted*s.parted/4
	}
	return !s.answering
}
