package testserver

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"unicode"

	"crosstalk"

	"gonum.org/v1/gonum/floats"
)

//go:embed wire.tmpl
var wireFile string

var wire = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"json":  toJSON,
		"embed": embed,
		"null": func(s string) string { // null when empty
			if s == "" {
				return "null"
			}
			return toJSON(s)
		},
		"last":   func(i int, names []string) bool { return i == len(names)-1 },
		"google": func(status int) int { return map[int]int{400: 3, 404: 5, 429: 8}[status] },
		"said": func(body []byte) string {
			var e struct{ Error struct{ Message string } }
			json.Unmarshal(body, &e)
			return toJSON(e.Error.Message)
		},
	}).Parse(wireFile))
})

func render(name string, v any) []byte {
	var b bytes.Buffer
	if err := wire().ExecuteTemplate(&b, name, v); err != nil {
		panic(err)
	}
	return encode(json.RawMessage(b.Bytes()))
}

func encode(v any) []byte { return append(crosstalk.Canonical(v), '\n') }

func toJSON(v any) string { return string(crosstalk.Canonical(v)) }

// problem is an error in the providers' format. Only OpenAI has Param and Code, which are null when empty.
type problem struct {
	Status                     int    // 0: 400
	Type, Message, Param, Code string // Type "": invalid_request_error
	Body                       string // JSON in another form, in place of the protocol's
}

func said(name string, about ...any) *problem {
	e := data().Problems[name]
	if len(about) > 0 {
		e.Message = fmt.Sprintf(e.Message, about...)
	}
	return &e
}

func (e *problem) status() int { return cmp.Or(e.Status, http.StatusBadRequest) }

func failed(p Protocol, status int) *problem {
	e := data().Failures[p][status]
	e.Status = status
	e.Type = cmp.Or(e.Type, map[Protocol]string{OpenAI: "server_error", Anthropic: "api_error"}[p])
	e.Message = cmp.Or(e.Message, http.StatusText(status))
	return &e
}

func (e problem) body(p Protocol) []byte {
	e.Type = cmp.Or(e.Type, "invalid_request_error")
	switch {
	case e.Body != "":
		return encode(json.RawMessage(e.Body))
	case p == Anthropic:
		return render("error anthropic", e)
	}
	return render("error", e)
}

type answer struct {
	*query
	choice
}

func (a answer) ID() string { return a.Hash[:24] }
func (a answer) Total() int { return a.PromptTokens() + a.Produced }

// PromptTokens counts tokens like OpenAI's chat format: four around each message, three to start the answer.
func (q *query) PromptTokens() int {
	n := 0
	for _, m := range q.Messages {
		n += 4 + len(tokens(string(m.Text)))
	}
	if len(q.Messages) > 0 {
		n += 3
	} else {
		for _, text := range append(q.Input.Texts, q.Prompt) {
			n += len(tokens(text))
		}
	}
	if q.context > 0 {
		n = min(n, q.context)
	}
	return n
}

func (q *query) body(form string, c choice) []byte {
	if form == chatPath {
		q.Profile.show(&c)
	}
	if q.TopN >= 0 && !(form == chatPath && slices.Contains(q.Profile.Ignores, "logprobs")) {
		c.Logprobs = &logprobs{c.Refusal != "", []tokenLogprob{}}
		list := c.tokens
		if c.Logprobs.Refused {
			list = tokens(c.Refusal)
		}
		for i, t := range list {
			c.Logprobs.Tokens = append(c.Logprobs.Tokens, distribution(q.Hash+"0", i, t, q.TopN))
		}
	}
	return render(form, answer{query: q, choice: c})
}

func number(q url.Values, name string, otherwise int) int {
	if n, err := strconv.Atoi(q.Get(name)); err == nil {
		return n
	}
	return otherwise
}

func htmlPage(status int) []byte {
	const page = "<html>\n<head><title>%d %s</title></head>\n<body>test proxy</body>\n</html>\n"
	return fmt.Appendf(nil, page, status, http.StatusText(status))
}

type tokenLogprob struct {
	Token   string         `json:"token"`
	Logprob float64        `json:"logprob"`
	Bytes   []int          `json:"bytes"`
	Top     []tokenLogprob `json:"top_logprobs,omitzero"` // nil in an entry of Top
}

func newTokenLogprob(token string, probability float64) tokenLogprob {
	l := tokenLogprob{token, math.Log(probability), make([]int, len(token)), nil}
	for i := range l.Bytes {
		l.Bytes[i] = int(token[i])
	}
	return l
}

