package corpus

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	accelerator = regexp.MustCompile(`\([_~&]?[A-Z]\)`)
	placeholder = regexp.MustCompile(`%\(\w+\)[sd]|%[-+ 0#]*\d*(\.\d+)?\$?\w+|` +
		`\$\{[^}]*\}|\$\w+|\{[^{}]*\}|\\[ntr"'\\]|\[\[?/?[A-Za-z0-9_ =.-]+\]?\]`)
	code       = regexp.MustCompile(`://|www\.|[\w.]@\w|[{}<>\\|=^~` + "`" + `$_]|\w::\w|\w\(\)|/\w+/|--\w|©`)
	decoration = strings.NewReplacer("*", " ", "#", " ", "•", " ", "►", " ", "▪", " ", "·", " ", "†", " ",
		"\u00ad", "", "\u200b", "", "_", "", "~", "", "&", "")
)

// sentences calls yield with the sentences of a paragraph or message: without
// markup, placeholders and keyboard accelerators, and without those that look
// like code.
func sentences(s string, yield func(string)) {
	paragraphs(s, func(p string) {
		if strings.ContainsAny(p, "%${[\\") {
			p = placeholder.ReplaceAllString(p, " ")
		}
		if strings.Contains(p, "(") {
			p = accelerator.ReplaceAllString(p, "")
		}
		p = strings.Join(strings.Fields(decoration.Replace(p)), " ")
		for p != "" {
			end := sentenceEnd(p)
			x := strings.Trim(p[:end], " -–—:;,/\"")
			p = p[end:]
			if x != "" && !code.MatchString(x) {
				yield(x)
			}
		}
	})
}

// sentenceEnd is where the first sentence of s ends: behind a full stop with
// its closing quotes, if no lower-case letter follows.
func sentenceEnd(s string) int {
	for i, r := range s {
		switch r {
		case '。', '！', '？', '؟', '।', '.', '!', '?', '…':
		default:
			continue
		}
		end := i + utf8.RuneLen(r)
		end += len(s[end:]) - len(strings.TrimLeft(s[end:], "\"»”’)」』）"))
		if r > '…' || r == '؟' || r == '।' {
			return end
		}
		if next, ok := strings.CutPrefix(s[end:], " "); ok {
			if r, _ := utf8.DecodeRuneInString(next); !unicode.IsLower(r) {
				return end
			}
		}
	}
	return len(s)
}

// usable reports whether a sentence looks like the language it is said to be
// in: long enough, mostly letters, and those in the right script.
func usable(s, language string) bool {
	var runes, letters, right, latin, kana, spaces int
	script := Scripts[language]
	for _, r := range s {
		runes++
		switch {
		case r == ' ':
			spaces++
			continue
		case !unicode.In(r, unicode.L, unicode.M):
			continue
		case unicode.Is(unicode.Latin, r):
			latin++
		case r >= 0x300 && r < 0x370: // a decomposed accent
			return false
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		}
		letters++
		if unicode.In(r, script...) {
			right++
		}
	}
	if runes < 6 || runes > 600 || 10*letters < 6*(runes-spaces) {
		return false
	}
	switch language {
	case "zh":
		return 10*right >= 6*letters && kana == 0
	case "ja": // Lines without kana are often Chinese.
		return 10*right >= 6*letters && (kana > 0 || latin == 0)
	}
	if script == nil {
		right = latin
		if 10*right < 9*letters {
			return false
		}
	} else if 10*right < 6*letters {
		return false
	}
	if Unspaced[language] {
		return true
	}
	if runes < 12 && language != "ko" || spaces < 2 {
		return false
	}
	words := strings.Fields(s)
	capitals, stubs := 0, 0
	for _, w := range words {
		if len(w) > 1 && strings.ToUpper(w) == w && strings.ToLower(w) != w {
			capitals++
		}
		if utf8.RuneCountInString(w) < 2 || strings.Trim(w, "0123456789") == "" {
			stubs++
		}
	}
	return 10*capitals <= 4*len(words) && 2*stubs <= len(words)
}

var english = Set("the and this with which your from are of")

