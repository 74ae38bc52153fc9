package confusion

import (
	"cmp"
	"maps"

	"crosstalk"
	"crosstalk/guard"
)

// Score makes observations of an answer to the item's prompt: of LPR and LineAccuracy, and of WPR if words are
// checked in the expected language. Their spans are the wrong lines for LPR and the wrong words for WPR.
// Observations of WordAccuracy, FirstLine and Switches follow if the part that is scored is the reasoning, and of
// Entropy and NucleusSize if log probabilities were requested and it is the answer.
func (in *Instrument) Score(item crosstalk.Item, sample int, answer crosstalk.Answer) []crosstalk.Observation {
	base := crosstalk.Observation{Item: item.ID, Cluster: cmp.Or(item.Cluster, item.ID), Sample: sample,
		Value: crosstalk.Undefined, Condition: in.Condition, Labels: item.Labels}
	if base.Labels[LanguageColumn] == "" {
		base.Labels = maps.Clone(base.Labels)
		if base.Labels == nil {
			base.Labels = map[string]string{}
		}
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
	if answer.Key == (crosstalk.Key{}) && item.Prompt.Text != "" { // there is no request that shows it
		observations[0].AddText(crosstalk.Given, promptText, item.Prompt.Text)
	}
	text, notScored := in.textOf(answer)
	if item.Prompt.Language == "" {
		notScored = NoLanguage
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
		d := in.uncertaintyIn(answer, c.begins(item.Prompt.Language, text))
		for i := range observations {
			if observations[i].Finding != "" {
				observations[i].Tokens = d.strip()
			}
		}
		observations = append(observations, in.observeUncertainty(base, d)...)
	}
	return observations
}

// measures returns the measures of an answer, LPR first, by the language expected.
func (in *Instrument) measures(expected string) []string {
	list := []string{LPR, LineAccuracy}
	if in.Protocol.Prose || in.wordCheck(expected) != nil {
		list = append(list, WPR)
	}
	if in.Protocol.Prose && in.Part == Reasoning {
		list = append(list, WordAccuracy, FirstLine, Switches)
	}
	return list
}

// textOf returns the part of an answer that is scored, or why there is none.
func (in *Instrument) textOf(answer crosstalk.Answer) (text, notScored string) {
	switch {
	case in.Part == Reasoning && answer.Reasoning != "":
		return answer.Reasoning, ""
	case answer.Status != crosstalk.Text && (in.Part != Reasoning || answer.Status == crosstalk.Failed):
		return "", string(answer.Status)
	case in.Part == Reasoning:
		return "", NoReasoning
	}
	return answer.Text, ""
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

// value sets the value of an observation of an answer that can be told.
func (c checked) value(o *crosstalk.Observation, p Protocol) {
	switch {
	case o.Measure == LineAccuracy && c.lines == 0, o.Measure == FirstLine && c.mix.First == "",
		(o.Measure == WordAccuracy || o.Measure == Switches) && c.mix.Words == 0:
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
			o.NotScored, o.Implied = LineError, true // the line says it
		case len(c.words) > 0:
			o.Value, o.Spans, o.Finding = 0, c.words, SingleWords
		default:
			o.Value = 1
		}
	case LineAccuracy:
		o.Value = crosstalk.Value(c.lines-len(c.wrong)) / crosstalk.Value(c.lines)
	case FirstLine:
		o.Value = 0
		if c.firstRight {
			o.Value = 1
		}
		o.AddText(crosstalk.Fact, firstLanguage, c.mix.First)
	case WordAccuracy, Switches:
		o.Value = crosstalk.Value(c.mix.Own) / crosstalk.Value(c.mix.Words)
		if o.Measure == Switches {
			o.Value = 1000 * crosstalk.Value(c.mix.Switches) / crosstalk.Value(c.mix.Words)
		}
	}
}

// checked is the result of checking an answer.
type checked struct {
	lines   int              // checked
	unclear int              // lines that cannot be told
	wrong   []crosstalk.Span // lines
	runs    []int            // where in wrong a run of lines begins that were taken for the same language
	words   []crosstalk.Span // wrong words; under the paper's protocols only if no line is wrong
	masked  []crosstalk.Span // not judged

	margin     float64 // least distance of a line's probability from the threshold
	marginLine int

	mix        guard.Mix
	firstRight bool
}

// told reports whether the answer is right or wrong.
func (c checked) told() bool { return c.lines > 0 || len(c.words) > 0 }
