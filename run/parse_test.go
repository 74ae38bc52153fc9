package run

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"crosstalk"
	"crosstalk/internal/jsonscan"
)

// FuzzParse compares the parser with encoding/json.
func FuzzParse(f *testing.F) {
	full := crosstalk.Observation{Measure: "lpr", Item: "a/é\"\\", Cluster: "c\n\t\u2028", Sample: 3, Variant: "v\\",
		Value: 0.5, NotScored: "empty", Implied: true,
		Condition: map[string]string{"model": "m", "temperature": "0"}, Labels: map[string]string{"language": "de", "x": "\"\\\""}, Numbers: map[string]float64{"n": -1e-9, "m": 1e21},
		Finding: "line", Spans: []crosstalk.Span{{Line: 1, Text: "]}\"\\"}, {}},
		Masked: []crosstalk.Span{{Side: "answer", Line: 2, Start: 3, End: 4, Language: "de", Probability: 0.1, Score: -1e-9,
			Reason: "number"}}, Tokens: []crosstalk.Token{{Text: "t", Entropy: crosstalk.Undefined}},
		Answers: []crosstalk.Key{{1, 2, 254}, {}}}
	full.AddText(crosstalk.Side, "answer", "two \"words\"\\\nand 世 \xff more")
	undefined := crosstalk.Observation{Value: crosstalk.Undefined}
	for _, o := range []crosstalk.Observation{full, undefined, {}} {
		text, err := encode(nil, &o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
		f.Add(string(text[:len(text)-1]) + `,"place":[2,17]}`)
	}
	for _, text := range []string{`{}`, ``, `null`, `[]`, `{"measure":"a"}x`, ` {"measure" : "a"} `, `{"Measure":"a"}`, `{"measure":"a","measure":"b"}`, `{"labels":{"a":"b"},"labels":{"c":"d"}}`,
		`{"labels":null}`, `{"labels":{"a":null}}`, `{"labels":{"a":"b","a":"c"}}`, `{"place":[1]}`, `{"place":[1,2,3]}`, `{"sample":01}`, `{"sample":1.0}`, `{"value":1e999}`, `{"value":0x1}`, `{"value":-}`,
		`{"implied":false}`, `{"numbers":{"a":1_0}}`, `{"texts":[{"name":"a","name":"b"}]}`, `{"texts":[{}]}`, `{"texts":[]}`, `{"answers":["00"]}`, `{"spans":[{"line":1}],"spans":[{}]}`, `{"item":"\ud800"}`,
		"{\"item\":\"\xff\"}", `{"item":"a`, `{"item":"\`, `{"spans":["]`, `{"spans":[]}`, `{"masked":[{"line":1,"line":2}]}`, `{"masked":[{"probability":1e39}]}`, `{"masked":null}`, `{"unknown":[1,{"a":"}"}]}`,
		`{"unknown":}`, `{"unknown":,"item":"a"}`, `{"implied":}`, `{"implied":,"item":"a"}`, `{"implied":false,"item":"a"}`, `{"texts":[{"other":}]}`, `{"texts":[{"other":,"name":"a"}]}`,
		`{"texts":[{"other":1,"name":"a"}]}`, `{"answers":["0g00000000000000000000000000000000000000000000000000000000000000"]}`, `{"place":[1,2],"place":[3,4]}`, `{"place":null}`, `{"tokens":[{"text":1}]}`, `{"tokens":[{}],"tokens":[]}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want line
		wantErr := json.Unmarshal([]byte(text), &want)
		p := newParser()
		for range 2 {
			got, err := p.parse([]byte(text))
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("error %v, encoding/json %v", err, wantErr)
			}
			if err != nil {
				continue
			}
			if got.Value.Defined() != want.Value.Defined() {
				t.Fatalf("%v, encoding/json %v", got.Value, want.Value)
			}
			w := want
			if !got.Value.Defined() { // NaN is unlike itself
				got.Value, w.Value = 0, 0
			}
			same(t, got, w)
		}
	})
}

// What is left out of observations is passed over, whatever it contains.
func TestParseWithout(t *testing.T) {
	t.Parallel()
	o := crosstalk.Observation{Measure: "lpr", Item: "a", Value: 0.5, Condition: map[string]string{"model": "m"},
		Labels:  map[string]string{"language": "de"},
		Numbers: map[string]float64{"n": 2}, Finding: "line",
		Spans: []crosstalk.Span{{Line: 1, Text: "]}\"\\"}, {}}, Masked: []crosstalk.Span{{Side: "answer"}},
		Tokens: []crosstalk.Token{{Text: "t"}}, Answers: []crosstalk.Key{{1}}}
	o.AddText(crosstalk.Side, "answer", "two \"words\"\\\\\nand [{ more \\")
	text, err := encode(nil, &o)
	if err != nil {
		t.Fatal(err)
	}
	want := o
	want.Spans, want.Masked, want.Tokens, want.Answers = nil, nil, nil, nil
	for _, texts := range [][]string{{"answer"}, {"other"}, nil} {
		want.Texts = o.Texts[:1]
		if !slices.Contains(texts, "answer") {
			want.Texts = nil
		}
		p := ofValues(texts)
		got, err := p.parse(text)
		if err != nil || !p.OK {
			t.Errorf("left to encoding/json %v, error %v", !p.OK, err)
		}
		same(t, got, line{Observation: want})
		// encoding/json leaves out the same.
		got, err = p.parse(append(text[:len(text)-1:len(text)-1], `,"unknown":1}`...))
		if want.Texts == nil {
			want.Texts = []crosstalk.NamedText{}
		}
		if err != nil || p.OK {
			t.Errorf("left to encoding/json %v, error %v", !p.OK, err)
		}
		same(t, got, line{Observation: want})
		if _, err := p.parse(text[:len(text)-2]); err == nil {
			t.Error("a line that is cut is no error")
		}
	}
}

func same(t *testing.T, got, want line) {
	t.Helper()
	for _, l := range []*line{&got, &want} {
		for i := range l.Tokens {
			if !l.Tokens[i].Entropy.Defined() {
				l.Tokens[i].Entropy = -1
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n%+v, encoding/json\n%+v", got, want)
	}
}

// What Recorder writes is never left to encoding/json: no field of an observation,
// nor of what it has lists of.
func TestParseIsQuick(t *testing.T) {
	o := crosstalk.Observation{Measure: "lpr", Item: "a/é\"", Cluster: "c\n", Variant: "v", Value: crosstalk.Undefined,
		NotScored: "empty", Implied: true, Finding: "line",
		Condition: map[string]string{"model": "m"}, Labels: map[string]string{"language": "de"}, Numbers: map[string]float64{"n": -1e-9},
		Spans: []crosstalk.Span{{Side: "answer", Line: 1, Start: 2, End: 3, Text: "]}", Language: "de", Probability: 0.5,
			Score: 0.25, Reason: "number"}},
		Masked: []crosstalk.Span{{Line: 1}}, Tokens: []crosstalk.Token{{Text: "t"}}, Answers: []crosstalk.Key{{1}}, Sample: 1}
	o.AddText(crosstalk.Side, "answer", "two \"words\"\\\nand 世\u2028 more")
	for _, of := range []any{o, o.Spans[0]} {
		for v, i := reflect.ValueOf(of), 0; i < v.NumField(); i++ {
			if v.Field(i).IsZero() {
				t.Errorf("%T.%s is not tested", of, v.Type().Field(i).Name)
			}
		}
	}
	text, err := encode(nil, &o)
	if err != nil {
		t.Fatal(err)
	}
	p := newParser()
	p.Scanner = jsonscan.New(append(text[:len(text)-1], `,"place":[2,17]}`...))
	var l line
	if p.line(&l); !p.OK || len(p.Rest) > 0 || l.Texts[0].Text != o.Texts[0].Text || *l.Place != [2]int{2, 17} {
		t.Errorf("%v, left %q", p.OK, p.Rest)
	}
}