// looksEnglish finds what translators left as it was.
func looksEnglish(s string) bool {
	n := 0
	for _, w := range strings.Fields(strings.ToLower(s)) {
		if english[w] {
			n++
		}
	}
	return n >= 2
}

// letters is s without anything but letters, in lower case.
func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// Texts holds the distinct sentences of each language with their origin.
type Texts map[string]map[string]string

func (c Texts) Add(t Text) {
	sentences(t.body, func(s string) {
		if !usable(s, t.language) {
			return
		}
		m := c[t.language]
		if m == nil {
			m = map[string]string{}
			c[t.language] = m
		}
		// What is both held out and trained on is only trained on.
		if was, ok := m[s]; !ok || HeldOut[was] && !HeldOut[t.origin] {
			m[s] = t.origin
		}
	})
}

// Purge drops what is not in the language it is said to be in: English where
// the translation is missing, Chinese characters alone as Japanese.
func (c Texts) Purge() {
	source := map[string]bool{}
	for s := range c["en"] {
		source[lettersOf(s)] = true
	}
	for language, m := range c {
		for s := range m {
			if language != "en" && Scripts[language] == nil && (looksEnglish(s) || source[lettersOf(s)]) {
				delete(m, s)
			}
		}
	}
	for s := range c["ja"] {
		if c["zh"][s] != "" {
			delete(c["ja"], s)
		}
	}
}

// known are the languages that texts are kept of: the labels of lid.176 that packages have.
var known = Set(`af am ar as ast az be bg bn br ca cs cy da de el en eo es et eu fa fi fr ga gd gl gu he hi hr hu hy id
	is it ja ka kk km kn ko lt lv mk ml mr ms my ne nl no oc or pa pl pt ro ru si sk sl sq sr sv sw ta te th tl tr uk ur uz
	vi zh`)

// Set returns the words of a text.
func Set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// language maps a locale, as packages write it, to lid.176's label: "" if it has none here.
func languageOf(locale string) string {
	locale = strings.ToLower(strings.ReplaceAll(locale, "-", "_"))
	base, variant, _ := strings.Cut(locale, "@")
	base, _, _ = strings.Cut(base, "_")
	switch {
	case locale == "c":
		return "en"
	case base == "sr" && (strings.Contains(locale, "latn") || variant == "latin"):
		return "hr"
	case variant == "valencia":
		return "ca"
	case variant != "":
		return ""
	}
	switch base {
	case "nb", "nn":
		return "no"
	case "bs":
		return "hr"
	case "iw":
		return "he"
	case "in":
		return "id"
	case "fil":
		return "tl"
	}
	if !known[base] {
		return ""
	}
	return base
}

// Scripts lists the Scripts of the languages that are not written in Latin.
var Scripts = map[string][]*unicode.RangeTable{
	"zh": {unicode.Han},
	"ja": {unicode.Han, unicode.Hiragana, unicode.Katakana},
	"ko": {unicode.Hangul},
}

func init() {
	for table, languages := range map[*unicode.RangeTable]string{
		unicode.Arabic:     "ar fa ur",
		unicode.Armenian:   "hy",
		unicode.Bengali:    "bn as",
		unicode.Cyrillic:   "ru uk bg sr mk be kk",
		unicode.Devanagari: "hi mr ne",
		unicode.Ethiopic:   "am",
		unicode.Georgian:   "ka",
		unicode.Greek:      "el",
		unicode.Gujarati:   "gu",
		unicode.Gurmukhi:   "pa",
		unicode.Hebrew:     "he",
		unicode.Kannada:    "kn",
		unicode.Khmer:      "km",
		unicode.Malayalam:  "ml",
		unicode.Myanmar:    "my",
		unicode.Oriya:      "or",
		unicode.Sinhala:    "si",
		unicode.Tamil:      "ta",
		unicode.Telugu:     "te",
		unicode.Thai:       "th",
	} {
		for language := range Set(languages) {
			Scripts[language] = []*unicode.RangeTable{table}
		}
	}
}

// Unspaced languages put no space between words.
var Unspaced = Set("zh ja th km my")
