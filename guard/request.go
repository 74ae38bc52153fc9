package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"crosstalk/measure/prose"
)

// User, in place of a tag, is the language of the user, as Checker.UserLanguage tells it.
const User = "user"

// A Request is a text to judge, as `crosstalk check` reads it.
type Request struct {
	ID       json.RawMessage `json:"id,omitempty"` // repeated in the response
	Text     string          `json:"text"`
	Language string          `json:"language"`           // a tag, or User
	Prompt   string          `json:"prompt,omitempty"`   // with User: what the user wrote
	Messages []Message       `json:"messages,omitempty"` // with User, in place of Prompt: the conversation
}

// A Message of a conversation.
type Message struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
}

// Content is a message's text. In JSON it is a string or, as chat APIs have it, a list of parts, of which those with a
// text count.
type Content string

// UnmarshalJSON reads a string or a list of parts.
func (c *Content) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, (*string)(c))
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	*c = Content(strings.Join(texts, "\n"))
	return nil
}

// A Response is the judgement of a request.
type Response struct {
	ID json.RawMessage `json:"id,omitempty"`
	Judgement
	Expected string `json:"expected"` // the language that the text was judged by, empty if the user's is not known
}

// ParseRequest reads a request from a JSON object and checks that it has what Check needs. language is the default for
// requests without one; if it is empty, they are refused.
func ParseRequest(data []byte, language string) (Request, error) { return parse(data, language, true) }

// ParseStream reads a request whose text may come later.
func ParseStream(data []byte, language string) (Request, error) { return parse(data, language, false) }

func parse(data []byte, language string, whole bool) (Request, error) {
	fields := struct {
		*Request
		Text *string `json:"text"`
	}{Request: &Request{}}
	if err := json.Unmarshal(data, &fields); err != nil {
		return Request{}, fmt.Errorf(`expected a JSON object such as {"text":"...","language":"ko"}: %w`, plain(err))
	}
	r := *fields.Request
	switch {
	case fields.Text != nil:
		r.Text = *fields.Text
	case whole:
		return Request{}, errors.New(`expected a field "text" with the text to check`)
	}
	if r.Language == "" {
		r.Language = language
	}
	switch {
	case r.Language == "":
		return Request{}, errors.New(
			`expected a field "language" with a tag such as "ko", or "user" with "prompt" or "messages"`)
	case r.Language == User && r.userTexts() == nil:
		return Request{}, errors.New(
			`"language" is "user": expected a "prompt", or "messages" with one of the role "user"`)
	}
	return r, nil
}

// plain puts an error of JSON that speaks of types in Go into words.
func plain(err error) error {
	var mismatch *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &mismatch):
		return err
	case mismatch.Field == "":
		return fmt.Errorf("found a JSON %s", mismatch.Value)
	}
	field := mismatch.Field[strings.LastIndexByte(mismatch.Field, '.')+1:]
	return fmt.Errorf("the field %q is of the type %s", field, mismatch.Value)
}

// userTexts returns the user's messages that have text: others may be pictures.
func (r Request) userTexts() (texts []string) {
	for _, m := range r.Messages {
		if m.Role == "user" && m.Content != "" {
			texts = append(texts, string(m.Content))
		}
	}
	if texts == nil && r.Prompt != "" {
		texts = []string{r.Prompt}
	}
	return texts
}

// Tag returns the language that the text should be in, empty if it is the user's and cannot be told. A system message
// that asks for answers in one language decides, unless the user asks for another.
func (r Request) Tag(k Checker) string {
	if r.Language != User {
		return r.Language
	}
	texts, rules := r.userTexts(), ""
	for _, m := range r.Messages {
		if m.Role == "system" || m.Role == "developer" {
			rules += string(m.Content) + "\n"
		}
	}
	last := strings.Join(texts[max(0, len(texts)-1):], "")
	if asksFor(bothEnds(rules), "en", false) == nil || asksFor(bothEnds(last), "", false) != nil {
		return k.UserLanguage(texts...)
	}
	return commanded(bothEnds(rules), "en", false)
}

// Of returns a checker that knows what the user wrote, in a request whose language is the user's: words that the answer
// repeats from there are no confusion.
func (r Request) Of(k Checker) Checker {
	if r.Language == User {
		k.prompt = strings.ToLower(strings.Join(r.userTexts(), "\n"))
	}
	return k
}

// Check judges the request's text. If the user's language is asked for and cannot be told, neither can the verdict.
func (r Request) Check(k Checker) (Response, error) {
	tag := r.Tag(k)
	if tag == "" && r.Language == User {
		return Response{r.ID, Unknown(), ""}, nil
	}
	j, err := r.Of(k).Check(r.Text, tag)
	return Response{r.ID, j, tag}, err
}

// Unknown is the judgement of a text that may be in any language.
func Unknown() Judgement {
	return Judgement{Verdict: CannotTell, P: 0.5, Risk: 0.5, NotJudged: "no language is expected",
		Spans: []Span{}, Masked: []prose.Span{}}
}
