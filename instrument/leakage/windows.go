package leakage

import (
	"math"
	"strings"
	"unicode"

	"crosstalk"
)

// windows are the parts of the two answers of a pair that are scored besides the whole.
type windows struct{ test, control []string }

// sentencesWithout splits an answer into sentences, without what the item removes.
func sentencesWithout(text string, words []string) (list []string) {
	for _, sentence := range sentences(text) {
		if sentence = remove(sentence, words); strings.ContainsFunc(sentence, isWord) {
			list = append(list, sentence)
		}
	}
	return list
}

// sentences are the sentences of a text in order, without white space around them.
func sentences(text string) (list []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		end := len(firstSentence(text))
		for _, r := range text[end:] { // a closing mark behind the stop
			if !unicode.In(r, unicode.Pe, unicode.Pf) && r != '"' && r != '\'' {
				break
			}
			end += len(string(r))
		}
		list = append(list, strings.TrimSpace(text[:end]))
		text = text[end:]
	}
	return list
}

// observe returns the observations of the windows of a pair whose whole answers have the observation o. scores are
// the similarities of the concept to the windows of the test and then of the control. Windows without a similarity
// are left out.
func (w windows) observe(p Protocol, o crosstalk.Observation, scores []float64) []crosstalk.Observation {
	byClosest, byMean := o, o
	byClosest.Measure, byMean.Measure = MeasureClosest, MeasureMean
	if o.NotScored != "" && o.NotScored != NoVector {
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

// spanOf is the window at a position as a span of the whole text, which the
// windows follow each other in; none if it is not found there.
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

// spanIn is a part of the answer to the test.
func spanIn(text string, start, end int, score float64) crosstalk.Span {
	return crosstalk.Span{Side: Test, Line: 1 + strings.Count(text[:start], "\n"), Start: start, End: end,
		Text: text[start:end], Score: score}
}
