package testserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Batches specifies how the batch APIs behave. The zero value ends a batch at once, with an answer to every request.
type Batches struct {
	Delay time.Duration // from the creation of a batch to its end
	// Late is the time from its request to the creation of a batch, which is answered even if the client has gone away.
	Late time.Duration
	// Expire and Fail are the probabilities that a request expires, and that it fails; drawn once per batch.
	Expire, Fail float64
	// Most, if positive, is the number of requests above which OpenAI's API cancels a batch as too large.
	Most   int
	Refuse string // why every batch is cancelled, except at Anthropic; "": none is
	// Results names a fault of replies.yaml, which Faulty calls show (0: all until [Server.Heal]).
	Results    string
	Faulty     int
	NoMetadata bool // forgets the metadata of batches
	Page       int  // the most batches on a page of a list; 0: as many as requested
}

// Heal ends the fault in Batches.Results.
func (s *Server) Heal() { s.healed.Store(true) }

type batch struct {
	ID            string
	Created, ends time.Time
	Problem       string // why the batch was cancelled
	Full          bool   // cancelled because it is too large
	Input         string // OpenAI: the file of requests
	Path          string // OpenAI
	Tag           string // OpenAI: the metadata; Gemini: the display name
	Results       []batchResult
}

type batchResult struct {
	ID     string
	Status int    // 0: expired
	Body   []byte // the answer or the error, in the format of the API
}

type file struct {
	ID, Name string
	Content  []byte
}

// SetDown makes the server close every new connection without an answer, or answer again if down is false.
func (s *Server) SetDown(down bool) { s.down.Store(down) }

func (c *exchange) missing() { c.fail(said("no object", c.r.URL.Path)) }

type batchAsk struct {
	id   string
	path string
	body []byte
	form string // the template of an answer; "": path
}

// start creates a batch, answers its requests, and returns it when the API would.
func (c *exchange) start(b *batch, asks []batchAsk) *batch {
	o := c.opts.Batches
	c.book.do(func(k *book) {
		k.stats.Creates++
		b.ID = fmt.Sprintf("batch_%04d", k.stats.Creates)
	})
	time.Sleep(o.Late) // even if the client goes away
	b.Created = time.Now().UTC()
	b.ends = b.Created
	if o.Most > 0 && len(asks) > o.Most && b.Input != "" {
		b.Problem = fmt.Sprintf("Enqueued token limit reached: %d requests, limit %d.", len(asks), o.Most)
		b.Full = true
	} else if c.protocol != Anthropic {
		b.Problem = o.Refuse
	}
	if b.Problem == "" {
		b.ends = b.Created.Add(o.Delay)
		for i, a := range slices.Backward(asks) { // in any order
			u := uniform(c.opts.Seed, "batch", fmt.Sprint(b.ID, a.id), i)
			r := batchResult{ID: a.id}
			switch {
			case u < o.Expire:
			case u < o.Expire+o.Fail:
				r.Status, r.Body = 500, failed(c.protocol, 500).body(c.protocol)
			default:
				r.Status, r.Body = c.one(a)
			}
			b.Results = append(b.Results, r)
		}
	}
	c.book.do(func(k *book) {
		k.batches = append(k.batches, b)
		if b.Problem == "" {
			k.stats.Batches++
		}
		for _, r := range b.Results {
			if r.Status == 200 {
				k.stats.Paid[r.ID]++
			}
		}
	})
	return b
}

func (c *exchange) one(a batchAsk) (status int, body []byte) {
	r := c.r.Clone(c.r.Context())
	r.Method, r.URL.Path = http.MethodPost, a.path
	x := c.exchange(nil, r, a.body)
	q, p := x.parse()
	if p != nil {
		return p.status(), p.body(x.protocol)
	}
	outcome := c.opts.fate(x.hash, 1).outcome
	if a.form != "" {
		return 200, q.body(a.form, x.choose(q, outcome))
	}
	return 200, x.answer(q, 1, outcome)
}

func (c *exchange) find(id string) (found *batch) {
	c.book.do(func(*book) {
		if i := slices.IndexFunc(c.book.batches, func(b *batch) bool { return b.ID == id }); i >= 0 {
			found = c.book.batches[i]
		}
	})
	return found
}

