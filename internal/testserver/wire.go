package testserver

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// created stands in every answer, so that equal requests have equal answers.
var created = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// problem is an error as the providers report it; param and code are OpenAI's
// alone, and null when empty.
type problem struct {
	status                     int
	kind, message, param, code string

	raw any // a body of another form
}

func badRequest(message, param, code string) *problem {
	return &problem{400, "invalid_request_error", message, param, code, nil}
}

// failed is the problem behind a status that the server draws as a fault.
func failed(p Protocol, status int) *problem {
	kinds := map[int][2]string{ // OpenAI's type, Anthropic's type
		408: {"timeout", "timeout_error"},
		409: {"conflict", "conflict_error"},
		429: {"requests", "rate_limit_error"},
		503: {"service_unavailable_error", "api_error"},
		504: {"timeout", "timeout_error"},
		529: {"overloaded_error", "overloaded_error"},
	}
	k, ok := kinds[status]
	if !ok {
		k = [2]string{"server_error", "api_error"}
	}
	e := &problem{status: status, kind: k[0], message: http.StatusText(status)}
	switch {
	case p == Anthropic:
		e.kind = k[1]
		if status == 500 {
			e.message = "Internal server error"
		}
	case status == 429:
		e.message, e.code = "Rate limit reached for requests", "rate_limit_exceeded"
	case status == 500:
		e.message = "The server had an error while processing your request. Sorry about that!"
	case status == 503:
		e.message = "The engine is currently overloaded, please try again later"
	}
	if status == 529 {
		e.message = "Overloaded"
	}
	return e
}

// body is the error's JSON in the protocol's form.
func (e *problem) body(p Protocol, requestID string) any {
	if e.raw != nil {
		return e.raw
	}
	if p == Anthropic {
		return anthropicError{"error", anthropicErrorDetail{e.kind, e.message}, requestID}
	}
	return openAIError{openAIErrorDetail{e.message, e.kind, orNull(e.param), orNull(e.code)}}
}

type openAIError struct {
	Error openAIErrorDetail `json:"error"`
}

type openAIErrorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

type anthropicError struct {
	Type      string               `json:"type"`
	Error     anthropicErrorDetail `json:"error"`
	RequestID string               `json:"request_id"`
}

