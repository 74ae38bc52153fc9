package testserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

var batchRoutes = map[string]func(*batchCall){
	"POST /v1/files":                    (*batchCall).upload,
	"/v1/files/{id}":                    (*batchCall).fileInfo,
	"/v1/files/{id}/content":            (*batchCall).content,
	"POST /v1/batches":                  creator("openai", readOpenAI),
	"/v1/batches":                       lister("openai", "after", "limit", 20),
	"/v1/batches/{id}":                  getter("openai", "look"),
	"POST /v1/messages/batches":         creator("anthropic", readAnthropic),
	"/v1/messages/batches":              lister("anthropic", "after_id", "limit", 20),
	"/v1/messages/batches/{id}":         getter("anthropic", "look"),
	"/v1/messages/batches/{id}/results": func(c *batchCall) { c.results("anthropic", c.r.PathValue("id"), "") },
	"POST /v1beta/models/{call}":        creator("gemini", readGemini),
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

// upload takes the file of requests of OpenAI's API.
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

// creator makes a batch of the requests that a call has, as an API writes them.
func creator(api string, read func(c *batchCall) (*batch, []batchAsk, error)) func(*batchCall) {
	return func(c *batchCall) {
		b, asks, err := read(c)
		if err != nil || len(asks) == 0 {
			c.fail(badRequest(fmt.Sprintf("Invalid requests: %v", err), "requests", ""))
			return
		}
		c.say(c.changes("create"), jsonType, render(api, batchView{batch: c.start(b, asks)}))
	}
}

func readOpenAI(c *batchCall) (*batch, []batchAsk, error) {
	var call struct {
		Input    string            `json:"input_file_id"`
		Endpoint string            `json:"endpoint"`
		Window   string            `json:"completion_window"`
		Metadata map[string]string `json:"metadata"`
	}
	err := json.Unmarshal(c.body, &call)
	f := c.file(call.Input)
	if err != nil || f == nil || call.Window != "24h" {
		return nil, nil, cmp.Or(err, errors.New("there is no such input_file_id or completion_window"))
	}
	b := &batch{Input: call.Input, Path: call.Endpoint}
	if !c.opts.Batches.NoMetadata {
		b.Tag = call.Metadata["crosstalk"]
	}
	var asks []batchAsk
	for lines := json.NewDecoder(bytes.NewReader(f.Content)); lines.More(); {
		var line struct {
			ID     string `json:"custom_id"`
			Method string
			URL    string
			Body   json.RawMessage
		}
		err := lines.Decode(&line)
		if err != nil || line.URL != call.Endpoint || line.Method != "POST" || line.ID == "" {
			return nil, nil, cmp.Or(err, errors.New("a line has another URL or method, or no id"))
		}
		asks = append(asks, batchAsk{id: line.ID, path: line.URL, body: line.Body})
	}
	return b, asks, nil
}

func readAnthropic(c *batchCall) (*batch, []batchAsk, error) {
	var call struct {
		Requests []struct {
			ID     string          `json:"custom_id"`
			Params json.RawMessage `json:"params"`
		} `json:"requests"`
	}
	err := json.Unmarshal(c.body, &call)
	var asks []batchAsk
	for _, r := range call.Requests {
		if len(r.ID) == 0 || len(r.ID) > 64 {
			err = errors.New("custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'")
		}
		asks = append(asks, batchAsk{id: r.ID, path: messagesPath, body: r.Params})
	}
	return &batch{}, asks, err
}

// geminiTurn is a turn in Gemini's form.
type geminiTurn struct {
	Role  string
	Parts text
}

func readGemini(c *batchCall) (*batch, []batchAsk, error) {
	model, ok := strings.CutSuffix(c.r.PathValue("call"), ":batchGenerateContent")
	var call struct {
		Batch struct {
			DisplayName string
			InputConfig struct {
				Requests struct {
					Requests []struct {
						Request  geminiRequest
						Metadata struct{ Key string }
					}
				}
			}
		}
	}
	err := json.Unmarshal(c.body, &call)
	if !ok || err != nil || call.Batch.DisplayName == "" {
		return nil, nil, cmp.Or(err, errors.New("the batch has no displayName, or the path is wrong"))
	}
	var asks []batchAsk
	for _, r := range call.Batch.InputConfig.Requests.Requests {
		asks = append(asks, batchAsk{r.Metadata.Key, chatPath, r.Request.chat(model), "gemini answer"})
	}
	return &batch{Tag: call.Batch.DisplayName}, asks, nil
}

// geminiRequest is a request of a batch.
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
