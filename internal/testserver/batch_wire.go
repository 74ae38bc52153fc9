package testserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// route is what answers the call, nil if it is none of the batch APIs.
func (c *batchCall) route() func() {
	path, post := c.r.URL.Path, c.r.Method == http.MethodPost
	id := func(prefix, suffix string) (string, bool) {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok {
			return "", false
		}
		rest, ok = strings.CutSuffix(rest, suffix)
		return rest, ok && rest != "" && !strings.Contains(rest, "/")
	}
	switch {
	case path == "/v1/files" && post:
		return c.upload
	case path == "/v1/batches" && post:
		return c.openAICreate
	case path == "/v1/batches":
		return c.openAIList
	case path == "/v1/messages/batches" && post:
		return c.anthropicCreate
	case path == "/v1/messages/batches":
		return c.anthropicList
	case path == "/v1beta/batches":
		return c.geminiList
	}
	for _, one := range []struct {
		prefix, suffix string
		answer         func(id string)
	}{
		{"/v1/files/", "/content", c.content},
		{"/v1/files/", "", c.fileInfo},
		{"/v1/batches/", "", c.openAIGet},
		{"/v1/messages/batches/", "/results", c.anthropicResults},
		{"/v1/messages/batches/", "", c.anthropicGet},
		{"/v1beta/batches/", "", c.geminiGet},
		{"/v1beta/models/", ":batchGenerateContent", c.geminiCreate},
	} {
		if name, ok := id(one.prefix, one.suffix); ok {
			return func() { one.answer(name) }
		}
	}
	return nil
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
	c.book.files[f.id] = f
	c.book.mu.Unlock()
	c.reply(200, f.object())
}

func (f *file) object() object {
	return object{"id": f.id, "object": "file", "bytes": len(f.content), "filename": f.name, "purpose": "batch"}
}

func (c *batchCall) file(id string) *file {
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	return c.book.files[id]
}