type anthropicErrorDetail struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// promptTokens counts as OpenAI's chat format does: four tokens around each
// message, three to start the answer.
func (q *query) promptTokens() int {
	n := 0
	for _, p := range slices.Concat(q.prompts, q.inputs) {
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

type object map[string]any

// openAIUsage sums over choices.
func openAIUsage(prompt int, choices []choice) object {
	produced, reasoning := 0, 0
	var p *profile
	for _, c := range choices {
		produced += c.produced
		reasoning += c.Reasoning
		p = c.profile
	}
	u := object{
		"prompt_tokens": prompt, "completion_tokens": produced, "total_tokens": prompt + produced,
		"prompt_tokens_details":     object{"cached_tokens": 0, "audio_tokens": 0},
		"completion_tokens_details": object{"reasoning_tokens": reasoning, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
	}
	if p != nil && p.outside {
		u["completion_tokens"] = produced - reasoning
	}
	if p != nil && p.unsplit {
		delete(u, "completion_tokens_details")
	}
	return u
}

func chatCompletion(q *query, choices []choice) object {
	var list []object
	usage := openAIUsage(q.promptTokens(), choices)
	for i, c := range choices {
		message := object{"role": "assistant", "content": c.Text, "refusal": nil, "annotations": []any{}}
		if c.Refusal != "" {
			message["content"], message["refusal"] = nil, c.Refusal
		}
		if q.profile != nil && q.profile.finish != "" && c.Finish == "content_filter" {
			c.Finish, message["content"] = q.profile.finish, nil
		}
		c.reveal(message)
		var probs *chatLogprobs
		if q.logprobs >= 0 && !(q.profile != nil && slices.Contains(q.profile.ignores, "logprobs")) {
			probs = newChatLogprobs(q.Hash, c, q.logprobs)
		}
		list = append(list, object{"index": i, "message": message, "logprobs": probs, "finish_reason": c.Finish})
	}
	return object{
		"id": "chatcmpl-" + q.Hash[:24], "object": "chat.completion", "created": created.Unix(), "model": q.serves,
		"choices": list, "usage": usage, "service_tier": "default", "system_fingerprint": "fp_test",
	}
}

// response is the answer of /v1/responses.
func response(q *query, c choice) object {
	part := object{"type": "output_text", "text": c.Text, "annotations": []any{}}
	if c.Refusal != "" {
		part = object{"type": "refusal", "refusal": c.Refusal}
	} else if q.logprobs >= 0 {
		part["logprobs"] = newChatLogprobs(q.Hash, c, q.logprobs).Content
	}
	output := []object{}
	if c.Reasoning > 0 {
		output = append(output, object{"type": "reasoning", "id": "rs_" + q.Hash[:24], "summary": []any{}})
	}
	if c.Text+c.Refusal != "" {
		output = append(output, object{"type": "message", "id": "msg_" + q.Hash[:24], "role": "assistant", "status": "completed", "content": []object{part}})
	}
	status, why := "completed", any(nil)
	switch c.Finish {
	case "length":
		status, why = "incomplete", object{"reason": "max_output_tokens"}
	case "content_filter":
		status, why = "incomplete", object{"reason": "content_filter"}
	}
	n := q.promptTokens()
	return object{
		"id": "resp_" + q.Hash[:24], "object": "response", "created_at": created.Unix(), "model": q.serves, "status": status, "error": nil, "incomplete_details": why,
		"output": output, "usage": object{"input_tokens": n, "output_tokens": c.produced, "total_tokens": n + c.produced,
			"output_tokens_details": object{"reasoning_tokens": c.Reasoning}},
	}
}

func textCompletion(q *query, choices []choice) object {
	var list []object
	for i, c := range choices {
		if c.Refusal != "" { // this form has no place for a refusal's words
			c.Finish = "content_filter"
		}
		var probs *completionLogprobs
		if q.logprobs >= 0 {
			probs = newCompletionLogprobs(q.Hash, q.prompts[i/q.n], c, q.logprobs)
		}
		list = append(list, object{"index": i, "text": c.Text, "logprobs": probs, "finish_reason": c.Finish})
	}
	return object{
		"id": "cmpl-" + q.Hash[:24], "object": "text_completion", "created": created.Unix(), "model": q.serves,
		"choices": list, "usage": openAIUsage(q.promptTokens(), choices), "system_fingerprint": "fp_test",
	}
}

// message is Anthropic's answer. An empty text is an empty list of blocks.
func message(q *query, c choice) object {
	reason := map[string]string{"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}[c.Finish]
	var sequence, details any
	if c.stopped != "" {
		reason, sequence = "stop_sequence", c.stopped
	}
	if c.Refusal != "" {
		reason = "refusal"
	}
	if reason == "refusal" {
		details = object{"type": "refusal", "category": nil, "explanation": nil}
	}
	content := []object{}
	if c.Reasoning > 0 {
		thought := "Let me think about this."
		if c.profile != nil {
			thought = thoughts(c.Reasoning)
			if c.profile.shown == empty {
				thought = ""
			}
		}
		content = append(content, object{"type": "thinking", "thinking": thought, "signature": "dGVzdA=="})
	}
	if c.Text != "" {
		content = append(content, object{"type": "text", "text": c.Text})
	}
	return object{
		"id": "msg_" + q.Hash[:24], "type": "message", "role": "assistant", "model": q.serves, "content": content,
		"stop_reason": reason, "stop_sequence": sequence, "stop_details": details,
		"usage": object{
			"input_tokens": q.promptTokens(), "output_tokens": max(c.produced, 1), // never 0, even for an empty answer
			"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "service_tier": "standard",
		},
	}
}

func (s *Server) embeddings(q *query) object {
	var list []object
	for i, in := range q.inputs {
		v := s.opts.Embed(in, q.dimensions)
		e := object{"object": "embedding", "index": i, "embedding": v}
		if q.base64 {
			var raw []byte
			for _, x := range v {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
			}
			e["embedding"] = base64.StdEncoding.EncodeToString(raw)
		}
		list = append(list, e)
	}
	n := q.promptTokens()
	return object{"object": "list", "data": list, "model": q.serves, "usage": object{"prompt_tokens": n, "total_tokens": n}}
}

// models is a page of the list of models. Anthropic's has the parameters limit
// (default 20) and after_id.
func (s *Server) models(p Protocol, query url.Values) object {
	names := s.opts.Models
	if len(names) == 0 {
		names = []string{"test"}
	}
	more := false
	if p == Anthropic {
		names = names[slices.Index(names, query.Get("after_id"))+1:]
		limit, err := strconv.Atoi(query.Get("limit"))
		if err != nil {
			limit = 20
		}
		more = len(names) > limit
		names = names[:min(limit, len(names))]
	}
	list := []object{}
	for _, name := range names {
		if p == Anthropic {
			list = append(list, object{"type": "model", "id": name, "display_name": name, "created_at": created.Format(time.RFC3339)})
		} else {
			list = append(list, object{"id": name, "object": "model", "created": created.Unix(), "owned_by": "test"})
		}
	}
	if p != Anthropic {
		return object{"object": "list", "data": list}
	}
	page := object{"data": list, "has_more": more, "first_id": nil, "last_id": nil}
	if len(names) > 0 {
		page["first_id"], page["last_id"] = names[0], names[len(names)-1]
	}
	return page
}

// wrongShapes are valid JSON and no answer of either protocol.
var wrongShapes = []string{
	`null`, `{}`, `[]`, `"ok"`, `42`,
	`{"choices":[],"content":null,"data":null}`,
	`{"choices":{"0":"text"},"content":"text","data":"text"}`,
	`{"choices":[{"message":null,"text":7}],"content":[7],"data":[7]}`,
	`{"error":null,"status":"success"}`,
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
