package free

import (
	"strconv"
	"strings"
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
	for _, n := range found {
		if n != found[0] {
			return 0, false
		}
	}
	if len(found) == 0 {
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
	grouped := group().MatchString(body) && (strings.Count(body, ".") != 1 || strings.ContainsAny(body, ",'’\u00a0\u202f") && last != strings.Index(body, "."))
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
	values := map[rune]float64{'〇': 0, '零': 0, '一': 1, '二': 2, '两': 2, '兩': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
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

// fromWords reads numbers written out.
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

// phrase reads a number at the start of words, and how many it takes: parts
// below a hundred, each with the scales after it.
func phrase(words []string) (total float64, used int) {
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

var scales = map[string]float64{"hundred": 100, "thousand": 1000, "million": 1e6, "hundert": 100, "tausend": 1000,
	"cent": 100, "cents": 100, "mille": 1000, "cien": 100, "ciento": 100, "mil": 1000}

// articles mean one, but are seldom meant to.
var articles = map[string]float64{"ein": 1, "eine": 1, "un": 1, "une": 1, "una": 1}

// numerals are the numbers from 0 to 99 in words, hyphens read as spaces.
var numerals = func() map[string]float64 {
	all := map[string]float64{}
	add := func(n int, words string) { all[words] = float64(n) }
	list := func(from, step int, words string) []string {
		names := strings.Split(words, " ")
		for i, w := range names {
			add(from+i*step, strings.ReplaceAll(w, "-", " "))
		}
		return names
	}
	en := list(0, 1, "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	for t, tens := range list(20, 10, "twenty thirty forty fifty sixty seventy eighty ninety") {
		for u := 1; u < 10; u++ {
			add(20+10*t+u, tens+" "+en[u])
		}
	}
	de := list(0, 1, "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn")
	de[1] = "ein"
	for t, tens := range list(20, 10, "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig") {
		for u := 1; u < 10; u++ {
			add(20+10*t+u, de[u]+"und"+tens)
		}
	}
	fr := list(0, 1, "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf")
	for n := 20; n < 100; n++ {
		tens, unit := [...]string{"vingt", "trente", "quarante", "cinquante", "soixante", "soixante", "quatre vingt", "quatre vingt"}[n/10-2], n%10
		if n/10 == 7 || n/10 == 9 {
			unit += 10
		}
		and := " "
		if (unit == 1 || unit == 11) && n < 80 {
			and = " et "
		}
		switch name := strings.ReplaceAll(fr[unit], "-", " "); {
		case unit == 0 && n == 80:
			add(n, "quatre vingts")
			add(n, "quatre vingt")
		case unit == 0:
			add(n, tens)
		default:
			add(n, tens+and+name)
		}
	}
	es := list(0, 1, "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve")
	for t, tens := range list(30, 10, "treinta cuarenta cincuenta sesenta setenta ochenta noventa") {
		for u := 1; u < 10; u++ {
			add(30+10*t+u, tens+" y "+es[u])
		}
	}
	for _, article := range []string{"un", "ein"} {
		delete(all, article)
	}
	return all
}()
