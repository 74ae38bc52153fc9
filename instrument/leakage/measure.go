package leakage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/parallel"
	"crosstalk/measure/abstention"
	"crosstalk/measure/similarity"
)

// Measure requests all samples of the item's two prompts and scores them. With AskOnly, it scores nothing and keeps no
// answer.
func (in *Instrument) Measure(ctx context.Context, ask crosstalk.Asker,
	item crosstalk.Item) ([]crosstalk.Observation, error) {
	if item.Pair == nil {
		return nil, fmt.Errorf("item %s has no test and control prompt: it is not a leakage item", item.ID)
	}
	if err := in.Prompting.CheckBefore(item.Pair.Before); err != nil {
		return nil, fmt.Errorf("item %s: %w", item.ID, err)
	}
	test := make([]crosstalk.Answer, in.Samples)
	control := make([]crosstalk.Answer, in.Samples)
	err := parallel.Each(2*in.Samples, func(i int) error {
		side, k := test, i
		if i >= in.Samples {
			side, k = control, i-in.Samples
		}
		answer, err := ask.Ask(ctx, Request(in.Prompting, item.Pair, i < in.Samples, k))
		if !in.AskOnly {
			side[k] = answer
		}
		return err
	})
	if err != nil || in.AskOnly {
		return nil, err
	}
	return in.Score(ctx, item, 0, test, control)
}

// Requests returns the requests for an item's first sample.
func Requests(p crosstalk.PromptConfig, _ []crosstalk.Task, i crosstalk.Item) []crosstalk.NamedRequest {
	return []crosstalk.NamedRequest{{Name: Test, Request: Request(p, i.Pair, true, 0)},
		{Name: Control, Request: Request(p, i.Pair, false, 0)}}
}

// Request returns the request for one sample of an item's test or control prompt.
func Request(p crosstalk.PromptConfig, of *crosstalk.Pair, test bool, sample int) crosstalk.Request {
	switch c := of.Context; {
	case c != nil && test:
		return p.CarriedRequest(c.Carrier, c.Test, c.Prompt, sample)
	case c != nil:
		return p.CarriedRequest(c.Carrier, c.Control, c.Prompt, sample)
	case test:
		return p.RequestAfter(of.Before, of.Test, sample)
	}
	return p.RequestAfter(of.Before, of.Control, sample)
}

// Score turns answers into observations: test[k] and control[k] are sample first+k. It is the part of Measure after the
// requests. If one list is longer, its remainder is reported as unpaired.
func (in *Instrument) Score(ctx context.Context, item crosstalk.Item, first int,
	test, control []crosstalk.Answer) ([]crosstalk.Observation, error) {
	if item.Pair == nil {
		return nil, fmt.Errorf("item %s has no test and control prompt: it is not a leakage item", item.ID)
	}
	n := max(len(test), len(control))
	base, parts := make([]crosstalk.Observation, n), make([]windows, n)
	var pairs []similarity.Pair
	for k := range base {
		base[k] = in.observe(item, first+k, at(test, k), at(control, k))
		if o := base[k]; o.NotScored == "" {
			pairs = append(pairs,
				similarity.Pair{A: o.Text(Concept), B: o.Text(Test)},
				similarity.Pair{A: o.Text(Concept), B: o.Text(Control)})
			if in.Protocol.Windows == Sentences {
				parts[k] = windows{sentencesWithout(in.part(item, true, test[k]), item.Pair.Remove),
					sentencesWithout(in.part(item, false, control[k]), item.Pair.Remove)}
				for _, part := range slices.Concat(parts[k].test, parts[k].control) {
					pairs = append(pairs, similarity.Pair{A: o.Text(Concept), B: part})
				}
			}
		}
	}
	observations := make([]crosstalk.Observation, 0, n*len(in.Similarities))
	for _, sim := range in.Similarities {
		scores, err := sim.Scores(ctx, pairs)
		if err != nil {
			return nil, fmt.Errorf("%s: item %s: %w", sim.Name(), item.ID, err)
		}
		if len(scores) != len(pairs) {
			return nil, fmt.Errorf("%s: item %s: %d scores for %d pairs", sim.Name(), item.ID, len(scores), len(pairs))
		}
		for k, o := range base {
			o.Condition = with(in.Condition, similarityColumn, sim.Name())
			if o.NotScored == "" {
				in.Protocol.compare(&o, scores[0], scores[1], "")
				scores = scores[2:]
			}
			observations = append(observations, o)
			if in.Protocol.Windows == Sentences {
				n := len(parts[k].test) + len(parts[k].control)
				observations = append(observations, parts[k].observe(in.Protocol, o, scores[:n])...)
				scores = scores[n:]
			}
		}
	}
	if item.Pair.Context != nil {
		for k, o := range base {
			observations = append(observations, in.copying(item, o, at(test, k), at(control, k))...)
		}
	}
	return observations, nil
}

