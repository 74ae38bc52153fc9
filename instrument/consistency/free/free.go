// Package free decides whether two free answers to a question mean the same: by their texts, their numbers, a
// similarity, or by asking the model itself.
package free

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/read"
	"crosstalk/internal/lazyregexp"
	"crosstalk/measure/similarity"

	"golang.org/x/text/unicode/norm"
)

// Text compares answers as texts, ignoring case, punctuation at either end, white space, and the encoding of equal
// characters (NFKC).
type Text struct{}

func (Text) Name() string { return "text" }

func (Text) Same(_ context.Context, _ crosstalk.Asker, _, a, b string) (consistency.Verdict, []crosstalk.Key, error) {
	return consistency.VerdictOf(normalised(a) == normalised(b)), nil, nil
}

func normalised(text string) string {
	text = strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(text))), " ")
	return strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '-' && r != '%' || r == '`'
	})
}

// Number compares answers by the single number that each contains, in digits or in words: 5, "five", "5 times", "fünf".
// Answers with no number or several are compared as texts.
type Number struct{}

func (Number) Name() string { return "number" }

func (Number) Same(
	ctx context.Context, ask crosstalk.Asker, question, a, b string,
) (consistency.Verdict, []crosstalk.Key, error) {
	x, okX := Only(a)
	y, okY := Only(b)
	if !okX || !okY {
		return Text{}.Same(ctx, ask, question, a, b)
	}
	return consistency.VerdictOf(x == y), nil, nil
}

// Similar treats answers with a similarity of at least Threshold as the same. There is no verdict if the similarity is
// undefined.
type Similar struct {
	Similarity similarity.Similarity
	Threshold  float64
}

func (s Similar) Name() string { return fmt.Sprintf("%s>=%g", s.Similarity.Name(), s.Threshold) }

func (s Similar) Same(
	ctx context.Context, _ crosstalk.Asker, _, a, b string,
) (consistency.Verdict, []crosstalk.Key, error) {
	scores, err := s.Similarity.Scores(ctx, []similarity.Pair{{A: a, B: b}})
	if err != nil {
		return consistency.Unknown, nil, err
	}
	if score := crosstalk.Value(scores[0]); score.Defined() {
		return consistency.VerdictOf(scores[0] >= s.Threshold), nil, nil
	}
	return consistency.Unknown, nil, nil
}

// Asked asks the model itself whether two answers mean the same.
type Asked struct{ Prompting crosstalk.PromptConfig }

func (Asked) Name() string { return "model" }

const askedPrompt = "Two people were asked the same question, each in a language of their own. " +
	"Do their answers mean the same? It does not matter whether they are right. " +
	"Reply with \"yes\" or \"no\" only.\n\nQuestion: %s\n\nFirst answer: %s\n\nSecond answer: %s"

// Same asks the model about texts that are not equal.
func (c Asked) Same(
	ctx context.Context, ask crosstalk.Asker, question, a, b string,
) (consistency.Verdict, []crosstalk.Key, error) {
	if normalised(a) == normalised(b) {
		return consistency.Yes, nil, nil
	}
	if ask == nil {
		return consistency.Unknown, nil, fmt.Errorf("recorded answers cannot be compared by a model; " +
			"expected text, number, or a similarity with its threshold")
	}
	answer, err := ask.Ask(ctx, c.Prompting.Request(fmt.Sprintf(askedPrompt, question, a, b), 0))
	if err != nil || answer.Status != crosstalk.Text {
		return consistency.Unknown, nil, err
	}
	asked := []crosstalk.Key{answer.Key}
	switch read.Crosstalk1(answer.Text, []string{"yes", "no"}).Label {
	case "yes":
		return consistency.Yes, asked, nil
	case "no":
		return consistency.No, asked, nil
	}
	return consistency.Unknown, asked, nil
}

