package gate

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/internal/ordered"
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
// VALUE is a percentage with %, and for a figure that is a fraction also above 1 (60 is 60 %); a plain 1 is ambiguous
// and refused. For a figure with a unit, such as bits, it is in that unit. With by, the figure of each value of the
// columns must satisfy the bound; with where, only figures with the stated values. Names that contain spaces, commas or
// an equals sign are in double quotes, where \" and \\ are a quote and a backslash.
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

// Columns returns the columns by which figures must be grouped to check the requirement: where's, then by's.
func (r Requirement) Columns() []string {
	var columns []string
	for _, m := range r.Where {
		columns = append(columns, m.Column)
	}
	return ordered.Distinct(append(columns, r.By...), func(column string) string { return column })
}

// A SyntaxError is an invalid requirement.
type SyntaxError struct {
	Text    string
	Column  int // position in Text, in characters from 1
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

// Parse parses a requirement. Its errors are *SyntaxError.
func Parse(text string) (r Requirement, err error) {
	p := &parser{text: text}
	defer func() {
		if failed := recover(); failed != nil {
			r, err = Requirement{}, failed.(*SyntaxError)
		}
	}()
	r.Text = strings.Join(strings.Fields(text), " ")
	r.Measure = p.name("a measure, such as lpr")
	r.Op = p.operator()
	r.Value = p.value()
	for {
		start := p.skip()
		switch word := p.word(); {
		case start == len(text):
			return r, nil
		case word == "by" && r.By == nil:
			for more := true; more; more = p.next(",") {
				r.By = append(r.By, p.column("a column, such as category", r.By))
			}
		case word == "where" && r.Where == nil:
			for more := true; more; more = p.next(",") {
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

// parser parses a requirement from left to right. It panics with a *SyntaxError.
type parser struct {
	text string
	at   int // bytes read
}

func (p *parser) fail(at int, format string, args ...any) {
	panic(&SyntaxError{p.text, utf8.RuneCountInString(p.text[:at]) + 1, fmt.Sprintf(format, args...)})
}

func (p *parser) skip() int {
	p.at = len(p.text) - len(strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace))
	return p.at
}

// next skips white space and then a mark, if it follows.
func (p *parser) next(mark string) bool {
	end := p.at
	if strings.HasPrefix(p.text[p.skip():], mark) {
		p.at += len(mark)
		return true
	}
	p.at = end
	return false
}

// rest returns the text from a position to the next white space.
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

// column parses a name that is not in before.
func (p *parser) column(expected string, before []string) string {
	start := p.skip()
	column := p.name(expected)
	if slices.Contains(before, column) {
		p.fail(start, "duplicate column %s", column)
	}
	return column
}

// quoted parses a non-empty text in double quotes, if one follows.
func (p *parser) quoted() string {
	start := p.at
	if !strings.HasPrefix(p.text[start:], `"`) {
		return ""
	}
	found := quotes.FindStringSubmatch(p.text[start:])
	switch {
	case found == nil:
		p.fail(start, "the quote is not closed")
	case found[1] == "":
		p.fail(start, "the quotes are empty")
	}
	p.at += len(found[0])
	return escaped.ReplaceAllString(found[1], "$1")
}

var (
	quotes  = regexp.MustCompile(`(?s)^"((?:[^"\\]|\\.)*)"`)
	escaped = regexp.MustCompile(`\\(["\\])`)
)

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
	if text != "" && !strings.HasSuffix(text, "%") && p.next("%") {
		text += "%"
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

func (p *parser) match(before []Match) (m Match) {
	m.Column = p.column("a column, such as language", Requirement{Where: before}.Columns())
	if equals := p.skip(); !p.next("=") {
		p.fail(equals, "expected = and a value for %s, %s", m.Column, p.found(equals))
	}
	at := p.skip()
	if m.Value = p.quoted(); m.Value == "" {
		m.Value = p.until(`,"`)
	}
	if m.Value == "" {
		p.fail(at, "expected a value for %s, %s", m.Column, p.found(at))
	}
	return m
}

// Number is a number as it was written. Its meaning depends on the figure.
type Number struct {
	value   float64
	percent bool
	text    string // as written
	source  string // the requirement, and the position of the number in it
	at      int
}

var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)$`)

func parseNumber(text string) (Number, error) {
	text = strings.TrimSpace(text)
	digits, percent := strings.CutSuffix(text, "%")
	digits = strings.TrimSpace(digits)
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !decimal.MatchString(digits) {
		return Number{}, fmt.Errorf("%q is not a valid number; expected one such as 0.98 or 98%%", text)
	}
	return Number{value: v, percent: percent, text: text}, nil
}

// Of converts the number for a figure with a unit.
func (n Number) Of(unit string) (float64, error) {
	v, problem := n.value, ""
	switch {
	case unit != "" && n.percent:
		problem = fmt.Sprintf("the figure is in %s; expected a plain number, not a percentage", unit)
	case unit != "":
	case !n.percent && math.Abs(v) == 1:
		problem = fmt.Sprintf("%s is ambiguous: write %.0f%% or %.0f%%", n.text, v, 100*v)
	case n.percent || math.Abs(v) > 1:
		if v /= 100; math.Abs(v) > 1 {
			problem = fmt.Sprintf("%s is more than 100 %%", n.text)
		}
	}
	switch {
	case problem == "":
		return v, nil
	case n.source == "":
		return 0, errors.New(problem)
	}
	return 0, &SyntaxError{n.source, utf8.RuneCountInString(n.source[:n.at]) + 1, problem}
}

// ParseFraction parses a fraction: a number with % is a percentage, as is a number above 1 (60 is 60 %); any other
// number is a fraction (0.6 is 60 %). It refuses a plain 1, which is ambiguous, and values above 100 %.
func ParseFraction(text string) (float64, error) {
	n, err := parseNumber(text)
	if err != nil {
		return 0, err
	}
	return n.Of("")
}
