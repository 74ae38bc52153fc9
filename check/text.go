package check

import (
	"bytes"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/guard"
	"crosstalk/internal/lexicon"
	"crosstalk/measure/prose"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// source is a file's text, with positions as line and column.
type source struct {
	text  string
	lines []int // starts of lines

	last, column int // the byte that was last looked up, and its column
}

func newSource(text string) *source {
	s := &source{text: text, lines: []int{0}, column: 1}
	for i := range len(text) {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// at returns the line and column, in characters, of a byte; both count from 1.
func (s *source) at(offset int) (line, column int) {
	line = sort.SearchInts(s.lines, offset+1)
	from, column := s.lines[line-1], 1
	if from <= s.last && s.last <= offset { // a file may be one long line
		from, column = s.last, s.column
	}
	s.last, s.column = offset, column+utf8.RuneCountInString(s.text[from:offset])
	return line, s.column
}

// A passage is judged as a whole: a paragraph, a list, a table. Its text is made of pieces of the file.
type passage struct {
	text   bytes.Buffer
	pieces []piece
	line   int // start of its last line, including lines joined to it
}

// piece begins a part of a passage that was copied from the file.
type piece struct{ start, from int } // offsets in the passage and in the file

// from returns the file's offset of a byte of the passage.
func (p *passage) from(offset int) int {
	i := sort.Search(len(p.pieces), func(i int) bool { return p.pieces[i].start > offset }) - 1
	return p.pieces[max(0, i)].from + offset - p.pieces[max(0, i)].start
}

type passages struct {
	all  []*passage
	last *passage // nil: the next text begins one
}

func (p *passages) add(text string, from int) {
	const longestPassage = 1 << 16 // bytes: judging it takes 200 times its size in memory
	if p.last == nil || p.last.text.Len() >= longestPassage {
		p.last = &passage{}
		p.all = append(p.all, p.last)
	}
	p.last.pieces = append(p.last.pieces, piece{p.last.text.Len(), from})
	p.last.text.WriteString(text)
}

func (p *passages) end() { p.last = nil }

// passagesOf returns the passages of prose, and the language that it states, if any.
func passagesOf(kind int, text string) (all []*passage, stated string) {
	switch kind {
	case page:
		return ofPage(text)
	case subtitles:
		return ofSubtitles(text), ""
	}
	return ofProse(text), ""
}

// fewest is the least number of words, or of characters in a script without spaces, in a reported part: shorter ones in
// files are names of programs, options and terms.
const fewest = 4

// longEnough returns the spans that count and have enough words. It merges spans on consecutive lines.
func longEnough(text string, j guard.Judgement) (spans []guard.Span) {
	for _, s := range j.Spans {
		if s.Excuse != "" {
			continue
		}
		if n := len(spans); n > 0 && s.Kind == guard.Line && spans[n-1].Kind == guard.Line &&
			spans[n-1].Language == s.Language && !strings.ContainsFunc(text[spans[n-1].End:s.Start], unicode.IsLetter) {
			spans[n-1].End, spans[n-1].Risk = s.End, max(spans[n-1].Risk, s.Risk)
			continue
		}
		spans = append(spans, s)
	}
	return slices.DeleteFunc(spans, func(s guard.Span) bool { return size(text[s.Start:s.End]) < fewest })
}

// size counts the words with two letters or more, and the characters of scripts without spaces.
func size(text string) (n int) {
	for _, word := range strings.Fields(text) {
		letters, alone := 0, 0
		for _, r := range word {
			if unicode.IsLetter(r) {
				letters++
			}
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Hangul) {
				alone++
			}
		}
		switch {
		case alone > 0:
			n += alone
		case letters > 1:
			n++
		}
	}
	return n
}

var (
	// notes are comments in Markdown, and the metadata before it.
	notes = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)|\A---\n.*?\n(?:---|\.\.\.)\n`)
	// begins matches the start of a line that does not continue a paragraph, or that no line continues.
	begins = regexp.MustCompile(`^(?:[#>|<:=\-*+•~]|\d{1,3}[.)] |[^|]*\|.*\|)`)
	timing = regexp.MustCompile(`^(?:\d+:)?\d\d:\d\d[.,]\d{3} --> `)
	tags   = regexp.MustCompile(`<[^>]*>|\{\\[^}]*\}`)
	entity = regexp.MustCompile(`&(?:#\w+|\w+);?`)
)

// ofProse returns the passages of Markdown or plain text, separated by blank lines. Wrapped lines of a paragraph are
// joined.
func ofProse(text string) []*passage {
	b := []byte(strings.ReplaceAll(text, "\r\n", " \n")) // keeps the length
	for _, m := range notes.FindAllIndex(b, -1) {
		for i := m[0]; i < m[1]; i++ {
			if b[i] != '\n' {
				b[i] = ' '
			}
		}
	}
	var p passages
	fence, at := "", 0
	for line := range strings.Lines(string(b)) {
		bare := strings.TrimSpace(line)
		mark, closes := prose.Fence(bare)
		switch {
		case fence != "":
			if mark == fence && closes {
				fence = ""
			}
			p.end()
		case mark != "":
			fence = mark
			p.end()
		case bare == "":
			p.end()
		default:
			joined := p.last != nil && !begins.MatchString(bare) && p.last.unwrap()
			p.add(line, at)
			if !joined {
				p.last.line = p.last.text.Len() - len(line)
			}
		}
		at += len(line)
	}
	return p.all
}

// unwrap joins the passage's last line to the next one, unless it is a heading, a row or ends with a break.
func (p *passage) unwrap() bool {
	text := p.text.Bytes()
	end := len(text) - 1
	line := text[p.line:end]
	if bare := bytes.TrimSpace(line); len(bare) > 0 && bytes.IndexByte([]byte("#>|"), bare[0]) >= 0 ||
		bytes.HasSuffix(line, []byte("  ")) || bytes.HasSuffix(line, []byte(`\`)) {
		return false
	}
	text[end] = ' '
	return true
}

// ofSubtitles returns the passages of subtitles: sentences, which may continue in the next cue.
func ofSubtitles(text string) []*passage {
	var p passages
	at, cue := 0, false
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		switch {
		case bare == "":
			cue = false
		case timing.MatchString(bare):
			cue = true
		case cue:
			from := at
			for _, m := range append(tags.FindAllStringIndex(line, -1), []int{len(line), len(line)}) {
				if piece := strings.TrimRight(line[from-at:m[0]], "\r\n"); piece != "" {
					p.add(piece, from)
				}
				from = at + m[1]
			}
			if p.last != nil {
				p.last.text.WriteByte(' ')
				if end, _ := utf8.DecodeLastRuneInString(bare); strings.ContainsRune(".!?。？！", end) ||
					p.last.text.Len() > 500 {
					p.end()
				}
			}
		}
		at += len(line)
	}
	return p.all
}

var (
	// dropped are elements without prose; pre contains code or terminal output.
	dropped = lexicon.Set("script style pre textarea svg math template noscript iframe")
	empty   = lexicon.Set("br img hr input wbr meta link")
	coded   = lexicon.Set("code kbd samp tt var")
	marked  = lexicon.Set("em strong b i cite q")
	inline  = lexicon.Set("a span abbr small sub sup u mark font img wbr bdi bdo del ins s time label button input dfn " +
		"code kbd samp tt var em strong b i cite q")
)

// ofPage returns the passages of HTML, and its stated language. It leaves out text marked as another language or as not
// to be translated.
func ofPage(text string) (all []*passage, stated string) {
	var p passages
	z := html.NewTokenizer(strings.NewReader(text))
	var open []string // open elements inside one that is left out
	item := false
	for at := 0; ; {
		kind := z.Next()
		from := at
		raw := string(z.Raw())
		at += len(raw)
		if kind == html.ErrorToken {
			return p.all, stated
		}
		t := z.Token()
		switch kind {
		case html.StartTagToken:
			language, translate := attribute(t, "lang"), attribute(t, "translate")
			if t.DataAtom == atom.Html && stated == "" {
				stated = language
				language = ""
			}
			void := empty[t.Data]
			switch {
			case len(open) > 0:
				if t.Data == open[0] {
					open = append(open, t.Data)
				}
				continue
			case void:
			case dropped[t.Data], translate == "no",
				language != "" && stated != "" && !strings.EqualFold(language, stated):
				open = append(open, t.Data)
			}
		case html.EndTagToken:
			if len(open) > 0 {
				if t.Data == open[0] {
					open = open[1:]
				}
				if len(open) == 0 && !inline[t.Data] {
					p.end()
				}
				continue
			}
		case html.TextToken:
			if len(open) == 0 {
				if item && strings.TrimSpace(raw) != "" {
					if p.last != nil {
						p.add("\n", from)
					}
					p.add("- ", from)
					item = false
				}
				p.unescape(raw, from)
			}
			continue
		}
		switch {
		case len(open) > 0:
		case coded[t.Data]:
			p.mark("`", from)
		case marked[t.Data]:
			p.mark("*", from)
		case inline[t.Data], kind == html.CommentToken:
		case t.DataAtom == atom.Li: // items are judged together, unless they have paragraphs
			item = kind == html.StartTagToken
		case t.DataAtom == atom.Br:
			p.mark("\n", from)
		default:
			p.end()
			item = item && kind == html.StartTagToken
		}
	}
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name || a.Key == "xml:"+name {
			return a.Val
		}
	}
	return ""
}

func (p *passages) mark(mark string, from int) {
	if p.last != nil || mark == "`" {
		p.add(mark, from)
	}
}

// unescape adds HTML text, with entities decoded and line breaks removed.
func (p *passages) unescape(raw string, from int) {
	if p.last == nil {
		trimmed := strings.TrimLeft(raw, " \t\r\n")
		if trimmed == "" {
			return
		}
		from += len(raw) - len(trimmed)
		raw = trimmed
	}
	blank := strings.NewReplacer("\n", " ", "\r", " ", "\t", " ", "`", "'").Replace(raw)
	at := 0
	for _, m := range entity.FindAllStringIndex(blank, -1) {
		p.add(blank[at:m[0]], from+at)
		p.add(html.UnescapeString(blank[m[0]:m[1]]), from+m[0])
		at = m[1]
	}
	p.add(blank[at:], from+at)
}
