package guard

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/prose"
	"crosstalk/measure/thoughts"
)

// A Stream judges a text while it arrives. It is not safe for concurrent use.
type Stream struct {
	checker Checker
	tag     string
	base    string // the tag's language
	text    strings.Builder
	from    int    // start of the text to judge again: a line or, in a long one, a sentence or word
	torn    bool   // or within a word
	line    int    // start of the last line
	alarmed int    // no alarm is about text that begins before
	fence   string // the mark that began fenced code, empty outside
	words   int    // complete words in the last line
	next    int    // number of words at which the last line is judged again
	looked  int    // the text's length when it was last judged
	ended   bool   // a line has ended since

	marks  marks // in the last line, up to marked
	marked int

	inThought, answering, mayEnd bool // see thinking
	parted, partAgain            int
}

// Limits of streams.
const (
	contextBytes  = 400                          // of the text before the last line, to judge again
	newBytes      = 16                           // new text before judging again
	longestLine   = 1000                         // of a line, to judge again
	longestWindow = 2*longestLine + contextBytes // of the text, before less of it is judged again
	sureLine      = 0.99                         // least probability of an incomplete line
	sureWord      = Certain                      // least probability of words in an incomplete line
	sureWords     = 4                            // least words in an incomplete line: see Words
	wordsAfter    = 3                            // after foreign words, which brackets may explain
	wordsInRow    = 4                            // foreign ones need none to follow: they are too many for a term
	longestMarker = 64                           // bytes in a marker that may begin a text's thoughts
)

// Stream begins to judge a text in an expected language, as Check does. If the tag is empty, like an unknown user's
// language, the verdict is CannotTell.
func (k Checker) Stream(tag string) (*Stream, error) {
	if tag == "" {
		return &Stream{}, nil
	}
	want, err := k.expect(tag)
	if err != nil {
		return nil, err
	}
	return &Stream{checker: k, tag: tag, base: want.base}, nil
}

// Write adds text. It returns the parts in another language that have become certain, each once, with offsets in the
// whole text. Close may still judge them otherwise: an example may turn out to be a quotation.
func (s *Stream) Write(text string) (alarms []Span) {
	if s.tag == "" {
		return nil
	}
	s.text.WriteString(text)
	all := s.text.String()
	for at := len(all) - len(text); at < len(all); {
		n := strings.IndexByte(all[at:], '\n')
		if n < 0 {
			s.words += countWords(all[at:])
			break
		}
		switch mark, closes := prose.Fence(strings.TrimSpace(all[s.line : at+n])); {
		case s.fence == "":
			s.fence = mark
		case mark == s.fence && closes:
			s.fence, s.from = "", at+n
		}
		at += n + 1
		s.line, s.words, s.next, s.ended = at, 0, 0, true
	}
	if s.thinking(all, text) {
		return nil
	}
	if s.fence != "" || !s.ended && s.words < s.next || len(all)-s.looked < newBytes && s.looked > 0 {
		return nil
	}
	s.looked, s.ended = len(all), false
	s.next = s.words + max(1, min(3, s.words/8))
	return s.look(all)
}

// countWords counts the ends of words: white space, and characters of scripts without spaces.
func countWords(text string) (n int) {
	for _, r := range text {
		if endsWord(r) {
			n++
		}
	}
	return n
}

