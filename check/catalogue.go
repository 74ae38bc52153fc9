package check

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk/guard"
	"crosstalk/internal/strictyaml"
	"crosstalk/internal/table"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

type message struct {
	key, source, value string // source is empty if the file lacks it
	at                 int    // byte offset of the value
}

// messages holds a catalogue's messages and the languages that it states.
type messages struct {
	all      []message
	language string
	source   string // the language of the sources; empty: English
}

// parse reads a catalogue. An error is a *lineError.
func parse(path, text string) (messages, error) {
	switch table.Format(path) {
	case ".po":
		return parsePO(text)
	case ".xlf", ".xliff":
		return parseXLIFF(text)
	case ".json", ".arb":
		return parseJSON(text)
	}
	return parseYAML(text)
}

// lineError is an error at a byte offset of a file.
type lineError struct {
	at int
	error
}

// catalogue judges messages that are translated from one language to another. In JSON and YAML, what they translate is
// in the English file beside the catalogue.
func (o Options) catalogue(out *writer, path string, all []message, src *source, from, to string) error {
	o.addSources(all, path, to)
	for _, one := range all {
		found, err := o.message(one, from, to)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if found.Kind == "" {
			continue
		}
		found.File, found.Expected, found.Key = path, to, one.key
		found.Line, found.Column = src.at(one.at)
		found.EndLine, found.EndCol = found.Line, found.Column
		if err := out.finding(found); err != nil {
			return err
		}
	}
	return nil
}

// addSources finds the sources of messages in the English file of the same name.
func (o Options) addSources(all []message, beside, language string) {
	if !slices.Contains([]string{".json", ".arb", ".yaml", ".yml"}, table.Format(beside)) {
		return
	}
	for _, name := range []string{language, strings.ReplaceAll(language, "-", "_"), strings.Split(language, "-")[0]} {
		for _, english := range []string{"en", "en-US", "en_US", "en-GB"} {
			part := regexp.MustCompile(`(^|[/\\._-])` + regexp.QuoteMeta(name) + `([/\\.]|$)`)
			path := part.ReplaceAllString(beside, "${1}"+english+"${2}")
			if path == beside {
				continue
			}
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			text, err := contents(path)
			if err != nil {
				continue
			}
			m, err := parse(path, text)
			if err != nil {
				continue
			}
			source := map[string]string{}
			for _, one := range m.all {
				source[withoutRoot(one.key, english)] = one.value
			}
			for i := range all {
				all[i].source = source[withoutRoot(all[i].key, name)]
			}
			return
		}
	}
}

// contents returns the text of a file.
func contents(path string) (string, error) {
	f, err := table.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return whole(f.Text())
}

// withoutRoot strips a key's first part if it is the language, as all keys of a file may begin with it.
func withoutRoot(key, language string) string { return strings.TrimPrefix(key, language+".") }

// placeholders are slots that programs fill with values, and markup.
var placeholders = regexp.MustCompile(`\{\{[^{}]*\}\}|\$?\{[^{}\s]*\}|%\([^()\s]*\)[sdif]|%\{[^{}]*\}|` +
	`%[-+0# ]*[\d.]*[lhz]*[sdiufxgc@]|</?[A-Za-z][^<>]*>|[_&](\pL)`)

func plain(text string) string {
	return strings.TrimSpace(placeholders.ReplaceAllStringFunc(text, func(s string) string {
		if r := s[0]; r == '_' || r == '&' { // marks the letter that a menu underlines
			return s[1:]
		}
		return strings.Repeat(" ", len(s))
	}))
}

// message judges a message: the finding has no kind if nothing is wrong. A message that equals its source is
// untranslated if the source is prose of its language with enough words; otherwise it may be a name, number or term
// that is the same in both.
func (o Options) message(m message, source, language string) (f finding, err error) {
	value := plain(m.value)
	same := strings.Split(source, "-")[0] != strings.Split(language, "-")[0] && m.source != "" && plain(m.source) == value
	if same && size(value) < fewest {
		return f, nil
	}
	j, err := o.Checker.Check(value, language)
	if same && err == nil && j.Verdict != guard.Right {
		own, err := o.Checker.Check(value, source)
		if err != nil || own.Verdict != guard.Right {
			return f, err
		}
		return finding{Kind: untranslated, Language: source, Risk: j.Risk, Text: m.value}, nil
	}
	for _, s := range longEnough(value, j) {
		return finding{Kind: s.Kind, Language: s.Language, Risk: s.Risk, Text: value[s.Start:s.End]}, nil
	}
	return f, err
}

