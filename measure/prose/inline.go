package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func (p *parser) inline(start, end int) {
	letter := false // the preceding character is a letter or a digit
	for i := start; i < end; {
		c := p.text[i]
		if letter && wordByte(c) {
			i++
			continue
		}
		to, kind := i, Kind("")
		switch {
		case c == '`':
			mark := p.text[i:p.while(i, end, func(r rune) bool { return r == '`' })]
			if n := strings.Index(p.near(i+len(mark), end), mark); n >= 0 {
				to, kind = i+n+2*len(mark), Code
			}
		case c == '$' || c == '\\':
			to, kind = p.formula(i, end), Math
		case c == '<':
			to, kind = p.tag(i, end), Markup
		case c == '*' || c == '_' && !letter:
			inner, stop := p.emphasis(i, start, end)
			if stop > inner {
				p.mask(inner, stop, Label)
			}
			i = stop
			continue
		case (c == '#' || c == '@') && !letter:
			stop := p.while(i+1, end, func(r rune) bool { return inWord(r) || r == '_' })
			if stop >= i+3 {
				to, kind = stop, Address
			}
		case !letter && p.wordAt(i, end):
			to, kind = p.word(i, end)
		}
		if to > i {
			p.mask(i, to, kind)
			i, letter = to, false
			continue
		}
		r, n := utf8.DecodeRuneInString(p.text[i:end])
		if wordByte(c) || isPlain(r) {
			i, letter = i+n, true
			continue
		}
		if !letter || r != '\'' && r != '’' {
			if stop := p.quotation(i, n, r, end); stop > 0 {
				p.mask(i+n, stop, Quote)
				_, close := utf8.DecodeRuneInString(p.text[stop:])
				i, letter = stop+close, false
				continue
			}
		}
		switch {
		case isEmoji(r):
			p.mask(i, i+n, Emoji)
		case isMath(r):
			p.mask(i, i+n, Math)
		case r >= 0x3007 && isNumeral(r):
			to, kind = p.numerals(i, end), Number
		case !letter && unicode.Is(unicode.Greek, r):
			to, kind = p.symbol(i, end), Math
		}
		if to > i {
			p.mask(i, to, kind)
			i = to
			continue
		}
		letter = inWord(r)
		i += n
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// reach is the distance in bytes within which a closing mark is searched, so that the time is proportional to the
// length.
const reach = 400

// near returns the text from byte from up to end, within reach.
func (p *parser) near(from, end int) string { return p.text[from:min(end, from+reach)] }

// while returns the end of the run of characters in a class that starts at byte i.
func (p *parser) while(i, end int, in func(rune) bool) int {
	return end - len(strings.TrimLeftFunc(p.text[i:end], in))
}

// wordAt reports whether a word, number, path or option may start at i.
func (p *parser) wordAt(i, end int) bool {
	for j := i; j < min(end, i+3); j++ {
		switch c := p.text[j]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9':
			return true
		case strings.IndexByte("/~.-+", c) < 0:
			return false
		}
	}
	return false
}

// formula returns the end of a TeX formula that starts at i, or i.
func (p *parser) formula(i, end int) int {
	s := p.near(i, end)
	for _, d := range [][2]string{{"$$", "$$"}, {`\(`, `\)`}, {`\[`, `\]`}} {
		if strings.HasPrefix(s, d[0]) {
			if j := strings.Index(s[2:], d[1]); j >= 0 {
				return i + 2 + j + 2
			}
			return i
		}
	}
	if s[0] == '$' && len(s) > 2 && s[1] != ' ' && (s[1] < '0' || s[1] > '9') {
		if j := strings.IndexByte(s[1:], '$'); j > 0 && j < 120 && s[j] != ' ' {
			return i + 1 + j + 1
		}
	}
	if s[0] == '\\' {
		j := 1
		for j < len(s) && 'a' <= s[j]|0x20 && s[j]|0x20 <= 'z' {
			j++
		}
		if j > 1 {
			return i + j
		}
	}
	return i
}

// tag returns the end of an HTML tag or of an address in angle brackets that starts at i, or i.
func (p *parser) tag(i, end int) int {
	s := p.near(i, end)
	if len(s) < 3 || !('a' <= s[1]|0x20 && s[1]|0x20 <= 'z' || s[1] == '/' || s[1] == '!') {
		return i
	}
	if j := strings.IndexByte(s, '>'); j > 0 && j < 200 {
		return i + j + 1
	}
	return i
}

// emphasis returns the start and the end of the words of an emphasis inside a sentence: at most five words, with text
// before them, or more than a colon after them. If there is none at i, both are after the marks there.
func (p *parser) emphasis(i, start, end int) (inner, stop int) {
	inner = i + 1
	for inner < end && p.text[inner] == p.text[i] {
		inner++
	}
	mark := p.text[i:inner]
	if len(mark) > 3 || inner >= end || p.text[inner] == ' ' {
		return inner, inner
	}
	n := strings.Index(p.near(inner, end), mark)
	if n <= 0 || len(strings.Fields(p.text[inner:inner+n])) > 5 {
		return inner, inner
	}
	stop = inner + n
	before := strings.IndexFunc(p.text[max(start, i-reach):i], unicode.IsLetter) >= 0
	after := strings.TrimLeft(p.near(stop+len(mark), end), " ")
	leads := strings.HasPrefix(after, ":") || strings.HasPrefix(after, "：") ||
		strings.HasSuffix(p.text[inner:stop], ":")
	if !before && (leads || strings.IndexFunc(after, unicode.IsLetter) < 0) {
		return inner, inner
	}
	return inner, stop
}

// word returns the end of an address, file name, identifier or number with its unit that starts at i, or i.
func (p *parser) word(i, end int) (int, Kind) {
	j := i
	var dots, slashes, digits, letters, at, special, upper int
scan:
	for ; j < min(end, i+reach); j++ {
		c := p.text[j]
		switch {
		case 'a' <= c && c <= 'z':
			letters++
		case 'A' <= c && c <= 'Z':
			letters++
			if j > i && 'a' <= p.text[j-1] && p.text[j-1] <= 'z' {
				upper++ // camelCase
			}
		case '0' <= c && c <= '9':
			digits++
		case c == '.':
			dots++
		case c == '/':
			slashes++
		case c == '@':
			at++
		case c == '_' || c == '<' && upper == 0 && letters > 2 && j+1 < end && p.text[j+1] == '<':
			special++
		case strings.IndexByte(",?=>&#", c) >= 0:
			if slashes == 0 && digits == 0 && special == 0 {
				break scan
			}
		case strings.IndexByte("-+:~%", c) < 0:
			break scan
		}
	}
	for j > i && strings.IndexByte(".,:?-+/=&#~>%", p.text[j-1]) >= 0 {
		if last := p.text[j-1]; last == '%' && digits > 0 || last == '/' && slashes > 1 {
			break
		}
		j--
	}
	w := p.text[i:j]
	if w == "" {
		return i, ""
	}
	if letters == len(w) {
		return p.bare(i, j, end)
	}
	lower := strings.ToLower(w)
	rooted := w[0] == '/' || w[0] == '~'
	switch {
	case strings.Contains(w, "://") || strings.HasPrefix(lower, "www.") || at == 1 && dots > 0 && letters > 2 ||
		isDomain(lower):
		// An address continues to the next space.
		for j < end && p.text[j] > ' ' && p.text[j] < 0x80 && strings.IndexByte("()[]{}<>\"'`", p.text[j]) < 0 {
			j++
		}
		return i + len(strings.TrimRight(p.text[i:j], ".,:;!?")), Address
	case letters > 0 && (special > 0 || slashes > 0 && rooted ||
		dots > 0 && files[lower[strings.LastIndexByte(lower, '.')+1:]]):
		return j, Code
	case letters > 0 && slashes > 1 && (w[0] == '.' || dots > 0 || digits > 0):
		return j, Code
	case digits > 0 && letters > 0:
		rest := strings.TrimLeftFunc(p.text[j:end], func(r rune) bool { return unicode.Is(unicode.Latin, r) })
		j = end - len(rest) // "16letý": no word starts within it
		return j, Number
	case digits > 0:
		return p.unit(j, end), Number
	case tools[w]:
		return p.command(i, j)
	case w[0] == '-' && len(w) > 2 && letters > 1:
		return j, Code // an option of a command
	}
	return i, ""
}

// bare is like word, for a part from byte i to byte j that has only letters.
func (p *parser) bare(i, j, end int) (int, Kind) {
	switch w := p.text[i:j]; {
	case tools[w]:
		return p.command(i, j)
	case isException(w) && strings.HasPrefix(p.text[j:end], ": "):
		return p.message(j+2, end), Code
	case len(w) <= 2 && p.inFormula(i, j, end), functions[w] && p.argument(j, end):
		return j, Math
	}
	return i, ""
}

// command returns the end of the command for the tool from byte i to byte j, or i.
func (p *parser) command(i, j int) (int, Kind) {
	for verb := range verbs {
		rest, ok := strings.CutPrefix(p.text[j:], " "+verb)
		if ok && (rest == "" || !wordByte(rest[0])) {
			return len(p.text) - len(rest), Code
		}
	}
	return i, ""
}

// message returns the end of a program's message at i: of its sentence, or before a word that is not plain ASCII.
func (p *parser) message(i, end int) int {
	for j := i; j < end; j++ {
		switch c := p.text[j]; {
		case c >= utf8.RuneSelf:
			return i + max(0, strings.LastIndexByte(p.text[i:j], ' '))
		case strings.IndexByte(".!?", c) >= 0 && (j+1 == end || p.text[j+1] == ' '):
			return j
		}
	}
	return end
}

// inFormula reports whether a word is next to an operator.
func (p *parser) inFormula(i, j, end int) bool {
	const operators = "=+−±×÷≤≥≈^√∑∫²³" // next to variables
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(p.text[max(0, i-8):i], " "))
	after, _ := utf8.DecodeRuneInString(strings.TrimLeft(p.text[j:min(end, j+8)], " "))
	return strings.ContainsRune(operators, before) || strings.ContainsRune(operators, after)
}

