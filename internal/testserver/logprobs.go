package testserver

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// tokenLogprob is a token with the natural logarithm of its probability.
type tokenLogprob struct {
	Token   string         `json:"token"`
	Logprob float64        `json:"logprob"`
	Bytes   []int          `json:"bytes"`
	Top     []tokenLogprob `json:"top_logprobs,omitzero"` // nil in an entry of Top
}

func newTokenLogprob(token string, probability float64) tokenLogprob {
	l := tokenLogprob{token, math.Log(probability), make([]int, len(token)), nil}
	for i := range l.Bytes {
		l.Bytes[i] = int(token[i])
	}
	return l
}

// distribution is that of position i of a text: token, which was sampled there, and in Top the k likeliest, likeliest
// first. The sampled one is mostly the likeliest, sometimes the second. Probabilities fall geometrically and add up to
// less than 1.
func distribution(hash string, i int, token string, k int) tokenLogprob {
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
	words := strings.Fields(strings.Join(data().Openings, " "))
	at := int(u("words") * float64(len(words)))
	seen := []string{token}
	sampled := newTokenLogprob(token, p(rank))
	sampled.Top = []tokenLogprob{}
	for r := range k {
		t := token
		for r != rank && slices.Contains(seen, t) {
			t = " " + words[at%len(words)]
			at++
		}
		seen = append(seen, t)
		sampled.Top = append(sampled.Top, newTokenLogprob(t, p(r)))
	}
	return sampled
}

// logprobs are those of a choice: of chats and responses, or of completions.
type logprobs struct {
	*ofChat
	*ofCompletion
}

type ofChat struct {
	Content []tokenLogprob `json:"content"`
	Refusal []tokenLogprob `json:"refusal"`
}

// ofCompletion has in TopLogprobs the k likeliest tokens and the sampled one, so up to k+1, and null for k = 0.
type ofCompletion struct {
	Tokens        []string             `json:"tokens"`
	TokenLogprobs []float64            `json:"token_logprobs"`
	TopLogprobs   []map[string]float64 `json:"top_logprobs"`
	TextOffset    []int                `json:"text_offset"` // in characters, from the start of the prompt
}

func chatLogprobs(hash string, c choice, k int) *logprobs {
	all := func(tokens []string) []tokenLogprob {
		out := []tokenLogprob{}
		for i, t := range tokens {
			out = append(out, distribution(fmt.Sprint(hash, c.sample), i, t, k))
		}
		return out
	}
	if c.Refusal != "" {
		return &logprobs{ofChat: &ofChat{Refusal: all(tokens(c.Refusal))}}
	}
	return &logprobs{ofChat: &ofChat{Content: all(c.tokens)}}
}

func completionLogprobs(hash, prompt string, c choice, k int) *logprobs {
	out := &ofCompletion{Tokens: []string{}, TokenLogprobs: []float64{}, TextOffset: []int{}}
	offset := utf8.RuneCountInString(prompt)
	for i, t := range c.tokens {
		sampled := distribution(fmt.Sprint(hash, c.sample), i, t, k)
		out.Tokens = append(out.Tokens, t)
		out.TokenLogprobs = append(out.TokenLogprobs, sampled.Logprob)
		out.TextOffset = append(out.TextOffset, offset)
		offset += utf8.RuneCountInString(t)
		if k > 0 {
			m := map[string]float64{t: sampled.Logprob}
			for _, l := range sampled.Top {
				m[l.Token] = l.Logprob
			}
			out.TopLogprobs = append(out.TopLogprobs, m)
		}
	}
	return &logprobs{ofCompletion: out}
}
