package cluster

import (
	"strings"
	"testing"
)

// Secrets are refused without a word of them, wherever they are, and variables and plain settings are not.
func TestCheckSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, c := range []struct {
		command, headers, params []string
		keyVar, want             string
	}{
		{command: []string{"run", "leakage", "--base-url", "https://host/v1?version=2"}, headers: []string{"X-Key=$KEY"},
			params: []string{"top_k=3", `options={"num_ctx":4096}`}, keyVar: "OPENAI_API_KEY"},
		{},
		{headers: []string{"X-A=$A", "X-B=" + secret}, want: "--header after -- has a value: "},
		{headers: []string{"X-B"}, want: "--header after -- has a value: "},
		{params: []string{"a=1", "api_key=" + secret}, want: "--param after --: api_key is a secret: "},
		{params: []string{`extra={"password":"` + secret + `"}`}, want: "--param after --: password is a secret: "},
		{keyVar: "sk-" + secret, want: "--key-var after -- is not a name: "},
		{keyVar: secret + ".a", want: "--key-var after -- is not a name: "},
		{command: []string{"--base-url", "https://host/?a=1&api_key=" + secret}, want: "a URL after -- has a password or a key: "},
		{command: []string{"https://host/?token=" + secret}, want: "a URL after -- has a password or a key: "},
		{command: []string{"https://me:" + secret + "@host/", "after"}, want: "a URL after -- has a password or a key: "},
	} {
		err := CheckSecrets(c.command, c.headers, c.params, c.keyVar)
		if (err == nil) != (c.want == "") ||
			err != nil && (!strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), secret)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
