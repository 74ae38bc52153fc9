// Package guard judges whether a model's answer is in the expected language, and which parts are not.
//
// It judges prose: code, addresses, numbers, quotations, names and the like are masked. If there is not enough
// evidence, the verdict is CannotTell.
package guard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/visible"
	"crosstalk/measure/langid"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

// A Verdict tells whether a text is in the expected language.
type Verdict string

// Verdicts.
const (
	Right      Verdict = "right"
	Wrong      Verdict = "wrong"       // the text, or a part of it, is in another language
	CannotTell Verdict = "cannot_tell" // too little prose, or prose that may be in either language
)

// A Judgement is the result of judging a text. Offsets are bytes of the text, End not included.
type Judgement struct {
	Verdict   Verdict       `json:"verdict"`
	Language  string        `json:"language"`             // language of most of the prose, empty if unknown
	P         float64       `json:"p"`                    // probability that the verdict is true; 0.5 for CannotTell
	Risk      float64       `json:"risk"`                 // probability that the text, or a part, is in another language
	Judged    Level         `json:"judged,omitempty"`     // how closely; empty if there was nothing to judge
	NotJudged string        `json:"not_judged,omitempty"` // which parts were not, and why: words, or the text
	Units     int           `json:"units"`                // lines, or groups of short ones, that were judged
	Unclear   int           `json:"unclear"`              // units whose language is unclear
	Spans     []Span        `json:"spans"`                // the parts in another language
	Masked    []prose.Span  `json:"masked"`               // parts that were not judged
	Parts     []Part        `json:"-"`                    // the parts that were judged, in order of their first lines
	Mix       crosstalk.Mix `json:"-"`

	// Runs are the offsets where runs of another language begin. A run has one or several spans without an excuse, with
	// only words between them that both languages have.
	Runs []int `json:"-"`

	telling map[int]prose.Span // see check.telling
}

// A Level is how closely a text was judged, and so what a verdict of Right means.
type Level string

// Levels. All of them judge whole lines, and words in another script than the expected language's.
const (
	ByWords  Level = "words"  // each word, by its frequency in the expected language and in others
	ByScript Level = "script" // each word, by its script alone, if few other languages use the expected one's: Korean
	ByLines  Level = "lines"  // no single words in the expected language's script: there is no word model
)

// Kinds of spans.
const (
	Line = "line" // a whole line or cell
	Word = "word" // words within a line
)

// A Span is a part in another language than expected. A span without an excuse makes the verdict Wrong: its Risk is at
// least the threshold.
type Span struct {
	Start    int        `json:"start"`
	End      int        `json:"end"`
	Language string     `json:"language"` // BCP 47: "en", "zh-Hans", "sr-Latn"
	Kind     string     `json:"kind"`     // Line or Word
	P        float64    `json:"p"`        // probability that it is in another language
	Risk     float64    `json:"risk"`     // probability that it is a confusion: from P, lower with an excuse
	Excuse   prose.Kind `json:"excuse,omitempty"`
}

// Excuses are reasons why a part in another language is not a confusion, or may not be one. prose.Quote is another.
const (
	Gloss   prose.Kind = "gloss"   // a translation: beside parentheses or in them, or in a list
	Mention prose.Kind = "mention" // in or below a line that names their language
	Name    prose.Kind = "name"    // of a person, place, product
	Loan    prose.Kind = "loan"    // used in many languages: "online"
	Doubt   prose.Kind = "doubt"   // the probability of the words is below Certain, or too little above it for several
)

// A Checker judges texts. It is safe for concurrent use.
type Checker struct {
	// Identifier judges lines in languages without a word model; nil: the embedded one. If it has a method Labels, its
	// languages can be judged besides Languages.
	Identifier langid.Identifier

	// Threshold is the least Risk of a span that makes the verdict Wrong, above 0 and at most 1; 0: crosstalk.Warn.
	Threshold float64

	prompt string // what the user wrote, in lower case: see Request.Of
}

// Rules identifies everything besides the identifier that decides a verdict: the rules, the word models and the
// threshold. It changes whenever they do.
func (k Checker) Rules() string {
	rules, threshold := "guard-13+"+words.Name(), k.threshold()
	if threshold == crosstalk.Warn {
		return rules
	}
	for name, risk := range crosstalk.Thresholds {
		if risk == threshold {
			return rules + "+" + name
		}
	}
	return rules + "+" + strconv.FormatFloat(threshold, 'g', -1, 64)
}

func (k Checker) identifier() langid.Identifier {
	if k.Identifier == nil {
		return embedded.Identifier()
	}
	return k.Identifier
}

