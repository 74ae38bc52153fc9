// Package prose separates the prose of a model's answer from parts that have no language (code, markup, addresses,
// numbers and units, mathematics, emoji) and from parts that may be in another language for a reason (quotations,
// titles, labels).
//
// It supports the Markdown that models write, not all of CommonMark. It reads a text once from start to end.
package prose

import (
	_ "embed"
	"slices"
	"strings"
	"unicode/utf8"

	"crosstalk/internal/lexicon"
)

//go:embed words.txt
var wordLists string

// Lists of the file, which describes them.
var (
	lists        = lexicon.Parse(wordLists)
	commands     = lexicon.Set(lists["commands"])
	tools        = lexicon.Set(lists["tools"])
	verbs        = lexicon.Set(lists["verbs"])
	functions    = lexicon.Set(lists["functions"])
	domains      = lexicon.Set(lists["domains"])
	shortDomains = lexicon.Set(lists["short domains"])
	files        = lexicon.Set(lists["files"])
	units        = lexicon.Set(lists["units"])
)

// A Kind is the kind of a part of a text.
type Kind string

// Kinds of blocks.
const (
	Paragraph Kind = "paragraph" // one line of running text
	Heading   Kind = "heading"
	Item      Kind = "item" // of a list
	Cell      Kind = "cell" // of a table
)

// Kinds of masked parts. The last two are prose that may be in another language for a reason.
const (
	Code    Kind = "code"    // fenced and inline code, commands, JSON, logs, identifiers, file names
	Markup  Kind = "markup"  // heading and list marks, table rules, HTML tags
	Address Kind = "address" // URLs, domains, e-mail addresses, accounts, hashtags
	Number  Kind = "number"  // numbers with their units, codes that mix digits and letters
	Math    Kind = "math"    // formulas, symbols
	Emoji   Kind = "emoji"
	Quote   Kind = "quote" // between quotation marks: quotations, titles, words that the text is about
	Label   Kind = "label" // emphasis inside a sentence: names of buttons, terms
)

// Quoted reports whether parts of the kind are still prose: of another speaker, or from elsewhere.
func (k Kind) Quoted() bool { return k == Quote || k == Label }

// A Span is a part of a text: bytes Start to End, End not included.
type Span struct {
	Start int  `json:"start"`
	End   int  `json:"end"`
	Kind  Kind `json:"kind"` // empty for an arbitrary part
}

// A Document holds a text's blocks and masked parts, each in order and without overlaps. A block is a line without
// its marks, or a cell of a table, and may contain masked parts. The marks around a quotation are not part of its
// mask; backticks and fences are.
type Document struct {
	Blocks, Masks []Span
}

// Parse reads a text. Any text is accepted.
func Parse(text string) Document {
	p := parser{text: text}
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		at = p.line(at, at+len(line))
	}
	return p.Document
}

type parser struct {
	text string
	Document
}

// mask adds a masked part, merged with the one before if they are adjacent and of the same kind.
func (p *parser) mask(start, end int, kind Kind) {
	if start >= end {
		return
	}
	if n := len(p.Masks); n > 0 && p.Masks[n-1].End == start && p.Masks[n-1].Kind == kind && !kind.Quoted() {
		p.Masks[n-1].End = end
		return
	}
	p.Masks = append(p.Masks, Span{start, end, kind})
}

// line reads the line from at to end and returns the start of the next one.
func (p *parser) line(at, end int) int {
	next := min(end+1, len(p.text))
	from := at + leading(p.text[at:end])
	s := strings.TrimRight(p.text[from:end], " \t\r")
	end = from + len(s)
	if s == "" {
		return next
	}
	if mark, _ := Fence(s); mark != "" {
		return p.fence(mark, from, end, next)
	}
	switch {
	case len(s) >= 3 && strings.Trim(s, "-=*_|: \t+") == "" && strings.ContainsAny(s, "-=*_"):
		p.mask(from, end, Markup)
		return next
	case strings.Count(s, "|") >= 2 || s[0] == '|':
		p.row(from, end)
		return next
	case isCodeLine(s), isSetting(s) && p.amongSettings(at, next):
		p.mask(from, end, Code)
		return next
	}
	if n := jsonKey(s); n > 0 {
		p.mask(from, from+n, Code)
		from += n
		from += leading(p.text[from:end])
		if value := p.text[from:end]; strings.HasPrefix(value, "\"") {
			from++
			end = from + len(strings.TrimRight(value[1:], "\",}] "))
		}
		if from < end {
			p.block(from, end, Paragraph)
		}
		return next
	}
	marks, form := lineMarks(s)
	p.mask(from, from+marks, Markup)
	from += marks
	if s[0] == '>' && from < end {
		p.Blocks = append(p.Blocks, Span{from, end, form})
		p.mask(from, end, Quote)
		return next
	}
	bold := strings.HasPrefix(s, "**") && strings.HasSuffix(strings.TrimRight(s, ":："), "**")
	if form == Paragraph && bold && len(s)-marks > 4 && strings.Count(s, "**") == 2 {
		form = Heading
	}
	p.block(from, end, form)
	return next
}

