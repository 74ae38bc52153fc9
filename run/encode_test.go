package run

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"crosstalk"
)

// Texts are written as encoding/json writes them, with escapes at any place.
func TestStrings(t *testing.T) {
	parts := []string{"", "a", `"`, `\\`, "\n", "\r", "\t", "\x00", "\x1f", "\x7f", "é", "世", "<&>", "\xff", "\ufffd",
		"\u2028", "\u2029", "\u202a", "\b", "\f", " "}
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				text := a + "x" + b + c
				want, err := appendOther(nil, text)
				if got := appendString([]byte("before"), text); err != nil || string(got) != "before"+string(want) {
					t.Fatalf("%q: %s, want %s", text, got, want)
				}
			}
		}
	}
}

// FuzzEncode compares encode with encoding/json.
func FuzzEncode(f *testing.F) {
	f.Add("lpr", "a\"\\\b\f\n\r\t\x00\x1f\x7f<&>", "\xff\u2028x\u2029é\ufffd世", 0.5, -1e-9, 3, byte(0))
	f.Add("", "", "", math.NaN(), 1e21, -1, byte(255))
	f.Add("wpr", "b", "c", math.Inf(1), -1.5e-7, 1<<40, byte(0b10101))
	f.Add("x", "y", "z", math.Copysign(0, -1), 1e300, 0, byte(0b01010))
	f.Add("lpr", "y", "z", 1.0, 2.0, 7, byte(0b1000000))
	f.Add("lpr", "y", "z", 1.0, 2.0, 7, byte(0b10000000))
	f.Fuzz(func(t *testing.T, a, b, c string, x, y float64, n int, has byte) {
		o := crosstalk.Observation{Measure: a, Item: b, Cluster: c, Sample: n, Value: crosstalk.Value(x)}
		if has&1 != 0 {
			o.Variant, o.NotScored, o.Implied, o.Finding = c, a, true, b
		}
		if has&2 != 0 {
			o.Condition, o.Labels = map[string]string{a: b, b: c, "m": a}, map[string]string{c: a}
		}
		if has&4 != 0 {
			o.Numbers = map[string]float64{a: y, c: 1, "n": float64(n)}
		}
		if has&8 != 0 {
			o.AddText(crosstalk.Side, a, c)
			o.AddText(crosstalk.Fact, b, a)
			o.Answers = []crosstalk.Key{{1, 2, 254}, {}}
		}
		if has&16 != 0 {
			o.Spans = []crosstalk.Span{{Line: n, Text: a}}
		}
		if has&32 != 0 {
			o.Tokens = []crosstalk.Token{{Text: b}}
		}
		if has&64 != 0 {
			o.Masked = []crosstalk.Span{{Line: n, Start: 1, End: n, Reason: b}, {Reason: "x"}}
		}
		if has&128 != 0 {
			o.Masked = []crosstalk.Span{{Line: n, Text: a, Reason: "x"}}
		}
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		wantErr := encoder.Encode(&o)
		got, err := encode([]byte("before"), &o)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("error %v, encoding/json %v", err, wantErr)
		}
		if err == nil && string(got)+"\n" != "before"+want.String() {
			t.Errorf("\n%s, encoding/json\n%s", got, want.String())
		}
	})
}
