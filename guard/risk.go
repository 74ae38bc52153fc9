package guard

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
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

// curves are those of lines and words without an excuse, and of excused spans; fitted as docs/check.md says:
// go -C tools run ./bench/words -only risk -own NTREX-128 -half a.
var (
	lineCurve   = curve{-1.30, 0.59}
	wordCurve   = curve{1.13, 0.24}
	shortCurve  = curve{-0.04, 0.48} // of words where the expected language has a short list, or one from little text
	thinCurve   = curve{-0.87, 0.49}
	excuseCurve = map[prose.Kind]curve{Gloss: {-1.3, 0}, Mention: {-1.5, 0}, Name: {-1.2, 0}, Loan: {-1.1, 0},
		Doubt: {-0.4, 0.05}, prose.Quote: {-1.3, 0}}
)

// Risks of texts without a span: with the models of words, and where lines alone were judged.
const (
	silentWords = 0.04
	silentShort = 0.10
	silentThin  = 0.16
	silentLines = 0.3
)

// silent is the risk of a text without a span.
func (c *check) silent() float64 {
	switch base := c.want.base; {
	case c.level() == ByLines:
		return silentLines
	case words.Thin(base):
		return silentThin
	case !words.Thorough(base):
		return silentShort
	}
	return silentWords
}

// risk returns the probability that a span is a confusion, for equally many right and wrong answers: at least 0.5
// without an excuse and less with one.
func (s Span) risk(expected string) float64 {
	c := wordCurve
	switch {
	case s.Kind == Line:
		c = lineCurve
	case words.Thin(expected):
		c = thinCurve
	case words.Supports(expected) && !words.Thorough(expected):
		c = shortCurve
	}
	low, high := Warn, 0.9999
	if s.Excuse != "" {
		c, low, high = excuseCurve[s.Excuse], 0.0001, Warn-0.0001
	}
	x := math.Log(s.P / (1 - s.P))
	return min(high, max(low, 1/(1+math.Exp(-c.at0-c.slope*x))))
}

// threshold returns the threshold that is in force.
func (k Checker) threshold() float64 {
	if k.Threshold == 0 {
		return Warn
	}
	return k.Threshold
}

// settle sets the risk of a span, and whether it counts: it has an excuse if its risk is below the threshold.
func (c *check) settle(s *Span) {
	s.Risk = math.Round(1e4*s.risk(c.want.base)) / 1e4
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

// highest is the risk of a text: that of its worst span, or what may be in it unseen.
func (c *check) highest(spans []Span) float64 {
	risk := c.silent()
	for _, s := range spans {
		risk = max(risk, s.Risk)
	}
	return risk
}