func wordByte(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }

// argument reports whether the text after byte j is the argument of a function: a single letter, a number, a
// parenthesis.
func (p *parser) argument(j, end int) bool {
	s := strings.TrimLeft(p.text[j:min(end, j+16)], " ²³⁻¹")
	r, n := utf8.DecodeRuneInString(s)
	next, _ := utf8.DecodeRuneInString(s[n:])
	return r == '(' || unicode.IsDigit(r) || unicode.Is(unicode.Greek, r) ||
		unicode.IsLetter(r) && !unicode.IsLetter(next)
}

// isDomain reports whether a word in lower case is a domain, with or without a path.
func isDomain(w string) bool {
	host, _, path := strings.Cut(w, "/")
	dot := strings.LastIndexByte(host, '.')
	if dot < 2 {
		return false
	}
	name, top := host[:dot], host[dot+1:]
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == "" && domains[top] &&
		(path || len(top) > 2 || shortDomains[top] || strings.Contains(name, "."))
}

// unit returns the end of the unit after a number that ends at j, or j.
func (p *parser) unit(j, end int) int {
	after := strings.TrimLeft(p.text[j:end], " \u00a0\u202f")
	k := end - len(after)
	inUnit := func(r rune) bool { return unicode.IsLetter(r) || strings.ContainsRune("²³°/", r) }
	after = after[:p.while(k, end, inUnit)-k]
	whole := strings.TrimRight(after, "/")
	for part := range strings.SplitSeq(whole, "/") {
		if !units[part] {
			return j
		}
	}
	if whole == "" {
		return j
	}
	return k + len(whole)
}

