package testserver

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
)

//go:embed wire.tmpl
var wireFile string

var wire = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"json": toJSON,
		"null": func(s string) string { // null when empty
			if s == "" {
				return "null"
			}
			return toJSON(s)
		},
		"google": func(status int) int { return map[int]int{400: 3, 404: 5, 429: 8}[status] },
		"said": func(body []byte) string {
			var said struct{ Error struct{ Message string } }
			json.Unmarshal(body, &said)
			return toJSON(said.Error.Message)
		},
	}).Parse(wireFile))
})

// render is the JSON of a template in wire.tmpl.
func render(name string, v any) []byte {
	var b bytes.Buffer
	if err := wire().ExecuteTemplate(&b, name, v); err != nil {
		panic(err)
	}
	return encode(json.RawMessage(b.Bytes()))
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a template that makes no JSON
	}
	return b.Bytes()
}

func toJSON(v any) string { return strings.TrimSpace(string(encode(v))) }

// problem is an error as the providers report it. Param and Code are OpenAI's alone, and null when empty.
type problem struct {
	Status                     int    // 0: 400
	Type, Message, Param, Code string // Type "": invalid_request_error
	Body                       string // JSON of another form, instead of the protocol's
}

func badRequest(message, param, code string) *problem {
	return &problem{Message: message, Param: param, Code: code}
}

func (e *problem) status() int { return cmp.Or(e.Status, http.StatusBadRequest) }

// failed is the problem behind a status that the server draws as a fault.
func failed(p Protocol, status int) *problem {
	e := data().Failures[p][status]
	e.Status = status
	e.Type = cmp.Or(e.Type, map[Protocol]string{OpenAI: "server_error", Anthropic: "api_error"}[p])
	e.Message = cmp.Or(e.Message, http.StatusText(status))
	return &e
}

// body is the error's JSON in the protocol's form.
func (e problem) body(p Protocol, requestID string) []byte {
	e.Type = cmp.Or(e.Type, "invalid_request_error")
	switch {
	case e.Body != "":
		return encode(json.RawMessage(e.Body))
	case p == Anthropic:
		return render("error anthropic", struct {
			problem
			RequestID string
		}{e, requestID})
	}
	return render("error", e)
}

// answer is what the templates of answers show.
type answer struct {
	*query
	Choices             []choice
	Produced, Reasoning int // tokens of all choices
	Vectors             []any
}

func (a answer) ID() string { return a.Hash[:24] }
func (a answer) Total() int { return a.PromptTokens() + a.Produced }

// Completion is the number that usage gives for completion tokens.
func (a answer) Completion() int {
	if a.Profile.Outside {
		return a.Produced - a.Reasoning
	}
	return a.Produced
}

// PromptTokens counts as OpenAI's chat format does: four tokens around each message, three to start the answer.
func (q *query) PromptTokens() int {
	n := 0
	for _, p := range slices.Concat(q.Prompts, q.inputs) {
		n += len(tokens(p))
	}
	for _, m := range q.Messages {
		n += 4 + len(tokens(m.Text))
	}
	if len(q.Messages) > 0 {
		n += 3
	}
	if q.context > 0 {
		n = min(n, q.context)
	}
	return n
}

// body is the JSON of an answer in a template's form.
func (q *query) body(form string, choices ...choice) []byte {
	a := answer{query: q, Choices: choices}
	for i := range choices {
		c := &choices[i]
		a.Produced += c.Produced
		a.Reasoning += c.Reasoning
		if form == chatPath {
			q.Profile.show(c)
		}
		switch ignored := slices.Contains(q.Profile.Ignores, "logprobs"); {
		case q.logprobs < 0 || form == chatPath && ignored:
		case form == completionsPath:
			c.Logprobs = completionLogprobs(q.Hash, q.Prompts[i/q.N], *c, q.logprobs)
		default:
			c.Logprobs = chatLogprobs(q.Hash, *c, q.logprobs)
		}
	}
	return render(form, a)
}

func (s *Server) embeddings(q *query) []byte {
	a := answer{query: q}
	for _, in := range q.inputs {
		v := embed(in, q.Dimensions)
		if q.EncodingFormat != "base64" {
			a.Vectors = append(a.Vectors, v)
			continue
		}
		var raw []byte
		for _, x := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
		}
		a.Vectors = append(a.Vectors, base64.StdEncoding.EncodeToString(raw))
	}
	return render(embeddingsPath, a)
}

// models is a page of the list of models. Anthropic's has the parameters limit (default 20) and after_id.
func (s *Server) models(p Protocol, query url.Values) []byte {
	var page struct {
		Names       []string
		First, Last string
		More        bool
	}
	page.Names = s.opts.Models
	if len(page.Names) == 0 {
		page.Names = []string{"test"}
	}
	if p != Anthropic {
		return render("models", page)
	}
	page.Names = page.Names[slices.Index(page.Names, query.Get("after_id"))+1:]
	limit := number(query, "limit", 20)
	page.More = len(page.Names) > limit
	page.Names = page.Names[:min(limit, len(page.Names))]
	if len(page.Names) > 0 {
		page.First, page.Last = page.Names[0], page.Names[len(page.Names)-1]
	}
	return render("models anthropic", page)
}

func number(q url.Values, name string, otherwise int) int {
	if n, err := strconv.Atoi(q.Get(name)); err == nil {
		return n
	}
	return otherwise
}

const proxyPage = `<html>
<head><title>%[1]s</title></head>
<body>
<center><h1>%[1]s</h1></center>
<hr><center>test proxy</center>
</body>
</html>
`

func htmlPage(status int) []byte {
	return fmt.Appendf(nil, proxyPage, fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
