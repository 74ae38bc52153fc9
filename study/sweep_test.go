package study

import (
	"fmt"
	"strings"
	"testing"

	"crosstalk"
)

// The last axis varies fastest, and only axes of several values name a
// condition.
func TestCross(t *testing.T) {
	extra := func(name string, values ...any) axis {
		a := axis{column: name, set: func(c *Condition, i int) { c.setExtra(name, values[i]) }}
		for _, v := range values {
			a.values = append(a.values, fmt.Sprint(v))
		}
		return a
	}
	conditions, err := cross([]axes{{extra("a", 1, 2)}, {extra("b", "x")}, {extra("c", true, false)}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range conditions {
		got = append(got, fmt.Sprint(c.Name, c.Prompting.Decoding.Extra))
	}
	want := []string{
		"map[a:1 c:true] map[a:1 b:x c:true]", "map[a:1 c:false] map[a:1 b:x c:false]",
		"map[a:2 c:true] map[a:2 b:x c:true]", "map[a:2 c:false] map[a:2 b:x c:false]",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q\nwant %q", got, want)
	}
	if _, err := cross([]axes{{extra("top_k", 1, 2, 1)}}); err == nil || err.Error() != `duplicate top-k "1"` {
		t.Errorf("%v", err)
	}
}

// Settings that go together are paired in order; a value may come twice, a pair not.
func TestZip(t *testing.T) {
	of := func(column string, values ...string) axis {
		return axis{column, values, func(c *Condition, i int) { c.setExtra(column, values[i]) }}
	}
	axes := []axis{of("model", "m", "n"), of("temperature", "0", "0", "1"), of("top_p", "1", "0.5", "1")}
	groups, err := zip(axes, [][]string{{"temperature", "top-p"}})
	if err != nil {
		t.Fatal(err)
	}
	conditions, err := cross(groups)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range conditions {
		got = append(got, c.Name["model"]+" "+c.Name["temperature"]+" "+c.Name["top_p"])
	}
	if want := "m 0 1; m 0 0.5; m 1 1; n 0 1; n 0 0.5; n 1 1"; strings.Join(got, "; ") != want {
		t.Errorf("%q, want %s", got, want)
	}
	for list, want := range map[string]string{
		"model top-p":       "zip: model has 2 values and top_p has 3; give each as many, in the order in which they go together",
		"model shots":       "zip has shots, and no values of shots are given",
		"model":             `zip has "model"; expected several settings, such as temperature,top-p`,
		"top-p model top-p": "zip has top-p twice",
	} {
		if _, err := zip(axes, [][]string{strings.Fields(list)}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", list, err, want)
		}
	}
	groups, _ = zip([]axis{of("a", "1", "1"), of("b", "2", "2")}, [][]string{{"a", "b"}})
	if _, err := cross(groups); err == nil || err.Error() != `duplicate a "1, 2"` {
		t.Errorf("%v", err)
	}
}

// A key in a parameter would be saved with the run.
func TestSecretParams(t *testing.T) {
	for param, secret := range map[string]string{
		"api_key=abc": "api_key", "key=abc": "key", "X-Api-Key=abc": "X-Api-Key", "apikey=1": "apikey", "client_secret=a": "client_secret",
		"access_token=a": "access_token", "password=a": "password", `extra={"a":[{"auth_token":"b"}]}`: "auth_token",
		"top_k=3": "", "max_tokens=4": "", "max_completion_tokens=4": "", "prompt_cache_key=a": "", "budget_tokens=3": "", "stop_token_ids=[1]": "",
		"skip_special_tokens=true": "", "add_bos_token=true": "", "keyboard=a": "", "secretary=a": "", `extra={"tokens":1}`: "", "author=a": "",
	} {
		err := (&Sweep{Params: []string{param}}).addParams(&axes{})
		if secret == "" && err != nil || secret != "" &&
			(err == nil || !strings.Contains(err.Error(), " "+secret+" is a secret") || strings.Contains(err.Error(), "abc")) {
			t.Errorf("%s: %v", param, err)
		}
	}
}

// The base URLs that tell models apart are saved without what is secret in them.
func TestSecretBaseURLs(t *testing.T) {
	s := &Sweep{Models: []string{"openai:a", "openai:a"}, BaseURLs: []string{"http://u:hunter2@h:1/v1?key=hunter2", "http://h:2/v1"}}
	a, err := s.modelAxis(crosstalk.Decoding{})
	if err != nil {
		t.Fatal(err)
	}
	c := Condition{}
	c.Name = map[string]string{}
	a.set(&c, 0)
	if c.Name["base_url"] != "http://h:1/v1" || c.baseURL != s.BaseURLs[0] || a.values[0] != "openai:a http://h:1/v1" {
		t.Errorf("%v, %q, %q", c.Name, c.baseURL, a.values)
	}
}