// Check judges a text in an expected language: a BCP 47 tag such as "ko", "pt-BR" or "zh-Hant". A script or region
// selects simplified or traditional Chinese, and a script one of the two of Serbian; other regions are ignored. An
// error means that the tag is not a language that can be judged, or that Threshold is out of range.
func (k Checker) Check(text, tag string) (Judgement, error) {
	e, err := k.expect(tag)
	if err != nil {
		return Judgement{}, err
	}
	c := newCheck(k.identifier(), text, e)
	c.threshold, c.prompt = k.threshold(), k.prompt
	c.judge()
	j := c.result()
	c.analysis.Free()
	return j, nil
}

// CheckLanguage returns an error for a language that cannot be judged. User and "" are valid.
func (k Checker) CheckLanguage(language string) error {
	if language == "" || language == User {
		return nil
	}
	if _, err := k.expect(language); err != nil {
		return crosstalk.BadOption("language", ": %w", err)
	}
	return nil
}

// Check judges a text as Checker.Check does, with the embedded identifier.
func Check(text, tag string) (Judgement, error) { return Checker{}.Check(text, tag) }

type expected struct {
	base   string // ISO 639
	script string // "Hans", "Hant", "Latn" or "Cyrl" if the tag implies one: see langid.Script
	name   string // name of base in judgements
}

// longestTag is the length limit of a language tag, in bytes.
const longestTag = 100

func (k Checker) expect(tag string) (expected, error) {
	if risk := k.threshold(); !(risk > 0 && risk <= 1) {
		return expected{}, fmt.Errorf("the threshold is %g; expected a probability above 0 and at most 1", risk)
	}
	if len(tag) > longestTag {
		return expected{}, fmt.Errorf("the tag of a language has %d bytes; expected one such as ko, pt-BR or zh-Hant",
			len(tag))
	}
	base, t, err := langid.Parse(tag)
	if err != nil {
		return expected{}, fmt.Errorf("unknown language %q; expected a BCP 47 tag such as ko, pt-BR or zh-Hant", tag)
	}
	label, known := k.label(base)
	if !known {
		return expected{}, fmt.Errorf("language %q cannot be judged; expected one of: %s",
			tag, strings.Join(Languages(), " "))
	}
	return expected{label, langid.Script(t), label}, nil
}

// User, instead of a tag, stands for the user's language, as found by Checker.UserLanguage.
const User = "user"

// A Request is a text to judge, as `crosstalk check` reads it.
type Request struct {
	ID       json.RawMessage `json:"id,omitempty"` // repeated in the response
	Text     string          `json:"text"`
	Language string          `json:"language"`           // a tag, or User
	Prompt   string          `json:"prompt,omitempty"`   // with User: what the user wrote
	Messages []Message       `json:"messages,omitempty"` // with User, instead of Prompt: the conversation
}

// A Message is part of a conversation.
type Message struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
}

// Content is a message's text. In JSON it is a string or, in chat APIs, a list of parts, of which those with a text
// count.
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
	Expected string `json:"expected"` // the language that the text was judged by, empty if the user's is unknown
}

// ParseRequest parses a request from a JSON object and checks that it has what Check needs. language is the default for
// requests without a language; if it is empty, they are refused.
func ParseRequest(data []byte, language string) (Request, error) { return parse(data, language, true) }

// ParseStream parses a request whose text may come later.
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
	switch r.Language = cmp.Or(r.Language, language); {
	case r.Language == "":
		return Request{}, errors.New(
			`expected a field "language" with a tag such as "ko", or "user" with "prompt" or "messages"`)
	case r.Language == User && r.userTexts() == nil:
		return Request{}, errors.New(
			`"language" is "user": expected a "prompt", or "messages" with one of the role "user"`)
	}
	return r, nil
}

// plain rephrases a JSON error that mentions Go types.
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

// userTexts returns the user's messages that have text: others may be images.
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

// Tag returns the expected language of the text, empty if it is the user's and unknown. A system message that asks for
// answers in one language decides, unless the user asks for another.
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

// Of returns a checker that has the user's words, for a request with the user's language: words that the answer repeats
// from them are no confusion.
func (r Request) Of(k Checker) Checker {
	if r.Language == User {
		k.prompt = strings.ToLower(strings.Join(r.userTexts(), "\n"))
	}
	return k
}

// Check judges the request's text. If the expected language is the user's and unknown, the verdict is CannotTell.
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

// Marked returns a text with its foreign parts in brackets labelled with their language.
func (j Judgement) Marked(text string) string {
	var b strings.Builder
	at := 0
	for _, s := range j.Spans {
		if s.Excuse != "" || s.Start < at {
			continue
		}
		b.WriteString(visible.Text(text[at:s.Start]))
		fmt.Fprintf(&b, "[%s: %s]", s.Language, visible.Text(text[s.Start:s.End]))
		at = s.End
	}
	b.WriteString(visible.Text(text[at:]))
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}
