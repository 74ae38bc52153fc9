package testserver

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

type logprob struct {
	token string
	value float64 // natural logarithm
}

// distribution gives the k likeliest tokens at position i of a text, likeliest
// first, and the log probability of token, which was sampled there: mostly the
// likeliest, sometimes the second. Probabilities fall geometrically and add up
// to less than 1.
func distribution(hash string, i int, token string, k int) (sampled float64, top []logprob) {
	u := func(purpose string) float64 { return uniform(0, purpose, hash, i) }
	rank := 0
	if u("rank") < 0.125 {
		rank = 1
	}
	first := 0.3 + 0.65*u("first")
	p := func(rank int) float64 {
		if rank == 0 {
			return first
		}
		return min(first, (1-first)*0.6) * math.Pow(0.5, float64(rank-1)) * 0.8
	}
	words := strings.Fields(strings.Join(openings, " "))
	at := int(u("words") * float64(len(words)))
	seen := []string{token}
	for r := range k {
		t := token
		for r != rank && slices.Contains(seen, t) {
			t = " " + words[at%len(words)]
			at++
		}
		seen = append(seen, t)
		top = append(top, logprob{t, math.Log(p(r))})
	}
	return math.Log(p(rank)), top
}

type chatLogprob struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

type chatTokenLogprob struct {
	chatLogprob
	TopLogprobs []chatLogprob `json:"top_logprobs"`
}

type chatLogprobs struct {
	Content []chatTokenLogprob `json:"content"`
	Refusal []chatTokenLogprob `json:"refusal"`
}

func newChatLogprob(l logprob) chatLogprob {
	bytes := make([]int, len(l.token))
	for i := range bytes {
		bytes[i] = int(l.token[i])
	}
	return chatLogprob{l.token, l.value, bytes}
}

func newChatLogprobs(hash string, c choice, k int) *chatLogprobs {
	all := func(tokens []string) []chatTokenLogprob {
		out := []chatTokenLogprob{}
		for i, t := range tokens {
			sampled, top := distribution(fmt.Sprint(hash, c.sample), i, t, k)
			entry := chatTokenLogprob{newChatLogprob(logprob{t, sampled}), []chatLogprob{}}
			for _, l := range top {
				entry.TopLogprobs = append(entry.TopLogprobs, newChatLogprob(l))
			}
			out = append(out, entry)
		}
		return out
	}
	if c.Refusal != "" {
		return &chatLogprobs{Refusal: all(tokens(c.Refusal))}
	}
	return &chatLogprobs{Content: all(c.tokens)}
}

// completionLogprobs is the form of /v1/completions. top_logprobs has the k
// likeliest tokens and the sampled one, so up to k+1, and is null for k = 0.
type completionLogprobs struct {
	Tokens        []string             `json:"tokens"`
	TokenLogprobs []float64            `json:"token_logprobs"`
	TopLogprobs   []map[string]float64 `json:"top_logprobs"`
	TextOffset    []int                `json:"text_offset"` // in characters, from the start of the prompt
}

func newCompletionLogprobs(hash, prompt string, c choice, k int) *completionLogprobs {
	out := &completionLogprobs{Tokens: []string{}, TokenLogprobs: []float64{}, TextOffset: []int{}}
	offset := utf8.RuneCountInString(prompt)
	for i, t := range c.tokens {
		sampled, top := distribution(fmt.Sprint(hash, c.sample), i, t, k)
		out.Tokens = append(out.Tokens, t)
		out.TokenLogprobs = append(out.TokenLogprobs, sampled)
		out.TextOffset = append(out.TextOffset, offset)
		offset += utf8.RuneCountInString(t)
		if k > 0 {
			m := map[string]float64{t: sampled}
			for _, l := range top {
				m[l.token] = l.value
			}
			out.TopLogprobs = append(out.TopLogprobs, m)
		}
	}
	return out
}
