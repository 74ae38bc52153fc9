// Package thoughts separates a model's thoughts from its answer, if a server leaves both in one text.
//
// A server with a reasoning parser puts thoughts in a field of their own. One without (vLLM unless told, llama.cpp
// with --reasoning-format none, many gateways, recorded files) leaves the model's markers in the answer:
//
//	<think> ... </think>          most open models; also thinking, thought, reasoning, seed:think
//	[THINK] ... [/THINK]          Magistral
//	◁think▷ ... ◁/think▷          Kimi
//	<|channel|>analysis<|message|> ... <|channel|>final<|message|>   gpt-oss (harmony)
//	analysis ... assistantfinal   gpt-oss, its special tokens skipped
//
// # What is a block
//
// An opening marker begins a block at the start of the text, right after another block, at the start of a line, or
// after the end of a sentence. After other text on its line it is a mention, as it is in quotes or in code. At the
// start of the text a block without an end is a thought that was cut off, and all of the text is thought. Further down
// it is one only if the marker is alone on its line; else it is a mention.
//
// A closing marker without an opening one ends a thought that the chat template began: everything before it is thought.
// It must be at the start or the end of a line or after the end of a sentence, and be neither quoted nor in code.
//
// A text that begins with a bare <think> and explains it cannot be told from a block, and is taken for one.
package thoughts

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/internal/lazyregexp"
	"crosstalk/measure/prose"
)

// Kind is the kind of a part of a text.
type Kind int

const (
	Answer  Kind = iota // addressed to the user
	Thought             // addressed to itself
	Marker              // a delimiter, with the white space before the start of the answer
)

// Part is text[Start:End].
type Part struct {
	Kind       Kind
	Start, End int // bytes
}

// Split returns a model's answer and its thoughts. A text without thoughts is its own answer. White space between a
// thought and the start of the answer belongs to neither; every other byte outside markers is in one of the two, in
// order. Several thoughts are joined by a blank line.
func Split(text string) (answer, reasoning string) {
	var said strings.Builder
	var thought []string
	for _, p := range Parts(text) {
		switch piece := text[p.Start:p.End]; p.Kind {
		case Answer:
			said.WriteString(piece)
		case Thought:
			if piece = strings.TrimSpace(piece); piece != "" {
				thought = append(thought, piece)
			}
		}
	}
	return said.String(), strings.Join(thought, "\n\n")
}

// Parts divides a text into answer, thoughts and markers. They are in order, none is empty, and together they are the
// text.
func Parts(text string) []Part {
	if text != "" && !Marked(text) && !strings.HasPrefix(strings.TrimSpace(text), skipped) {
		return []Part{{Answer, 0, len(text)}}
	}
	if parts := harmony(text); parts != nil {
		return tidy(text, parts)
	}
	return tidy(text, blocks(text))
}

// Marked reports whether a text may have markers. Searching for strings is several times as fast as other ways.
func Marked(text string) bool {
	if !strings.Contains(text, "<") && !strings.Contains(text, "[") && !strings.Contains(text, "◁") {
		return false
	}
	for _, name := range []string{"think", "thought", "reasoning", "THINK", "<|"} {
		if strings.Contains(text, name) {
			return true
		}
	}
	return false
}

// tidy joins adjacent parts of one kind, drops empty ones, and adds to a marker the white space before an answer.
func tidy(text string, parts []Part) (out []Part) {
	begun := false
	for _, p := range parts {
		if p.Kind == Answer && !begun && len(out) > 0 { // after a marker
			blank := len(text[p.Start:p.End]) - len(strings.TrimLeftFunc(text[p.Start:p.End], unicode.IsSpace))
			out[len(out)-1].End += blank
			p.Start += blank
		}
		if p.Start == p.End {
			continue
		}
		if p.Kind == Answer && strings.TrimSpace(text[p.Start:p.End]) != "" {
			begun = true
		}
		if n := len(out); n > 0 && out[n-1].Kind == p.Kind {
			out[n-1].End = p.End
			continue
		}
		out = append(out, p)
	}
	return out
}

var tag = lazyregexp.New(`<(/?)(think|thinking|thought|thoughts|reasoning|seed:think)>|\[(/?)(THINK)\]|◁(/?)(think)▷`)

type marker struct {
	start, end int
	closes     bool
	name       string
}

// most limits the markers considered, so that a text of nothing but markers takes no longer than others.
const most = 256

func markers(text string) (out []marker) {
	for _, m := range tag().FindAllStringSubmatchIndex(text, most) {
		for g := 2; g < len(m); g += 4 {
			if m[g] >= 0 {
				// The bracket is a part of the name: [THINK] does not end <think>.
				out = append(out, marker{m[0], m[1], m[g+1] > m[g], text[m[0]:m[0]+1] + text[m[g+2]:m[g+3]]})
			}
		}
	}
	return out
}

