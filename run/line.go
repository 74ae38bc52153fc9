package run

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/jsonscan"
)

// encode appends an observation in the format of encoding/json without HTML escapes. A run writes one for each answer
// and measure; this takes less than half the time of encoding/json, which spends most of it on maps.
func encode(b []byte, o *crosstalk.Observation) ([]byte, error) {
	if len(o.Spans)+len(o.Masked)+len(o.Tokens) > 0 { // few observations have these
		return appendOther(b, o)
	}
	start := b
	b = appendString(append(b, `{"measure":`...), o.Measure)
	b = appendString(append(b, `,"item":`...), o.Item)
	b = appendString(append(b, `,"cluster":`...), o.Cluster)
	b = strconv.AppendInt(append(b, `,"sample":`...), int64(o.Sample), 10)
	if o.Variant != "" {
		b = appendString(append(b, `,"variant":`...), o.Variant)
	}
	b = append(b, `,"value":`...)
	if o.Value.Defined() {
		b = appendFloat(b, float64(o.Value))
	} else {
		b = append(b, "null"...)
	}
	if o.NotScored != "" {
		b = appendString(append(b, `,"not_scored":`...), o.NotScored)
	}
	if o.Implied {
		b = append(b, `,"implied":true`...)
	}
	b = append(b, `,"condition":`...)
	if o.Condition == nil {
		b = append(b, "null"...)
	} else {
		b = appendMap(b, o.Condition, appendString)
	}
	if len(o.Labels) > 0 {
		b = appendMap(append(b, `,"labels":`...), o.Labels, appendString)
	}
	if len(o.Numbers) > 0 {
		for _, v := range o.Numbers {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return appendOther(start, o) // for its error
			}
		}
		b = appendMap(append(b, `,"numbers":`...), o.Numbers, appendFloat)
	}
	for i, t := range o.Texts {
		b = append(b, opening(i, `,"texts":[`)...)
		b = appendString(append(b, `{"name":`...), t.Name)
		b = appendString(append(b, `,"role":`...), string(t.Role))
		b = append(appendString(append(b, `,"text":`...), t.Text), '}')
	}
	if len(o.Texts) > 0 {
		b = append(b, ']')
	}
	if o.Finding != "" {
		b = appendString(append(b, `,"finding":`...), o.Finding)
	}
	for i, k := range o.Answers {
		b = append(b, opening(i, `,"answers":[`)...)
		b = append(hex.AppendEncode(append(b, '"'), k[:]), '"')
	}
	if len(o.Answers) > 0 {
		b = append(b, ']')
	}
	return append(b, '}'), nil
}

func opening(i int, first string) string {
	if i == 0 {
		return first
	}
	return ","
}

func appendOther(b []byte, v any) ([]byte, error) {
	buffer := bytes.NewBuffer(b)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

func appendMap[V any](b []byte, m map[string]V, value func([]byte, V) []byte) []byte {
	names := make([]string, 0, 16) // enough for most observations, on the stack
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = value(append(appendString(b, name), ':'), m[name])
	}
	return append(b, '}')
}