// Only returns the only number in a text, even if repeated. Digits may be grouped; words are read in English, German,
// French and Spanish up to a hundred and as multiples of hundred, thousand and million, and Chinese numerals. A word
// that is also an article, such as un, counts if it is the whole text.
func Only(text string) (number float64, ok bool) {
	text = strings.ToLower(text)
	if n, article := articles[strings.TrimFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })]; article {
		return n, true
	}
	var found []float64
	rest := digits().ReplaceAllStringFunc(text, func(s string) string {
		if n, ok := fromDigits(s); ok {
			found = append(found, n)
		}
		return " | " // separates the words on both sides
	})
	rest = han().ReplaceAllStringFunc(rest, func(s string) string {
		found = append(found, fromHan(s))
		return " | "
	})
	words := strings.FieldsFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && r != '|' })
	for len(words) > 0 {
		n, used := phrase(words)
		if used > 0 {
			found = append(found, n)
		}
		words = words[max(used, 1):]
	}
	if found = slices.Compact(found); len(found) != 1 {
		return 0, false
	}
	return found[0], true
}

var (
	digits = lazyregexp.New(`[-−]?\d+(?:[.,'’\x{a0}\x{202f}]\d+)*`)
	group  = lazyregexp.New(`^\d{1,3}(?:[.,'’\x{a0}\x{202f}]\d{3})+$`)
	han    = lazyregexp.New(`[〇零一二两兩三四五六七八九十百千万萬亿億]+`)
)

// fromDigits parses 1234.5, 1,234.5, 1.234,5 and 1,5. A single separator before three digits is a thousands separator
// if it is a comma, and a decimal point if it is a point.
func fromDigits(s string) (float64, bool) {
	s = strings.Replace(s, "−", "-", 1)
	sign, body := 1.0, s
	if strings.HasPrefix(s, "-") {
		sign, body = -1, s[1:]
	}
	last := strings.LastIndexAny(body, ".,")
	pointLast := last == strings.Index(body, ".") || !strings.ContainsAny(body, ",'’\u00a0\u202f")
	grouped := group().MatchString(body) && !(pointLast && strings.Count(body, ".") == 1)
	whole, fraction := body, ""
	if last >= 0 && !grouped {
		whole, fraction = body[:last], "."+body[last+1:]
	}
	whole = strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, whole)
	n, err := strconv.ParseFloat(whole+fraction, 64)
	return sign * n, err == nil
}

// fromHan parses Chinese numerals: 二十五, 三百, 二〇二四.
func fromHan(s string) (n float64) {
	values := map[rune]float64{'一': 1, '二': 2, '两': 2, '兩': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
	scales := map[rune]float64{'十': 10, '百': 100, '千': 1000, '万': 1e4, '萬': 1e4, '亿': 1e8, '億': 1e8}
	digits := false // years are written digit by digit
	for _, r := range s {
		if scale := scales[r]; scale > 0 {
			n, digits = scaled(n, scale), false
			continue
		}
		if digits {
			n *= 10
		}
		n += values[r]
		digits = digits || values[r] > 0
	}
	return n
}

// scaled multiplies the part of a number that is below a scale: the 2 of 1,002 by a hundred.
func scaled(n, scale float64) float64 {
	low := math.Mod(n, scale)
	return n - low + max(low, 1)*scale
}

// phrase parses the number at the start of words, and returns how many it uses: parts below a hundred, each with its
// scales.
func phrase(words []string) (n float64, used int) {
	numerals := numbers()
	for used < len(words) {
		next, taken := 0.0, 0
		for k := min(4, len(words)-used); k > 0 && taken == 0; k-- {
			if value, ok := numerals[strings.Join(words[used:used+k], " ")]; ok {
				next, taken = value, k
			}
		}
		joins := used > 0 && slices.Contains([]string{"and", "et", "y"}, words[used]) && used+1 < len(words)
		switch {
		case taken > 0 && next < 100 && (used == 0 || n >= 100 && math.Mod(n, 100) == 0):
			n += next
		case next >= 100 && (math.Mod(n, next) > 0 || math.Mod(n, 10*next) == 0):
			n = scaled(n, next)
		case joins && numerals[words[used+1]] > 0:
			taken = 1
		default:
			return n, used
		}
		used += taken
	}
	return n, used
}

// articles can mean one, but seldom do.
var articles = map[string]float64{"ein": 1, "eine": 1, "un": 1, "une": 1, "una": 1}

//go:embed numerals.txt
var numeralsFile string

// numbers has the numbers in numeralsFile by their words.
var numbers = sync.OnceValue(func() map[string]float64 {
	numerals := map[string]float64{}
	for line := range strings.Lines(numeralsFile) {
		digits, words, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			continue // a comment
		}
		for word := range strings.SplitSeq(words, ", ") {
			numerals[word] = n
		}
	}
	return numerals
})