// distribution describes position i of a text: the sampled token and, in Top, the k likeliest, in order. The sampled
// token is mostly the likeliest, sometimes the second. Probabilities fall geometrically, and their sum is below 1.
func distribution(hash string, i int, token string, k int) tokenLogprob {
	u := func(purpose string) float64 { return uniform(0, purpose, hash, i) }
	rank := 0
	if u("rank") < 0.125 {
		rank = 1
	}
	first := 0.3 + 0.65*u("first")
	p := func(rank int) float64 { return first * math.Pow(1-first, float64(rank)) }
	words := strings.Fields(strings.Join(data().Openings, " "))
	at := int(u("words") * float64(len(words)))
	seen := []string{token}
	sampled := newTokenLogprob(token, p(rank))
	sampled.Top = []tokenLogprob{}
	for r := range k {
		t := token
		for r != rank && slices.Contains(seen, t) {
			t = " " + words[at%len(words)]
			at++
		}
		seen = append(seen, t)
		sampled.Top = append(sampled.Top, newTokenLogprob(t, p(r)))
	}
	return sampled
}

type logprobs struct {
	Refused bool
	Tokens  []tokenLogprob
}

// Continue is the default [Options.Answer]: a short English continuation, chosen by a hash of model, messages or
// prompt, and seed. At temperature 0 the seed does not matter, as for a model that always samples its likeliest
// token.
func Continue(r Request) Reply {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n%s\n", r.Model, r.Messages, r.Prompt)
	if r.Temperature == nil || *r.Temperature > 0 {
		if r.Seed != nil {
			fmt.Fprintf(h, "seed %d ", *r.Seed)
		}
		fmt.Fprint(h, "sample 0")
	}
	sum := h.Sum(nil)
	pick := func(i int, list []string) string { return list[int(sum[i])%len(list)] }
	return Reply{Text: pick(0, data().Openings) + pick(1, data().Closings)}
}

// embed returns the vector of a text: the normalised sum of a pseudo-random vector per word, so similar texts are
// close.
func embed(s string, dimensions int) []float64 {
	v := make([]float64, dimensions)
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	words := strings.FieldsFunc(strings.ToLower(s), between)
	for _, w := range append(words, "\x00") { // no text may have a zero vector
		for i := range v {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", w, i-i%4))
			v[i] += float64(int64(binary.BigEndian.Uint64(sum[8*(i%4):]))) / (1 << 63)
		}
	}
	floats.Scale(1/floats.Norm(v, 2), v)
	return v
}

var token = regexp.MustCompile(`(?s) ?[\pL\p{Nd}]{1,6}|.`)

// tokens splits a text into pieces: an optional space and up to six letters or digits, or another character.
func tokens(s string) []string { return token.FindAllString(s, -1) }

type choice struct {
	Reply
	Stopped  string // the stop sequence that ended the text, or ""
	tokens   []string
	Produced int // completion tokens, including reasoning

	// In the format that the API shows.
	Content  any // of a chat message: the text, or nil
	Shown    string
	Logprobs *logprobs
}

// Thought returns the model's reasoning.
func (c choice) Thought() string {
	const thought = "The user wants one short answer, and I should think of what fits before I give it. "
	words := tokens(strings.Repeat(thought, c.Reasoning/10+1))
	return strings.Join(words[:min(c.Reasoning, len(words))], "")
}

// Spoken returns the number of completion tokens without reasoning.
func (c choice) Spoken() int { return c.Produced - c.Reasoning }

// choose asks for a reply and shapes it by the request's limits and the outcome.
func (s *Server) choose(q *query, o Fault) choice {
	r := q.Request
	c := choice{Reply: s.opts.Answer(r)}
	if c.Reasoning == 0 && q.Profile.thinks(q.params) {
		c.Reasoning = min(thoughtTokens, cmp.Or(r.MaxTokens, thoughtTokens))
	}
	switch o {
	case "empty":
		c.Reply = Reply{}
	case "thinking":
		c.Reply = Reply{Finish: "length", Reasoning: cmp.Or(r.MaxTokens, 4096)}
	case "refusal":
		c.Reply = Reply{Refusal: "I'm sorry, but I can't help with that."}
	case "filtered":
		half := tokens(c.Text)
		c.Reply = Reply{Text: strings.Join(half[:len(half)/2], ""), Finish: "content_filter"}
	}
	for _, seq := range q.StopSequences {
		if before, _, found := strings.Cut(c.Text, seq); found && seq != "" {
			c.Text, c.Stopped = before, seq
		}
	}
	c.tokens = tokens(c.Text)
	if most := max(r.MaxTokens-c.Reasoning, 0); r.MaxTokens > 0 && len(c.tokens) > most {
		c.tokens = c.tokens[:most]
		c.Text, c.Finish, c.Stopped = strings.Join(c.tokens, ""), "length", ""
	}
	c.Finish = cmp.Or(c.Finish, "stop")
	c.Produced = len(c.tokens) + len(tokens(c.Refusal)) + c.Reasoning
	return c
}
