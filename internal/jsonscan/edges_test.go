package jsonscan

import (
	"fmt"
	"strings"
	"testing"
)

// What is read, and what is left to encoding/json, of texts at the edges of both.
func TestEdges(t *testing.T) {
	const left = "left"
	read := func(text string, f func(*Scanner) any) string {
		s := New([]byte(text))
		v := f(&s)
		if !s.OK {
			if s.Rest != nil || s.Done() {
				t.Errorf("%q: %q is left of what failed", text, s.Rest)
			}
			return left
		}
		return fmt.Sprintf("%v|%s", v, s.Rest)
	}
	texts := func(bytes []byte) any { return string(bytes) }
	for name, c := range map[string]struct {
		f    func(*Scanner) any
		want map[string]string
	}{
		"Plain": {func(s *Scanner) any { return texts(s.Plain()) }, map[string]string{
			`"a"`: "a|", `""x`: "|x", ` "a b" `: "a b| ", `"a`: left, `a"`: left, ``: left, `"a\n"`: left, "\"\x1f\"": left, "\"\x20\x7f\"": " \x7f|", "\"\x80\"": left, `"é"`: left}},
		"Text": {func(s *Scanner) any { return s.Text() }, map[string]string{
			`"a"b`: "a|b", `"é"`: "é|", `"\u00e9\n"`: "é\n|", "\"\xff\"": "\ufffd|", "\"\x1f\"": left, `"\x"`: left, `"`: left, `x`: left, "\"\x20\"": " |", `"\ud800"`: "\ufffd|"}},
		"Quoted": {func(s *Scanner) any { return texts(s.Quoted()) }, map[string]string{
			`"a"b`: `"a"|b`, `"\""`: `"\""|`, `"\\"x"`: `"\\"|x"`, `"\\\""x`: `"\\\""|x`, `"\"`: left, `"a`: left, `"\\\\\"`: left, `""`: `""|`, "\t\"a\"": `"a"|`, `7`: left}},
		"Raw": {func(s *Scanner) any { return texts(s.Raw()) }, map[string]string{
			` {"a":"}"}x`: `{"a":"}"}|x`, `[[],{}]]`: "[[],{}]|]", `{"a":"`: left, `{`: left, `}`: left, `"a"`: left, `7`: left, `[7`: left, ``: left, `["\"]"]`: `["\"]"]|`, "\n[]": "[]|", `x[]`: left}},
		"Number": {func(s *Scanner) any { return texts(s.Number()) }, map[string]string{
			`1,2`: "1|,2", ` -1.5e3}`: "-1.5e3|}", `7]`: "7|]", "8 9": "8| 9", "x!y\t": "x!y|\t", ``: "|", `12`: "12|"}},
		"Float": {func(s *Scanner) any { return s.Float() }, map[string]string{
			`0`: "0|", `00`: left, `07`: left, `-0.5,`: "-0.5|,", `999999999999999`: "9.99999999999999e+14|", `9999999999999999`: "1e+16|", `1e400`: left, `1.`: left, `+1`: left,
			`.5`: left, `NaN`: left, `Inf`: left, `0x10`: left, `1_0`: left, ``: left, `-`: left, `1a`: left, `:`: left, `/`: left, `10`: "10|", `9`: "9|"}},
		"Int": {func(s *Scanner) any { return s.Int() }, map[string]string{
			`0`: "0|", `-7]`: "-7|]", `999999999999999`: "999999999999999|", `1234567890123456`: "1234567890123456|", `9223372036854775807`: "9223372036854775807|", `9223372036854775808`: left,
			`1.0`: left, `1e3`: left, `01`: left, `+1`: left, ``: left, `a`: left, `-0`: "0|", `19`: "19|"}},
		"Elements": {func(s *Scanner) any {
			sum := 0
			s.Elements(func() { sum = 10*sum + s.Int() })
			return sum
		}, map[string]string{`[]x`: "0|x", ` [ 1 , 2 ] `: "12| ", `[1,]`: left, `[1 2]`: left, `[`: left, `[1`: left, `{1}`: left, `[1}`: left, `[,1]`: left, `[1,2,3]`: "123|"}},
		"Fields": {func(s *Scanner) any {
			var b strings.Builder
			s.Fields(func(name []byte) { fmt.Fprintf(&b, "%s=%d ", name, s.Int()) })
			return b.String()
		}, map[string]string{`{}x`: "|x", `{"a":1}`: "a=1 |", ` { "a" : 1 , "a" : 2 } `: "a=1 a=2 | ", `{"a":1,}`: left, `{"a"}`: left, `{"a":}`: left, `{"a" 1}`: left, `{a:1}`: left,
			`[`: left, `{"a":1`: left, `{"a":1]`: left, `{"a":1 "b":2}`: left, `{"\u0061":1}`: left}},
		"Distinct": {func(s *Scanner) any {
			n := 0
			s.Distinct(func(name []byte) int {
				n += s.Int()
				return map[string]int{"a": 1, "b": 2, "c": 4}[string(name)]
			})
			return n
		}, map[string]string{`{"a":1,"b":2,"c":3}`: "6|", `{"a":1,"a":2}`: left, `{"c":1,"b":1,"c":1}`: left, `{"x":1,"y":2,"x":3}`: "6|"}},
		"Next": {func(s *Scanner) any {
			return []bool{s.At('a'), s.Next('b'), s.Next('a'), s.At('b'), s.Done()}
		}, map[string]string{
			"a": "[true false true false true]|", "\t\r\n ab": "[true false true true false]|b", "": "[false false false false true]|",
			"\va": "[false false false false false]|\va", "ba": "[false true true false true]|"}},
	} {
		for text, want := range c.want {
			if got := read(text, c.f); got != want {
				t.Errorf("%s of %q: %q, want %q", name, text, got, want)
			}
		}
	}
}

// Each text is either read, as encoding/json reads it, or left to that.
func TestLeft(t *testing.T) {
	for text, want := range map[string]bool{``: false, `{`: false, `{}`: true, ` { } `: true, `[]`: false, `{"text":"a"}x`: false, `{"text":"a",}`: false,
		`{"text":"\"\\\\"}`: true, `{"te\u0078t":"a"}`: false, `{"n":-0}`: true, `{"n":9999999999999999}`: true, `{"n":99999999999999999999}`: false, `{"n":}`: false,
		`{"x":-1.5e-3}`: true, `{"x":1 2}`: false, `{"map":{"a":"b","c":""}}`: true, `{"map":{"a":1}}`: false, `{"list":[1,2 , 3]}`: true, `{"other":{"a":["]}\"",{}]},"n":3}`: true,
		`{"other":"a"}`: false, `{"n":1,"n":2}`: false, "\t{\r\n\"n\" :\t1 ,\"x\": 2 }\n": true, "{\"n\":1}\u00a0": false, `{"what":1}`: false} {
		if _, ok := scan([]byte(text)); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}
