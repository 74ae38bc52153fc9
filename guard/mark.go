package guard

import (
	"fmt"
	"strings"

	"crosstalk/internal/visible"
)

// Marked returns a text with its foreign parts in brackets that name their language.
func (j Judgement) Marked(text string) string {
	var b strings.Builder
	at := 0
	for _, s := range j.Spans {
		if s.Excuse != "" || s.Start < at {
			continue
		}
		b.WriteString(visible.Text(text[at:s.Start]))
		fmt.Fprintf(&b, "[%s: %s]", s.Language, visible.Text(text[s.Start:s.End]))
		at = s.End
	}
	b.WriteString(visible.Text(text[at:]))
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}
