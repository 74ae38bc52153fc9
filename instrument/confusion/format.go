package confusion

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"crosstalk"
)

// Format is the format of prompts: the settings of a condition that mitigate confusion, besides decoding (Marchisio
// et al. 2024, section 6). The zero value leaves prompts unchanged.
type Format struct {
	Position string // of the instruction to answer in a language, one of Positions; "": as the item has it
	Shots    int    // demonstrations before the prompt
	Template Template

	// Demonstrations are questions with answers in the same language, by language. The first Shots in the requested
	// language precede a prompt, also a cross-lingual one: they show the language of answers, not the instruction.
	Demonstrations map[string][]crosstalk.Demonstration
}

// Positions are the positions in an English prompt of the instruction to answer in
// another language (Marchisio et al. 2024, section 4.3).
var Positions = []string{"start", "end", "integrated"}

// Template is the text around questions and answers.
type Template string

const (
	// Auto sends demonstrations as turns of the chat, or in the Q/A template if the model has no chat API. A single
	// prompt is unchanged. The zero value means the same.
	Auto Template = "auto"
	// QA uses this template for all models,
	//
	//	Q: {question}
	//	A: {answer}
	//
	//	Q: {prompt}
	//	A:
	//
	// with or without demonstrations, and ends the answer where the model continues with another question. It makes
	// base models answer rather than continue the prompt. Chat models get it as one message.
	QA Template = "qa"
)

// Templates are all values of Template.
var Templates = []Template{Auto, QA}

// place is the item's prompt with the instruction at the format's position, and
// that position: one of Positions, or "" for a prompt without one.
func (f Format) place(item crosstalk.Item) (prompt, position string, err error) {
	p := item.Prompt
	prompt = p.Text
	if f.Position != "" && len(p.Placed) > 0 {
		var known bool
		if prompt, known = p.Placed[f.Position]; !known {
			return "", "", fmt.Errorf("item %s has no prompt with the instruction at the position %q",
				item.ID, f.Position)
		}
	}
	if prompt == "" {
		return "", "", fmt.Errorf("item %s has no prompt to ask", item.ID)
	}
	for _, at := range Positions {
		if p.Placed[at] == prompt {
			position = at
		}
	}
	return prompt, position, nil
}

func (f Format) request(
	p crosstalk.PromptConfig, before []crosstalk.Message, prompt, language string, sample int,
) (crosstalk.Request, error) {
	shown := f.Demonstrations[language]
	if len(shown) < f.Shots {
		return crosstalk.Request{}, fmt.Errorf("expected %d demonstrations in the language %s, found %d",
			f.Shots, language, len(shown))
	}
	shown = shown[:f.Shots]
	if f.Template == QA && len(before) > 0 {
		return crosstalk.Request{}, errors.New("has messages before its prompt, which the template qa cannot show")
	}
	if err := p.CheckBefore(before); err != nil {
		return crosstalk.Request{}, err
	}
	if f.Template == QA || p.API == crosstalk.Completions && f.Shots > 0 {
		p.Decoding.Stop = append(slices.Clip(p.Decoding.Stop), crosstalk.NextQuestion)
		text := questionsAndAnswers(p.Prefix, shown, prompt)
		p.Prefix = ""
		return p.Request(text, sample), nil
	}
	r := p.RequestAfter(before, prompt, sample)
	if len(shown) > 0 {
		first := 0 // message of the conversation
		if r.Messages[0].Role == "system" {
			first = 1
		}
		r.Messages = slices.Insert(r.Messages, first, turns(p.Prefix, shown)...)
	}
	return r, nil
}

// questionsAndAnswers is the Q/A template, with the prefix before each question.
func questionsAndAnswers(prefix string, shown []crosstalk.Demonstration, prompt string) string {
	var b strings.Builder
	for _, d := range shown {
		fmt.Fprintf(&b, "Q: %s%s\nA: %s\n\n", prefix, d.Question, d.Answer)
	}
	fmt.Fprintf(&b, "Q: %s%s\nA:", prefix, prompt)
	return b.String()
}

func turns(prefix string, shown []crosstalk.Demonstration) (messages []crosstalk.Message) {
	for _, d := range shown {
		messages = append(messages, crosstalk.Message{Role: "user", Content: prefix + d.Question},
			crosstalk.Message{Role: "assistant", Content: d.Answer})
	}
	return messages
}
