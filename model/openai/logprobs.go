package openai

import (
	"cmp"
	"errors"
	"slices"

	"crosstalk"
)

// logprobs holds either of two forms, and which one comes does not follow from
// the API: llama.cpp gives completions the form of chats, and Together and
// older vLLM give chats that of completions.
type logprobs struct {
	// Of chats.
	Content []struct {
		candidate
		Top []candidate `json:"top_logprobs"`
	} `json:"content"`
	// Of completions. A position that was not predicted is null: with echo,
	// the first of the prompt.
	Tokens        []string              `json:"tokens"`
	TokenLogprobs []*float64            `json:"token_logprobs"`
	TopLogprobs   []map[string]*float64 `json:"top_logprobs"`
}

type candidate struct {
	Token   string   `json:"token"`
	Logprob *float64 `json:"logprob"`
}

var errLogprobs = errors.New("its logprobs do not match its tokens")

// tokens gives the positions that have a log probability, candidates likeliest
// first.
func (l *logprobs) tokens() ([]crosstalk.TokenLogprob, error) {
	if l == nil {
		return nil, nil
	}
	var out []crosstalk.TokenLogprob
	for _, c := range l.Content {
		if c.Logprob == nil {
			continue
		}
		t := crosstalk.TokenLogprob{Token: c.Token, Logprob: *c.Logprob}
		for _, c := range c.Top {
			if c.Logprob != nil {
				t.Top = append(t.Top, crosstalk.CandidateLogprob{Token: c.Token, Logprob: *c.Logprob})
			}
		}
		out = append(out, sorted(t))
	}
	if len(l.Content) > 0 || l.Tokens == nil {
		return out, nil
	}
	if len(l.TokenLogprobs) != len(l.Tokens) || l.TopLogprobs != nil && len(l.TopLogprobs) != len(l.Tokens) {
		return nil, errLogprobs
	}
	for i, token := range l.Tokens {
		if l.TokenLogprobs[i] == nil {
			continue
		}
		t := crosstalk.TokenLogprob{Token: token, Logprob: *l.TokenLogprobs[i]}
		if l.TopLogprobs != nil {
			for token, p := range l.TopLogprobs[i] {
				if p != nil {
					t.Top = append(t.Top, crosstalk.CandidateLogprob{Token: token, Logprob: *p})
				}
			}
		}
		out = append(out, sorted(t))
	}
	return out, nil
}

func sorted(t crosstalk.TokenLogprob) crosstalk.TokenLogprob {
	slices.SortStableFunc(t.Top, func(a, b crosstalk.CandidateLogprob) int {
		return cmp.Or(cmp.Compare(b.Logprob, a.Logprob), cmp.Compare(a.Token, b.Token))
	})
	return t
}
