package page

import (
	"strings"
	"testing"

	"crosstalk"
)

// marks writes pieces with changes in brackets.
func marks(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		open, end := "", ""
		switch p.Change {
		case Deleted:
			open, end = "[-", "-]"
		case Inserted:
			open, end = "{+", "+}"
		}
		if p.Kind != "" {
			open, end = open+"<", p.Label+">"+end
		}
		b.WriteString(open + p.Text + end)
	}
	return b.String()
}

// Words that one side lacks are marked: by the word, or by the character in scripts
// without spaces.
func TestChanges(t *testing.T) {
	for _, c := range []struct{ before, after, a, b string }{
		{"I like the red car.", "I like the old blue car.", "I like the [-red-] car.", "I like the {+old blue+} car."},
		{"One two.\nThree four", "One two.\nThree four", "One two.\nThree four", "One two.\nThree four"},
		{"a b c d", "b c d e", "[-a-] b c d", "b c d {+e+}"},
		{"don't go there now", "do go there now", "[-don't-] go there now", "{+do+} go there now"},
		{"退款已经处理完毕。", "退款正在处理完毕。", "退款[-已经-]处理完毕。", "退款{+正在+}处理完毕。"},
		{"أحب السيارة الحمراء كثيرا", "أحب السيارة الزرقاء كثيرا", "أحب السيارة [-الحمراء-] كثيرا", "أحب السيارة {+الزرقاء+} كثيرا"},
		{"ฉันรักแมว", "ฉันรักหมา", "ฉันรัก[-แ-]ม[-ว-]", "ฉันรัก{+ห+}ม{+า+}"},
		{"", "new", "", "new"}, // nothing in common
		{"red cars go fast", "we bake bread", "red cars go fast", "we bake bread"}, // another answer
		{"", "", "", ""},
		{"a \xff b c", "a b c", "a [-\xff-] b c", "a b c"},
	} {
		x, y, _ := changes(marked(c.before, nil, 0), marked(c.after, nil, 0))
		if a, b := marks(x), marks(y); a != c.a || b != c.b {
			t.Errorf("%q and %q:\n%s\n%s\nwant\n%s\n%s", c.before, c.after, a, b, c.a, c.b)
		}
	}
	if _, _, alike := changes(marked("red cars go fast", nil, 0), marked("we bake bread", nil, 0)); alike {
		t.Error("another answer is a changed one")
	}
}

// A wrong line keeps its mark and, once, its label where a part of it changed; what
// was cut is no word.
func TestChangesInMarks(t *testing.T) {
	before := marked("one two three four", []crosstalk.Span{{Start: 4, End: 13, Language: "fr", Probability: 0.9}}, 0)
	x, y, _ := changes(before, marked("one two 3 four", nil, 0))
	if a, b := marks(x), marks(y); a != "one <two >[-<threefr 90 %>-] four" || b != "one two {+3+} four" {
		t.Errorf("%s\n%s", a, b)
	}
	long := strings.Repeat("ab ", 2000)
	x, y, _ = changes(marked("x "+long, nil, 0), marked("y "+long, nil, 0))
	if a, b := marks(x), marks(y); !strings.HasPrefix(a, "[-x-] ab ") || !strings.HasSuffix(b, " bytes not shown>") || strings.Count(b, "{+") != 1 {
		t.Errorf("%.20s ... %s", a, b[len(b)-40:])
	}
	// Too many words for the table: what lies between beginning and end is marked.
	many := func(c string) []Piece {
		return []Piece{{Text: "same " + strings.Repeat(c+" z ", 2500) + strings.Repeat("w ", 3000)}}
	}
	x, _, _ = changes(many("a"), many("b"))
	if a := marks(x); !strings.HasPrefix(a, "same [-a z a ") || strings.Count(a, "[-") != 1 ||
		!strings.HasSuffix(a, "-] z "+strings.Repeat("w ", 3000)) {
		t.Errorf("%.30s", a)
	}
}