// Score compares an answer to a prompt that mentions the concept with an answer to the same prompt without it, by the
// default protocol. The observation's value is the leak value; its numbers are the similarities.
func Score(ctx context.Context, sim similarity.Similarity,
	concept, test, control string) (crosstalk.Observation, error) {
	in := Instrument{Protocol: Protocols[0], Similarities: []similarity.Similarity{sim}}
	item := crosstalk.Item{ID: concept, Pair: &crosstalk.Pair{Concept: concept}}
	list, err := in.Score(ctx, item, 0, []crosstalk.Answer{{Status: crosstalk.Text, Text: test}},
		[]crosstalk.Answer{{Status: crosstalk.Text, Text: control}})
	if err != nil {
		return crosstalk.Observation{}, err
	}
	return list[0], nil
}

func (in *Instrument) observe(item crosstalk.Item, sample int, test, control *crosstalk.Answer) crosstalk.Observation {
	o := crosstalk.Observation{Measure: Measure, Item: item.ID, Cluster: cmp.Or(item.Cluster, item.ID), Sample: sample,
		Value: crosstalk.Undefined, Labels: item.Labels}
	var statuses [2]crosstalk.Status
	var repeating, abstaining []string // sides
	o.AddText(crosstalk.Topic, Concept, item.Pair.Concept)
	for i, side := range []struct {
		name   string
		answer *crosstalk.Answer
	}{{Test, test}, {Control, control}} {
		if side.answer == nil {
			statuses[i] = unpaired
			continue
		}
		if side.answer.Key != (crosstalk.Key{}) {
			o.Answers = append(o.Answers, side.answer.Key)
		}
		statuses[i] = side.answer.Status
		text := "" // added even for a missing answer: sides are in the order of Answers
		if side.answer.Status == crosstalk.Text {
			own := in.own(item, side.name == Test, *side.answer)
			text = remove(in.part(item, side.name == Test, *side.answer), item.Pair.Remove)
			switch {
			case own == "":
				repeating = append(repeating, side.name)
				if in.Protocol.Own {
					statuses[i] = repeatsPrompt
				}
			case in.Protocol.Own && abstention.Sentence(own) > 0:
				abstaining = append(abstaining, side.name)
				statuses[i] = crosstalk.NoAnswer
			}
			if statuses[i] == crosstalk.Text && text == "" {
				statuses[i] = noText
			}
		}
		o.AddText(crosstalk.Side, side.name, text)
	}
	for name, sides := range map[string][]string{Repeating: repeating, Abstaining: abstaining} {
		if sides != nil {
			o.AddText(crosstalk.Fact, name, strings.Join(sides, ", "))
		}
	}
	for _, reason := range []crosstalk.Status{crosstalk.Failed, crosstalk.Refused, crosstalk.Empty, unpaired,
		crosstalk.NoAnswer, repeatsPrompt, noText} {
		if slices.Contains(statuses[:], reason) {
			o.NotScored = string(reason)
			break
		}
	}
	return o
}

// part returns the part of an answer to the test or the control that is scored, before the item's words are removed.
func (in *Instrument) part(item crosstalk.Item, ofTest bool, a crosstalk.Answer) string {
	text := in.answered(item, a)
	if in.Protocol.Own {
		text = in.own(item, ofTest, a)
	}
	return in.Protocol.Post.apply(text, promptOf(item, ofTest), in.Prompting.Prefix)
}

// own returns the part of an answer that does not repeat its prompt.
func (in *Instrument) own(item crosstalk.Item, ofTest bool, a crosstalk.Answer) string {
	return withoutPrompt(in.answered(item, a), promptOf(item, ofTest), in.Prompting.Prefix, item.Pair.Concept)
}

// promptOf returns the prompt of an item's test or control, without the text around it.
func promptOf(item crosstalk.Item, ofTest bool) string {
	switch {
	case item.Pair.Context != nil:
		return item.Pair.Context.Prompt
	case ofTest:
		return item.Pair.Test
	}
	return item.Pair.Control
}

