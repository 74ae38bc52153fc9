package run

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"

	"crosstalk"
	"crosstalk/internal/jsonscan"
)

type line struct {
	crosstalk.Observation
	Place  *[2]int `json:"place"` // only of a shard
	offset int64   // of the line in the file
}

// parser reads lines as encoding/json does, several times as quickly where they are as Recorder writes them.
type parser struct {
	jsonscan.Scanner // of the line

	known  map[string]map[string]string // conditions and labels of earlier lines, by their text: few differ
	values bool                         // of details, only these texts are kept
	texts  []string                     // names
}

func newParser() *parser { return &parser{known: map[string]map[string]string{}} }

// ofValues returns a parser of observations that have no details but these texts.
func ofValues(texts []string) *parser {
	p := newParser()
	p.values, p.texts = true, texts
	return p
}

// mostMaps is how many different maps are kept.
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