func blocks(text string) (parts []Part) {
	marks := markers(text)
	shielded := code(text)
	at := 0         // everything before it is in parts
	closed := false // a block has ended
	for i := 0; i < len(marks); i++ {
		m := marks[i]
		if m.start < at || m.mentioned(text) || shielded(m.start) {
			continue
		}
		lineStart, before := m.lineStart(text), strings.TrimSpace(text[at:m.start])
		rest, _, _ := strings.Cut(text[m.end:], "\n")
		lineEnd := strings.TrimSpace(rest) == ""
		switch {
		case m.closes && !lineStart && !lineEnd && !sentenceEnd(strings.TrimSpace(text[:m.start])):
		case m.closes && closed: // a second end: the thought has already ended
			parts = append(parts, Part{Answer, at, m.start}, Part{Marker, m.start, m.end})
			at = m.end
		case m.closes:
			parts = append(parts, Part{Thought, at, m.start}, Part{Marker, m.start, m.end})
			at, closed = m.end, true
		case before == "" || lineStart || sentenceEnd(before):
			end, found := match(text, marks[i:])
			if !found && strings.TrimSpace(text[:m.start]) != "" && !(lineStart && lineEnd) {
				continue
			}
			parts = append(parts, Part{Answer, at, m.start}, Part{Marker, m.start, m.end})
			if !found {
				return append(parts, Part{Thought, m.end, len(text)})
			}
			parts = append(parts, Part{Thought, m.end, end.start}, Part{Marker, end.start, end.end})
			at, closed = end.end, true
		}
	}
	return append(parts, Part{Answer, at, len(text)})
}

// match finds the end of the block that marks[0] opens: the outermost if nested ones end, else the first.
func match(text string, marks []marker) (end marker, found bool) {
	depth, first := 0, -1
	for i, m := range marks {
		if m.name != marks[0].name || m.mentioned(text) {
			continue
		}
		switch {
		case m.closes:
			if first < 0 {
				first = i
			}
			if depth--; depth == 0 {
				return m, true
			}
		case i == 0 || m.lineStart(text):
			depth++
		}
	}
	if first < 0 {
		return marker{}, false
	}
	return marks[first], true
}

// lineStart reports whether only an indent shorter than that of a code block is before the marker on its line.
func (m marker) lineStart(text string) bool {
	indent := text[strings.LastIndexByte(text[:m.start], '\n')+1 : m.start]
	return strings.TrimLeft(indent, " ") == "" && len(indent) < 4
}

func sentenceEnd(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".!?…。！？।؟", r)
}

func (m marker) mentioned(text string) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:m.start])
	after, _ := utf8.DecodeRuneInString(text[m.end:])
	const quotes = "\"'`“”‘’„«»‹›「」『』"
	return before == '\\' || strings.ContainsRune(quotes, before) && strings.ContainsRune(quotes, after)
}

// code returns a function that reports whether a position is in a fenced block with an end, or in backticks.
func code(text string) func(int) bool {
	var fenced [][2]int
	open, style := 0, ""
	at := 0
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " ")
		indent := len(line) - len(bare)
		if mark, _ := prose.Fence(bare); indent < 4 {
			switch style {
			case "":
				open, style = at, mark
			case mark:
				end := at + len(line) - len(strings.TrimLeft(bare, mark[:1]))
				fenced, style = append(fenced, [2]int{open, end}), ""
			}
		}
		at += len(line)
	}
	return func(at int) bool {
		for _, f := range fenced {
			if at >= f[0] && at < f[1] {
				return true
			}
		}
		before := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
		after, _, _ := strings.Cut(text[at:], "\n")
		return strings.Count(before, "`")%2 == 1 && strings.Contains(after, "`")
	}
}

// message matches a harmony message's header, which may be constrained (<|constrain|>json), and any end before it.
var message = lazyregexp.New(`(?:<\|end\|>|<\|return\|>|<\|call\|>)?\s*(?:<\|start\|>\s*assistant)?\s*` +
	`<\|channel\|>\s*(analysis|commentary|final)\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>`)

// stop matches the end of the last harmony message.
var stop = lazyregexp.New(`<\|end\|>|<\|return\|>|<\|call\|>`)

// skipped starts an answer of gpt-oss when a server omits the special tokens around the channel's name.
const skipped = "analysis"

var final = lazyregexp.New(`assistant(?:commentary[\s\S]*?assistant)?final`)

func harmony(text string) (parts []Part) {
	heads := message().FindAllStringSubmatchIndex(text, -1)
	shielded := code(text)
	for len(heads) > 0 && shielded(heads[0][0]) {
		heads = heads[1:]
	}
	if len(heads) == 0 {
		return unmarked(text)
	}
	before := Part{Answer, 0, heads[0][0]}
	if stop().MatchString(text[heads[0][0]:heads[0][2]]) { // the template opened the first message
		before.Kind = Thought
	}
	parts = append(parts, before)
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		kind := Thought
		if text[h[2]:h[3]] == "final" {
			kind = Answer
		}
		parts = append(parts, Part{Marker, h[0], h[1]})
		body := text[h[1]:end]
		if s := stop().FindStringIndex(body); s != nil && strings.TrimSpace(body[s[1]:]) == "" {
			parts = append(parts, Part{kind, h[1], h[1] + s[0]}, Part{Marker, h[1] + s[0], end})
			continue
		}
		parts = append(parts, Part{kind, h[1], end})
	}
	return parts
}

// unmarked divides "analysisWe need to ...assistantfinalHello".
func unmarked(text string) []Part {
	start := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	rest, found := strings.CutPrefix(text[start:], skipped)
	first, _ := utf8.DecodeRuneInString(rest)
	if !found || !unicode.IsUpper(first) {
		return nil
	}
	name := start + len(skipped)
	f := final().FindStringIndex(rest)
	if f == nil {
		return []Part{{Marker, 0, name}, {Thought, name, len(text)}}
	}
	end, answer := name+f[0], name+f[1]
	return []Part{{Marker, 0, name}, {Thought, name, end}, {Marker, end, answer}, {Answer, answer, len(text)}}
}
