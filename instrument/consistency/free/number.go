package free

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"crosstalk/internal/lazyregexp"
)

// Only returns the one number that a text gives, be it several times. Digits
// may be grouped; words count in English, German, French and Spanish up to a
// hundred and as multiples of hundred, thousand and million, and Chinese
// numerals. A word that is an article too, as un, counts if it is all the text.
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
		return " | " // words on both sides are apart
	})
	rest = han().ReplaceAllStringFunc(rest, func(s string) string {
		found = append(found, fromHan(s))
		return " | "
	})
	found = append(found, fromWords(rest)...)
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

// fromDigits reads 1234.5, 1,234.5, 1.234,5 and 1,5. One separator before
// three digits is taken for a group's if it is a comma, and for a decimal point
// if it is a point.
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

// fromHan reads Chinese numerals: 二十五, 三百, 二〇二四.
func fromHan(s string) float64 {
	values := map[rune]float64{'一': 1, '二': 2, '两': 2, '兩': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
	scales := map[rune]float64{'十': 10, '百': 100, '千': 1000, '万': 1e4, '萬': 1e4, '亿': 1e8, '億': 1e8}
	var total, part, digit float64
	begun := false // a digit waits for its scale
	for _, r := range s {
		switch scale, isScale := scales[r]; {
		case isScale && scale >= 1e4:
			total, part, digit = (total+part+digit)*scale, 0, 0
			begun = false
		case isScale:
			if !begun && digit == 0 {
				digit = 1
			}
			part, digit = part+digit*scale, 0
			begun = false
		case begun: // years are read digit by digit
			digit = 10*digit + values[r]
		default:
			digit, begun = values[r], r != '零' && r != '〇'
		}
	}
	return total + part + digit
}

func fromWords(text string) (found []float64) {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '|' })
	for i := 0; i < len(words); {
		n, used := phrase(words[i:])
		if used == 0 {
			i++
			continue
		}
		found = append(found, n)
		i += used
	}
	return found
}

// phrase reads a number at the start of words, and how many words it uses: parts
// below a hundred, each with the scales after it.
func phrase(words []string) (total float64, used int) {
	numerals, scales := numbers()
	part, begun := 0.0, false
	for used < len(words) {
		n, taken := 0.0, 0
		for k := min(4, len(words)-used); k > 0 && taken == 0; k-- {
			if value, ok := numerals[strings.Join(words[used:used+k], " ")]; ok {
				n, taken = value, k
			}
		}
		scale, isScale := scales[words[used]]
		joined := used > 0 && (words[used] == "and" || words[used] == "et" || words[used] == "y") && used+1 < len(words)
		switch {
		case taken > 0 && (!begun || part >= 100 && n < 100):
			part, begun = part+n, true
			used += taken
		case isScale && scale == 100 && part < 100:
			part, begun = max(part, 1)*100, true
			used++
		case isScale && scale > 100 && total == 0:
			total, part, begun = max(part, 1)*scale, 0, false
			used++
		case joined && numerals[words[used+1]] > 0:
			used++
		default:
			return total + part, used
		}
	}
	return total + part, used
}

// articles mean one, but are seldom meant to.
var articles = map[string]float64{"ein": 1, "eine": 1, "un": 1, "une": 1, "una": 1}

//go:embed numerals.txt
var numeralsFile string

// numbers are the numbers of numeralsFile by their words: those below 100, and the scales.
var numbers = sync.OnceValues(func() (numerals, scales map[string]float64) {
	numerals, scales = map[string]float64{}, map[string]float64{}
	for line := range strings.Lines(numeralsFile) {
		digits, words, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			continue // a comment
		}
		of := numerals
		if n >= 100 {
			of = scales
		}
		for word := range strings.SplitSeq(words, ", ") {
			of[word] = n
		}
	}
	return numerals, scales
})
