package recorded

import (
	"cmp"
	"slices"
	"strings"

	"crosstalk"
)

// Undetermined is the label of a language that cannot be told, as in BCP 47.
const Undetermined = "und"

// expected is the language that an answer should be in: as the file or the policy
// says, and in the labels of identifiers. If there is none, the code is empty, and
// unjudged says why.
func (r Reading) expected(stated string, turns []string) (tag, code, unjudged string) {
	switch r.Expect {
	case "":
		if strings.TrimSpace(stated) == "" {
			return Undetermined, "", "no language is given"
		}
		tag = stated
	case ExpectUser:
		for i := len(turns) - 1; i >= 0 && tag == ""; i-- {
			tag = r.Identify(turns[i])
		}
	case ExpectPrompt:
		tag = r.Identify(strings.Join(turns, "\n"))
	default:
		tag = r.Expect
	}
	if tag == "" {
		return Undetermined, "", "the language of the prompt cannot be told"
	}
	code, err := LanguageOf(tag)
	if err != nil {
		return tag, "", err.Error()
	}
	return tag, code, ""
}

// CheckExpect returns an error unless a text is a policy or a language.
func CheckExpect(expect string) error {
	if slices.Contains([]string{"", ExpectUser, ExpectPrompt}, expect) {
		return nil
	}
	if _, err := LanguageOf(expect); err != nil {
		return crosstalk.BadOption("expect", " is %q; expected user, prompt or a language, such as en or pt-BR", cmp.Or(expect, "''"))
	}
	return nil
}
