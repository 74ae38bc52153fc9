package confusion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/parallel"
)

// Measure requests all samples of the item's prompt and scores them, unless AskOnly is set. Observations have the label
// "position": the position of the instruction, if there is one.
func (in *Instrument) Measure(ctx context.Context, ask crosstalk.Asker,
	item crosstalk.Item) (observations []crosstalk.Observation, err error) {
	if item.Prompt == nil {
		return nil, fmt.Errorf("item %s has no prompt with the language of its answer: it is not a confusion item",
			item.ID)
	}
	prompt, position, err := in.Format.place(item)
	if err != nil {
		return nil, err
	}
	if position != "" {
		item.Labels = with(item.Labels, "position", position)
	}
	answers := make([]crosstalk.Answer, in.Samples)
	err = parallel.Each(in.Samples, func(k int) error {
		request, err := in.Format.request(in.Prompting, item, prompt, k)
		if err != nil {
			return fmt.Errorf("item %s: %w", item.ID, err)
		}
		answer, err := ask.Ask(ctx, request)
		if !in.AskOnly {
			answers[k] = answer
		}
		return err
	})
	if err != nil || in.AskOnly {
		return nil, err
	}
	for k, answer := range answers {
		observations = append(observations, in.Score(item, k, answer)...)
	}
	return observations, nil
}

// Requests returns the requests for an item's first sample without Format, one for each place of the instruction.
func Requests(p crosstalk.PromptConfig, _ []crosstalk.Task, i crosstalk.Item) (requests []crosstalk.NamedRequest) {
	of := i.Prompt
	if len(of.Placed) == 0 {
		return []crosstalk.NamedRequest{{Name: "prompt", Request: p.RequestAfter(of.Before, of.Text, 0)}}
	}
	for _, place := range slices.Sorted(maps.Keys(of.Placed)) {
		name := place
		if of.Placed[place] == of.Text {
			name += " (default)"
		}
		request := p.RequestAfter(of.Before, of.Placed[place], 0)
		requests = append(requests, crosstalk.NamedRequest{Name: name, Request: request})
	}
	return requests
}

// Format is the format of prompts: settings of a condition, besides decoding, that mitigate confusion (Marchisio et al.
// 2024, section 6). The zero value leaves prompts unchanged.
type Format struct {
	Position string // of the instruction to answer in a language, one of Positions; "": unchanged
	Shots    int    // demonstrations before the prompt
	Template Template

	Demonstrations Demonstrations // the first Shots of an item's precede its prompt
}

// Positions lists the positions, within an English prompt, of the instruction to answer in another language (Marchisio
// et al. 2024, section 4.3).
var Positions = []string{"start", "end", "integrated"}

// Template is the text around questions and answers.
type Template string

const (
	// Auto sends demonstrations as turns of the chat, or in the Q/A template if the model has no chat API. A prompt
	// without demonstrations is unchanged. The zero value is equivalent.
	Auto Template = "auto"
	// QA uses this template for all models,
	//
	//	Q: {question}
	//	A: {answer}
	//
	//	Q: {prompt}
	//	A:
	//
	// with or without demonstrations, and ends the answer where the model continues with another question. It makes base
	// models answer instead of continuing the prompt. Chat models get it as one message.
	QA Template = "qa"
)

// Templates lists all values of Template.
var Templates = []Template{Auto, QA}

// place returns the item's prompt with the instruction at the format's position, and that position: one of Positions,
// or "" for a prompt without an instruction.
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

