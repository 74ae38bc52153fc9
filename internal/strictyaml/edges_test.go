package strictyaml

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// Kinds of values are named in plain words, and a value that is not of its kind is an error with its line.
func TestDecode(t *testing.T) {
	type inner struct {
		B int `yaml:"b"`
	}
	type outer struct {
		A inner     `yaml:"a"`
		L []string  `yaml:"l"`
		T string    `yaml:"t"`
		F float64   `yaml:"f"`
		Y bool      `yaml:"y"`
		M []float64 `yaml:"m"`
	}
	decode := func(text string, v any) error {
		n, err := Parse("f", []byte(text), limits)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		return Decode("f", n, v, yaml.Strict())
	}
	var v outer
	if err := decode("a: {b: 1}\nl: [x, y]\nt: z\nf: 0.5\ny: true\nm: [1, 2.5]\n", &v); err != nil ||
		fmt.Sprintf("%+v", v) != "{A:{B:1} L:[x y] T:z F:0.5 Y:true M:[1 2.5]}" {
		t.Errorf("%+v, %v", v, err)
	}
	if err := decode("# nothing\n", &v); err != nil || v.T != "z" {
		t.Errorf("%+v, %v", v, err)
	}
	long := strings.Repeat("ü", 199)
	for text, want := range map[string]string{
		"t: 1\na: x":          "f:2: expected a map, found text",
		"t: 1\na:\n  b: x":    "f:3: expected a whole number, found text",
		"a: [1]":              "f:1: expected a map, found a list",
		"l: {a: 1}":           "f:1: expected a list, found a map",
		"l: x":                "f:1: expected a list, found text",
		"\nf: x":              "f:2: expected a number, found text",
		"y: 1":                "f:1: expected true or false, found a whole number",
		"m: [1, x]":           "f:1: expected a number, found text",
		"t: {}":               "f:1: expected text, found a map",
		"c: 1":                `f:1: unknown field "c"`,
		"a\x1b: 1":            `f:1: unknown field "a␛"`,
		long + ": 1":          `f:1: unknown field "` + long[:2*(200-len(`unknown field "`))] + "...",
		long[:2*184] + ": 1":  `f:1: unknown field "` + long[:2*184] + `"`,
		long[:2*185] + "a: 1": `f:1: unknown field "` + long[:2*185] + "...",
	} {
		if err := decode(text, &outer{}); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
	if err := Error("f", errors.New("broken")); err.Error() != "f: broken" {
		t.Error(err)
	}
	var broken error
	func() {
		defer recoverPanic("f", &broken)
		panic("a damaged file")
	}()
	if broken == nil || broken.Error() != "f: is not valid YAML" {
		t.Error(broken)
	}
}

// What is just deep or long enough is read, and what is one more is refused.
func TestLimits(t *testing.T) {
	l := Limits{Bytes: 3000, Depth: 3, Keys: 2, One: "list"}
	for text, want := range map[string]string{
		"a: [[[1]]]":                  "",
		"a: [[[[1]]]]":                "f:1: is nested too deeply",
		"a: {b: {c: {d: 1}}}":         "",
		"a: {b: {c: {d: {e: 1}}}}":    "f:1: is nested too deeply",
		"a: [[[1]], [[2]], {b: [3]}]": "",
		"- - - a":                     "",
		"- - - - a":                   "f:1: is nested too deeply",
		"- - - a\n- - - b":            "",
		"? ? ? ? a":                   "f:1: is nested too deeply",
		"a:\n" + strings.Repeat(" ", 60) + "b: 1": "",
		"a:\n" + strings.Repeat(" ", 61) + "b: 1": "f:2: is nested too deeply",
		"a: 1\nb: 2":            "",
		"a: 1\nb: 2\nc: 3":      "f:3: a map has too many keys",
		"a: {b: 1, c: 2}":       "",
		"a: {b: 1, c: 2, d: 3}": "f:1: a map has too many keys",
		"a: [{b: 1, c: 2}, {b: 1, c: 2}, {d: 3}]\nb: 3":  "",
		"a: {b: {c: 1, d: 2}, e: 1}":                     "",
		"a: {b: {c: 1, d: 2}, e: 1, f: 2}":               "f:1: a map has too many keys",
		"- a: 1\n  b: 2\n- a: 1\n  b: 2\n":               "",
		"- a: 1\n  b: 2\n  c: 3\n":                       "f:3: a map has too many keys",
		"a:\n  b:\n    c: 1\n    d: 2\n  e:\n    c: 1\n": "",
		"a:\n  b:\n    c: 1\n  d: 1\n  e: 2\n":           "f:5: a map has too many keys",
		"a:\n  b: 1\n  c: 2\nd:\n  b: 1\n  c: 2\n":       "",
		"a: 1\n]":                     "f:2: unexpected closing bracket",
		"a: [1]]":                     "f:1: unexpected closing bracket",
		"a: 1\n-\n-\n":                "f:2: an entry is empty",
		"-\n  - a\n- b\n":             "",
		strings.Repeat("[\n", 300):    "f:4: is nested too deeply",
		strings.Repeat("[\n", 301):    "f:301: is nested too deeply",
		strings.Repeat("{ \t\r", 301): "f:1: is nested too deeply",
		"# " + strings.Repeat("[", 300) + "\n# [[[": "",
		"# " + strings.Repeat("[", 301):             "f:1: is nested too deeply",
		"# " + strings.Repeat("[ x", 400):           "",
		"# " + strings.Repeat("x", 2998):            "",
		"# " + strings.Repeat("x", 2999):            "f: is larger than 0 MiB",
		"# only\n--- # comments\n# here":            "",
		"a: 1\n%YAML 1.2":                           "f:2: directives are not supported: leave the line out",
		"a: \xff":                                   "f:1: is not valid UTF-8: save the file as UTF-8",
	} {
		_, err := Parse("f", []byte(text), l)
		if got := fmt.Sprint(err); got != want && !(err == nil && want == "") {
			t.Errorf("%.60q: %s; want %s", text, got, want)
		}
	}
}
