package endpoint

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var problems = []struct{ name, body, quote string }{
	{"OpenAI", `{"error":{"message":"Incorrect API key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, `"Incorrect API key"`},
	{"Anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"r"}`, `"Overloaded"`},
	{"Gemini", `[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"retryDelay":"34.5s"}]}}]`, `"Quota"`},
	{"Ollama", `{"error":"model 'x' not found"}`, `"model 'x' not found"`},
	{"Mistral", `{"object":"error","message":"Invalid model: x","type":"invalid_model","code":"1500"}`, `"Invalid model: x"`},
	{"Mistral, nested", `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}}`,
		`"body seed: Extra inputs are not permitted"`},
	{"FastAPI", `{"detail":[{"loc":["body","n",0],"msg":"too large"}]}`, `"body n 0: too large"`},
	{"FastAPI, text", `{"detail":"Not Found"}`, `"Not Found"`},
	{"OpenRouter", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"bad temperature"}}}`, `"Provider returned error: bad temperature"`},
	{"page", "<!DOCTYPE html>\n<html><head><title>502 Bad\nGateway</title></head><body>x</body></html>", `an HTML page: "502 Bad Gateway"`},
	{"page with a headline", `<html><body><h1 class="a">Not <b>found</b> &amp; gone</h1><p>long</p></body></html>`, `an HTML page: "Not found & gone"`},
	{"page without", `<html><style>p{}</style><script>var a = "b"</script><body><p>Access denied</p></body></html>`, `an HTML page: "Access denied"`},
	{"text", "404 page not found\n", `"404 page not found"`},
	{"control characters", "a\x1b[31mb\x00c", `"a [31mb c"`},
	{"nothing", "  ", "with no explanation"},
	{"null", "null", `"null"`},
	{"no error", `{"error":null}`, `"{'error':null}"`},
	{"binary", "\xff\xfe\x80", `"?"`},
	{"long", strings.Repeat("ä", 1000), `"` + strings.Repeat("ä", longestQuote) + `…"`},
}

func TestReadProblem(t *testing.T) {
	e := &Endpoint{}
	for _, c := range problems {
		p := readProblem([]byte(c.body))
		if got := e.quote(p); got != c.quote {
			t.Errorf("%s: %s, want %s", c.name, got, c.quote)
		}
		if want := 34500 * time.Millisecond; c.name == "Gemini" && p.retry != want {
			t.Errorf("Gemini's wait: %v, want %v", p.retry, want)
		}
	}
}

func FuzzReadProblem(f *testing.F) {
	for _, c := range problems {
		f.Add([]byte(c.body))
	}
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"error":{"details":[7],"metadata":{"raw":1}},"detail":[null]}`))
	e := &Endpoint{secrets: secrets{"sk-0123456789"}}
	f.Fuzz(func(t *testing.T, body []byte) {
		q := e.quote(readProblem(body))
		if !utf8.ValidString(q) || utf8.RuneCountInString(q) > longestQuote+20 || strings.ContainsAny(q, "\n\r\x1b") {
			t.Fatalf("%q", q)
		}
		if strings.Contains(q, "sk-01234") {
			t.Fatalf("a part of the key is quoted: %s", q)
		}
	})
}
