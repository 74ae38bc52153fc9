package check

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/guard"
)

// Kinds of findings besides guard.Line and guard.Word.
const (
	untranslated = "untranslated" // a message that is its source
	unreadable   = "unreadable"   // a file that cannot be read as what it is
)

// finding is a part of a file that is not in the language that it should be in.
type finding struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`   // from 1
	Column   int     `json:"column"` // in characters, from 1
	EndLine  int     `json:"end_line"`
	EndCol   int     `json:"end_column"` // after the last character
	Kind     string  `json:"kind"`
	Expected string  `json:"expected"`
	Language string  `json:"language"` // empty if it cannot be told
	Risk     float64 `json:"risk"`
	Text     string  `json:"text"`            // of the part
	Key      string  `json:"key,omitempty"`   // of a message
	Error    string  `json:"error,omitempty"` // of a file that is unreadable

	answer string // which one of a log; empty: none
}

// file judges a file of prose or messages.
func (o Options) file(out *writer, f file) error {
	info, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	out.files++
	if info.Size() > longest {
		return out.finding(unread(f.path, 1, errLong))
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return err
	}
	text := strings.TrimPrefix(string(data), string(byteOrderMark))
	if !utf8.ValidString(text) {
		return out.finding(unread(f.path, 1, fmt.Errorf("not in UTF-8")))
	}
	if f.kind == catalogue {
		return o.catalogue(out, f, text)
	}
	var all []*passage
	stated := ""
	switch f.kind {
	case page:
		all, stated = ofPage(text)
	case subtitles:
		all = ofSubtitles(text)
	default:
		all = ofProse(text)
	}
	language := o.languageFor(f, stated)
	if language == "" {
		out.skip(f.path)
		return nil
	}
	src := newSource(text)
	for _, p := range all {
		passage := p.text.String()
		j, err := o.Checker.Check(passage, language)
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		for _, s := range longEnough(passage, j) {
			found := finding{File: f.path, Kind: s.Kind, Expected: language, Language: s.Language, Risk: s.Risk,
				Text: strings.Join(strings.Fields(passage[s.Start:s.End]), " ")}
			found.Line, found.Column = src.at(p.from(s.Start))
			found.EndLine, found.EndCol = src.at(p.from(s.End-1) + 1)
			if err := out.finding(found); err != nil {
				return err
			}
		}
	}
	return nil
}

func unread(path string, line int, err error) finding {
	return finding{File: path, Line: line, Column: 1, EndLine: line, EndCol: 1, Kind: unreadable, Error: err.Error()}
}

// fewest is the least number of words, or of characters of a script without spaces, of a part that is reported: shorter
// ones in files are names of programs, options and terms.
const fewest = 4

// longEnough returns the spans of a text that count and have enough words. Spans of whole lines that follow each other
// are one.
func longEnough(text string, j guard.Judgement) (spans []guard.Span) {
	for _, s := range j.Spans {
		if s.Excuse != "" {
			continue
		}
		if n := len(spans); n > 0 && s.Kind == guard.Line && spans[n-1].Kind == guard.Line &&
			spans[n-1].Language == s.Language && strings.TrimFunc(text[spans[n-1].End:s.Start], notLetter) == "" {
			spans[n-1].End, spans[n-1].Risk = s.End, max(spans[n-1].Risk, s.Risk)
			continue
		}
		spans = append(spans, s)
	}
	return slices.DeleteFunc(spans, func(s guard.Span) bool { return size(text[s.Start:s.End]) < fewest })
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// size counts the words of a text, between spaces, that have two letters or more, and the characters of scripts without
// spaces.
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
