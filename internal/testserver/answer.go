package testserver

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Continue is the default [Options.Answer]: a short English continuation,
// chosen by a hash of model, messages or prompt, seed and sample. At
// temperature 0 seed and sample do not matter, as for a model that always
// takes its likeliest token.
func Continue(r Request) Reply {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n%s\n", r.Model, r.Messages, r.Prompt)
	if r.Temperature == nil || *r.Temperature > 0 {
		if r.Seed != nil {
			fmt.Fprintf(h, "seed %d ", *r.Seed)
		}
		fmt.Fprintf(h, "sample %d", r.Sample)
	}
	sum := h.Sum(nil)
	return Reply{Text: openings[int(sum[0])%len(openings)] + closings[int(sum[1])%len(closings)]}
}

var openings = []string{
	"a bowl of lentil soup", "the old lighthouse", "a walk along the harbour", "fresh bread with butter",
	"a song about the rain", "the second drawer on the left", "a letter from his aunt", "warm socks",
	"a bicycle with one gear", "the market on Thursday", "a map of the coast", "her grandmother's recipe",
	"a quiet evening at home", "the smell of cut grass", "a train to the mountains", "three green apples",
	"a chess set made of stone", "the last row of the cinema", "a jar of honey", "an early start",
	"the garden behind the school", "a pair of red gloves", "a story nobody finished", "the long way round",
	"a cup of black tea", "the window facing north", "a box of pencils", "two tickets to the theatre",
	"a stray dog called Button", "the bridge over the canal", "a handful of walnuts", "an umbrella with a broken rib",
}

var closings = []string{
	".", ", and nothing else.", " on a cold morning.", ", at least on weekdays.", " with a little salt.",
	", as everyone in town knows.", " before the guests arrive.", ", which surprised us all.", " and a good book.",
	" after work.", ", though he never says so.", " in the middle of winter.", " for the whole family.",
	", if there is time.", " near the railway station.", ", and it always has been.",
}

// Embed is the default [Options.Embed]: the normalised sum of one
// pseudo-random vector for each word, so texts that share words are close.
func Embed(s string, dimensions int) []float64 {
	v := make([]float64, dimensions)
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range append(words, "\x00") { // so that no text has a zero vector
		for i := range v {
			if i%4 == 0 {
				sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", w, i))
				for j := i; j < min(i+4, dimensions); j++ {
					v[j] += float64(int64(binary.BigEndian.Uint64(sum[8*(j-i):]))) / (1 << 63)
				}
			}
		}
	}
	norm := 0.0
	for _, x := range v {
		norm += x * x
	}
	norm = math.Sqrt(norm)
	for i := range v {
		v[i] /= norm
	}
	return v
}

// tokens splits a text into pieces that concatenate to it: an optional space
// and up to six letters or digits, or one other character. It is no model's
// tokenizer, and about as fine as one.
func tokens(s string) []string {
	var out []string
	for len(s) > 0 {
		end, letters := 0, 0
		if s[0] == ' ' {
			end = 1
		}
		for end < len(s) && letters < 6 {
			r, size := utf8.DecodeRuneInString(s[end:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			end += size
			letters++
		}
		if letters == 0 {
			_, end = utf8.DecodeRuneInString(s)
		}
		out = append(out, s[:end])
		s = s[end:]
	}
	return out
}

// choice is a finished reply.
type choice struct {
	Reply
	sample   int
	stopped  string // the stop sequence that ended it, or ""
	tokens   []string
	produced int // completion tokens, reasoning included
	profile  *profile
}

// choose asks for one reply and puts it in the shape that the request's limits
// and the outcome give it.
func (s *Server) choose(r Request, q *query, o Fault) choice {
	c := choice{Reply: s.opts.Answer(r), sample: r.Sample, profile: q.profile}
	if q.profile != nil && q.profile.thinks != nil && q.profile.thinks(q.params) && c.Reasoning == 0 {
		c.Reasoning = thoughtTokens
		if r.MaxTokens > 0 {
			c.Reasoning = min(c.Reasoning, r.MaxTokens)
		}
	}
	switch o {
	case Empty:
		c.Reply = Reply{}
	case Thinking:
		c.Reply = Reply{Finish: "length", Reasoning: r.MaxTokens}
		if r.MaxTokens == 0 {
			c.Reasoning = 4096
		}
	case Refusal:
		c.Reply = Reply{Refusal: "I'm sorry, but I can't help with that."}
	case Filtered:
		half := tokens(c.Text)
		c.Reply = Reply{Text: strings.Join(half[:len(half)/2], ""), Finish: "content_filter"}
	}
	for _, seq := range q.stop {
		if before, _, found := strings.Cut(c.Text, seq); found && seq != "" {
			c.Text, c.stopped = before, seq
		}
	}
	c.tokens = tokens(c.Text)
	if room := r.MaxTokens - c.Reasoning; r.MaxTokens > 0 && len(c.tokens) > max(room, 0) {
		c.tokens = c.tokens[:max(room, 0)]
		c.Text, c.Finish, c.stopped = strings.Join(c.tokens, ""), "length", ""
	}
	if c.Finish == "" {
		c.Finish = "stop"
	}
	c.produced = len(c.tokens) + len(tokens(c.Refusal)) + c.Reasoning
	return c
}
