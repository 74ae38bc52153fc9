package endpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// problem is what a server says about a failure, in whatever form.
type problem struct {
	message, kind, code string
	retry               time.Duration // Google's RetryInfo
	page                bool          // an HTML page, message is its title
}

// readProblem reads an error body: {"error": {...}} (OpenAI, Anthropic and
// most), the same in a list (Gemini), {"error": "..."} (Ollama),
// {"message": "..."} (Mistral, Cohere), {"detail": ...} (FastAPI), an HTML
// page, or text.
func readProblem(body []byte) problem {
	body = bytes.TrimSpace(body)
	var v any
	if json.Unmarshal(body, &v) != nil {
		if isHTML(body) {
			return problem{message: title(body), page: true}
		}
		return problem{message: plain(body)}
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	outer, _ := v.(map[string]any)
	inner, _ := outer["error"].(map[string]any)
	p := problem{kind: word(inner["type"], inner["status"], outer["type"]), code: word(inner["code"], outer["code"])}
	p.message = word(inner["message"], inner["detail"], outer["error"], outer["message"], outer["detail"], inner["code"])
	if p.message == "" {
		nested, _ := outer["message"].(map[string]any) // Mistral
		p.message = cmp.Or(invalidField(outer["detail"]), invalidField(nested["detail"]))
	}
	if meta, ok := inner["metadata"].(map[string]any); ok { // OpenRouter: what the model's host said
		if upstream := word(meta["raw"]); upstream != "" {
			p.message += ": " + upstream
		}
	}
	if details, ok := inner["details"].([]any); ok {
		for _, d := range details {
			info, _ := d.(map[string]any)
			if d, err := time.ParseDuration(word(info["retryDelay"])); err == nil {
				p.retry = wait(d.Seconds())
			}
		}
	}
	if p.message == "" && outer["error"] == nil {
		p.message = plain(body)
	}
	return p
}

// invalidField reads the first entry of a list of FastAPI's validation errors.
func invalidField(detail any) string {
	list, _ := detail.([]any)
	if len(list) == 0 {
		return ""
	}
	first, _ := list[0].(map[string]any)
	message := word(first["msg"])
	if at, ok := first["loc"].([]any); ok {
		message = strings.Trim(fmt.Sprint(at), "[]") + ": " + message
	}
	return message
}

// word is the first of vs that is a text or a number and not empty.
func word(vs ...any) string {
	for _, v := range vs {
		switch v := v.(type) {
		case string:
			if v != "" {
				return v
			}
		case float64:
			return fmt.Sprint(v)
		}
	}
	return ""
}

// flagged reports whether a content filter stopped the prompt, which is the
// provider's answer to it and no fault.
func (p problem) flagged() bool {
	switch p.code {
	case "content_filter", "content_policy_violation": // OpenAI, Azure
		return true
	}
	for _, phrase := range []string{
		"was flagged",               // OpenAI (invalid_prompt), OpenRouter
		"content filtering policy",  // Anthropic
		"Content Exists Risk",       // DeepSeek
		"content management policy", // Azure
	} {
		if strings.Contains(p.message, phrase) {
			return true
		}
	}
	return false
}

// unpaid reports whether the account has no credit.
func (p problem) unpaid() bool {
	switch p.code {
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active":
		return true
	}
	return p.kind == "insufficient_quota" || p.kind == "billing_error" || strings.Contains(p.message, "credit balance is too low")
}

func isHTML(body []byte) bool {
	start := bytes.ToLower(body[:min(len(body), 512)])
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.Contains(start, []byte("<html")) || bytes.Contains(start, []byte("<head"))
}

var (
	headline = regexp.MustCompile(`(?is)<(title|h1)[^>]*>(.*?)</(?:title|h1)>`)
	tag      = regexp.MustCompile(`(?s)<[^>]*>`)
	ignored  = regexp.MustCompile(`(?is)<(script|style)\b.*?</(?:script|style)>`)
)

// title sums an HTML page up.
func title(page []byte) string {
	page = page[:min(len(page), 1<<16)]
	for _, m := range headline.FindAllSubmatch(page, -1) {
		if t := plain([]byte(html.UnescapeString(string(tag.ReplaceAll(m[2], nil))))); t != "" {
			return t
		}
	}
	page = tag.ReplaceAll(ignored.ReplaceAll(page, nil), []byte(" "))
	return plain([]byte(html.UnescapeString(string(page))))
}

// plain is text on one line.
func plain(text []byte) string {
	text = text[:min(len(text), 1<<16)]
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(text), "?"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}

// quote is what the server said, fit for a message: no secrets, on one line,
// short.
func (e *Endpoint) quote(p problem) string {
	text := []rune(e.secrets.hide(plain([]byte(p.message))))
	if len(text) > longestQuote {
		text = append(text[:longestQuote], '…')
	}
	switch {
	case len(text) == 0:
		return "with no explanation"
	case p.page:
		return "an HTML page: " + fmt.Sprintf("%q", string(text))
	}
	return `"` + strings.ReplaceAll(string(text), `"`, "'") + `"`
}

const longestQuote = 300
