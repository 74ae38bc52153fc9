package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"crosstalk"
)

// logprobs are in one of two forms, and the API does not tell which one comes: llama.cpp gives completions the form of
// chats, and Together and older vLLM give chats that of completions.
type logprobs struct {
	// Of chats.
	Content []position `json:"content"`
	// Of completions. A position that was not predicted is null: with echo, the first of the prompt.
	Tokens        []string              `json:"tokens"`
	TokenLogprobs []*float64            `json:"token_logprobs"`
	TopLogprobs   []map[string]*float64 `json:"top_logprobs"`
}

// position is a token in the form of chats. llama.cpp has TopProbs instead of Top where it is told post_sampling_probs.
type position struct {
	candidate
	Top      []candidate `json:"top_logprobs"`
	TopProbs []candidate `json:"top_probs"`
}

// candidate has one of Logprob and Prob.
type candidate struct {
	Token   string     `json:"token"`
	Bytes   tokenBytes `json:"bytes"`
	Logprob *float64   `json:"logprob"`
	Prob    *float64   `json:"prob"`
}

// tokenBytes are a token's bytes, given as numbers, or nothing: only tokens that are no text need them.
type tokenBytes []byte

func (b *tokenBytes) UnmarshalJSON(text []byte) error {
	var numbers []int
	strange := func(n int) bool { return n < 0 || n > 255 }
	if json.Unmarshal(text, &numbers) != nil || slices.ContainsFunc(numbers, strange) {
		return nil
	}
	for _, n := range numbers {
		*b = append(*b, byte(n))
	}
	return nil
}

// tokens gives the positions that have a log probability, candidates likeliest first.
func (l *logprobs) tokens() ([]crosstalk.TokenLogprob, error) {
	if l == nil {
		return nil, nil
	}
	if len(l.Content) > 0 || l.Tokens == nil {
		return positions(l.Content), nil
	}
	if len(l.TokenLogprobs) != len(l.Tokens) || l.TopLogprobs != nil && len(l.TopLogprobs) != len(l.Tokens) {
		return nil, errors.New("its logprobs do not match its tokens")
	}
	var out []crosstalk.TokenLogprob
	for i, token := range l.Tokens {
		if l.TokenLogprobs[i] == nil {
			continue
		}
		var top []crosstalk.CandidateLogprob
		if l.TopLogprobs != nil {
			for token, p := range l.TopLogprobs[i] {
				if p != nil {
					top = append(top, unescape(token, *p))
				}
			}
		}
		out = append(out, at(unescape(token, *l.TokenLogprobs[i]), top))
	}
	return out, nil
}

func positions(content []position) (out []crosstalk.TokenLogprob) {
	for _, p := range content {
		taken, known := p.read()
		if !known {
			continue
		}
		var top []crosstalk.CandidateLogprob
		for _, c := range slices.Concat(p.Top, p.TopProbs) {
			if c, known := c.read(); known {
				top = append(top, c)
			}
		}
		out = append(out, at(taken, top))
	}
	return out
}

// read gives the candidate, if it has a probability above 0.
func (c candidate) read() (crosstalk.CandidateLogprob, bool) {
	out := crosstalk.CandidateLogprob{Token: c.Token}
	switch {
	case string(c.Bytes) == c.Token || len(c.Bytes) == 0:
	case utf8.Valid(c.Bytes):
		out.Token = string(c.Bytes)
	default:
		out.Bytes = c.Bytes
	}
	switch {
	case c.Logprob != nil:
		out.Logprob = *c.Logprob
	case c.Prob != nil && *c.Prob > 0:
		out.Logprob = math.Log(*c.Prob)
	default:
		return out, false
	}
	return out, true
}

// unescape reads a candidate of completions, where OpenAI writes a part of a character as bytes:\xe2\x80.
func unescape(token string, logprob float64) crosstalk.CandidateLogprob {
	out := crosstalk.CandidateLogprob{Token: token, Logprob: logprob}
	if escapes, found := strings.CutPrefix(token, "bytes:"); found && escaped.MatchString(escapes) {
		out.Bytes = escaped.ReplaceAllFunc([]byte(escapes), func(e []byte) []byte {
			n, _ := strconv.ParseUint(string(e[2:]), 16, 8)
			return []byte{byte(n)}
		})
	}
	return out
}

var escaped = regexp.MustCompile(`\\x[0-9a-fA-F]{2}`)

// at is a position, its candidates in order.
func at(taken crosstalk.CandidateLogprob, top []crosstalk.CandidateLogprob) crosstalk.TokenLogprob {
	slices.SortStableFunc(top, func(a, b crosstalk.CandidateLogprob) int {
		return cmp.Or(cmp.Compare(b.Logprob, a.Logprob), cmp.Compare(a.Token, b.Token))
	})
	return crosstalk.TokenLogprob{Token: taken.Token, Bytes: taken.Bytes, Logprob: taken.Logprob, Top: top}
}
