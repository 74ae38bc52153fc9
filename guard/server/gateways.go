package server

import (
	"cmp"
	"container/list"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"crosstalk/guard"
	"crosstalk/measure/thoughts"
)

// Paths of gateways.
const (
	litellmPath   = "/beta/litellm_basic_guardrail_api"
	promptfooPath = "/promptfoo"
	portkeyPath   = "/portkey"
)

// none is LiteLLM's response that lets a text pass.
var none = map[string]string{"action": "NONE"}

// litellmRequest is a request to a model, or its response (docs.litellm.ai, Generic Guardrail API, beta).
type litellmRequest struct {
	Texts []string        `json:"texts"`
	Type  string          `json:"input_type"` // "request" or "response"
	Call  string          `json:"litellm_call_id"`
	Rows  []guard.Message `json:"structured_messages"`
	Model string          `json:"model"`
	Data  struct {
		TeamAlias string `json:"user_api_key_team_alias"`
		Team      string `json:"user_api_key_team_id"`
	} `json:"request_data"`
	Params struct {
		Language string `json:"language"` // a tag, or "user"
	} `json:"additional_provider_specific_params"`
}

// litellm responds NONE, or BLOCKED for an answer in another language if the server blocks. Requests pass; only the
// user's language is kept, for the answer, which arrives several times if streamed, each time with more text. Such an
// answer is blocked once it is certain to be wrong.
func (s *server) litellm(w http.ResponseWriter, r *http.Request, data []byte) error {
	var in litellmRequest
	tag := ""
	err := s.work(r.Context(), len(data), func() error {
		if err := decode(data, &in); err != nil {
			return fmt.Errorf("expected a request of LiteLLM's generic guardrail API: %w", err)
		}
		if len(in.Texts) > mostRecords {
			return tooLarge("expected at most %d texts, found %d", mostRecords, len(in.Texts))
		}
		if tag = cmp.Or(in.Params.Language, s.Language, guard.User); tag == guard.User {
			tag = s.userTag(in)
		}
		return nil
	})
	var reasons []string
	for i, text := range in.Texts {
		if err != nil || in.Type != "response" {
			break
		}
		err = s.work(r.Context(), len(text), func() (err error) {
			v := Verdict{Response: guard.Response{Judgement: guard.Judgement{Verdict: guard.CannotTell, P: 0.5}}, Action: Allow}
			if tag != "" {
				if v, err = s.judge(guard.Request{Text: text, Language: tag}); err != nil {
					return err
				}
			}
			who := sent{cmp.Or(in.Model, r.URL.Query().Get("model")), cmp.Or(in.Data.TeamAlias, in.Data.Team)}
			seen, grown := s.calls.found(in.Call, i, text, who.of("litellm", label(in.Call), v))
			if v.Action == Block && s.certain(text, tag, seen, grown) {
				reasons = append(reasons, reason(v.Response))
			}
			return nil
		})
	}
	if err == nil && reasons != nil {
		respond(w, map[string]string{"action": "BLOCKED", "blocked_reason": strings.Join(reasons, "; ")})
	} else if err == nil {
		respond(w, none)
	}
	return err
}

// Limits of a possible beginning of an answer, chosen on guard's development replies.
const (
	wholeWords   = 8 // more words are no beginning: LiteLLM first sends five pieces
	certainWords = 4 // needed to block; fewer may begin a term that is excused once complete
)

// certain reports whether a wrong answer that may continue stays wrong, or looks complete. seen means that the call has
// sent it before, grown that it was shorter then.
func (s *server) certain(text, tag string, seen, grown bool) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(text))
	if strings.ContainsRune(".!?…。！？।؟", last) || seen && !grown || !seen && guard.Words(text) > wholeWords {
		return true
	}
	of, err := s.Checker.Stream(tag)
	return err != nil || slices.ContainsFunc(of.Write(text), func(span guard.Span) bool {
		return span.Kind == guard.Line || guard.Words(text[span.Start:span.End]) >= certainWords
	})
}

