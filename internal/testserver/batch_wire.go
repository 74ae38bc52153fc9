package testserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

var batchRoutes = map[string]func(*batchCall){
	"POST /v1/files":                    (*batchCall).upload,
	"/v1/files/{id}":                    (*batchCall).fileInfo,
	"/v1/files/{id}/content":            (*batchCall).content,
	"POST /v1/batches":                  creator("openai"),
	"/v1/batches":                       lister("openai", "after", "limit", 20),
	"/v1/batches/{id}":                  getter("openai", "look"),
	"POST /v1/messages/batches":         creator("anthropic"),
	"/v1/messages/batches":              lister("anthropic", "after_id", "limit", 20),
	"/v1/messages/batches/{id}":         getter("anthropic", "look"),
	"/v1/messages/batches/{id}/results": func(c *batchCall) { c.results("anthropic", c.r.PathValue("id"), "") },
	"POST /v1beta/models/{call}":        creator("gemini"),
	"/v1beta/batches":                   lister("gemini", "pageToken", "pageSize", 50),
	"/v1beta/batches/{id}":              getter("gemini", "look results"),
}

// batchView holds what the templates show of a batch.
type batchView struct {
	*batch
	Answers []batchResult // Gemini: the results, if they come along
}

const jsonType = "application/json"

// getter answers for the batch that the path names, with its results if they come along.
func getter(api, call string) func(*batchCall) {
	return func(c *batchCall) {
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

// lister answers for a page of batches: those after one, and how many, are parameters of the query.
func lister(api, after, limit string, size int) func(*batchCall) {
	return func(c *batchCall) {
		q := c.r.URL.Query()
		var page struct {
			Items, Last string
			More        bool
		}
		var items []string
		batches, more := c.page(q.Get(after), number(q, limit, size))
		for _, b := range batches {
			items = append(items, string(render(api, batchView{batch: b})))
			page.Last = b.ID
		}
		page.Items, page.More = strings.Join(items, ","), more
		c.say(c.changes("list"), jsonType, render(api+" list", page))
	}
}

// results sends the results of a batch: all, those that are answers (kind "out"), or the others.
func (c *batchCall) results(api, id, kind string) {
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

// upload handles the upload of a request file, as OpenAI's API does.
func (c *batchCall) upload() {
	c.r.Body = io.NopCloser(bytes.NewReader(c.body))
	in, header, err := c.r.FormFile("file")
	if err != nil || c.r.FormValue("purpose") != "batch" {
		c.fail(badRequest("Missing required parameter: 'file' or 'purpose'.", "file", ""))
		return
	}
	f := &file{Name: header.Filename}
	f.Content, _ = io.ReadAll(in)
	c.book.do(func() {
		f.ID = fmt.Sprintf("file-%04d", len(c.book.files)+1)
		c.book.files[f.ID] = f
	})
	c.say(c.changes("upload"), jsonType, render("file", f))
}

func (c *batchCall) file(id string) (f *file) {
	c.book.do(func() { f = c.book.files[id] })
	return f
}

func (c *batchCall) fileInfo() {
	if f := c.file(c.r.PathValue("id")); f != nil {
		reply(c.w, 200, render("file", f))
		return
	}
	c.missing()
}

func (c *batchCall) content() {
	name, kind, _ := strings.Cut(c.r.PathValue("id"), ".")
	c.results("openai", name, cmp.Or(kind, "none"))
}

// batchBody is a call that makes a batch: of the lines of a file (OpenAI), or of a list (Anthropic, Gemini).
type batchBody struct {
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

// batchLine is a request in a batch of any API.
type batchLine struct {
	ID           string `json:"custom_id"`
	Method, URL  string
	Body, Params json.RawMessage // OpenAI's and Anthropic's
	Request      geminiRequest
	Metadata     struct{ Key string } // Gemini's id
}

// creator makes a batch of the requests that a call has, as an API writes them.
func creator(api string) func(*batchCall) {
	return func(c *batchCall) {
		var call batchBody
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
			c.fail(badRequest(fmt.Sprintf("Invalid requests: %v", err), "requests", ""))
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
	GenerationConfig  map[string]json.RawMessage
}

// chat is the body of the chat that the request would be.
func (r geminiRequest) chat(model string) []byte {
	var messages []Message
	if r.SystemInstruction != nil {
		messages = append(messages, Message{"system", r.SystemInstruction.Parts})
	}
	for _, t := range r.Contents {
		messages = append(messages, Message{strings.Replace(t.Role, "model", "assistant", 1), t.Parts})
	}
	chat := map[string]any{"model": model, "messages": messages}
	for theirs, ours := range map[string]string{
		"temperature": "temperature", "topP": "top_p", "maxOutputTokens": "max_tokens",
		"stopSequences": "stop", "seed": "seed",
	} {
		if v, ok := r.GenerationConfig[theirs]; ok {
			chat[ours] = v
		}
	}
	var thinking struct {
		ThinkingLevel  string
		ThinkingBudget *int
	}
	json.Unmarshal(r.GenerationConfig["thinkingConfig"], &thinking)
	switch {
	case thinking.ThinkingLevel != "":
		chat["reasoning_effort"] = thinking.ThinkingLevel
	case thinking.ThinkingBudget != nil && *thinking.ThinkingBudget == 0:
		chat["reasoning_effort"] = "none"
	}
	return encode(chat)
}