// symbol returns the end of a symbol of one or two Greek letters, with the letters and digits attached to it.
func (p *parser) symbol(i, end int) int {
	greek := 0
	j := p.while(i, end, func(r rune) bool {
		if unicode.Is(unicode.Greek, r) {
			greek++
			return true
		}
		return r < utf8.RuneSelf && wordByte(byte(r))
	})
	if greek > 2 {
		return i
	}
	return j
}

// isNumeral reports whether r is a Chinese or Japanese numeral.
func isNumeral(r rune) bool {
	switch r {
	case '〇', '一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '百', '千', '万', '萬', '億', '亿', '兆':
		return true
	}
	return false
}

// numerals returns the end of a number in Chinese characters that starts at i, of at least two numerals, including a
// counter of time or rank; or i.
func (p *parser) numerals(i, end int) int {
	n := 0
	to := p.while(i, end, func(r rune) bool {
		if isNumeral(r) {
			n++
			return true
		}
		return strings.ContainsRune("年月日時时分秒号號番丁目円元", r)
	})
	if n < 2 {
		return i
	}
	return to
}

// isPlain reports whether r is a letter, mark or digit beyond ASCII that cannot start a masked part. It is fast: it
// only checks the scripts of most texts.
func isPlain(r rune) bool {
	in := func(from, to rune) bool { return from <= r && r <= to }
	switch {
	case r < 0x400:
		return in(0xc0, 0x24f) && r != '×' && r != '÷'
	case r < 0x1000:
		return in(0x400, 0x481) || in(0x48a, 0x52f) || in(0x620, 0x669) || in(0x66e, 0x6d3) || in(0x900, 0x963)
	case r < 0x4e00:
		return in(0x1ea0, 0x1ef9) || in(0x3041, 0x3096) || in(0x30a1, 0x30fa) || r == 'ー'
	}
	return in(0xac00, 0xd7a3) || in(0x4e00, 0x9fff) && !isNumeral(r)
}

func isEmoji(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2600 && r <= 0x27bf || r == 0xfe0f
}

// isMath reports whether r is a mathematical symbol; letters next to it belong to their own words.
func isMath(r rune) bool {
	return r == '=' || r == '±' || r == '×' || r == '÷' || r >= 0x2190 && r <= 0x22ff
}

// closings maps the marks that open a quotation to those that close it.
var closings = map[rune]string{
	'"': "\"", '\'': "'", '‘': "’", '“': "”", '„': "“”", '«': "»", '»': "«",
	'「': "」", '『': "』", '《': "》", '〈': "〉",
}

// quotation returns the end of a quotation that r opens at i, 0 if there is none. It ends within its block and within
// 300 bytes; a single mark closes it only at the end of a word.
func (p *parser) quotation(i, n int, r rune, end int) int {
	if r == ' ' { // the most frequent case
		return 0
	}
	marks, from, single := closings[r], i+n, r == '\'' || r == '‘'
	if marks == "" || from >= end || single && p.text[from] == ' ' {
		return 0
	}
	for j := from; j < end && j < from+300; {
		q, size := utf8.DecodeRuneInString(p.text[j:end])
		if strings.ContainsRune(marks, q) {
			if !single {
				return j
			}
			after, _ := utf8.DecodeRuneInString(p.text[j+size:])
			if p.text[j-1] != ' ' && !(unicode.Is(unicode.Latin, after)) {
				return j
			}
		}
		j += size
	}
	return 0
}
