package guard

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

// path reports whether words are part of a path through a menu: "Settings > Display".
func (c *check) path(r run) bool {
	if !r.words[0].Name {
		return false
	}
	before := strings.TrimRight(c.text[max(0, r.start-40):r.start], " *_")
	after := strings.TrimLeft(c.text[r.end:min(len(c.text), r.end+40)], " *_")
	return slices.ContainsFunc([]string{">", "→", "›", "➜"}, func(arrow string) bool {
		return strings.HasSuffix(before, arrow) || strings.HasPrefix(after, arrow) ||
			strings.Contains(r.text, " "+arrow+" ")
	})
}

// titled reports whether words look like a name, a title or a button's label: they begin with a capital within a
// sentence, where a confusion would not.
func (c *check) titled(run []words.Word) bool {
	first, last := run[0], run[len(run)-1]
	before, _ := utf8.DecodeRuneInString(c.before(first.Start))
	if len(run) <= 5 && unicode.IsUpper(before) && last.Name {
		return true // "(Bank) of America"
	}
	names := 0
	for _, w := range run {
		if w.Name {
			names++
		}
	}
	start, end := c.starts(first.Start), c.ends(last.End)
	behindColon := strings.HasSuffix(strings.TrimRight(c.text[max(0, first.Start-8):first.Start], " *_"), ":")
	next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(c.text[last.End:], " "))
	switch {
	case behindColon && first.Name && len(run) <= 3 && unicode.IsUpper(next): // "Van den (Berghe)"
		return true
	case (!start || behindColon || !end) && allCapitals(c.text[first.Start:last.End]):
		return true
	case !first.Name || len(run) > 12 || len(run) > 8 && 2*names < len(run):
		return false
	case start && end:
		return names == len(run) && first.Foreign && !speaks(run)
	case start:
		return c.heads(run, names)
	case 2*names >= len(run):
		return true
	}
	// A capitalised word of the other language begins a sentence; German nouns always have a capital.
	word := strings.ToLower(c.text[first.Start:first.End])
	return leads(first) && (!english[word] || articles[word]) && first.Language != "de" &&
		!(c.comma(first.Start) && len(run) > 4)
}

// heads reports whether words that start a sentence which continues after them look like a name: every sentence begins
// with a capital, so more evidence is needed.
func (c *check) heads(run []words.Word, names int) bool {
	return particled(c.want.base, c.text[run[len(run)-1].End:]) || names > 2 && 2*names >= len(run) ||
		names == len(run) && (names > 1 || run[0].Foreign && !run[0].Native)
}

// speaks reports whether a word that forms a sentence, or is before a comma, is not a name: "Sure.", "Toutefois,".
func speaks(run []words.Word) bool {
	const everyday = 1e-5 // share above which English words are not product names
	return len(run) == 1 && (run[0].English >= everyday || run[0].Native)
}

// leads reports whether a capitalised word is in the other language, and so begins the text after it, rather than a
// name before words in that language.
func leads(w words.Word) bool { return w.Name && w.Share > w.Own }

// named excuses a line in another language that looks like a name: its words begin with capitals, and it is an item of
// a list, a cell below the first row, a heading, the value of a key, the whole answer, or, as in an address or a
// signature, next to a line that is short and not a sentence either. First rows, and headings in English and German,
// have such capitals anyway.
func (c *check) named(b prose.Span, language string) prose.Kind {
	text := strings.Trim(c.text[b.Start:b.End], " *_")
	first := b.Start == c.blocks[0].Start
	entry := b.Kind == prose.Item || b.Kind == prose.Cell && c.below(b.Start)
	key, value, keyed := strings.Cut(text, ": ")
	// A first line of two words and a comma is a greeting in the language of the name.
	greets := first && b.End < len(c.text) && strings.HasSuffix(text, ",") && len(strings.Fields(text)) == 2
	switch {
	case text != "" && entry && c.rare(b), keyed && len(key) <= 60 && capitals(value),
		len(c.blocks) == 1 && !strings.ContainsAny(text, "!?") && !spoken(text) &&
			capitals(strings.TrimRight(text, ".")),
		capitals(text) && (greets || entry || b.Kind == prose.Heading && language != "en" && language != "de" ||
			b.Kind == prose.Paragraph && c.short(b)):
		return Name
	}
	return ""
}

// spoken reports whether a text has an English function word in lower case that occurs in sentences rather than names.
func spoken(text string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(w string) bool {
		w = strings.TrimRight(w, ".,;:")
		return english[w] && !inNames[w]
	})
}