func (s *server) userTag(in litellmRequest) string {
	if in.Type == "response" {
		if tag := s.calls.language(in.Call); tag != "" || len(in.Rows) == 0 {
			return tag
		}
	}
	r := guard.Request{Language: guard.User, Messages: in.Rows}
	if n := len(in.Texts); in.Type != "response" && n > 0 && len(in.Texts[n-1]) <= mostText {
		r.Prompt = in.Texts[n-1]
	}
	if fits(&r) != nil {
		return ""
	}
	tag := r.Tag(s.Checker)
	if in.Type != "response" && tag != "" {
		s.calls.keep(in.Call, tag)
	}
	return tag
}

// reason explains what is wrong with an answer without quoting it.
func reason(r guard.Response) string {
	switch r.Verdict {
	case guard.Right:
		return "the answer is in " + r.Expected
	case guard.CannotTell:
		return "cannot tell the language of the answer"
	}
	var languages []string
	for _, span := range r.Spans {
		if span.Excuse == "" && !slices.Contains(languages, span.Language) {
			languages = append(languages, span.Language)
		}
	}
	return fmt.Sprintf("the answer should be in %s; in another language (%s): lines %d, runs of words %d",
		r.Expected, strings.Join(languages, ", "), r.Count(guard.Line), r.Count(guard.Word))
}

// gateway responds to a request with the result of handle for its body, when the server has capacity.
func (s *server) gateway(handle func(r *http.Request, data []byte) (any, error)) http.HandlerFunc {
	return s.reading(func(w http.ResponseWriter, r *http.Request, data []byte) error {
		return s.work(r.Context(), len(data), func() error {
			answer, err := handle(r, data)
			if err == nil {
				respond(w, answer)
			}
			return err
		})
	})
}

// promptfoo answers an assertion of the type webhook: whether the output is in the language named in the URL, the
// variable language or the server's options, or else in the prompt's language. An unclear output passes with half a
// point.
func (s *server) promptfoo(r *http.Request, data []byte) (any, error) {
	var in struct {
		Output  any `json:"output"`
		Context struct {
			Prompt string                     `json:"prompt"`
			Vars   map[string]json.RawMessage `json:"vars"`
		} `json:"context"`
	}
	err := decode(data, &in)
	if f := (*refusal)(nil); errors.As(err, &f) {
		return nil, err
	}
	if err != nil || in.Output == nil {
		return nil, errors.New("expected what promptfoo's webhook assertion sends: an object with output and context")
	}
	answer, _, told := thoughts.Promptfoo(strings.Join(texts(in.Output), "\n"))
	if !told {
		return nil, &refusal{http.StatusBadRequest, mixed, thoughts.PromptfooMixed}
	}
	record := guard.Request{Text: answer, Prompt: in.Context.Prompt}
	var named string
	json.Unmarshal(in.Context.Vars["language"], &named) // ignored unless it is a string
	record.Language = cmp.Or(r.URL.Query().Get("language"), named, s.Language, guard.User)
	if len(in.Context.Prompt) <= mostText && json.Unmarshal([]byte(in.Context.Prompt), &record.Messages) != nil {
		record.Messages = nil // the prompt is a text, not a conversation
	}
	v, err := s.judge(record)
	if err != nil {
		return nil, err
	}
	s.record(from(r, nil).of("promptfoo", "", v))
	score := map[guard.Verdict]float64{guard.Right: 1, guard.CannotTell: 0.5}[v.Verdict]
	return map[string]any{"pass": v.Verdict != guard.Wrong, "score": score, "reason": reason(v.Response)}, nil
}

// portkey answers a guardrail of the type webhook. Requests pass; an answer in another language does not pass if the
// server blocks. The language is from the URL, the metadata or the server's options, or else is the user's.
func (s *server) portkey(r *http.Request, data []byte) (any, error) {
	var in struct {
		Event   string `json:"eventType"`
		Request struct {
			JSON struct {
				Model    string
				Messages []guard.Message
			}
		}
		Response struct{ Text string }
		Metadata struct{ Language, Team string }
	}
	switch err := decode(data, &in); {
	case err != nil:
		return nil, fmt.Errorf("expected what Portkey's webhook guardrail sends: %w", err)
	case in.Event == "":
		return nil, errors.New("expected what Portkey's webhook guardrail sends: an object with an eventType")
	case in.Event != "afterRequestHook":
		return map[string]any{"verdict": true, "data": nil}, nil
	}
	v, err := s.judge(guard.Request{Text: in.Response.Text, Messages: in.Request.JSON.Messages,
		Language: cmp.Or(r.URL.Query().Get("language"), in.Metadata.Language, s.Language, guard.User)})
	if err != nil {
		return nil, err
	}
	s.record(sent{in.Request.JSON.Model, in.Metadata.Team}.of("portkey", "", v))
	return map[string]any{"verdict": v.Action != Block, "data": v}, nil
}

