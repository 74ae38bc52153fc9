package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"crosstalk/guard"
)

// litellmRequest is what LiteLLM's generic guardrail sends (docs.litellm.ai, Generic Guardrail API, beta): a
// request to a model, or its response.
type litellmRequest struct {
	Texts  []string        `json:"texts"`
	Type   string          `json:"input_type"` // "request" or "response"
	Call   string          `json:"litellm_call_id"`
	Rows   []guard.Message `json:"structured_messages"`
	Params struct {
		Language string `json:"language"` // a tag, or "user"
	} `json:"additional_provider_specific_params"`
}

// litellm answers NONE, or BLOCKED for an answer in another language if the server blocks. Requests pass; it keeps only
// the user's language, for the answer, which comes several times if it is streamed.
func (s *server) litellm(w http.ResponseWriter, r *http.Request) {
	data, done, ok := s.read(w, r)
	if !ok {
		return
	}
	defer done()
	var in litellmRequest
	if err := json.Unmarshal(data, &in); err != nil {
		s.refuse(w, r, http.StatusBadRequest, "Expected a request of LiteLLM's generic guardrail API: "+err.Error())
		return
	}
	tag := in.Params.Language
	if tag == "" {
		tag = s.Language
	}
	user := tag == "" || tag == guard.User
	pass := map[string]string{"action": "NONE"}
	if in.Type != "response" {
		if user && in.Call != "" {
			s.calls.keep(in.Call, guard.Identify(in.userText()))
		}
		respond(w, pass)
		return
	}
	if user {
		if tag = s.calls.language(in.Call); tag == "" && len(in.Rows) > 0 {
			tag = guard.Identify(in.userText())
		}
	}
	var reasons []string
	for _, text := range in.Texts {
		if tag == "" {
			s.judged(guard.Response{Judgement: guard.Judgement{Verdict: guard.CannotTell}}, 0)
			continue
		}
		v, err := s.judge(r, guard.Request{Text: text, Language: tag})
		if err != nil {
			s.refuse(w, r, http.StatusBadRequest, err.Error())
			return
		}
		if v.Action == Block {
			reasons = append(reasons, reason(v.Response))
		}
	}
	if reasons != nil {
		respond(w, map[string]string{"action": "BLOCKED", "blocked_reason": strings.Join(reasons, "; ")})
		return
	}
	respond(w, pass)
}

// userText is what the user wrote last.
func (in litellmRequest) userText() string {
	for _, m := range slices.Backward(in.Rows) {
		if m.Role == "user" && m.Content != "" {
			return string(m.Content)
		}
	}
	if n := len(in.Texts); n > 0 {
		return in.Texts[n-1]
	}
	return ""
}

// reason says what is wrong with an answer without quoting it.
func reason(r guard.Response) string {
	switch r.Verdict {
	case guard.Right:
		return "the answer is in " + r.Expected
	case guard.CannotTell:
		return "cannot tell the language of the answer"
	}
	lines, words := 0, 0
	var languages []string
	for _, span := range r.Spans {
		if span.Excuse != "" {
			continue
		}
		if span.Kind == guard.Line {
			lines++
		} else {
			words++
		}
		if !slices.Contains(languages, span.Language) {
			languages = append(languages, span.Language)
		}
	}
	return fmt.Sprintf("the answer should be in %s; in another language (%s): lines %d, runs of words %d", r.Expected, strings.Join(languages, ", "), lines, words)
}

// promptfoo answers an assertion of the type webhook: whether the output is in the language that the URL, the variable
// language or the server's options name, or else in that of the prompt. What cannot be told passes with half a point.
func (s *server) promptfoo(w http.ResponseWriter, r *http.Request) {
	data, done, ok := s.read(w, r)
	if !ok {
		return
	}
	defer done()
	var in struct {
		Output  any `json:"output"`
		Context struct {
			Prompt string         `json:"prompt"`
			Vars   map[string]any `json:"vars"`
		} `json:"context"`
	}
	if err := json.Unmarshal(data, &in); err != nil || in.Output == nil {
		s.refuse(w, r, http.StatusBadRequest, "Expected what promptfoo's webhook assertion sends: an object with output and context.")
		return
	}
	record := guard.Request{Text: strings.Join(texts(in.Output), "\n"), Language: r.URL.Query().Get("language"), Prompt: in.Context.Prompt}
	if json.Unmarshal([]byte(in.Context.Prompt), &record.Messages) != nil {
		record.Messages = nil // the prompt is a text, no conversation
	}
	if named, ok := in.Context.Vars["language"].(string); ok && record.Language == "" {
		record.Language = named
	}
	if record.Language == "" {
		record.Language = guard.User
		if s.Language != "" {
			record.Language = s.Language
		}
	}
	v, err := s.judge(r, record)
	if err != nil {
		s.refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	score := map[guard.Verdict]float64{guard.Right: 1, guard.CannotTell: 0.5}[v.Verdict]
	respond(w, map[string]any{"pass": v.Verdict != guard.Wrong, "score": score, "reason": reason(v.Response)})
}

// texts are the texts in a JSON value, those of objects in the order of their keys.
func texts(value any) (list []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			list = append(list, texts(one)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, texts(v[key])...)
		}
	}
	return list
}

// calls keeps the languages of users for a while, by the id of their call.
type calls struct {
	mu   sync.Mutex
	tags map[string]call
}

type call struct {
	tag  string
	when time.Time
}

const (
	mostCalls   = 10_000
	mostCallID  = 200 // bytes
	longestCall = 15 * time.Minute
)

func (c *calls) keep(id, tag string) {
	if tag == "" || len(id) > mostCallID {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tags == nil {
		c.tags = map[string]call{}
	}
	now := time.Now()
	if len(c.tags) >= mostCalls {
		for old, of := range c.tags {
			if now.Sub(of.when) > longestCall {
				delete(c.tags, old)
			}
		}
	}
	for old := range c.tags { // none is old: any one goes
		if len(c.tags) < mostCalls {
			break
		}
		delete(c.tags, old)
	}
	c.tags[id] = call{tag, now}
}

// language returns the language of a call, "" if it is not known.
func (c *calls) language(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.tags[id]
	if time.Since(of.when) > longestCall {
		delete(c.tags, id)
		return ""
	}
	return of.tag
}