func (c *batchCall) fileInfo(id string) {
	if f := c.file(id); f != nil {
		c.reply(200, f.object())
		return
	}
	c.missing()
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
	b := &batch{input: call.Input, path: call.Endpoint, tag: call.Metadata["crosstalk"]}
	if c.opts.Batches.NoMetadata {
		b.tag = ""
	}
	var asks []batchAsk
	lines := bufio.NewScanner(bytes.NewReader(f.content))
	lines.Buffer(nil, maxBody)
	for lines.Scan() {
		var line struct {
			ID     string `json:"custom_id"`
			Method string
			URL    string
			Body   json.RawMessage
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.URL != call.Endpoint || line.Method != "POST" || line.ID == "" {
			c.fail(badRequest("This line is not parseable as valid JSON, or its URL is another.", "input_file_id", ""))
			return
		}
		asks = append(asks, batchAsk{id: line.ID, path: line.URL, body: line.Body})
	}
	c.reply(200, c.start(b, asks).openAI())
}

func (b *batch) openAI() object {
	good, bad, expired := b.counts()
	o := object{"id": b.id, "object": "batch", "endpoint": b.path, "input_file_id": b.input, "completion_window": "24h", "created_at": b.created.Unix(),
		"status": "in_progress", "output_file_id": nil, "error_file_id": nil, "errors": nil, "metadata": nil,
		"request_counts": object{"total": len(b.results), "completed": 0, "failed": 0}}
	if b.tag != "" {
		o["metadata"] = object{"crosstalk": b.tag}
	}
	switch {
	case b.problem != "":
		code := "model_not_found"
		if b.full {
			code = "token_limit_exceeded"
		}
		o["status"], o["errors"] = "failed", object{"object": "list", "data": []object{{"code": code, "message": b.problem, "line": nil, "param": nil}}}
	case b.ended():
		o["status"], o["request_counts"] = "completed", object{"total": len(b.results), "completed": good, "failed": bad + expired}
		if expired > 0 {
			o["status"] = "expired"
		}
		if good > 0 {
			o["output_file_id"] = b.id + ".out"
		}
		if bad+expired > 0 {
			o["error_file_id"] = b.id + ".err"
		}
	}
	return o
}

func (c *batchCall) openAIGet(id string) {
	if b := c.ours(id); b != nil {
		o := b.openAI()
		if b.ended() && c.faulty(LateResults) {
			o["output_file_id"], o["error_file_id"] = nil, nil
		}
		c.reply(200, o)
	}
}

// ours is the batch with this id; if the server has none, it says so.
func (c *batchCall) ours(id string) *batch {
	b := c.find(id)
	if b == nil || b.ended() && c.faulty(GoneBatch) {
		c.missing()
		return nil
	}
	return b
}

func (c *batchCall) openAIList() {
	q := c.r.URL.Query()
	list, more := c.page(q.Get("after"), number(q, "limit", 20))
	data := []object{}
	for _, b := range list {
		data = append(data, b.openAI())
	}
	c.reply(200, object{"object": "list", "data": data, "has_more": more})
}

func number(q url.Values, name string, otherwise int) int {
	if n, err := strconv.Atoi(q.Get(name)); err == nil {
		return n
	}
	return otherwise
}

func (c *batchCall) content(id string) {
	name, kind, _ := strings.Cut(id, ".")
	b := c.find(name)
	if b == nil || !b.ended() {
		c.missing()
		return
	}
	var lines [][]byte
	for _, r := range b.results {
		if (r.status == 200) != (kind == "out") {
			continue
		}
		line := object{"id": "batch_req_" + r.id[:8], "custom_id": r.id, "response": nil, "error": nil}
		if r.expired {
			line["error"] = object{"code": "batch_expired", "message": "This request could not be executed before the completion window expired."}
		} else {
			line["response"] = object{"status_code": r.status, "request_id": "req", "body": raw(r.body)}
		}
		lines = append(lines, encode(line))
	}
	c.download(lines)
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
	c.reply(200, c.start(&batch{}, asks).anthropic())
}

func (b *batch) anthropic() object {
	good, bad, expired := b.counts()
	o := object{"id": b.id, "type": "message_batch", "processing_status": "in_progress", "created_at": b.created.Format(time.RFC3339Nano), "results_url": nil,
		"request_counts": object{"processing": len(b.results), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}}
	if b.ended() {
		o["processing_status"], o["results_url"] = "ended", "https://elsewhere.example/v1/messages/batches/"+b.id+"/results"
		o["request_counts"] = object{"processing": 0, "succeeded": good, "errored": bad, "canceled": 0, "expired": expired}
	}
	return o
}

func (c *batchCall) anthropicGet(id string) {
	if b := c.ours(id); b != nil {
		o := b.anthropic()
		if b.ended() && c.faulty(LateResults) {
			o["results_url"] = nil
		}
		c.reply(200, o)
	}
}

func (c *batchCall) anthropicList() {
	q := c.r.URL.Query()
	list, more := c.page(q.Get("after_id"), number(q, "limit", 20))
	page := object{"has_more": more, "first_id": nil, "last_id": nil}
	data := []object{}
	for _, b := range list {
		data = append(data, b.anthropic())
		page["last_id"] = b.id
	}
	page["data"] = data
	c.reply(200, page)
}

func (c *batchCall) anthropicResults(id string) {
	b := c.find(id)
	if b == nil || !b.ended() {
		c.missing()
		return
	}
	var lines [][]byte
	for _, r := range b.results {
		result := object{"type": "succeeded", "message": raw(r.body)}
		switch {
		case r.expired:
			result = object{"type": "expired"}
		case r.status != 200:
			result = object{"type": "errored", "error": raw(r.body)}
		}
		lines = append(lines, encode(object{"custom_id": r.id, "result": result}))
	}
	c.download(lines)
}

// Gemini

type geminiTurn struct {
	Role  string `json:"role"`
	Parts []struct {
		Text string `json:"text"`
	} `json:"parts"`
}

func (t geminiTurn) message() object {
	text := ""
	for _, p := range t.Parts {
		text += p.Text
	}
	role := map[string]string{"user": "user", "model": "assistant"}[t.Role]
	if role == "" {
		role = "system"
	}
	return object{"role": role, "content": text}
}

func (c *batchCall) geminiCreate(model string) {
	var call struct {
		Batch struct {
			DisplayName string `json:"displayName"`
			InputConfig struct {
				Requests struct {
					Requests []struct {
						Request struct {
							System   *geminiTurn                `json:"systemInstruction"`
							Contents []geminiTurn               `json:"contents"`
							Config   map[string]json.RawMessage `json:"generationConfig"`
						} `json:"request"`
						Metadata struct{ Key string } `json:"metadata"`
					} `json:"requests"`
				} `json:"requests"`
			} `json:"inputConfig"`
		} `json:"batch"`
	}
	if err := json.Unmarshal(c.body, &call); err != nil || len(call.Batch.InputConfig.Requests.Requests) == 0 || call.Batch.DisplayName == "" {
		c.fail(badRequest("Invalid JSON payload received.", "", ""))
		return
	}
	var asks []batchAsk
	for _, r := range call.Batch.InputConfig.Requests.Requests {
		chat := object{"model": model}
		var messages []object
		if r.Request.System != nil {
			messages = append(messages, r.Request.System.message())
		}
		for _, t := range r.Request.Contents {
			messages = append(messages, t.message())
		}
		chat["messages"] = messages
		for ours, theirs := range map[string]string{"temperature": "temperature", "topP": "top_p", "maxOutputTokens": "max_tokens", "stopSequences": "stop", "seed": "seed"} {
			if v, ok := r.Request.Config[ours]; ok {
				chat[theirs] = v
			}
		}
		var thinking struct {
			Level  string `json:"thinkingLevel"`
			Budget *int   `json:"thinkingBudget"`
		}
		json.Unmarshal(r.Request.Config["thinkingConfig"], &thinking)
		switch {
		case thinking.Level != "":
			chat["reasoning_effort"] = thinking.Level
		case thinking.Budget != nil && *thinking.Budget == 0:
			chat["reasoning_effort"] = "none"
		}
		asks = append(asks, batchAsk{r.Metadata.Key, chatPath, encode(chat), geminiAnswer})
	}
	c.reply(200, c.start(&batch{tag: call.Batch.DisplayName}, asks).gemini(nil))
}

func geminiAnswer(q *query, c choice) object {
	finish := map[string]string{"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}[c.Finish]
	content := object{"role": "model"}
	if c.Text != "" {
		content["parts"] = []object{{"text": c.Text}}
	}
	n := q.promptTokens()
	usage := object{"promptTokenCount": n, "candidatesTokenCount": c.produced - c.Reasoning, "totalTokenCount": n + c.produced}
	if c.Reasoning > 0 {
		usage["thoughtsTokenCount"] = c.Reasoning
	}
	return object{"candidates": []object{{"content": content, "finishReason": finish, "index": 0}}, "usageMetadata": usage, "modelVersion": q.Model, "responseId": q.Hash[:16]}
}

// gemini is the batch with these results, if it has ended.
func (b *batch) gemini(results []batchResult) object {
	good, bad, expired := b.counts()
	text := strconv.Itoa // as Google writes 64-bit numbers
	stats := object{"requestCount": text(len(b.results)), "pendingRequestCount": text(len(b.results))}
	meta := object{"@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch", "name": "batches/" + b.id,
		"displayName": b.tag, "createTime": b.created.Format(time.RFC3339Nano), "state": "BATCH_STATE_RUNNING", "batchStats": stats}
	o := object{"name": "batches/" + b.id, "metadata": meta}
	switch {
	case b.problem != "":
		meta["state"], o["done"], o["error"] = "BATCH_STATE_FAILED", true, object{"code": 9, "message": b.problem}
	case b.ended():
		meta["state"], o["done"] = "BATCH_STATE_SUCCEEDED", true
		if good+bad == 0 && expired > 0 {
			meta["state"] = "BATCH_STATE_EXPIRED"
		}
		meta["batchStats"] = object{"requestCount": text(len(b.results)), "successfulRequestCount": text(good), "failedRequestCount": text(bad + expired)}
		if results == nil {
			break
		}
		list := []object{}
		for _, r := range results {
			one := object{"metadata": object{"key": r.id}}
			switch {
			case r.expired:
				one["error"] = object{"code": 4, "message": "The request expired."}
			case r.status == 200:
				one["response"] = raw(r.body)
			default:
				var said struct{ Error struct{ Message string } }
				json.Unmarshal(r.body, &said)
				one["error"] = object{"code": map[int]int{400: 3, 404: 5, 429: 8}[r.status], "message": said.Error.Message}
			}
			list = append(list, one)
		}
		o["response"] = object{"@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatchOutput",
			"inlinedResponses": object{"inlinedResponses": list}}
	}
	return o
}

func (c *batchCall) geminiGet(id string) {
	b := c.ours(id)
	if b == nil {
		return
	}
	results := b.results
	switch {
	case !b.ended():
	case c.faulty(LateResults):
		results = nil
	case c.faulty(HalfResults):
		results = results[:(len(results)+1)/2]
	}
	body := encode(b.gemini(results))
	if b.ended() && b.problem == "" {
		c.download([][]byte{body})
		return
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Write(body)
}

func (c *batchCall) geminiList() {
	q := c.r.URL.Query()
	list, more := c.page(q.Get("pageToken"), number(q, "pageSize", 50))
	page := object{}
	var operations []object
	for _, b := range list {
		operations = append(operations, b.gemini(nil))
		if more {
			page["nextPageToken"] = b.id
		}
	}
	if operations != nil {
		page["operations"] = operations
	}
	c.reply(200, page)
}