// parsePO reads a gettext catalogue, without messages that are untranslated, fuzzy or obsolete.
func parsePO(file string) (m messages, err error) {
	var of map[string]*strings.Builder
	var at map[string]int
	text := func(field string) string {
		if of[field] == nil {
			return ""
		}
		return of[field].String()
	}
	field, fuzzy, offset := "", false, 0
	end := func() {
		if of == nil {
			return
		}
		if id := text("msgid"); id == "" {
			for line := range strings.Lines(text("msgstr")) {
				name, value, _ := strings.Cut(line, ":")
				switch strings.ToLower(name) {
				case "language":
					m.language = strings.TrimSpace(value)
				case "x-source-language":
					m.source = strings.TrimSpace(value)
				}
			}
		} else if !fuzzy {
			for _, field := range slices.Sorted(maps.Keys(of)) {
				if !strings.HasPrefix(field, "msgstr") || text(field) == "" {
					continue
				}
				source := id
				if more := text("msgid_plural"); more != "" && field != "msgstr[0]" {
					source = more
				}
				if !strings.ContainsAny(source, " \u3000") && len(source) > 1 { // the message's name
					source = ""
				}
				m.all = append(m.all, message{source: source, value: text(field), at: at[field]})
			}
		}
		of, at, fuzzy, field = nil, nil, false, ""
	}
	for line := range strings.Lines(file) {
		start := offset
		offset += len(line)
		bare := strings.TrimSpace(line)
		start += strings.Index(line, bare)
		switch {
		case bare == "":
			end()
			continue
		case strings.HasPrefix(bare, "#~"):
			fuzzy = fuzzy && of != nil // the obsolete message was fuzzy, not the next one
			continue
		case strings.HasPrefix(bare, "#"):
			if text("msgid") != "" || field == "msgstr" {
				end()
			}
			fuzzy = fuzzy || strings.HasPrefix(bare, "#,") && strings.Contains(bare, "fuzzy")
			continue
		}
		name, quoted := "", bare
		if !strings.HasPrefix(bare, `"`) {
			name, quoted, _ = strings.Cut(bare, " ")
			if name == "msgctxt" || name == "msgid" && field != "msgctxt" {
				end()
			}
			field = name
		}
		value, err := strconv.Unquote(strings.TrimSpace(quoted))
		if err != nil || field == "" {
			return m, &lineError{start, errors.New(`expected msgid or msgstr and a text in quotation marks`)}
		}
		if of == nil {
			of, at = map[string]*strings.Builder{}, map[string]int{}
		}
		if of[field] == nil {
			of[field] = &strings.Builder{}
			at[field] = start + strings.IndexByte(bare, '"') + 1
		} else if text(field) == "" && name == "" {
			at[field] = start + strings.IndexByte(bare, '"') + 1
		}
		of[field].WriteString(value)
	}
	end()
	return m, nil
}