func endsWord(r rune) bool {
	return unicode.IsSpace(r) ||
		r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// look judges the end of the text.
func (s *Stream) look(all string) (alarms []Span) {
	s.forget(all)
	j, err := s.checker.Check(all[s.from:], s.tag)
	if err != nil {
		return nil // Stream has checked the tag
	}
	least := s.alarmed
	if s.torn { // the missing context may excuse it
		least = max(least, s.from+breakAt(all[s.from:]))
	}
	for _, span := range j.Spans {
		telling := span
		if part, less := j.telling[span.Start]; less && span.Kind == Line {
			telling.Start, telling.End = part.Start, part.End
		}
		telling.Start, telling.End = telling.Start+s.from, telling.End+s.from
		span.Start, span.End = span.Start+s.from, span.End+s.from
		if span.Excuse == "" && span.Start >= least && s.certain(all, telling) {
			s.alarmed = span.End
			alarms = append(alarms, span)
		}
	}
	return alarms
}

// forget bounds the text to judge again.
func (s *Stream) forget(all string) {
	if s.line-s.from > 2*contextBytes {
		n := strings.IndexByte(all[s.line-contextBytes:], '\n') // always found: the line before this one ends here
		s.from, s.torn = s.line-contextBytes+n+1, false
	}
	if len(all)-s.from > longestWindow {
		rest := all[len(all)-longestLine:]
		n := breakAt(rest)
		if s.torn = n == len(rest); s.torn {
			n = strings.IndexFunc(rest, func(r rune) bool { return r != utf8.RuneError && !unicode.IsMark(r) })
		}
		s.from = len(all) - longestLine + max(n, 0)
	}
}

// breakAt returns the offset after a text's first space or Chinese sentence; the text's length if it has neither.
func breakAt(text string) int {
	n := strings.IndexAny(text, " 。！？")
	if n < 0 {
		return len(text)
	}
	_, size := utf8.DecodeRuneInString(text[n:])
	return n + size
}

// certain reports whether later text is unlikely to change the verdict on a span.
func (s *Stream) certain(all string, span Span) bool {
	announced := s.announced(all, span)
	if span.End <= s.line {
		return !announced || strings.TrimSpace(all[span.End:s.line]) != ""
	}
	words, marks := Words(all[span.Start:span.End]), s.marksUntil(all, span.End)
	if announced || marks.open() {
		return false
	}
	if span.Kind == Line {
		return span.P >= sureLine && min(words, marks.words()) >= sureWords
	}
	return span.P >= sureWord && (words >= wordsInRow || Words(all[span.End:]) >= wordsAfter)
}

// announced reports whether a part begins the line after one that announces a quotation. Only the text that follows
// shows whether it is one.
func (s *Stream) announced(all string, span Span) bool {
	start := s.from + lineStart(all[s.from:], span.Start-s.from)
	before := strings.TrimRight(all[s.from:start], " \t\n*_")
	return endsInColon(before) && Words(all[start:span.Start]) < wordsAfter &&
		quotes(s.base, before[lineStart(before, len(before)):])
}

// marks counts a line's marks between which words may be in another language (quotation marks, brackets, emphasis,
// code), and the words outside them.
type marks struct {
	quote, emphasis, code bool
	brackets              int
	last                  rune
	spaces, characters    int // outside marks; characters as countWords counts them
}

// marksUntil returns the marks of the last line up to a byte in the text to judge again.
func (s *Stream) marksUntil(all string, end int) marks {
	if s.marked < s.line || s.marked == 0 {
		s.marks, s.marked = marks{last: ' '}, s.line
		item := strings.TrimPrefix(strings.TrimLeft(all[s.line:end], " \t"), "* ") // list marker
		s.marked = end - len(item)
	}
	if s.from > s.marked {
		s.marks.read(all[s.marked:s.from])
		s.marked = s.from
	}
	m := s.marks
	m.read(all[s.marked:end])
	return m
}

func (m *marks) read(text string) {
	for _, r := range text {
		switch r {
		case '"', '“', '”', '„', '«', '»':
			m.quote = !m.quote
		case '*':
			m.emphasis = m.emphasis != (m.last != r)
		case '`':
			m.code = m.code != (m.last != r)
		case '(', '（', '「', '『':
			m.brackets++
		case ')', '）', '」', '』':
			m.brackets = max(0, m.brackets-1)
		case ' ':
			if !m.open() {
				m.spaces++
			}
		default:
			if !m.open() && endsWord(r) {
				m.characters++
			}
		}
		m.last = r
	}
}

func (m marks) open() bool { return m.quote || m.emphasis || m.code || m.brackets > 0 }

// words counts complete words as Words does.
func (m marks) words() int { return m.spaces + m.characters/3 }

func lineStart(all string, at int) int { return strings.LastIndexByte(all[:at], '\n') + 1 }

// Words counts words that are followed by something; three characters of scripts without spaces count as one.
func Words(text string) (n int) {
	characters := countWords(text)
	spaces := strings.Count(text, " ")
	return spaces + (characters-spaces)/3
}

// Close judges the whole text.
func (s *Stream) Close() Judgement {
	if s.tag == "" {
		return Unknown()
	}
	j, _ := s.checker.Check(s.text.String(), s.tag) // Stream has checked the tag
	return j
}

// Thought is the kind of a masked part in which a model thinks before it answers: "<think>...</think>".
const Thought prose.Kind = "thought"

// hideThoughts returns a text with its thoughts replaced by spaces, and the places of the thoughts.
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

// thinking reports whether the text so far has only thoughts, or is too short to tell: then it is not judged yet.
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
	default: // later each time, so that a text of only markers takes no longer than any other
		s.parted++
		s.partAgain = len(all) + s.parted*s.parted/4
	}
	return !s.answering
}