func (f Format) request(p crosstalk.PromptConfig, item crosstalk.Item, prompt string,
	sample int) (crosstalk.Request, error) {
	before, shown := item.Prompt.Before, f.Demonstrations.Before(item)
	if len(shown) < f.Shots {
		err := fmt.Errorf("expected %d demonstrations for %s prompts with answers in %s, found %d", f.Shots,
			cmp.Or(item.Labels[TaskColumn], "monolingual"), item.Prompt.Language, len(shown))
		if item.Labels[TaskColumn] == crosslingual {
			err = fmt.Errorf("%w: a suite's demonstrations need a crosslingual question", err)
		}
		return crosstalk.Request{}, err
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
		var b strings.Builder
		for _, d := range shown {
			fmt.Fprintf(&b, "Q: %s%s\nA: %s\n\n", p.Prefix, d.Question, d.Answer)
		}
		fmt.Fprintf(&b, "Q: %s%s\nA:", p.Prefix, prompt)
		p.Prefix = ""
		return p.Request(b.String(), sample), nil
	}
	r := p.RequestAfter(before, prompt, sample)
	var turns []crosstalk.Message
	for _, d := range shown {
		turns = append(turns, crosstalk.Message{Role: "user", Content: p.Prefix + d.Question},
			crosstalk.Message{Role: "assistant", Content: d.Answer})
	}
	first := 0 // index of the conversation's first message
	if len(turns) > 0 && r.Messages[0].Role == "system" {
		first = 1
	}
	r.Messages = slices.Insert(r.Messages, first, turns...)
	return r, nil
}

// Score makes observations of an answer to the item's prompt: of LPR and LineAccuracy, and of WPR if words are checked
// in the expected language. Their spans are the wrong lines for LPR and the wrong words for WPR. Observations of
// wordAccuracy, firstLine and switches follow if reasoning is scored, and of Entropy and nucleusSize if log
// probabilities were requested and the answer is scored.
func (in *Instrument) Score(item crosstalk.Item, sample int, answer crosstalk.Answer) []crosstalk.Observation {
	base := crosstalk.Observation{Item: item.ID, Cluster: cmp.Or(item.Cluster, item.ID), Sample: sample,
		Value: crosstalk.Undefined, Condition: in.Condition, Labels: item.Labels}
	if base.Labels[LanguageColumn] == "" {
		base.Labels = map[string]string{}
		maps.Copy(base.Labels, item.Labels)
		base.Labels[LanguageColumn] = item.Prompt.Language
	}
	if answer.Key != (crosstalk.Key{}) {
		base.Answers = []crosstalk.Key{answer.Key}
	}
	var observations []crosstalk.Observation
	for _, measure := range in.measures(item.Prompt.Language) {
		o := base
		o.Measure = measure
		observations = append(observations, o)
	}
	if answer.Key == (crosstalk.Key{}) && item.Prompt.Text != "" { // no request shows the prompt
		observations[0].AddText(crosstalk.Given, promptText, item.Prompt.Text)
	}
	text, notScored := answer.Text, "" // the scored part, or why there is none
	switch {
	case item.Prompt.Language == "":
		notScored = NoLanguage
	case answer.Reason == crosstalk.Mixed:
		notScored = Mixed
	case in.Part == Reasoning && answer.Reasoning != "":
		text = answer.Reasoning
	case answer.Status != crosstalk.Text && (in.Part != Reasoning || answer.Status == crosstalk.Failed):
		notScored = string(answer.Status)
	case in.Part == Reasoning:
		notScored = noReasoning
	}
	var c checked
	if notScored == "" {
		c, notScored = in.check(*item.Prompt, text)
	}
	if notScored != "" {
		for i := range observations {
			observations[i].NotScored = notScored
		}
		return observations
	}
	in.judge(observations, c)
	observations[0].AddText(crosstalk.Side, AnswerText, text)
	observations[0].Masked = c.masked
	if in.Part != Reasoning && in.Prompting.Logprobs > 0 && c.told() {
		begins := c.begins(item.Prompt.Language, text)
		tokens := in.uncertaintyIn(answer, begins)
		for i := range observations {
			if observations[i].Finding != "" {
				observations[i].Tokens = stripOf(tokens)
			}
		}
		observations = append(observations, in.observeUncertainty(base, tokens, len(begins) > 0)...)
	}
	return observations
}

