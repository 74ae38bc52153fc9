package jsonscan

import (
	"encoding/json"
	"reflect"
	"testing"
)

// record is read by both.
type record struct {
	Text  string            `json:"text"`
	N     int               `json:"n"`
	X     float64           `json:"x"`
	Map   map[string]string `json:"map"`
	List  []float64         `json:"list"`
	Other json.RawMessage   `json:"other"`
}

// scan reads a record, and reports whether it was left to encoding/json.
func scan(text []byte) (r record, ok bool) {
	s := New(text)
	s.Distinct(func(name []byte) int {
		switch string(name) {
		case "text":
			r.Text = s.Text()
			return 1
		case "n":
			r.N = s.Int()
			return 2
		case "x":
			r.X = s.Float()
			return 4
		case "map":
			r.Map = map[string]string{}
			s.Fields(func(name []byte) { r.Map[string(name)] = s.Text() })
			return 8
		case "list":
			r.List = []float64{}
			s.Elements(func() { r.List = append(r.List, s.Float()) })
			return 16
		case "other":
			r.Other = s.Raw()
			return 32
		}
		s.Fail()
		return 0
	})
	return r, s.Done()
}

// What is read without encoding/json is what that reads.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{``, `{`, `{}`, ` { } `, `[]`, `{"text":"a"}`, `{"text":"a"}x`, `{"text":"a",}`, `{"text"}`, `{"text":`,
		`{"text":"\"\\\\"}`, `{"text":"\u00e9\ud800"}`, `{"text":"a\`, "{\"text\":\"a\nb\"}", "{\"text\":\"\xff\"}", `{"te\u0078t":"a"}`,
		`{"n":01}`, `{"n":-0}`, `{"n":1.0}`, `{"n":999999999999999}`, `{"n":9999999999999999}`, `{"n":99999999999999999999}`, `{"n":}`,
		`{"x":1.}`, `{"x":+1}`, `{"x":1e999}`, `{"x":-1.5e-3}`, `{"x":0x1}`, `{"x":1 2}`, `{"x":123456789012345}`, `{"x":1a}`,
		`{"map":{"a":"b","c":""}}`, `{"map":{}}`, `{"map":{"a":1}}`, `{"map":{"a":"b"`, `{"map":{"a":"b",}}`,
		`{"list":[]}`, `{"list":[1,2 , 3]}`, `{"list":[1,]}`, `{"list":[1}`, `{"list":["a"]}`,
		`{"other":{"a":["]}\"",{}]},"n":3}`, `{"other":[[],"\\"]}`, `{"other":[}`, `{"other":"a"}`, `{"other":`, `{"other":["`,
		`{"n":1,"n":2}`, `{"map":{"a":"b"},"map":{"c":"d"}}`, "\t{\r\n\"n\" :\t1 ,\"x\": 2 }\n", "{\"n\":1}\u00a0", `{"what":1}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := scan(text)
		if !ok {
			return
		}
		var want record
		err := json.Unmarshal(text, &want)
		if got.Other != nil && !json.Valid(got.Other) {
			return // Raw takes it as it is
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v, %v", text, got, want, err)
		}
	})
}

// What programs write is never left to encoding/json.
func TestQuick(t *testing.T) {
	for _, text := range []string{`{}`, `{"text":"Größe \"x\"\n","n":-3,"x":1.5e-9,"map":{"a":"b","c":"d"},"list":[1,0.5],"other":{"a":["]}"]}}`,
		` { "n" : 12 , "list" : [ ] } `, `{"n":999999999999999,"x":0}`, `{"map":{},"other":[]}`} {
		if _, ok := scan([]byte(text)); !ok {
			t.Error(text)
		}
	}
	s := New([]byte(`"a\"b" "c`))
	if got := string(s.Quoted()); got != `"a\"b"` || !s.OK || s.At('c') || !s.At('"') || s.Next('x') || !s.Next('"') || !s.Next('c') {
		t.Errorf("%s, left %q", got, s.Rest)
	}
	if s.Done() != true {
		t.Error("not done")
	}
	if s.Want('x'); s.OK || s.Done() {
		t.Error("what is not there was taken")
	}
}
