package gate

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Number is a number as written. Its meaning depends on the figure.
type Number struct {
	value   float64
	percent bool
	text    string // as written
	source  string // the requirement, and the number's position in it
	at      int
}

var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)$`)

func parseNumber(text string) (Number, error) {
	text = strings.TrimSpace(text)
	digits, percent := strings.CutSuffix(text, "%")
	digits = strings.TrimSpace(digits)
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !decimal.MatchString(digits) {
		return Number{}, fmt.Errorf("%q is not a valid number; expected one such as 0.98 or 98%%", text)
	}
	return Number{value: v, percent: percent, text: text}, nil
}

// Of converts the number for a figure with a unit.
func (n Number) Of(unit string) (float64, error) {
	v, problem := n.value, ""
	switch {
	case unit != "" && n.percent:
		problem = fmt.Sprintf("the figure is in %s; expected a plain number, not a percentage", unit)
	case unit != "":
	case !n.percent && math.Abs(v) == 1:
		problem = fmt.Sprintf("%s is ambiguous: write %.0f%% or %.0f%%", n.text, v, 100*v)
	case n.percent || math.Abs(v) > 1:
		if v /= 100; math.Abs(v) > 1 {
			problem = fmt.Sprintf("%s is more than 100 %%", n.text)
		}
	}
	switch {
	case problem == "":
		return v, nil
	case n.source == "":
		return 0, errors.New(problem)
	}
	return 0, &SyntaxError{n.source, utf8.RuneCountInString(n.source[:n.at]) + 1, problem}
}

// ParseFraction reads a fraction: a number with % is a percentage, as is a number above 1 (60 is 60 %); any other
// number is a fraction (0.6 is 60 %). It refuses a plain 1, which is ambiguous, and values above 100 %.
func ParseFraction(text string) (float64, error) {
	n, err := parseNumber(text)
	if err != nil {
		return 0, err
	}
	return n.Of("")
}

func points(f float64) string {
	if s := fmt.Sprintf("%.3g", f); s != "1" {
		return s + " points"
	}
	return "1 point"
}
