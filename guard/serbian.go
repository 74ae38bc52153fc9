package guard

import (
	"strings"
	"unicode"

	"crosstalk/measure/prose"
)

// croatian is what identifiers call Serbian in Latin letters, which is one language with these to them; the embedded
// one has the first alone.
var croatian = []string{"hr", "bs", "sh"}

// inSerbian returns what lines in Serbian, in either script, are in: the expected language, or Serbian in the script that
// is not expected.
func (c *check) inSerbian(lines []prose.Block) string {
	switch latin := c.mostlyLatin(lines...); {
	case latin == (c.want.base == croatian[0]):
		return c.want.base
	case latin:
		return "sr-Latn"
	}
	return "sr-Cyrl"
}

// mostlyLatin reports whether most letters of blocks are Latin, outside masked parts.
func (c *check) mostlyLatin(blocks ...prose.Block) bool {
	var plain strings.Builder
	for _, b := range blocks {
		c.plain(&plain, b)
	}
	latin, others := 0, 0
	for _, r := range plain.String() {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.IsLetter(r):
			others++
		}
	}
	return latin > others
}
