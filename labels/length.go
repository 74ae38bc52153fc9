package labels

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// LengthColumn is the column of how many characters a line has, of units that
// are lines.
const LengthColumn = "length"

// lengths are the upper ends of the values of LengthColumn.
var lengths = []int{20, 50, 100, 200}

// length is the value of LengthColumn for a text.
func length(text string) string {
	n, from := utf8.RuneCountInString(text), 1
	for _, to := range lengths {
		if n <= to {
			return fmt.Sprintf("%d to %d", from, to)
		}
		from = to + 1
	}
	return fmt.Sprintf("%d or more", from)
}

// compareNumbered compares by the numbers that texts begin with, then as texts.
func compareNumbered(a, b string) int {
	number := func(s string) int {
		end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(s)
		}
		n, _ := strconv.Atoi(s[:end])
		return n
	}
	return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
}
