package table

import (
	"reflect"
	"testing"
	"unicode/utf8"
)

// FuzzFlat compares what is read without encoding/json with what is read with it.
func FuzzFlat(f *testing.F) {
	for _, text := range []string{`{}`, `{"a":"b"}`, ` { "a" : "b" , "c" : -1.5e3 } `, `{"a":"\u00e9\"\\"}`, `{"a":"\ud800"}`, `{"a":"x\qy"}`, `{"a":01}`, `{"a":1.}`, `{"a":+1}`, `{"a":-}`,
		`{"a":true}`, `{"a":null}`, `{"a":["x"]}`, `{"a":{"b":1}}`, `{"a":"1","a":"2"}`, `{"a":"1"}x`, `{"a":"1"} {}`, `{"a":"1",}`, `{"a"}`, `{"a":`, `{"a":"`, `{"a":"\`, "{\"a\":\"\t\"}", `{"\u0061":"x"}`,
		`{"a":"é 世"}`, `["a"]`, `"a"`, ``, `{"":""}`, `{"a":1 2}`, `{"a":"b" "c":"d"}`, "{\"a\":1\u00a0}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !utf8.Valid(text) {
			return
		}
		got := newRow("a.jsonl", 1)
		if !got.flat(text) {
			return
		}
		want, err := parseAny("a.jsonl", 1, text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v, %v", text, got, want, err)
		}
	})
}

// Plain rows are read without encoding/json.
func TestFlat(t *testing.T) {
	for _, text := range []string{`{"id":"p1","language":"de","prompt":"Größe \"x\""}`, `{"id": "p1", "n": -1.5e3}`, `{"a":0,"b":9}`} {
		if row := newRow("a.jsonl", 1); !row.flat([]byte(text)) {
			t.Error(text)
		}
	}
}