// parseXLIFF reads XLIFF 1.2 or 2.0.
func parseXLIFF(text string) (m messages, err error) {
	d := xml.NewDecoder(strings.NewReader(text))
	var one message
	var to *string // the source or target that is read
	var read strings.Builder
	found := false
	for {
		start := int(d.InputOffset())
		t, err := d.Token()
		switch t := t.(type) {
		case xml.StartElement:
			key, kept := "", false
			for _, a := range t.Attr {
				switch a.Name.Local {
				case "id":
					key = a.Value
				case "translate":
					kept = a.Value == "no"
				case "srcLang", "source-language":
					m.source = cmp.Or(a.Value, m.source)
				case "trgLang", "target-language":
					m.language = cmp.Or(a.Value, m.language)
				}
			}
			found = found || t.Name.Local == "xliff"
			switch name := t.Name.Local; {
			case kept, name == "alt-trans", name == "ph", name == "bpt", name == "ept", name == "it", name == "note":
				err = d.Skip()
			case name == "trans-unit", name == "unit":
				one = message{key: key}
			case name == "segment":
				one = message{key: one.key}
			case name == "source":
				to = &one.source
				read.Reset()
			case name == "target":
				to, one.at = &one.value, int(d.InputOffset())
				read.Reset()
			}
		case xml.EndElement:
			if name := t.Name.Local; to != nil && (name == "target" || name == "source") {
				*to, to = read.String(), nil
				if name == "target" && one.value != "" {
					m.all = append(m.all, one)
				}
			}
		case xml.CharData:
			if to != nil {
				read.Write(t)
			}
		}
		if err == io.EOF && !found {
			err = errors.New("has no element xliff")
		}
		if err == io.EOF {
			return m, nil
		} else if err != nil {
			return m, &lineError{start, fmt.Errorf("not valid XML: %w", err)}
		}
	}
}

// deepest is the limit on nested messages: a file of brackets must not exhaust the stack.
const deepest = 50

// parseJSON reads messages at keys, or in lists. Keys that begin with @ describe other messages (Flutter's .arb).
func parseJSON(text string) (m messages, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value func(key string, depth int) error
	value = func(key string, depth int) error {
		if depth > deepest {
			return fmt.Errorf("nested more than %d deep", deepest)
		}
		from := int(d.InputOffset())
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case string:
			if !strings.Contains(key, ".@") {
				m.all = append(m.all, message{key: strings.TrimPrefix(key, "."), value: t,
					at: from + strings.IndexByte(text[from:], '"') + 1})
			}
		case json.Delim:
			for i := 0; d.More(); i++ {
				name := strconv.Itoa(i)
				if t == '{' {
					of, err := d.Token()
					if err != nil {
						return err
					}
					name, _ = of.(string)
				}
				if err := value(key+"."+name, depth+1); err != nil {
					return err
				}
			}
			_, err = d.Token()
		}
		return err
	}
	if err = value("", 0); err == nil {
		if _, err = d.Token(); err == nil {
			err = errors.New("found text after the end")
		} else if err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		return m, &lineError{int(d.InputOffset()), fmt.Errorf("not valid JSON: %w", err)}
	}
	return m, nil
}

// parseYAML reads messages at keys, or in lists.
func parseYAML(text string) (m messages, err error) {
	src := newSource(text)
	at := func(line, column int) int {
		return min(len(text), src.lines[min(len(src.lines), max(1, line))-1]+max(0, column-1))
	}
	limits := strictyaml.Limits{Bytes: longest, Depth: deepest, Keys: 20000, One: "catalogue"}
	root, err := strictyaml.Parse("", []byte(text), limits)
	if err != nil { // the error is ":LINE: message" or ": message"
		place, wrong, _ := strings.Cut(err.Error(), ": ")
		line, _ := strconv.Atoi(strings.TrimPrefix(place, ":"))
		return m, &lineError{at(line, 1), errors.New(wrong)}
	}
	add := func(key, value string, p *token.Position) {
		m.all = append(m.all, message{key: strings.TrimPrefix(key, "."), value: value, at: at(p.Line, p.Column)})
	}
	var walk func(key string, n ast.Node)
	walk = func(key string, n ast.Node) {
		switch n := n.(type) {
		case *ast.MappingNode:
			for _, v := range n.Values {
				walk(key+"."+v.Key.String(), v.Value)
			}
		case *ast.MappingValueNode:
			walk(key+"."+n.Key.String(), n.Value)
		case *ast.SequenceNode:
			for i, v := range n.Values {
				walk(key+"."+strconv.Itoa(i), v)
			}
		case *ast.LiteralNode:
			add(key, n.Value.Value, n.Start.Position)
		case *ast.StringNode:
			add(key, n.Value, n.GetToken().Position)
		}
	}
	walk("", root)
	return m, nil
}