// amongSettings reports whether the line before a byte or the line from a byte is also a setting.
func (p *parser) amongSettings(at, next int) bool {
	before := strings.TrimSuffix(p.text[max(0, at-reach):at], "\n")
	after, _, _ := strings.Cut(p.near(next, len(p.text)), "\n")
	return isSetting(before[strings.LastIndexByte(before, '\n')+1:]) || isSetting(after)
}

func leading(s string) int { return len(s) - len(strings.TrimLeft(s, " \t\u00a0\u3000")) }

// Fence returns the mark with which a line without its indent opens or closes fenced code, "```" or "~~~", or "".
// Only a line with nothing else closes a block.
func Fence(line string) (mark string, closes bool) {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark, strings.Trim(line, mark[:1]) == ""
		}
	}
	return "", false
}

// fence masks fenced code up to its closing fence, or to the end of the text.
func (p *parser) fence(mark string, from, end, next int) int {
	for at := next; at < len(p.text); {
		line, _, _ := strings.Cut(p.text[at:], "\n")
		if other, closes := Fence(strings.TrimSpace(line)); other == mark && closes {
			p.mask(from, at+len(strings.TrimRight(line, " \t\r")), Code)
			return min(at+len(line)+1, len(p.text))
		}
		at += len(line) + 1
	}
	if next < len(p.text) { // there is text after the opening line
		end = len(p.text)
	}
	p.mask(from, end, Code)
	return len(p.text)
}

// row reads a row of a table: its cells are blocks.
func (p *parser) row(from, end int) {
	for from < end {
		if p.text[from] == '|' {
			p.mask(from, from+1, Markup)
			from++
			continue
		}
		cell, _, _ := strings.Cut(p.text[from:end], "|")
		if start, stop := leading(cell), len(strings.TrimRight(cell, " \t")); start < stop {
			p.block(from+start, from+stop, Cell)
		}
		from += len(cell)
	}
}

// lineMarks returns the length of a line's marks, and the kind of line that they indicate.
func lineMarks(s string) (int, Kind) {
	n, form := 0, Paragraph
	for n < len(s) && s[n] == '>' {
		n++
		n += leading(s[n:])
	}
	rest := s[n:]
	if h := len(rest) - len(strings.TrimLeft(rest, "#")); h > 0 && h <= 6 && (h == len(rest) || rest[h] == ' ') {
		return n + h + leading(rest[h:]), Heading
	}
	mark := 0
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case strings.ContainsRune("-*+•·–—▪◦●○‣・", r):
		mark = size
	default:
		d := min(3, len(rest)-len(strings.TrimLeft(rest, "0123456789")))
		if d == 0 && len(rest) > 1 && ('a' <= rest[0]|0x20 && rest[0]|0x20 <= 'z') {
			d = 1
		}
		if d > 0 && d < len(rest) && (rest[d] == '.' || rest[d] == ')') {
			mark = d + 1
		}
	}
	if mark > 0 && (mark == len(rest) || rest[mark] == ' ' || rest[mark] == '\t') {
		n, form = n+mark, Item
		n += leading(s[n:])
		if box := s[n:]; strings.HasPrefix(box, "[ ]") || strings.HasPrefix(box, "[x]") {
			n += 3
			n += leading(s[n:])
		}
	}
	return n, form
}

