package thoughts

import (
	"strings"

	"crosstalk/internal/lazyregexp"
)

// What promptfoo writes before the thoughts of a model, unless its provider has showThinking: false.
const (
	promptfooThinking = "Thinking: "
	promptfooRedacted = "Redacted Thinking: " // Anthropic's, encrypted: one line
)

// PromptfooMixed says that Promptfoo cannot tell thoughts and answer apart, and what to do.
const PromptfooMixed = "promptfoo wrote the model's thoughts before the answer, and where they end cannot be told; " +
	"set showThinking: false in the provider's config"

// Promptfoo separates an output of promptfoo: "Thinking: ", the thoughts, a blank line and the answer. Anthropic's
// thoughts end in a line with their signature. Others end at the only blank line: without one, or with several, ok is
// false and the answer is the whole output, as it is for an output without thoughts.
func Promptfoo(output string) (answer, reasoning string, ok bool) {
	whole := output
	var thought []string
	for {
		if strings.HasPrefix(output, promptfooRedacted) {
			_, output, _ = strings.Cut(output, "\n\n")
			continue
		}
		rest, opened := strings.CutPrefix(output, promptfooThinking)
		if !opened {
			return output, strings.Join(thought, "\n\n"), true
		}
		end := signature().FindStringIndex(rest)
		if end == nil {
			blank := blankLines().FindAllStringIndex(rest, 2)
			if len(blank) != 1 {
				return whole, "", false
			}
			end = blank[0]
		}
		thought = append(thought, strings.TrimSpace(rest[:end[0]]))
		output = rest[end[1]:]
	}
}

var (
	blankLines = lazyregexp.New(`\r?\n[ \t]*\r?\n\s*`)
	signature  = lazyregexp.New(`\nSignature: [A-Za-z0-9+/=]{40,}(?:\r?\n\r?\n|$)`)
)
