package guard

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"crosstalk/measure/langid/words"
)

// Thresholds of the risk, for different uses. docs/check.md has their precision and recall.
const (
	Observe = 0.1  // to look at answers: what may be wrong
	Warn    = 0.5  // the default: more likely wrong than not
	Block   = 0.95 // to stop answers: what is hardly ever right
)

var presets = []struct {
	name string
	risk float64
}{{"observe", Observe}, {"warn", Warn}, {"block", Block}}

// ParseThreshold reads a threshold: observe, warn or block, or a probability above 0 and at most 1.
func ParseThreshold(text string) (float64, error) {
	for _, p := range presets {
		if text == p.name {
			return p.risk, nil
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0 && x <= 1) {
		return 0, fmt.Errorf("found %q; expected observe, warn, block, or a probability above 0 and at most 1", text)
	}
	return x, nil
}

// A curve gives a probability of the log odds x that a span is in another language: the logistic function of
// at0 + slope*x.
type curve struct{ at0, slope float64 }

// curves give the risk of lines and words, by the quality of the expected language's word model, and of excused spans;
// fitted as docs/check.md says: go -C tools run ./bench/words -only risk -own NTREX-128 -half a. Those of silent texts,
// which have no span, are constant.
var curves = map[string]curve{
	"line thorough": {0.14, 0.6}, "line short": {0.05, 0.46}, "line thin": {-0.01, 0.4},
	"word thorough": {1.5, 0.21}, "word short": {0.31, 0.57}, "word thin": {0.06, 0.39},
	"gloss": {-2.03, 0}, "mention": {-2.37, 0}, "name": {-1.44, 0}, "loan": {-1.55, 0}, "quote": {-1.31, 0.02},
	"doubt thorough": {-0.83, 0}, "doubt short": {0.29, 0.22}, "doubt thin": {-0.71, 0.32},
	"silent thorough": {-3.22, 0}, "silent short": {-2.59, 0}, "silent thin": {-1.78, 0}, "silent lines": {-0.85, 0},
}

func (c curve) at(x float64) float64 { return 1 / (1 + math.Exp(-c.at0-c.slope*x)) }

// model says how good the model of a language's words is.
func model(language string) string {
	switch {
	case words.Thin(language):
		return " thin"
	case words.Supports(language) && !words.Thorough(language):
		return " short"
	}
	return " thorough"
}

// silent is the risk of a text without a span.
func (c *check) silent() float64 {
	key := "silent" + model(c.want.base)
	if c.level() == ByLines {
		key = "silent lines"
	}
	return rounded(curves[key].at(0))
}

// risk returns the probability that a span is a confusion, for equally many right and wrong answers: at least 0.5
// without an excuse and less with one.
func (s Span) risk(expected string) float64 {
	key, low, high := s.Kind+model(expected), Warn, 0.9999
	if s.Excuse != "" {
		key, low, high = string(s.Excuse), 0.0001, Warn-0.0001
		if s.Excuse == Doubt {
			key += model(expected)
		}
	}
	return min(high, max(low, curves[key].at(math.Log(s.P/(1-s.P)))))
}

// rounded is a probability as judgements have it.
func rounded(p float64) float64 { return math.Round(1e4*p) / 1e4 }

// threshold returns the threshold that is in force.
func (k Checker) threshold() float64 {
	if k.Threshold == 0 {
		return Warn
	}
	return k.Threshold
}

// settle sets the risk of a span, and whether it counts: it has an excuse if its risk is below the threshold.
func (c *check) settle(s *Span) {
	s.Risk = rounded(s.risk(c.want.base))
	switch {
	case s.Risk >= c.threshold:
		s.Excuse = ""
	case s.Excuse == "":
		s.Excuse = Doubt
	}
}

// thresholdName is the threshold as Rules has it, "" for the default.
func (k Checker) thresholdName() string {
	if k.threshold() == Warn {
		return ""
	}
	for _, p := range presets {
		if p.risk == k.Threshold {
			return "+" + p.name
		}
	}
	return "+" + strings.TrimPrefix(strconv.FormatFloat(k.Threshold, 'g', -1, 64), "+")
}

// highest is the risk of a text: its worst span's, or what may be in it unseen.
func (c *check) highest(spans []Span) float64 {
	risk := c.silent()
	for _, s := range spans {
		risk = max(risk, s.Risk)
	}
	return risk
}
