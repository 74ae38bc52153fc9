package gate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Requirement is a bound that figures must satisfy, as written:
//
//	MEASURE >=|<=|>|< VALUE [by COLUMN,...] [where COLUMN=VALUE,...]
//
// as in
//
//	lpr>=0.98
//	leak_rate <= 60% by category
//	lpr >= 98 where language=ko, model="openai:gpt-4o-mini"
//
// VALUE is a percentage with %, and for a figure that is a fraction also above
// 1 (60 is 60 %); a plain 1 is ambiguous and refused. For a figure with a unit,
// such as bits, it is in that unit. With by, the figure of each value of the
// columns must satisfy the bound; with where, only figures with the stated values.
// Names with spaces, commas or an equals sign are in double quotes, in which \"
// and \\ are a quote and a backslash.
type Requirement struct {
	Text    string // as written, with single spaces
	Measure string
	Op      string // >=, <=, > or <
	Value   Number
	By      []string
	Where   []Match
}

// Match is a column and its required value.
type Match struct{ Column, Value string }

// Columns are the columns by which figures must be grouped to check the
// requirement: where's, then by's.
func (r Requirement) Columns() []string {
	columns := []string{}
	for _, m := range r.Where {
		columns = append(columns, m.Column)
	}
	for _, column := range r.By {
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
	}
	return columns
}

// A SyntaxError is an invalid requirement.
type SyntaxError struct {
	Text    string
	Column  int // of Text, in characters from 1
	Message string
}

// Error marks the position under the requirement.
func (e *SyntaxError) Error() string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, e.Text)
	return fmt.Sprintf("column %d: %s\n  %s\n  %s^", e.Column, e.Message, line, strings.Repeat(" ", e.Column-1))
}

// Parse reads a requirement. Its errors are *SyntaxError.
func Parse(text string) (r Requirement, err error) {
	p := &parser{text: text}
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case *SyntaxError:
			r, err = Requirement{}, failed
		default:
			panic(failed)
		}
	}()
	r.Text = strings.Join(strings.Fields(text), " ")
	r.Measure = p.name("a measure, such as lpr")
	r.Op = p.operator()
	r.Value = p.value()
	for {
		start := p.skip()
		switch word := p.word(); {
		case word == "":
			if start < len(text) {
				p.fail(start, `expected "by" or "where", found %q`, p.rest(start))
			}
			return r, nil
		case word == "by" && r.By == nil:
			for more := true; more; more = p.comma() {
				at := p.skip()
				column := p.name("a column, such as category")
				if slices.Contains(r.By, column) {
					p.fail(at, "duplicate column %s", column)
				}
				r.By = append(r.By, column)
			}
		case word == "where" && r.Where == nil:
			for more := true; more; more = p.comma() {
				r.Where = append(r.Where, p.match(r.Where))
			}
		case word == "by" || word == "where":
			p.fail(start, "duplicate %q", word)
		case word == "and" || word == "or":
			p.fail(start, `%q: give each requirement its own --require`, word)
		default:
			p.fail(start, `expected "by" or "where", found %q`, p.rest(start))
		}
	}
}

// parser reads a requirement from left to right. It panics with a
// *SyntaxError.
type parser struct {
	text string
	at   int // bytes read
}

func (p *parser) fail(at int, format string, args ...any) {
	panic(&SyntaxError{p.text, utf8.RuneCountInString(p.text[:at]) + 1, fmt.Sprintf(format, args...)})
}

// skip skips white space and returns where it ends.
func (p *parser) skip() int {
	p.at = len(p.text) - len(strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace))
	return p.at
}

// rest is the text from a position to the next white space.
func (p *parser) rest(at int) string {
	if end := strings.IndexFunc(p.text[at:], unicode.IsSpace); end > 0 {
		return p.text[at : at+end]
	}
	return p.text[at:]
}

// found describes the text at a position for a message.
func (p *parser) found(at int) string {
	if at == len(p.text) {
		return "found nothing"
	}
	return fmt.Sprintf("found %q", p.rest(at))
}

// word reads up to a character that a name cannot contain.
func (p *parser) word() string { return p.until(`,<>="`) }

func (p *parser) until(marks string) string {
	start := p.at
	end := strings.IndexFunc(p.text[start:], func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(marks, r)
	})
	if end < 0 {
		end = len(p.text) - start
	}
	p.at = start + end
	return p.text[start:p.at]
}

// name reads a name, which may be quoted.
func (p *parser) name(expected string) string {
	start := p.skip()
	name := p.quoted()
	if name == "" {
		name = p.word()
	}
	if name == "" {
		p.fail(start, "expected %s, %s", expected, p.found(start))
	}
	return name
}

// quoted reads a non-empty text in double quotes, if one follows.
func (p *parser) quoted() string {
	start := p.at
	if !strings.HasPrefix(p.text[start:], `"`) {
		return ""
	}
	var b strings.Builder
	for i := start + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			if p.at = i + 1; b.Len() == 0 {
				p.fail(start, "the quotes are empty")
			}
			return b.String()
		case c == '\\' && i+1 < len(p.text) && (p.text[i+1] == '"' || p.text[i+1] == '\\'):
			i++
			b.WriteByte(p.text[i])
		default:
			b.WriteByte(c)
		}
	}
	p.fail(start, "the quote is not closed")
	return ""
}

func (p *parser) operator() string {
	start := p.skip()
	for p.at < len(p.text) && strings.ContainsRune("<>=!~", rune(p.text[p.at])) {
		p.at++
	}
	op := p.text[start:p.at]
	if !slices.Contains([]string{">=", "<=", ">", "<"}, op) {
		p.fail(start, "expected >=, <=, > or <, %s", p.found(start))
	}
	return op
}

func (p *parser) value() Number {
	start := p.skip()
	text := p.word()
	if text != "" && !strings.HasSuffix(text, "%") {
		end := p.at
		if p.skip(); strings.HasPrefix(p.text[p.at:], "%") {
			p.at++
			text += "%"
		} else {
			p.at = end
		}
	}
	if text == "" {
		p.fail(start, "expected a number, %s", p.found(start))
	}
	n, err := parseNumber(text)
	if err != nil {
		p.fail(start, "%v", err)
	}
	n.source, n.at = p.text, start
	return n
}

func (p *parser) match(before []Match) Match {
	start := p.skip()
	m := Match{Column: p.name("a column, such as language")}
	if slices.ContainsFunc(before, func(b Match) bool { return b.Column == m.Column }) {
		p.fail(start, "duplicate column %s", m.Column)
	}
	equals := p.skip()
	if !strings.HasPrefix(p.text[p.at:], "=") {
		p.fail(equals, "expected = and a value for %s, %s", m.Column, p.found(equals))
	}
	p.at++
	at := p.skip()
	if m.Value = p.quoted(); m.Value == "" {
		m.Value = p.until(`,"`)
	}
	if m.Value == "" {
		p.fail(at, "expected a value for %s, %s", m.Column, p.found(at))
	}
	return m
}

// comma reports whether the list continues.
func (p *parser) comma() bool {
	end := p.at
	if p.skip(); strings.HasPrefix(p.text[p.at:], ",") {
		p.at++
		return true
	}
	p.at = end
	return false
}
