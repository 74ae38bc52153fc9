package guard

import (
	"strings"

	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

// A rule is a reason why words of another language are not a confusion.
type rule struct {
	name    string // in the rule book, docs/confusion.md, which has the rules in the same order
	excuse  prose.Kind
	applies func(*check, run) bool
}

// rules excuse words of another language within a line: the first that applies decides.
var rules = []rule{
	{"list of translations", Gloss, func(c *check, r run) bool { _, ok := c.paired(r.start); return ok }},
	{"brackets", Gloss, (*check).bracketed},
	{"language named", Mention, (*check).mentioned},
	{"words of the user", Mention, (*check).repeated},
	{"menu path", Name, (*check).path},
	{"capitals", Name, func(c *check, r run) bool { return c.titled(r.words) }},
	{"address", Name, (*check).numbered},
	{"announced", prose.Quote, (*check).cited},
	{"hanja", Loan, (*check).hanja},
	{"kanji", Loan, (*check).kanji},
	{"Latin phrase", Loan, (*check).latinPhrase},
	{"word of both", Loan, func(_ *check, r run) bool { return len(r.words) == 1 && own(r.words[0]) }},
	{"joined terms", Loan, (*check).joined},
	{"function word", "", (*check).functional}, // is never excused as a loan
	{"word of most", Loan, (*check).widespread},
	{"term", Loan, func(c *check, r run) bool { return c.term(r.words) }},
	{"hyphen", Loan, (*check).hyphenated},
}

// excuse returns the reason why words of another language are not a confusion, or "".
func (c *check) excuse(r run) prose.Kind {
	for _, rule := range rules {
		if rule.applies(c, r) {
			return rule.excuse
		}
	}
	return ""
}

// fewBytes is the length up to which words can be a translation, or an example of the language that their line names.
const fewBytes = 60

// widespread reports whether words are in most languages of their script, and are not function words.
func (c *check) widespread(r run) bool {
	return len(r.words) <= 2 && latin(r.text) &&
		all(r.words, func(w words.Word) bool { return w.Loan && w.Share < function })
}

// hyphenated reports whether words are a noun with a hyphen: "know-how".
func (c *check) hyphenated(r run) bool {
	return latin(r.text) && strings.Contains(r.text, "-") && !strings.ContainsFunc(r.text, notInCompound)
}
