package guard

import (
	"strings"
	"unicode"
)

// A Stream judges a text while it arrives. It must not be used concurrently.
type Stream struct {
	checker Checker
	tag     string
	base    string // the tag's language
	text    strings.Builder
	from    int    // the text from here on is looked at again: a line's start
	line    int    // where the last line starts
	alarmed int    // no alarm is about what begins before
	fence   string // the mark that fenced code began with, empty outside
	words   int    // of the last line, complete ones
	next    int    // number of words at which the last line is looked at again
	looked  int    // the text's length when it was looked at
	ended   bool   // a line has ended since

	inThought, answering bool // see thinking
}

// Limits of streams.
const (
	contextBytes = 400     // of the text before the last line that are looked at again
	newBytes     = 16      // at least, before the text is looked at again
	longestLine  = 1000    // of a line, what is looked at again
	sureLine     = 0.99    // least probability of a line that is not complete
	sureWord     = Certain // least probability of words in a line that is not complete
	sureWords    = 4       // least words of a line that is not complete; three times as many characters of Chinese, Japanese and Thai
	wordsAfter   = 3       // must follow foreign words, which may be explained in brackets
	wordsInRow   = 4       // foreign ones need none to follow: they are too many for a term
)

// Stream begins to judge a text that should be in a language, as Check does.
func (k Checker) Stream(tag string) (*Stream, error) {
	want, err := k.expect(tag)
	if err != nil {
		return nil, err
	}
	return &Stream{checker: k, tag: tag, base: want.base}, nil
}

// Write adds text. It returns the parts in another language that have become certain, each once, by their places in the
// whole text. Close may still judge them otherwise: as the quotation that an example turns out to be.
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

// endLine notes where fenced code begins and ends; end is the byte after the line.
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

// forget bounds what is looked at again.
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

// certain reports whether what is still to come can hardly change that a part is in another language.
func (s *Stream) certain(all string, span Span) bool {
	announced := s.announced(all, span)
	if span.End <= s.line {
		return !announced || strings.TrimSpace(all[span.End:s.line]) != ""
	}
	line, words := all[s.line:span.End], fullWords(all[span.Start:span.End])
	outside, open := unmarked(line)
	if announced || open {
		return false
	}
	if span.Kind == Line {
		return span.P >= sureLine && min(words, fullWords(outside)) >= sureWords
	}
	return span.P >= sureWord && (words >= wordsInRow || fullWords(all[span.End:]) >= wordsAfter)
}

// announced reports whether the line of a part follows one that announces a quotation, and has nothing else before the
// part. Only what comes next tells whether it is one.
func (s *Stream) announced(all string, span Span) bool {
	start := lineStart(all, span.Start)
	before := strings.TrimRight(all[s.from:max(s.from, start)], " \t\n*_")
	return (strings.HasSuffix(before, ":") || strings.HasSuffix(before, "：")) && fullWords(all[start:span.Start]) < wordsAfter &&
		quotes(s.base, before[lineStart(before, len(before)):])
}

// unmarked returns what a line has outside of marks between which words may be in another language (quotation marks,
// brackets, emphasis, code), and whether such marks are open at its end.
func unmarked(line string) (outside string, open bool) {
	var b strings.Builder
	var quote, emphasis, code bool
	brackets, last := 0, ' '
	rest := strings.TrimPrefix(strings.TrimLeft(line, " \t"), "* ") // an item of a list
	for _, r := range rest {
		switch r {
		case '"', '“', '”', '„', '«', '»':
			quote = !quote
		case '*':
			emphasis = emphasis != (last != r)
		case '`':
			code = code != (last != r)
		case '(', '（', '「', '『':
			brackets++
		case ')', '）', '」', '』':
			brackets = max(0, brackets-1)
		default:
			if !quote && !emphasis && !code && brackets == 0 {
				b.WriteRune(r)
			}
		}
		last = r
	}
	return b.String(), quote || emphasis || code || brackets > 0
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
