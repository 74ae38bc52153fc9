package testserver

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/floats"
)

// Continue is the default [Options.Answer]: a short English continuation, chosen by a hash of model, messages or
// prompt, and seed. At temperature 0 the seed does not matter, as for a model that always takes its likeliest token.
func Continue(r Request) Reply {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n%s\n", r.Model, r.Messages, r.Prompt)
	if r.Temperature == nil || *r.Temperature > 0 {
		if r.Seed != nil {
			fmt.Fprintf(h, "seed %d ", *r.Seed)
		}
		fmt.Fprint(h, "sample 0")
	}
	sum := h.Sum(nil)
	pick := func(i int, list []string) string { return list[int(sum[i])%len(list)] }
	return Reply{Text: pick(0, data().Openings) + pick(1, data().Closings)}
}

// embed is the vector of a text: the normalised sum of a pseudo-random one for each word, so like texts are close.
func embed(s string, dimensions int) []float64 {
	v := make([]float64, dimensions)
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	words := strings.FieldsFunc(strings.ToLower(s), between)
	for _, w := range append(words, "\x00") { // so that no text has a zero vector
		for i := range v {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", w, i-i%4))
			v[i] += float64(int64(binary.BigEndian.Uint64(sum[8*(i%4):]))) / (1 << 63)
		}
	}
	floats.Scale(1/floats.Norm(v, 2), v)
	return v
}

var token = regexp.MustCompile(`(?s) ?[\pL\p{Nd}]{1,6}|.`)

// tokens splits a text into pieces that concatenate to it: an optional space and up to six letters or digits, or one
// other character. It is no model's tokenizer, and about as fine as one.
func tokens(s string) []string { return token.FindAllString(s, -1) }

type choice struct {
	Reply
	Stopped  string // the stop sequence that ended it, or ""
	tokens   []string
	Produced int // completion tokens, reasoning included

	// As it is shown.
	Content  any // of a chat's message: the text, or nil
	Shown    string
	Logprobs *logprobs
}

// Thought is the model's reasoning.
func (c choice) Thought() string { return thoughts(c.Reasoning) }

// Spoken is the number of tokens without the thoughts.
func (c choice) Spoken() int { return c.Produced - c.Reasoning }

// choose asks for a reply and puts it in the shape that the request's limits and the outcome give it.
func (s *Server) choose(q *query, o Fault) choice {
	r := q.Request
	c := choice{Reply: s.opts.Answer(r)}
	if c.Reasoning == 0 && q.Profile.thinks(q.params) {
		c.Reasoning = min(thoughtTokens, cmp.Or(r.MaxTokens, thoughtTokens))
	}
	switch o {
	case "empty":
		c.Reply = Reply{}
	case "thinking":
		c.Reply = Reply{Finish: "length", Reasoning: cmp.Or(r.MaxTokens, 4096)}
	case "refusal":
		c.Reply = Reply{Refusal: "I'm sorry, but I can't help with that."}
	case "filtered":
		half := tokens(c.Text)
		c.Reply = Reply{Text: strings.Join(half[:len(half)/2], ""), Finish: "content_filter"}
	}
	for _, seq := range q.StopSequences {
		if before, _, found := strings.Cut(c.Text, seq); found && seq != "" {
			c.Text, c.Stopped = before, seq
		}
	}
	c.tokens = tokens(c.Text)
	if most := max(r.MaxTokens-c.Reasoning, 0); r.MaxTokens > 0 && len(c.tokens) > most {
		c.tokens = c.tokens[:most]
		c.Text, c.Finish, c.Stopped = strings.Join(c.tokens, ""), "length", ""
	}
	c.Finish = cmp.Or(c.Finish, "stop")
	c.Produced = len(c.tokens) + len(tokens(c.Refusal)) + c.Reasoning
	return c
}
