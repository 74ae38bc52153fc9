// Package settle turns a server's response into the answer to a request: it separates thoughts, applies stop
// sequences and the limit of the visible answer, and maps the providers' words for the end of an answer to one
// vocabulary.
package settle

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/measure/thoughts"
)

// Received is a server's response, as far as its API tells.
type Received struct {
	Text      string // may still contain thoughts between markers
	Reasoning string // thoughts in a field of their own
	Thought   bool   // the model thought, according to the server, whether or not it shows the thoughts
	Finish    string // the provider's word for the end
	Refusal   string // text of the model or the provider in place of an answer
	Model     string
	Usage     crosstalk.Usage
	Logprobs  []crosstalk.TokenLogprob // may include the thoughts
}

// Answer returns the answer to req, without Key, Raw and the asker's measurements.
func Answer(req crosstalk.Request, r Received) crosstalk.Answer {
	text, reasoning := thoughts.Split(r.Text)
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	reasoning = strings.Join(slices.DeleteFunc([]string{r.Reasoning, reasoning}, blank), "\n\n")
	thought := r.Thought || reasoning != "" || r.Usage.Reasoning > 0
	a := crosstalk.Answer{Text: text, Reasoning: reasoning, Reason: r.Finish, Finish: FinishOf(r.Finish), Model: r.Model,
		Usage: r.Usage, Logprobs: r.Logprobs}
	if thought {
		a.Logprobs = visible(a.Logprobs, r.Text)
	}
	atStop(&a, req.Decoding.Stop)
	if d := req.Decoding; d.ReasoningTokens > 0 && d.MaxTokens > 0 {
		atLimit(&a, d.MaxTokens, thought)
	}
	a.Status = Kind(a.Text)
	switch {
	case r.Refusal != "":
		a.Status, a.Reason = crosstalk.Refused, r.Refusal
	case a.Finish == crosstalk.FinishFilter:
		a.Status = crosstalk.Refused
	case a.Status == crosstalk.Empty && thought:
		a.Reason = crosstalk.Thinking
	}
	if req.Logprobs > 0 && len(a.Logprobs) == 0 && a.Status == crosstalk.Text {
		a.Missing = append(a.Missing, crosstalk.ParamLogprobs)
	}
	limit, used := req.Decoding.Limit(), a.Usage.Completion-a.Usage.Reasoning
	if limit > 0 && used > req.Decoding.Choices()*(limit+endToken) {
		a.Missing = append(a.Missing, crosstalk.ParamMaxTokens)
	}
	if req.Decoding.Reasoning == crosstalk.ReasoningOff && thought {
		a.Missing = append(a.Missing, crosstalk.ParamReasoning)
	}
	return a
}

// Reader returns a function that reads the answer to req from a body; read parses the API's format.
func Reader(req crosstalk.Request, read func([]byte) (Received, error)) func([]byte) (crosstalk.Answer, error) {
	return func(body []byte) (crosstalk.Answer, error) {
		r, err := read(body)
		if err != nil {
			return crosstalk.Answer{}, err
		}
		return Answer(req, r), nil
	}
}

// Recorded returns an answer recorded with thoughts in its text as it would be received today; others unchanged.
func Recorded(a crosstalk.Answer) crosstalk.Answer {
	if a.Status != crosstalk.Text || a.Reasoning != "" {
		return a
	}
	text, reasoning := thoughts.Split(a.Text)
	if text == a.Text {
		return a
	}
	a.Logprobs = visible(a.Logprobs, a.Text)
	a.Text, a.Reasoning = text, reasoning
	if a.Status = Kind(text); a.Status == crosstalk.Empty {
		a.Reason = crosstalk.Thinking
	}
	return a
}

// Kind returns Text, or Empty for white space.
func Kind(text string) crosstalk.Status {
	if strings.TrimSpace(text) == "" {
		return crosstalk.Empty
	}
	return crosstalk.Text
}

// FinishOf maps OpenAI's, Anthropic's or Gemini's word for an end, which may be "content_filter: RECITATION".
func FinishOf(word string) crosstalk.Finish {
	word, _, _ = strings.Cut(strings.ToLower(word), ":")
	switch strings.TrimSpace(word) {
	case "stop", "eos", "end_turn", "stop_sequence", "tool_calls", "completed", "complete":
		return crosstalk.FinishStop
	case "length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded", "incomplete":
		return crosstalk.FinishLength
	case "content_filter", "refusal", "sensitive", "safety", "recitation", "prohibited_content", "blocklist", "spii",
		"image_safety":
		return crosstalk.FinishFilter
	}
	return ""
}

// Broken reports whether an answer broke off at the provider and is worth another request: OpenRouter and
// Mistral (error), DeepSeek (insufficient_system_resource), Z.ai (network_error), vLLM and SGLang (abort).
func Broken(finish string) bool {
	switch strings.ToLower(finish) {
	case "error", "insufficient_system_resource", "network_error", "abort":
		return true
	}
	return false
}