// measures returns the measures of an answer in an expected language, LPR first.
func (in *Instrument) measures(expected string) []string {
	list := []string{LPR, LineAccuracy}
	if in.Protocol.Prose || in.wordCheck(expected) != nil {
		list = append(list, WPR)
	}
	if in.Protocol.Prose && in.Part == Reasoning {
		list = append(list, wordAccuracy, firstLine, switches)
	}
	return list
}

func (in *Instrument) check(expected crosstalk.Prompt, text string) (c checked, notScored string) {
	if in.Protocol.Prose {
		return in.checkProse(expected, text)
	}
	return in.checkLines(expected.Language, text, in.wordCheck(expected.Language)), ""
}

func (in *Instrument) judge(observations []crosstalk.Observation, c checked) {
	numbers := map[string]float64{linesChecked: float64(c.lines), linesWrong: float64(len(c.wrong))}
	if in.Protocol.Prose {
		numbers[linesUnclear] = float64(c.unclear)
	}
	if c.lines > 0 {
		numbers[Margin], numbers[MarginLine] = c.margin, float64(c.marginLine)
	}
	if len(c.words) > 0 {
		numbers[wordsWrong] = float64(len(c.words))
	}
	for i := range observations {
		o := &observations[i]
		if o.Measure == LPR || o.Measure == LineAccuracy {
			o.Numbers = numbers
		}
		switch {
		case !c.told() && in.Protocol.AllAnswers && o.Measure != LineAccuracy:
			o.Value = 1
		case !c.told():
			o.NotScored = in.Protocol.unscored()
		default:
			c.value(o, in.Protocol)
		}
	}
}

// value sets the value of an observation of a checked answer.
func (c checked) value(o *crosstalk.Observation, p Protocol) {
	switch {
	case o.Measure == LineAccuracy && c.lines == 0, o.Measure == firstLine && c.mix.First == "",
		(o.Measure == wordAccuracy || o.Measure == switches) && c.mix.Words == 0:
		o.NotScored = p.unscored()
		return
	}
	switch o.Measure {
	case LPR:
		o.Value = 1
		if len(c.wrong) > 0 {
			o.Value, o.Spans, o.Finding = 0, c.wrong, SomeLines
			if len(c.wrong) == c.lines {
				o.Finding = FullAnswer
			}
		}
	case WPR:
		switch {
		case len(c.wrong) > 0:
			o.NotScored, o.Implied = LineError, true // the line error implies it
		case len(c.words) > 0:
			o.Value, o.Spans, o.Finding = 0, c.words, SingleWords
		default:
			o.Value = 1
		}
	case LineAccuracy:
		o.Value = crosstalk.Value(c.lines-len(c.wrong)) / crosstalk.Value(c.lines)
	case firstLine:
		o.Value = 0
		if c.mix.FirstOwn {
			o.Value = 1
		}
		o.AddText(crosstalk.Fact, firstLanguage, c.mix.First)
	case wordAccuracy, switches:
		o.Value = crosstalk.Value(c.mix.Own) / crosstalk.Value(c.mix.Words)
		if o.Measure == switches {
			o.Value = 1000 * crosstalk.Value(c.mix.Switches) / crosstalk.Value(c.mix.Words)
		}
	}
}

// checked is the result of checking an answer.
type checked struct {
	lines   int              // lines checked
	unclear int              // lines whose language is unclear
	wrong   []crosstalk.Span // wrong lines
	runs    []int            // indexes in wrong where a run of lines identified as the same language begins
	words   []crosstalk.Span // wrong words, of lines that are not wrong
	points  []int            // where runs of wrong words begin: see begins
	masked  []crosstalk.Span // parts not judged

	margin     float64 // least distance of a line's probability from the threshold
	marginLine int

	mix crosstalk.Mix
}

// told reports whether the answer can be judged right or wrong.
func (c checked) told() bool { return c.lines > 0 || len(c.words) > 0 }
