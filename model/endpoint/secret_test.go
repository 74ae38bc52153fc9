package endpoint

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestHide(t *testing.T) {
	base, _ := url.Parse("https://u:p%40ssword-1@host/v1?api-version=2024-10-21&api_key=queryKEY99")
	for _, c := range []struct{ name, key, text, want string }{
		{"whole", "sk-0123456789abcdef", "key sk-0123456789abcdef!", "key [key]!"},
		{"start, as OpenAI masks it", "sk-0123456789abcdef", "key sk-01234*******cdef", "key [key]*******cdef"},
		{"end of eight", "sk-0123456789abcdef", "...89abcdef", "...[key]"},
		{"seven stay", "sk-0123456789abcdef", "...9abcdef", "...9abcdef"},
		{"twice", "sk-0123456789abcdef", "sk-0123456789abcdefsk-0123456789abcdef", "[key][key]"},
		{"short, as a word", "abc", "abc abcd (abc) x-abc", "[key] abcd ([key]) x-[key]"},
		{"password", "", "u:p@ssword-1", "u:[key]"},
		{"query", "", "GET ?api_key=queryKEY99&api-version=2024-10-21", "GET ?api_key=[key]&api-version=2024-10-21"},
		{"no key", "", "nothing", "nothing"},
	} {
		if got := newSecrets(c.key, base).hide(c.text); got != c.want {
			t.Errorf("%s: hide(%q) = %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func TestHideInAnswer(t *testing.T) {
	none, _ := url.Parse("http://h/v1")
	for _, c := range []struct{ name, key, text, want string }{
		{"whole", "sk-0123456789abcdef", "key sk-0123456789abcdef!", "key [key]!"},
		{"sixteen", "sk-0123456789abcdef", "sk-0123456789abc", "[key]"},
		{"a part that may stand there by chance", "sk-0123456789abcdef", "0123456789", "0123456789"},
		{"whole, short", "sk-123456", "key sk-123456", "key [key]"},
		{"placeholder", "something", "or something", "or something"},
		{"short placeholder", "none", "none", "none"},
		{"long letters", "abcdefghijklmnopqrst", "abcdefghijklmnopqrst", "[key]"},
	} {
		if got := string(newSecrets(c.key, none).hideInAnswer([]byte(c.text))); got != c.want {
			t.Errorf("%s: hideInAnswer(%q) = %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("xxabcabcabxcabcabcabcx", "abcabcabc", byte(8))
	f.Add("a0123456789012345678b", "0123456789", byte(2))
	f.Add("01234560123456701234567", "01234567", byte(8))
	f.Fuzz(func(t *testing.T, text, secret string, n byte) {
		least := int(n)
		if least < 2 || len(secret) < least || len(secret) > 64 || strings.Contains(hidden, secret[:1]) {
			t.Skip()
		}
		got := string(cut([]byte(text), secret, least))
		for _, part := range strings.Split(got, hidden) {
			for i := 0; i+least <= len(part); i++ {
				if strings.Contains(secret, part[i:i+least]) {
					t.Fatalf("cut(%q, %q, %d) = %q still holds %q", text, secret, least, got, part[i:i+least])
				}
			}
		}
		holds := false
		for i := 0; i+least <= len(text); i++ {
			holds = holds || strings.Contains(secret, text[i:i+least])
		}
		if !holds && got != text {
			t.Fatalf("cut(%q, %q, %d) = %q, and there was nothing to hide", text, secret, least, got)
		}
	})
}

func TestHideInJSON(t *testing.T) {
	none, _ := url.Parse("http://h/v1")
	s := newSecrets("ab+cd/ef+gh/01", none)
	all := ""
	for _, r := range "ab+cd/ef+gh/01" {
		all += fmt.Sprintf(`\u%04X`, r)
	}
	for text, want := range map[string]string{
		`{"a":"ab+cd/ef+gh/01"}`:                    `{"a":"[key]"}`,
		`{"a":"ab\u002Bcd\/ef\u002bgh\/01 \u003c"}`: `{"a":"[key] <"}`,
		`{"a":"` + all + `"}`:                       `{"a":"[key]"}`,
		`{"a":"\u003cp\u003e \/ \u0022 \u005c"}`:    `{"a":"\u003cp\u003e \/ \u0022 \u005c"}`, // nothing to hide: as it came
		`{"a":"ab\u002bcd\/ef\u002bgh\/01\u0022"}`:  `{"a":"[key]\u0022"}`,
		`{"a":"ab+cd/ef+gh/01","b":"\\\\u002b\/"}`:  `{"a":"[key]","b":"\\\\u002b\/"}`,
	} {
		if got := string(s.hideInJSON([]byte(text))); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// What is sent in a base URL is as secret as a key, in the form in which it is
// sent too.
func TestSecretsOfBaseURL(t *testing.T) {
	base, err := url.Parse("http://user:password-1@h/v1?code=code-123456&subscription-key=subscription-1&api-version=2024-02-01-preview")
	if err != nil {
		t.Fatal(err)
	}
	s := newSecrets("", base)
	for text, want := range map[string]string{
		"password-1":                       "[key]",
		"Basic dXNlcjpwYXNzd29yZC0x":       "Basic [key]", // printf user:password-1 | base64
		"code-123456 and subscription-1":   "[key] and [key]",
		"the version 2024-02-01-preview":   "the version 2024-02-01-preview",
		"a code, a password, subscription": "a code, a password, subscription",
	} {
		if got := string(s.hideInAnswer([]byte(text))); got != want {
			t.Errorf("%q becomes %q; want %q", text, got, want)
		}
	}
}
