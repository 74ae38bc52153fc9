package guard

import (
	"strings"
	"unicode"
)

// A Stream judges a text while it arrives. It must not be used concurrently.
type Stream struct {
	checker Checker
	tag     string
	text    strings.Builder
	from    int    // the text from here on is looked at again: a line's start
	line    int    // where the last line starts
	alarmed int    // no alarms are about what begins before
	fence   string // that fenced code began with, empty outside
	words   int    // of the last line, complete ones
	next    int    // number of words at which the last line is looked at again
	looked  int    // the text's length when it was looked at
	ended   bool   // a line has ended since
}

// Limits of streams.
const (
	contextBytes = 400     // of the text before the last line that are looked at again
	newBytes     = 16      // at least, before the text is looked at again
	longestLine  = 2000    // of a line, what is looked at again
	sureLine     = 0.99    // probability of a line that is not complete
	sureWord     = Certain // of words in a line that is not complete
	sureWords    = 4       // that a line has to have before its end, characters of Chinese, Japanese and Thai three times as many
	wordsAfter   = 3       // that have to follow words: an explanation in brackets may come
)

// Stream begins to judge a text that should be in a language, as Check does.
func (k Checker) Stream(tag string) (*Stream, error) {
	if _, err := k.expect(tag); err != nil {
		return nil, err
	}
	return &Stream{checker: k, tag: tag}, nil
}

// Write adds text. It returns the parts in another language that have become certain, each once, by their places in the
// whole text. Close may still see them otherwise: as the quotation that an example turns out to be.
func (s *Stream) Write(text string) (alarms []Span) {
	s.text.WriteString(text)
	all := s.text.String()
	for at := len(all) - len(text); at < len(all); {
		n := strings.IndexByte(all[at:], '\n')
		if n < 0 {
			s.words += countWords(all[at:])
			break
		}
		s.endLine(all[s.line:at+n], at+n)
		at += n + 1
		s.line, s.words, s.next, s.ended = at, 0, 0, true
	}
	if s.fence != "" || !s.ended && s.words < s.next || len(all)-s.looked < newBytes && s.looked > 0 {
		return nil
	}
	s.looked, s.ended = len(all), false
	s.next = s.words + max(1, min(8, s.words/4))
	return s.look(all)
}

// endLine notes where fenced code begins and ends; end is the byte behind the line.
func (s *Stream) endLine(line string, end int) {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"```", "~~~"} {
		if !strings.HasPrefix(line, mark) {
			continue
		}
		switch s.fence {
		case "":
			s.fence = mark
		case mark:
			if strings.Trim(line, mark[:1]) == "" {
				s.fence, s.from = "", end
			}
		}
		return
	}
}

// countWords counts the ends of words: white space, and characters of scripts without spaces.
func countWords(text string) (n int) {
	for _, r := range text {
		if unicode.IsSpace(r) {
			n++
		} else if r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			n++
		}
	}
	return n
}

// look judges the end of the text.
func (s *Stream) look(all string) (alarms []Span) {
	s.forget(all)
	j, err := s.checker.Check(all[s.from:], s.tag)
	if err != nil {
		return nil // Stream has checked the tag
	}
	for _, span := range j.Spans {
		span.Start, span.End = span.Start+s.from, span.End+s.from
		if span.Excuse == "" && span.Start >= s.alarmed && s.certain(all, span) {
			s.alarmed = span.End
			alarms = append(alarms, span)
		}
	}
	return alarms
}

// forget moves the start of what is looked at again.
func (s *Stream) forget(all string) {
	if s.line-s.from > 2*contextBytes {
		if n := strings.IndexByte(all[s.line-contextBytes:], '\n'); n >= 0 {
			s.from = s.line - contextBytes + n + 1
		}
	}
	if len(all)-s.from > 2*longestLine+contextBytes {
		if n := strings.IndexByte(all[len(all)-longestLine:], ' '); n >= 0 {
			s.from = len(all) - longestLine + n + 1
		}
	}
}

// marks are those between which words may be in another language. A line with one is judged when it is complete.
const marks = "\"`*“„«「『(（"

// certain reports whether what comes can hardly change that a part is in another language.
func (s *Stream) certain(all string, span Span) bool {
	before := strings.TrimRight(all[s.from:max(s.from, lineStart(all, span.Start))], " \t\n*_")
	announced := strings.HasSuffix(before, ":") || strings.HasSuffix(before, "：")
	if span.End <= s.line {
		return !announced || strings.TrimSpace(all[span.End:s.line]) != ""
	}
	if announced || strings.ContainsAny(all[s.line:], marks) {
		return false
	}
	if span.Kind == Line {
		return span.P >= sureLine && fullWords(all[span.Start:span.End]) >= sureWords
	}
	return span.P >= sureWord && fullWords(all[span.End:]) >= wordsAfter
}

func lineStart(all string, at int) int { return strings.LastIndexByte(all[:at], '\n') + 1 }

// fullWords counts complete words, three characters of scripts without spaces as one.
func fullWords(text string) (n int) {
	characters := countWords(text)
	spaces := strings.Count(text, " ")
	return spaces + (characters-spaces)/3
}

// Close judges the whole text.
func (s *Stream) Close() Judgement {
	j, _ := s.checker.Check(s.text.String(), s.tag) // Stream has checked the tag
	return j
}
