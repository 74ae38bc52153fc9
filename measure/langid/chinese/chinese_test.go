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
	for from, want := range map[rune]string{'請': "请请", '國': "国国", '好': "好好", '国': "国国", 'a': "aa", '㐀': "㐀㐀",
		'於': "於于", '乾': "乾干", '瞭': "瞭了", '著': "著着", '藉': "藉借", '徵': "徵征", '于': "于于", '台': "台台", '后': "后后"} {
		form, other := Simplify(from)
		if got := string(form) + string(other); got != want {
			t.Errorf("%c: %s, want %s", from, got, want)
		}
	}
}