// appendFloat appends a finite number.
func appendFloat(b []byte, f float64) []byte {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		b = strconv.AppendFloat(b, f, 'e', -1, 64)
		if n := len(b); b[n-4] == 'e' && b[n-2] == '0' { // write e-09 as e-9
			b = append(b[:n-2], b[n-1])
		}
		return b
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

func appendString(b []byte, s string) []byte {
	start := len(b)
	b = append(b, '"')
	done := 0
	for i, r := range s {
		if r >= ' ' && r < utf8.RuneSelf && r != '"' && r != '\\' {
			continue
		}
		escaped := byte(r)
		switch r {
		case '"', '\\':
		case '\n':
			escaped = 'n'
		case '\r':
			escaped = 'r'
		case '\t':
			escaped = 't'
		default:
			if r < ' ' || r == utf8.RuneError || r == '\u2028' || r == '\u2029' { // few texts have these
				b, _ = appendOther(b[:start], s)
				return b
			}
			continue
		}
		b = append(append(b, s[done:i]...), '\\', escaped)
		done = i + 1
	}
	return append(append(b, s[done:]...), '"')
}

type line struct {
	crosstalk.Observation
	Place  *[2]int `json:"place"` // only in a shard
	offset int64   // of the line in the file
}

// parser reads lines like encoding/json, but several times as fast if Recorder wrote them.
type parser struct {
	jsonscan.Scanner // of the line

	known  map[string]map[string]string // conditions and labels of earlier lines, by their text: few are distinct
	values bool                         // keep none of the details but texts
	texts  []string                     // names of the texts to keep
}

func newParser() *parser { return &parser{known: map[string]map[string]string{}} }

// ofValues returns a parser that drops the details of observations except these texts.
func ofValues(texts []string) *parser {
	p := newParser()
	p.values, p.texts = true, texts
	return p
}

// mostMaps limits the number of distinct maps kept.
const mostMaps = 1 << 12

func (p *parser) parse(text []byte) (l line, err error) {
	p.Scanner = jsonscan.New(text)
	if p.line(&l); p.Done() {
		return l, nil
	}
	l = line{}
	err = json.Unmarshal(text, &l)
	if p.values {
		l.Spans, l.Masked, l.Tokens, l.Answers = nil, nil, nil, nil
		l.Texts = slices.DeleteFunc(l.Texts, func(t crosstalk.NamedText) bool { return !slices.Contains(p.texts, t.Name) })
	}
	return l, err
}

func (p *parser) columns() map[string]string {
	text := p.Rest
	raw := p.Raw()
	if !p.OK {
		return nil
	}
	if m, found := p.known[string(raw)]; found {
		return m
	}
	after := p.Rest
	p.Rest = text
	m := map[string]string{}
	p.Fields(func(name []byte) { m[string(name)] = p.Text() })
	if !p.OK || len(p.Rest) != len(after) {
		p.Fail()
		return nil
	}
	if len(p.known) < mostMaps {
		p.known[string(raw)] = m
	}
	return m
}

func (p *parser) line(l *line) {
	p.Distinct(func(name []byte) int { return p.field(l, string(name)) })
}

// field reads the value of a field, and returns the field's bit.
func (p *parser) field(l *line, name string) int {
	o := &l.Observation
	switch name {
	case "measure":
		return p.set(&o.Measure, 1)
	case "item":
		return p.set(&o.Item, 1<<1)
	case "cluster":
		return p.set(&o.Cluster, 1<<2)
	case "sample":
		o.Sample = p.Int()
		return 1 << 3
	case "variant":
		return p.set(&o.Variant, 1<<4)
	case "value":
		if bytes.HasPrefix(p.Rest, []byte("null")) {
			p.Rest, o.Value = p.Rest[4:], crosstalk.Undefined
		} else {
			o.Value = crosstalk.Value(p.Float())
		}
		return 1 << 5
	case "not_scored":
		return p.set(&o.NotScored, 1<<6)
	case "implied":
		if !bytes.HasPrefix(p.Rest, []byte("true")) {
			p.Fail()
			return 0
		}
		p.Rest, o.Implied = p.Rest[4:], true
		return 1 << 7
	case "condition":
		o.Condition = p.columns()
		return 1 << 8
	case "labels":
		o.Labels = p.columns()
		return 1 << 9
	case "numbers":
		o.Numbers = map[string]float64{}
		p.Fields(func(name []byte) { o.Numbers[string(name)] = p.Float() })
		return 1 << 10
	case "texts":
		if !p.values {
			o.Texts = []crosstalk.NamedText{}
		} else if len(p.texts) == 0 {
			p.Raw()
			return 1 << 11
		}
		p.Elements(func() {
			if t := p.named(); !p.values || slices.Contains(p.texts, t.Name) {
				o.Texts = append(o.Texts, t)
			}
		})
		return 1 << 11
	case "finding":
		return p.set(&o.Finding, 1<<12)
	case "spans":
		o.Spans = p.spans()
		return 1 << 13
	case "tokens":
		if raw := p.Raw(); !p.values && json.Unmarshal(raw, &o.Tokens) != nil {
			p.Fail()
		}
		return 1 << 14
	case "answers":
		if p.values {
			p.Raw()
			return 1 << 15
		}
		o.Answers = []crosstalk.Key{}
		p.Elements(func() {
			var key crosstalk.Key
			text := p.Plain()
			if len(text) != 2*len(key) {
				p.Fail()
			} else if _, err := hex.Decode(key[:], text); err != nil {
				p.Fail()
			}
			o.Answers = append(o.Answers, key)
		})
		return 1 << 15
	case "place":
		l.Place = new([2]int)
		p.Want('[')
		l.Place[0] = p.Int()
		p.Want(',')
		l.Place[1] = p.Int()
		p.Want(']')
		return 1 << 16
	case "masked":
		o.Masked = p.spans()
		return 1 << 17
	}
	p.Fail()
	return 0
}

func (p *parser) set(to *string, bit int) int {
	*to = p.Text()
	return bit
}

// spans reads a list of spans, which few observations have.
func (p *parser) spans() (spans []crosstalk.Span) {
	if raw := p.Raw(); !p.values && json.Unmarshal(raw, &spans) != nil {
		p.Fail()
	}
	return spans
}

func (p *parser) named() (t crosstalk.NamedText) {
	p.Distinct(func(name []byte) int {
		switch string(name) {
		case "name":
			t.Name = p.Text()
			return 1
		case "role":
			t.Role = crosstalk.Role(p.Text())
			return 2
		case "text":
			if p.values && t.Name != "" && !slices.Contains(p.texts, t.Name) {
				p.Quoted()
			} else {
				t.Text = p.Text()
			}
			return 4
		}
		p.Fail()
		return 0
	})
	return t
}
