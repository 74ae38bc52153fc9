package chinese

import "testing"

func TestCount(t *testing.T) {
	for _, c := range []struct {
		text                    string
		simplified, traditional int
	}{
		{"请将商品连同发票", 4, 0},
		{"請將商品連同發票", 0, 4},
		{"大家好", 0, 0},
		{"皇后里面", 0, 0}, // 后, 里 and 面 are characters of both
		{"abc 123", 0, 0},
	} {
		s, tr := Count(c.text)
		if s != c.simplified || tr != c.traditional {
			t.Errorf("%s: %d simplified, %d traditional; want %d, %d", c.text, s, tr, c.simplified, c.traditional)
		}
	}
}

func TestSimplify(t *testing.T) {
	for from, want := range map[rune]rune{'請': '请', '國': '国', '好': '好', '国': '国', 'a': 'a'} {
		if got := Simplify(from); got != want {
			t.Errorf("%c: %c, want %c", from, got, want)
		}
	}
}