// Ended reports whether a batch is answered or cancelled.
func (b *batch) Ended() bool { return !time.Now().Before(b.ends) }

// Done reports whether the batch is answered.
func (b *batch) Done() bool { return b.Problem == "" && b.Ended() }

func (b *batch) Unanswered() int { return len(b.Results) - b.Count(200, 200) }

// Count returns the number of results with a status from low to high.
func (b *batch) Count(low, high int) (n int) {
	for _, r := range b.Results {
		if low <= r.Status && r.Status <= high {
			n++
		}
	}
	return n
}

var batchRoutes = map[string]func(*exchange){
	"POST /v1/files": (*exchange).upload,
	"/v1/files/{id}": func(c *exchange) {
		if f := c.file(c.r.PathValue("id")); f != nil {
			c.say(nil, jsonType, render("file", f))
			return
		}
		c.missing()
	},
	"/v1/files/{id}/content": func(c *exchange) {
		name, kind, _ := strings.Cut(c.r.PathValue("id"), ".")
		c.results("openai", name, cmp.Or(kind, "none"))
	},
	"POST /v1/batches":                  creator("openai"),
	"/v1/batches":                       lister("openai", "after", "limit", 20),
	"/v1/batches/{id}":                  getter("openai", "look"),
	"POST /v1/messages/batches":         creator("anthropic"),
	"/v1/messages/batches":              lister("anthropic", "after_id", "limit", 20),
	"/v1/messages/batches/{id}":         getter("anthropic", "look"),
	"/v1/messages/batches/{id}/results": func(c *exchange) { c.results("anthropic", c.r.PathValue("id"), "") },
	"POST /v1beta/models/{call}":        creator("gemini"),
	"/v1beta/batches":                   lister("gemini", "pageToken", "pageSize", 50),
	"/v1beta/batches/{id}":              getter("gemini", "look results"),
}

type batchView struct {
	*batch
	Answers []batchResult // Gemini: the results, if included
}

const jsonType = "application/json"

func getter(api, call string) func(*exchange) {
	return func(c *exchange) {
		b := c.find(c.r.PathValue("id"))
		if b == nil {
			c.missing()
			return
		}
		var changes []change
		if b.Ended() {
			changes = c.changes(call)
		}
		c.say(changes, jsonType, render(api, batchView{b, show(changes, b.Results)}))
	}
}

// lister answers with a page of batches, the newest first. after and limit name the query's parameters for the batch
// before the page and for its size.
func lister(api, after, limit string, size int) func(*exchange) {
	return func(c *exchange) {
		q := c.r.URL.Query()
		most := number(q, limit, size)
		most = min(most, cmp.Or(c.opts.Batches.Page, most))
		var items []string
		last := ""
		c.book.do(func(k *book) {
			at := slices.IndexFunc(k.batches, func(b *batch) bool { return b.ID == q.Get(after) })
			if at < 0 {
				at = len(k.batches)
			}
			for ; at > 0 && len(items) < most; at-- {
				items = append(items, string(render(api, batchView{batch: k.batches[at-1]})))
				last = k.batches[at-1].ID
			}
			most = at // that are left
		})
		page := map[string]any{"Items": strings.Join(items, ","), "Last": last, "More": most > 0}
		c.say(c.changes("list"), jsonType, render(api+" list", page))
	}
}

// results sends results of a batch: all of them, only answers (kind "out"), or only the others.
func (c *exchange) results(api, id, kind string) {
	b := c.find(id)
	if b == nil || !b.Ended() {
		c.missing()
		return
	}
	of := slices.DeleteFunc(slices.Clone(b.Results), func(r batchResult) bool {
		return kind != "" && (r.Status == 200) != (kind == "out")
	})
	changes := c.changes("results")
	var lines []byte
	for _, r := range show(changes, of) {
		lines = append(lines, render(api+" result", r)...)
	}
	c.say(changes, "application/binary", lines)
}

