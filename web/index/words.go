package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/visible"
)

// longestWord is the number of bytes that distinguish words.
const longestWord = 32

// longestText is the number of searchable bytes of each text of an observation.
const longestText = 1 << 20

// unspaced are scripts without spaces between words: each letter counts as a word.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
	unicode.Khmer, unicode.Myanmar}

// words calls use with each word of a text, in lower case: letters with their marks, and digits.
func words(text string, use func(string)) {
	start := -1
	end := func(i int) {
		if start >= 0 {
			use(fold(text[start:i]))
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case r >= utf8.RuneSelf && unicode.In(r, unspaced...):
			end(i)
			use(text[i : i+utf8.RuneLen(r)])
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r):
			if start < 0 {
				start = i
			}
		default:
			end(i)
		}
	}
	end(len(text))
}

// fold is a word in lower case, cut to longestWord.
func fold(word string) string {
	word = strings.ToLower(word)
	n := min(len(word), longestWord)
	for n < len(word) && !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}

// term is a part of a query.
type term struct {
	words []string // that it is made of; the last may go on
	text  string   // exact phrase in lower case; "": only the words
}

// terms parses a search. A word matches words that begin with it; a phrase in quotation marks matches exactly.
func terms(query string) (list []term) {
	add := func(text string, quoted bool) {
		var t term
		words(text, func(w string) { t.words = append(t.words, w) })
		if quoted || len(t.words) > 1 || len(text) > longestWord {
			t.text = plain(text)
		}
		if t.words != nil {
			list = append(list, t)
		}
	}
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			add(part, true)
			continue
		}
		for word := range strings.FieldsSeq(part) {
			add(word, false)
		}
	}
	return list
}

// plain is a text in lower case, with one space for each gap.
func plain(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// Found is the column of findings.
const Found = "found"

// Values of the column Found, besides the titles of findings and a measure's reasons for not scoring an answer.
const (
	Nothing   = "no finding" // scored, and nothing was found
	NotScored = "not scored"
	AnyFault  = "any fault" // crosstalk.Kind.Fault
)

// longestValue is the maximum length of a value of a column in bytes.
const longestValue = 120

// tag is a value of a column.
type tag struct{ column, value string }

// tags are the columns of an observation, with control characters made visible: they are used in URLs and forms.
func tags(o *crosstalk.Observation) (list []tag) {
	add := func(column, value string) {
		if value != "" && len(value) <= longestValue && len(column) <= longestValue {
			list = append(list, tag{visible.Line(column), visible.Line(value)})
		}
	}
	for c, v := range o.Condition {
		add(c, v)
	}
	for c, v := range o.Labels {
		if _, both := o.Condition[c]; !both {
			add(c, v)
		}
	}
	for _, t := range o.Texts {
		if t.Role == crosstalk.Topic || t.Role == crosstalk.Fact {
			add(crosstalk.Words(t.Name), t.Text)
		}
	}
	if fault, ok := instrument.Of(o.Measure).Fault(*o); ok && fault.Value == 1 {
		add(Found, AnyFault)
	}
	switch {
	case o.Implied:
	case o.NotScored != "":
		add(Found, NotScored)
		add(Found, o.NotScored)
	case o.Finding != "":
		kind := instrument.Of(o.Measure)
		found := kind.Finding(o.Finding)
		for _, title := range found.Titles {
			add(Found, title)
		}
		if found.Fault && kind.Judge != "" {
			add(found.Titles[len(found.Titles)-1]+" by", o.Condition[kind.Judge])
		}
	default:
		add(Found, Nothing)
	}
	return list
}