// rare reports whether a block is only a capitalised word that is rare in every language.
func (c *check) rare(b prose.Span) bool {
	const share = 3e-5
	w, _ := c.analysis.At(b.Start)
	return w.Name && w.Share < share && strings.IndexFunc(c.text[w.End:b.End], unicode.IsLetter) < 0
}

// capitals reports whether a text is a few capitalised words, with short ones between them, and no sentence.
func capitals(text string) bool {
	upper, lower, number := 0, 0, false
	fields := strings.Fields(text)
	for i, w := range fields {
		r, n := utf8.DecodeRuneInString(w)
		switch {
		case unicode.IsUpper(r) && (n < len(w) || i > 0):
			upper++
		case unicode.IsLower(r) && (len(w) > 5 || i == 0):
			return false
		case unicode.IsLower(r):
			lower++
		}
		number = number || '0' <= w[0] && w[0] <= '9'
	}
	if len(fields) == 0 || len(fields) > 8 || lower > upper {
		return false
	}
	last := fields[len(fields)-1]
	sentence := strings.ContainsAny(last, "!?:") || strings.HasSuffix(last, ".") && len(last) > 6 // "Ltd."
	return (upper > 1 || upper == 1 && number) && !sentence
}

// allCapitals reports whether all parts of a text between commas are capitalised words, with short ones between them.
func allCapitals(text string) bool {
	return !slices.ContainsFunc(strings.Split(text, ","), func(part string) bool { return !capitals(part) })
}

// below reports whether the table row around a byte has another row above it.
func (c *check) below(at int) bool {
	return strings.HasSuffix(strings.TrimRight(c.text[:c.line(at).Start], "\n "), "|")
}

// short reports whether the line before or after a block is short and not a sentence.
func (c *check) short(b prose.Span) bool {
	is := func(at int) bool {
		if at < 0 || at >= len(c.text) {
			return false
		}
		r := c.line(at)
		line := strings.TrimSpace(c.text[r.Start:max(r.Start, r.End)])
		return line != "" && len(strings.Fields(line)) <= 8 && utf8.RuneCountInString(line) <= 60 &&
			!strings.ContainsAny(line, "!?。！？") && !strings.HasSuffix(line, ".")
	}
	start, end := strings.LastIndexByte(c.text[:b.Start], '\n'), b.End
	if n := strings.IndexByte(c.text[b.End:], '\n'); n >= 0 {
		end += n
	}
	return is(start-1) && c.text[start-1] != '\n' || is(end+1)
}

func (c *check) comma(at int) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(c.text[:at], " *_\"'“«„("))
	return strings.ContainsRune(",，、،;；", r)
}

func (c *check) ends(at int) bool {
	after := strings.TrimLeft(c.text[at:], " *_\"'”»“")
	r, _ := utf8.DecodeRuneInString(after)
	return after == "" || strings.ContainsRune(".!?,，、\n。！？।؟", r)
}

// particled reports whether text begins with a Japanese or Korean particle, which marks the text before it as a noun.
func particled(base, text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	switch base {
	case "ko":
		return unicode.Is(unicode.Hangul, r)
	case "ja":
		r, _ = utf8.DecodeRuneInString(strings.TrimLeft(text, " "))
		return strings.ContainsRune("はがをのにでともや", r)
	}
	return false
}

// cited reports whether the line around capitalised words introduces them as something said or displayed: "the message
// Permission denied". At the start of a sentence, the introduction must follow within the sentence.
func (c *check) cited(r run) bool {
	capital, _ := utf8.DecodeRuneInString(c.before(r.start))
	named := unicode.Is(unicode.Latin, capital) && unicode.IsUpper(capital) && latin(r.text) && c.want.base != "de"
	if len(r.words) > 12 || c.comma(r.start) || !named && !leads(r.words[0]) {
		return false
	}
	line := c.line(r.start)
	before, after := c.text[line.Start:r.start], c.text[r.end:max(r.end, line.End)]
	if c.starts(r.start) && !strings.HasSuffix(strings.TrimRight(before, " *_"), ":") {
		if c.ends(r.end) { // "Cependant, ..."
			return false
		}
		if at := strings.IndexAny(after, ".!?。！？।؟"); at >= 0 {
			after = after[:at]
		}
		before = ""
	}
	return quotes(c.want.base, before) || quotes(c.want.base, after)
}

// before returns the word before a byte, if only a space is between them.
func (c *check) before(at int) string {
	text := strings.TrimSuffix(c.text[max(0, at-40):at], " ")
	return text[strings.LastIndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })+1:]
}

func (c *check) starts(at int) bool {
	before := strings.TrimRight(c.text[:at], " *_\"'“«„(¿¡")
	if before == "" {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(before)
	return strings.ContainsRune(".!?:\n。！？।؟", r)
}