// endToken is the token that ends an answer, which most servers count.
const endToken = 1

// atStop cuts an answer at the first stop sequence, which some models refuse, and some gateways drop.
func atStop(a *crosstalk.Answer, sequences []string) {
	at := -1
	for _, s := range sequences {
		if i := strings.Index(a.Text, s); s != "" && i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at >= 0 {
		cut(a, at, crosstalk.FinishStop)
	}
}

// atLimit cuts a visible answer after limit tokens, as the server would have done without tokens for thoughts.
//
// If log probabilities list the answer's tokens, the cut is exact. Otherwise the number of visible tokens is the
// usage without reasoning tokens or, if usage does not separate them, the answer's share of all text. The same share
// of the answer's characters is kept, back to the end of a word in scripts that separate words. Treating tokens as
// equally long errs by a few characters in a text of one kind.
func atLimit(a *crosstalk.Answer, limit int, thought bool) {
	if spelled(a.Logprobs) == a.Text {
		if len(a.Logprobs) > limit {
			tokens := a.Logprobs[:limit]
			cut(a, whole(a.Text, len(spelled(tokens))), crosstalk.FinishLength)
			a.Logprobs = tokens
		}
		return
	}
	n := visibleTokens(*a, thought)
	if a.Finish != crosstalk.FinishLength {
		n -= endToken
	}
	if n <= float64(limit) {
		return
	}
	cut(a, boundary(a.Text, float64(limit)/n), crosstalk.FinishLength)
}

func visibleTokens(a crosstalk.Answer, thought bool) float64 {
	said, completion := guess(a.Text), float64(a.Usage.Completion)
	switch {
	case completion == 0:
		return said
	case a.Usage.Reasoning > 0:
		return completion - float64(a.Usage.Reasoning)
	case a.Reasoning != "":
		return completion * said / (said + guess(a.Reasoning))
	case thought: // billed together but not shown
		return min(said, completion)
	}
	return completion
}

// guess estimates the number of tokens of a text: one for four ASCII characters, one unspaced one, or two others.
func guess(text string) float64 {
	n := 0.0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			n += 0.25
		case unspaced(r):
			n++
		default:
			n += 0.5
		}
	}
	return n
}

// boundary returns the end of a share in (0, 1) of a text: inside no word, unless it is the first.
func boundary(text string, share float64) int {
	keep := int(float64(utf8.RuneCountInString(text)) * share)
	at := 0
	for range keep {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	end := at
	for end > 0 {
		before, size := utf8.DecodeLastRuneInString(text[:end])
		after, _ := utf8.DecodeRuneInString(text[end:])
		inWord := wordly(before) && wordly(after) && !unspaced(before) && !unspaced(after)
		if !unicode.IsMark(after) && !inWord {
			break
		}
		end -= size
	}
	if end = len(strings.TrimRightFunc(text[:end], unicode.IsSpace)); end == 0 {
		return at
	}
	return end
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

func cut(a *crosstalk.Answer, at int, why crosstalk.Finish) {
	a.Text, a.Finish, a.Reason = a.Text[:at], why, string(why)
	from := 0
	for i, l := range a.Logprobs {
		if from >= at {
			a.Logprobs = a.Logprobs[:i]
			return
		}
		from += len(bytesOf(l))
	}
}

// whole returns at, or the start of the character around it.
func whole(text string, at int) int {
	for at < len(text) && at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

func bytesOf(l crosstalk.TokenLogprob) string {
	if l.Bytes != nil {
		return string(l.Bytes)
	}
	return l.Token
}

func spelled(tokens []crosstalk.TokenLogprob) string {
	var b strings.Builder
	for _, l := range tokens {
		b.WriteString(bytesOf(l))
	}
	return b.String()
}

// visible keeps the tokens of the visible answer. Text is the server's answer: tokens may contain thoughts before it,
// as vLLM's do, and it may have some itself. A token shared by a marker and the answer is dropped.
func visible(tokens []crosstalk.TokenLogprob, text string) (kept []crosstalk.TokenLogprob) {
	all := spelled(tokens)
	base := -1
	at := 0
	for _, l := range tokens { // the last place where a token starts the text
		if strings.HasPrefix(all[at:], text) {
			base = at
		}
		at += len(bytesOf(l))
	}
	if base < 0 {
		base = strings.LastIndex(all, text)
	}
	if base < 0 || strings.TrimSpace(text) == "" {
		return nil
	}
	at = -base
	parts := thoughts.Parts(text)
	for _, l := range tokens {
		for len(parts) > 0 && at >= parts[0].End {
			parts = parts[1:]
		}
		if len(parts) > 0 && at >= parts[0].Start && parts[0].Kind == thoughts.Answer {
			kept = append(kept, l)
		}
		at += len(bytesOf(l))
	}
	return kept
}
