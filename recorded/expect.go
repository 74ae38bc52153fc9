package recorded

import (
	"cmp"
	"slices"
	"strings"

	"crosstalk"
)

// Undetermined is the label of a language that cannot be told, as in BCP 47.
const Undetermined = "und"

// expected returns the language that an answer should be in, as the file or the
// policy says, and sets that of the prompt. If there is none, the prompt's is
// empty, and unjudged says why.
func (r Reading) expected(p *crosstalk.Prompt, stated string, turns []string) (tag, unjudged string) {
	switch r.Expect {
	case "":
		if strings.TrimSpace(stated) == "" {
			return Undetermined, "no language is given"
		}
		tag = stated
	case ExpectUser:
		tag = r.Identify(turns...)
	case ExpectPrompt:
		tag = r.Identify(strings.Join(recent(turns), "\n"))
	default:
		tag = r.Expect
	}
	if tag == "" {
		return Undetermined, "the language of the prompt cannot be told"
	}
	var err error
	if p.Language, p.Tag, err = LanguageOf(tag); err != nil {
		unjudged = err.Error()
	}
	return tag, unjudged
}

// mostBytes is how much of messages is read as one text: it is read again for each
// answer of a conversation, and time would grow with the square of its length.
const mostBytes = 16 << 10

// recent are the last messages that have at most mostBytes together; at least one.
func recent(turns []string) []string {
	first, bytes := len(turns), 0
	for first > 0 && (bytes == 0 || bytes+len(turns[first-1]) <= mostBytes) {
		first--
		bytes += len(turns[first])
	}
	return turns[first:]
}

// CheckExpect returns an error unless a text is a policy or a language.
func CheckExpect(expect string) error {
	if slices.Contains([]string{"", ExpectUser, ExpectPrompt}, expect) {
		return nil
	}
	if _, _, err := LanguageOf(expect); err != nil {
		return crosstalk.BadOption("expect", " is %q; expected user, prompt or a language, such as en or pt-BR",
			cmp.Or(expect, "''"))
	}
	return nil
}