func (c *exchange) upload() {
	c.r.Body = io.NopCloser(bytes.NewReader(c.body))
	in, header, err := c.r.FormFile("file")
	if err != nil || c.r.FormValue("purpose") != "batch" {
		c.fail(said("no file"))
		return
	}
	f := &file{Name: header.Filename}
	f.Content, _ = io.ReadAll(in)
	c.book.do(func(*book) {
		f.ID = fmt.Sprintf("file-%04d", len(c.book.files)+1)
		c.book.files[f.ID] = f
	})
	c.say(c.changes("upload"), jsonType, render("file", f))
}

func (c *exchange) file(id string) (f *file) {
	c.book.do(func(*book) { f = c.book.files[id] })
	return f
}

type batchLine struct {
	ID           string `json:"custom_id"`
	Method, URL  string
	Body, Params json.RawMessage // OpenAI's and Anthropic's
	Request      geminiRequest
	Metadata     struct{ Key string } // Gemini's id
}

func creator(api string) func(*exchange) {
	return func(c *exchange) {
		var call struct { // a call that makes a batch: of the lines of a file, or of a list
			Input    string            `json:"input_file_id"`
			Endpoint string            `json:"endpoint"`
			Window   string            `json:"completion_window"`
			Metadata map[string]string `json:"metadata"`
			Requests []batchLine       `json:"requests"`
			Batch    struct {
				DisplayName string
				InputConfig struct {
					Requests struct{ Requests []batchLine }
				}
			}
		}
		err := json.Unmarshal(c.body, &call)
		lines := append(call.Requests, call.Batch.InputConfig.Requests.Requests...)
		if f := c.file(call.Input); f != nil && call.Window == "24h" {
			for rest := json.NewDecoder(bytes.NewReader(f.Content)); rest.More() && err == nil; {
				var line batchLine
				err = rest.Decode(&line)
				lines = append(lines, line)
			}
		}
		b := &batch{Input: call.Input, Path: call.Endpoint, Tag: call.Batch.DisplayName}
		if !c.opts.Batches.NoMetadata {
			b.Tag = cmp.Or(b.Tag, call.Metadata["crosstalk"])
		}
		var asks []batchAsk
		for _, l := range lines {
			a := batchAsk{id: cmp.Or(l.ID, l.Metadata.Key), path: l.URL, body: l.Body}
			switch api {
			case "anthropic":
				a.path, a.body = messagesPath, l.Params
			case "gemini":
				model := strings.TrimSuffix(c.r.PathValue("call"), ":batchGenerateContent")
				a.path, a.body, a.form = chatPath, l.Request.chat(model), "gemini answer"
			}
			if a.id == "" || len(a.id) > 64 || l.URL != call.Endpoint {
				err = fmt.Errorf("custom_id %q, url %q: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'", a.id, l.URL)
			}
			asks = append(asks, a)
		}
		if err != nil || len(asks) == 0 || api == "gemini" && b.Tag == "" {
			c.fail(said("no batch", err))
			return
		}
		c.say(c.changes("create"), jsonType, render(api, batchView{batch: c.start(b, asks)}))
	}
}

type geminiTurn struct {
	Role  string
	Parts text
}

type geminiRequest struct {
	SystemInstruction *geminiTurn
	Contents          []geminiTurn
	GenerationConfig  params
}

var chatNames = map[string]string{"topP": "top_p", "maxOutputTokens": "max_tokens", "stopSequences": "stop"}

func (r geminiRequest) chat(model string) []byte {
	var messages []Message
	if r.SystemInstruction != nil {
		messages = append(messages, Message{"system", r.SystemInstruction.Parts})
	}
	for _, t := range r.Contents {
		messages = append(messages, Message{strings.Replace(t.Role, "model", "assistant", 1), t.Parts})
	}
	chat := map[string]any{"model": model, "messages": messages}
	for name, value := range r.GenerationConfig {
		chat[cmp.Or(chatNames[name], name)] = value
	}
	delete(chat, "thinkingConfig")
	var thinking struct {
		ThinkingLevel  string
		ThinkingBudget *int
	}
	json.Unmarshal(r.GenerationConfig["thinkingConfig"], &thinking)
	if thinking.ThinkingLevel != "" {
		chat["reasoning_effort"] = thinking.ThinkingLevel
	} else if budget := thinking.ThinkingBudget; budget != nil && *budget == 0 {
		chat["reasoning_effort"] = "none"
	}
	return encode(chat)
}