// texts returns the texts in a JSON value, in the order of keys.
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

// calls keeps, for a while, the language of each call's user and the verdict on its answer so far, by the call's id: a
// gateway sends a streamed answer repeatedly, each time with more text, and it counts once.
type calls struct {
	count func(event) // called for each answer

	mu  sync.Mutex
	ids map[string]*list.Element
	all list.List // of *call, the most recently used at the end
}

type call struct {
	id, tag string
	used    time.Time
	answers []growing // by choice
}

// growing is an answer that may still grow. Its text is not kept.
type growing struct {
	size    int
	hash    uint64
	event   event
	counted bool
}

const (
	mostCalls   = 10_000
	mostCallID  = 200 // bytes
	mostChoices = 4   // choices of a call that are distinguished
	longestCall = 15 * time.Minute
	quiet       = 15 * time.Second // after this, an answer no longer grows
)

var seed = maphash.MakeSeed()

// get returns the call with this id and creates it if needed; nil if the id is empty or too long.
func (c *calls) get(id string) *call {
	if id == "" || len(id) > mostCallID {
		return nil
	}
	if c.ids == nil {
		c.ids = map[string]*list.Element{}
	}
	e := c.ids[id]
	if e == nil {
		e = c.all.PushBack(&call{id: id})
		c.ids[id] = e
	}
	c.all.MoveToBack(e)
	of := e.Value.(*call)
	of.used = time.Now()
	c.forget()
	return of
}

func (c *calls) forget() {
	for e := c.all.Front(); e != nil; e = c.all.Front() {
		of := e.Value.(*call)
		if c.all.Len() <= mostCalls && time.Since(of.used) <= longestCall {
			return
		}
		c.all.Remove(e)
		delete(c.ids, of.id)
		for i := range of.answers {
			of.answers[i].settle(c.count)
		}
	}
}

func (c *calls) keep(id, tag string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if of := c.get(id); of != nil {
		of.tag = tag
	}
}

func (c *calls) language(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.ids[id]; e != nil && time.Since(e.Value.(*call).used) <= longestCall {
		return e.Value.(*call).tag
	}
	return ""
}

// found records the verdict on an answer so far, and reports whether it was seen before, and whether it has grown
// since. The answer is counted once it no longer grows.
func (c *calls) found(id string, choice int, text string, e event) (seen, grown bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Time, e.Spans = time.Now(), slices.Clone(e.Spans[:min(len(e.Spans), 4)])
	now := growing{len(text), maphash.String(seed, text), e, false}
	of := c.get(id)
	if of == nil || choice >= mostChoices {
		now.settle(c.count)
		return false, false
	}
	if choice >= len(of.answers) {
		of.answers = append(of.answers, now)
		return false, false
	}
	before := &of.answers[choice]
	if before.size <= len(text) && maphash.String(seed, text[:before.size]) == before.hash {
		now.counted, seen, grown = before.counted, true, before.size < len(text)
	} else {
		before.settle(c.count)
	}
	*before = now
	return seen, grown
}

// settle counts an answer, once.
func (g *growing) settle(count func(event)) {
	if !g.counted {
		g.counted = true
		count(g.event)
	}
}

// settle counts the answers that have not grown for a while, and returns the number of the others.
func (c *calls) settle(quiet time.Duration) (left int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
	for e := c.all.Front(); e != nil; e = e.Next() {
		answers := e.Value.(*call).answers
		for i := range answers {
			if g := &answers[i]; time.Since(g.event.Time) > quiet {
				g.settle(c.count)
			} else if !g.counted {
				left++
			}
		}
	}
	return left
}
