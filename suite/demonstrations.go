package suite

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/strictyaml"
)

// PublishedDemonstrations reads the demonstrations of Marchisio et al. (2024) from the file published with their
// script, few_shot_prompting.py: those before monolingual and before cross-lingual prompts, by the language that the
// prompt asks for. It reads the two assignments
//
//	few_shot_examples_monolingual = {'ar': [{'role': 'User', 'message': '...'}, {'role': 'Chatbot', ...}, ...], ...}
//	few_shot_examples_crosslingual = {...}
//
// of Python literals, and executes nothing. An error names file and line.
func PublishedDemonstrations(path string) (monolingual, crosslingual map[string][]crosstalk.Demonstration, err error) {
	content, err := strictyaml.ReadFile(path, maxArchive)
	if err != nil {
		return nil, nil, err
	}
	if !utf8.Valid(content) {
		return nil, nil, fmt.Errorf("%s: is not UTF-8", path)
	}
	if monolingual, err = assigned(path, string(content), "few_shot_examples_monolingual"); err != nil {
		return nil, nil, err
	}
	crosslingual, err = assigned(path, string(content), "few_shot_examples_crosslingual")
	return monolingual, crosslingual, err
}

// assigned returns the demonstrations that a text of Python assigns to a name.
func assigned(path, text, name string) (map[string][]crosstalk.Demonstration, error) {
	for _, m := range assignments().FindAllStringSubmatchIndex(text, -1) {
		if text[m[2]:m[3]] == name {
			return (&literal{path, text, m[1]}).demonstrations()
		}
	}
	return nil, fmt.Errorf("%s: has no %s; expected few_shot_prompting.py, as published with the Language Confusion "+
		"Benchmark", path, name)
}

var assignments = lazyregexp.New(`(?m)^(few_shot_examples_\w+)[ \t]*=`)

// literal reads a literal of Python: lists, dictionaries and strings.
type literal struct {
	path, text string
	at         int // in text
}

func (l *literal) demonstrations() (map[string][]crosstalk.Demonstration, error) {
	all := map[string][]crosstalk.Demonstration{}
	err := l.sequence('{', '}', func() error {
		language, err := l.key()
		if err != nil {
			return err
		}
		var turns [][2]string // roles and messages
		err = l.sequence('[', ']', func() error {
			turn := map[string]string{}
			err := l.sequence('{', '}', func() error {
				key, err := l.key()
				if err == nil {
					turn[key], err = l.string()
				}
				return err
			})
			expected := []string{"User", "Chatbot"}[len(turns)%2]
			if err == nil && (turn["role"] != expected || strings.TrimSpace(turn["message"]) == "") {
				err = l.errorf("expected a role %s with a message", expected)
			}
			turns = append(turns, [2]string{turn["role"], turn["message"]})
			return err
		})
		if err == nil && len(turns)%2 != 0 {
			err = l.errorf("%s: the last User has no Chatbot after it", language)
		}
		for i := 1; i < len(turns); i += 2 {
			d := crosstalk.Demonstration{Question: turns[i-1][1], Answer: turns[i][1]}
			all[language] = append(all[language], d)
		}
		return err
	})
	return all, err
}

// sequence reads elements between brackets, separated by commas.
func (l *literal) sequence(open, closing byte, element func() error) error {
	if !l.take(open) {
		return l.errorf("expected %q", open)
	}
	for !l.take(closing) {
		if err := element(); err != nil {
			return err
		}
		if !l.take(',') {
			if l.take(closing) {
				break
			}
			return l.errorf("expected %q or ','", closing)
		}
	}
	return nil
}

// key reads the key of a dictionary, with its colon.
func (l *literal) key() (string, error) {
	key, err := l.string()
	if err == nil && !l.take(':') {
		err = l.errorf("expected ':'")
	}
	return key, err
}

// take skips a byte, after white space and comments, if it comes next.
func (l *literal) take(b byte) bool {
	for {
		l.at += len(l.text[l.at:]) - len(strings.TrimLeft(l.text[l.at:], " \t\r\n\f"))
		if !strings.HasPrefix(l.text[l.at:], "#") {
			break
		}
		if end := strings.IndexByte(l.text[l.at:], '\n'); end >= 0 {
			l.at += end
		} else {
			l.at = len(l.text)
		}
	}
	if l.at == len(l.text) || l.text[l.at] != b {
		return false
	}
	l.at++
	return true
}

// string reads a string in single or double quotation marks.
func (l *literal) string() (string, error) {
	quote := byte('\'')
	if !l.take(quote) {
		if quote = '"'; !l.take(quote) {
			return "", l.errorf("expected a text in quotation marks")
		}
	}
	var b strings.Builder
	for rest := l.text[l.at:]; ; rest = l.text[l.at:] {
		switch {
		case rest == "" || rest[0] == '\n':
			return "", l.errorf("a text does not end on its line")
		case rest[0] == quote:
			l.at++
			return b.String(), nil
		}
		r, _, after, err := strconv.UnquoteChar(rest, quote)
		if err != nil && rest[0] == '\\' && len(rest) > 1 && strings.IndexByte(`'"`, rest[1]) >= 0 {
			r, after, err = rune(rest[1]), rest[2:], nil // Python escapes either mark in both
		}
		if err != nil {
			return "", l.errorf("unknown escape %.2s", rest)
		}
		b.WriteRune(r)
		l.at += len(rest) - len(after)
	}
}

func (l *literal) errorf(format string, args ...any) error {
	line := 1 + strings.Count(l.text[:l.at], "\n")
	return fmt.Errorf("%s:%d: %s", l.path, line, fmt.Sprintf(format, args...))
}
