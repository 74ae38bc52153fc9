package main

import (
	"html"
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
	script := scripts[language]
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
	if unspaced[language] {
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

var english = set("the and this with which your from are of")

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

// corpus holds the distinct sentences of each language with their origin.
type corpus map[string]map[string]string

func (c corpus) add(t text) {
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
		if was, ok := m[s]; !ok || heldOut[was] && !heldOut[t.origin] {
			m[s] = t.origin
		}
	})
}

// purge drops what is not in the language it is said to be in: English where
// the translation is missing, Chinese characters alone as Japanese.
func (c corpus) purge() {
	source := map[string]bool{}
	for s := range c["en"] {
		source[lettersOf(s)] = true
	}
	for language, m := range c {
		for s := range m {
			if language != "en" && scripts[language] == nil && (looksEnglish(s) || source[lettersOf(s)]) {
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

// Elements whose text is no prose, and elements that end a paragraph.
var (
	dropped = set(`script style pre programlisting screen synopsis svg nav info credit revision legalnotice head code
		aside`)
	blocks = set(`p li td th tr h1 h2 h3 h4 h5 h6 dt dd div title para listitem entry term caption desc item section
		table ul ol dl br hr body subtitle note figure text blockquote`)
)

// paragraphs calls yield with the paragraphs of HTML, DocBook or Mallard.
func paragraphs(s string, yield func(string)) {
	var b strings.Builder
	flush := func() {
		if text := strings.TrimSpace(html.UnescapeString(b.String())); text != "" {
			yield(text)
		}
		b.Reset()
	}
	for s != "" {
		text, rest, found := strings.Cut(s, "<")
		b.WriteString(text)
		if !found {
			break
		}
		if after, ok := strings.CutPrefix(rest, "!--"); ok {
			_, s, _ = strings.Cut(after, "-->")
			continue
		}
		tag, after, _ := strings.Cut(rest, ">")
		s = after
		name := strings.TrimPrefix(tag, "/")
		name = strings.ToLower(name[:wordEnd(name)])
		switch {
		case dropped[name] && !strings.HasSuffix(tag, "/") && !strings.HasPrefix(tag, "/"):
			if name != "code" {
				flush()
			}
			_, s, _ = strings.Cut(s, "</"+name)
			_, s, _ = strings.Cut(s, ">")
		case blocks[name]:
			flush()
		}
	}
	flush()
}

func wordEnd(s string) int {
	for i := range len(s) {
		if !('a' <= s[i] && s[i] <= 'z' || 'A' <= s[i] && s[i] <= 'Z' || '0' <= s[i] && s[i] <= '9') {
			return i
		}
	}
	return len(s)
}