func (p *parser) block(start, end int, form Kind) {
	p.Blocks = append(p.Blocks, Span{start, end, form})
	p.inline(start, end)
}

// isCodeLine reports whether a line outside a fence is code, a command, JSON or a log entry: it must be mostly plain
// ASCII and have a program's punctuation.
func isCodeLine(s string) bool {
	if len(s) < 2 {
		return false
	}
	switch s[0] {
	case '{', '}', '[', ']':
		return strings.ContainsAny(s[len(s)-1:], "{}[],;") && (len(s) < 4 || strings.ContainsAny(s, `":=`)) || isLog(s)
	case '$':
		return s[1] == ' '
	case '<':
		return s[len(s)-1] == '>' && !tagged(s)
	}
	if !ascii(s) {
		return isLog(s)
	}
	first, rest, _ := strings.Cut(s, " ")
	if name := strings.TrimRight(first, ":"); name != first && isException(name) {
		return true
	}
	last := s[len(s)-1]
	verb, more, _ := strings.Cut(rest, " ")
	typed := strings.ContainsAny(rest, "-/.=|>~_$:@*") || verbs[verb] || commands[verb] && more != "" // at a prompt
	if commands[first] && rest != "" && typed && strings.IndexByte(".!?:", last) < 0 && len(strings.Fields(rest)) <= 12 {
		return true
	}
	if (last == ';' || last == '{' || last == '}') && strings.ContainsAny(s, "()=<>") {
		return true
	}
	starts := []string{"import ", "from ", "def ", "const ", "#include ", "SELECT ", "at java.", "Traceback ("}
	for _, p := range starts {
		if strings.HasPrefix(s, p) && (strings.ContainsAny(s, "()=*\"<{;,") || p == "import ") && last != '.' {
			return true
		}
	}
	return isLog(s)
}

// tagged reports whether a line that starts and ends with tags has prose between them, as in HTML answers: several
// words, or one that is not plain ASCII. Less may be a label in code.
func tagged(s string) bool {
	const few = 4
	n := 0
	for rest := s; rest != ""; {
		text, tag, _ := strings.Cut(rest, "<")
		if !ascii(text) {
			return true
		}
		n += len(strings.Fields(text))
		_, rest, _ = strings.Cut(tag, ">")
	}
	return n >= few
}

// jsonKey returns the length of a JSON key with its colon at the start of a line: prose may follow.
func jsonKey(s string) int {
	if s[0] != '"' || !strings.ContainsAny(s[len(s)-1:], "{[,\"}]0123456789le") {
		return 0
	}
	key, rest, ok := strings.Cut(s[1:], `"`)
	if ok && len(key) < 60 && strings.HasPrefix(strings.TrimLeft(rest, " "), ":") {
		return 2 + len(key) + strings.IndexByte(rest, ':') + 1
	}
	return 0
}

// isSetting reports whether a line is a lower-case key with a short value, as in YAML: "retries: 5".
func isSetting(s string) bool {
	key, value, ok := strings.Cut(strings.TrimSpace(s), ":")
	key = strings.TrimPrefix(key, "- ")
	return ok && key != "" && ascii(s) && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_-.") == "" &&
		(value == "" || value[0] == ' ' && (len(strings.Fields(value)) <= 2 || strings.IndexByte("\"'[{", value[1]) >= 0))
}

// isException reports whether a word is the name of an error type: "KeyError".
func isException(w string) bool {
	return len(w) > 5 && strings.HasSuffix(w, "Error") || len(w) > 9 && strings.HasSuffix(w, "Exception")
}

// isLog reports whether a line starts with a time stamp or contains a log level.
func isLog(s string) bool {
	if len(s) < 12 {
		return false
	}
	s = strings.TrimLeft(s, "[")
	stamp := 0
	for _, c := range []byte(s[:min(len(s), 19)]) {
		if strings.IndexByte("0123456789-:T/ .", c) < 0 {
			break
		}
		if '0' <= c && c <= '9' {
			stamp++
		}
	}
	levels := []string{"ERROR", "WARN", "INFO", "DEBUG", "FATAL", "TRACE"}
	return stamp >= 12 || stamp >= 4 && slices.ContainsFunc(levels, func(l string) bool { return strings.Contains(s, l) })
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