// answered returns the text of an answer, without questions that a model which continues texts asks itself after it.
func (in *Instrument) answered(item crosstalk.Item, a crosstalk.Answer) string {
	if item.Pair.Context != nil && in.Prompting.API == crosstalk.Completions {
		text, _, _ := strings.Cut(a.Text, crosstalk.NextQuestion)
		return text
	}
	return a.Text
}

// compare sets the leak value of two similarities and the finding: a leak, a tie or none.
func (p Protocol) compare(o *crosstalk.Observation, test, control float64, of string) {
	if !crosstalk.Value(test).Defined() || !crosstalk.Value(control).Defined() {
		o.NotScored, o.Value, o.Finding, o.Numbers = noVector, crosstalk.Undefined, "", nil
		return
	}
	o.NotScored, o.Numbers = "", map[string]float64{Test: test, Control: control}
	if p.Round != Exact {
		test, control = round(test, p.Round), round(control, p.Round)
	}
	o.Value = (1 + crosstalk.Value(cmp.Compare(test, control))) / 2
	o.Finding = of + [...]string{Leaked, Tie, notLeaked}[int(2-2*o.Value)]
}

// round rounds like Python's round: to the decimal nearest to the exact binary value, so that 0.0005 and 0.00149999
// behave as in the papers' scripts.
func round(x float64, decimals int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', decimals, 64), 64)
	return r
}

func at(answers []crosstalk.Answer, k int) *crosstalk.Answer {
	if k < len(answers) {
		return &answers[k]
	}
	return nil
}

func with(m map[string]string, key, value string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, m)
	all[key] = value
	return all
}

// windows contains the parts of a pair's two answers that are scored besides the whole.
type windows struct{ test, control []string }

// sentencesWithout splits an answer into sentences, without the words that the item removes.
func sentencesWithout(text string, words []string) (list []string) {
	for _, sentence := range sentences(text) {
		if sentence = remove(sentence, words); strings.ContainsFunc(sentence, isWord) {
			list = append(list, sentence)
		}
	}
	return list
}

// sentences returns the sentences of a text in order, without white space around them.
func sentences(text string) (list []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		end := sentenceLength(text)
		list = append(list, strings.TrimSpace(text[:end]))
		text = text[end:]
	}
	return list
}

// observe returns the observations of a pair's windows; o is the observation of its whole answers. scores are the
// similarities of the concept to the test's windows and then the control's. Windows without a score are left out.
func (w windows) observe(p Protocol, o crosstalk.Observation, scores []float64) []crosstalk.Observation {
	byClosest, byMean := o, o
	byClosest.Measure, byMean.Measure = MeasureClosest, MeasureMean
	if o.NotScored != "" && o.NotScored != noVector {
		return []crosstalk.Observation{byClosest, byMean}
	}
	at, testMax, testMean := summary(scores[:len(w.test)])
	_, controlMax, controlMean := summary(scores[len(w.test):])
	p.compare(&byClosest, testMax, controlMax, closest)
	p.compare(&byMean, testMean, controlMean, meanOf)
	if byClosest.Value == 1 {
		byClosest.Spans = spanOf(o.Text(Test), w.test, at, testMax)
	}
	return []crosstalk.Observation{byClosest, byMean}
}

// summary returns the position of the largest score, that score, and the mean; NaN if no score is defined.
func summary(scores []float64) (at int, largest, mean float64) {
	largest, n := math.NaN(), 0
	for i, s := range scores {
		if !crosstalk.Value(s).Defined() {
			continue
		}
		if n == 0 || s > largest {
			at, largest = i, s
		}
		mean += s
		n++
	}
	return at, largest, mean / float64(n)
}

// spanOf returns the window at a position as a span of the whole text, which contains the windows in order; none if not
// found.
func spanOf(text string, parts []string, at int, score float64) []crosstalk.Span {
	start, end := 0, 0
	for _, part := range parts[:at+1] {
		found := strings.Index(text[end:], part)
		if found < 0 {
			return nil
		}
		start = end + found
		end = start + len(part)
	}
	return []crosstalk.Span{spanIn(text, start, end, score)}
}

// spanIn returns a part of the answer to the test.
func spanIn(text string, start, end int, score float64) crosstalk.Span {
	return crosstalk.Span{Side: Test, Line: 1 + strings.Count(text[:start], "\n"), Start: start, End: end,
		Text: text[start:end], Score: score}
}
