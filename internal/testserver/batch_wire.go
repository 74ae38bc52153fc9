package testserver

import (
	"bufio"
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
	"POST /v1/batches":                  (*batchCall).openAICreate,
	"/v1/batches":                       lister("openai", "after", "limit", 20),
	"/v1/batches/{id}":                  getter("openai", "look"),
	"POST /v1/messages/batches":         (*batchCall).anthropicCreate,
	"/v1/messages/batches":              lister("anthropic", "after_id", "limit", 20),
	"/v1/messages/batches/{id}":         getter("anthropic", "look"),
	"/v1/messages/batches/{id}/results": func(c *batchCall) { c.results("anthropic", c.r.PathValue("id"), "") },
	"POST /v1beta/models/{call}":        (*batchCall).geminiCreate,
	"/v1beta/batches":                   lister("gemini", "pageToken", "pageSize", 50),
	"/v1beta/batches/{id}":              getter("gemini", "look results"),
}

// batchView holds what the templates show of a batch.
type batchView struct {
	*batch
	Answers []batchResult // Gemini: the results, if they come along
}

const jsonType = "application/json"

func (c *batchCall) created(api string, b *batch) {
	c.say(c.changes("create"), jsonType, render(api, batchView{batch: b}))
}

// look answers for the batch that the path names, with its results if they come along.
func (c *batchCall) look(api, call string) {
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

// getter answers for one batch.
func getter(api, call string) func(*batchCall) { return func(c *batchCall) { c.look(api, call) } }

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

// OpenAI

func (c *batchCall) upload() {
	c.r.Body = io.NopCloser(bytes.NewReader(c.body))
	in, header, err := c.r.FormFile("file")
	if err != nil || c.r.FormValue("purpose") != "batch" {
		c.fail(badRequest("Missing required parameter: 'file' or 'purpose'.", "file", ""))
		return
	}
	content, _ := io.ReadAll(in)
	c.book.mu.Lock()
	f := &file{fmt.Sprintf("file-%04d", len(c.book.files)+1), header.Filename, content}
	c.book.files[f.ID] = f
	c.book.mu.Unlock()
	c.say(c.changes("upload"), jsonType, render("file", f))
}

func (c *batchCall) file(id string) *file {
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	return c.book.files[id]
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

func (c *batchCall) openAICreate() {
	var call struct {
		Input    string            `json:"input_file_id"`
		Endpoint string            `json:"endpoint"`
		Window   string            `json:"completion_window"`
		Metadata map[string]string `json:"metadata"`
	}
	f := (*file)(nil)
	if json.Unmarshal(c.body, &call) == nil {
		f = c.file(call.Input)
	}
	if f == nil || call.Window != "24h" {
		c.fail(badRequest("Invalid 'input_file_id' or 'completion_window'.", "input_file_id", ""))
		return
	}
	b := &batch{Input: call.Input, Path: call.Endpoint}
	if !c.opts.Batches.NoMetadata {
		b.Tag = call.Metadata["crosstalk"]
	}
	var asks []batchAsk
	lines := bufio.NewScanner(bytes.NewReader(f.Content))
	lines.Buffer(nil, maxBody)
	for lines.Scan() {
		var line struct {
			ID     string `json:"custom_id"`
			Method string
			URL    string
			Body   json.RawMessage
		}
		err := json.Unmarshal(lines.Bytes(), &line)
		if err != nil || line.URL != call.Endpoint || line.Method != "POST" || line.ID == "" {
			c.fail(badRequest("This line is not parseable as valid JSON, or its URL is another.", "input_file_id", ""))
			return
		}
		asks = append(asks, batchAsk{id: line.ID, path: line.URL, body: line.Body})
	}
	c.created("openai", c.start(b, asks))
}

// Anthropic

func (c *batchCall) anthropicCreate() {
	var call struct {
		Requests []struct {
			ID     string          `json:"custom_id"`
			Params json.RawMessage `json:"params"`
		} `json:"requests"`
	}
	if json.Unmarshal(c.body, &call) != nil || len(call.Requests) == 0 {
		c.fail(badRequest("requests: Field required", "", ""))
		return
	}
	var asks []batchAsk
	for _, r := range call.Requests {
		if len(r.ID) == 0 || len(r.ID) > 64 {
			c.fail(badRequest("requests.0.custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'", "", ""))
			return
		}
		asks = append(asks, batchAsk{id: r.ID, path: messagesPath, body: r.Params})
	}
	c.created("anthropic", c.start(&batch{}, asks))
}

// Gemini

type geminiTurn struct {
	Role  string
	Parts []struct{ Text string }
}

func (t geminiTurn) message() map[string]string {
	text := ""
	for _, p := range t.Parts {
		text += p.Text
	}
	role := cmp.Or(map[string]string{"user": "user", "model": "assistant"}[t.Role], "system")
	return map[string]string{"role": role, "content": text}
}

// geminiRequest is a request of a batch.
type geminiRequest struct {
	Request struct {
		SystemInstruction *geminiTurn
		Contents          []geminiTurn
		GenerationConfig  map[string]json.RawMessage
	}
	Metadata struct{ Key string }
}

// chat is the body of the chat that the request would be.
func (r geminiRequest) chat(model string) []byte {
	var messages []map[string]string
	if system := r.Request.SystemInstruction; system != nil {
		messages = append(messages, system.message())
	}
	for _, t := range r.Request.Contents {
		messages = append(messages, t.message())
	}
	chat := map[string]any{"model": model, "messages": messages}
	for ours, theirs := range map[string]string{
		"temperature": "temperature", "topP": "top_p", "maxOutputTokens": "max_tokens",
		"stopSequences": "stop", "seed": "seed",
	} {
		if v, ok := r.Request.GenerationConfig[ours]; ok {
			chat[theirs] = v
		}
	}
	var thinking struct {
		ThinkingLevel  string
		ThinkingBudget *int
	}
	json.Unmarshal(r.Request.GenerationConfig["thinkingConfig"], &thinking)
	switch {
	case thinking.ThinkingLevel != "":
		chat["reasoning_effort"] = thinking.ThinkingLevel
	case thinking.ThinkingBudget != nil && *thinking.ThinkingBudget == 0:
		chat["reasoning_effort"] = "none"
	}
	return encode(chat)
}

func (c *batchCall) geminiCreate() {
	model, ok := strings.CutSuffix(c.r.PathValue("call"), ":batchGenerateContent")
	if !ok {
		c.missing()
		return
	}
	var call struct {
		Batch struct {
			DisplayName string
			InputConfig struct {
				Requests struct{ Requests []geminiRequest }
			}
		}
	}
	err := json.Unmarshal(c.body, &call)
	requests := call.Batch.InputConfig.Requests.Requests
	if err != nil || len(requests) == 0 || call.Batch.DisplayName == "" {
		c.fail(badRequest("Invalid JSON payload received.", "", ""))
		return
	}
	var asks []batchAsk
	for _, r := range requests {
		asks = append(asks, batchAsk{r.Metadata.Key, chatPath, r.chat(model), "gemini answer"})
	}
	c.created("gemini", c.start(&batch{Tag: call.Batch.DisplayName}, asks))
}
