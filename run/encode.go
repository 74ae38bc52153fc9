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
)

// encode appends an observation as encoding/json writes it without HTML escapes. A run writes one for each answer
// and measure; this takes less than half the time that encoding/json takes, which spends most of it on maps.
func encode(b []byte, o *crosstalk.Observation) ([]byte, error) {
	if len(o.Spans)+len(o.Masked)+len(o.Tokens) > 0 { // few have them
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
	names := make([]string, 0, 16) // as many as most have, on the stack
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
		if n := len(b); b[n-4] == 'e' && b[n-2] == '0' { // e-09 is e-9
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
			if r < ' ' || r == utf8.RuneError || r == '\u2028' || r == '\u2029' { // few have them
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
