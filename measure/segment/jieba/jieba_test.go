package jieba

import (
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/testing/segmenttest"
	"crosstalk/internal/testing/shared"
	"crosstalk/measure/segment"
)

func words(text string) []string { return segment.Words(Segmenter{}, text) }

// TestVectors compares with what jieba itself made of our own lines.
func TestVectors(t *testing.T) {
	segmenttest.Vectors(t, Segmenter{}, "testdata/lcut.jsonl", 100)
}

// TestGolden compares with jieba on lines of recorded answers.
func TestGolden(t *testing.T) {
	type record struct {
		Line  string
		Jieba []string
	}
	records := shared.Lines[record](t, "lcb/golden/zh_tokens.jsonl.gz")
	for _, r := range records {
		if got := words(r.Line); !slices.Equal(got, r.Jieba) {
			t.Errorf("%q:\n got %q\nwant %q", r.Line, got, r.Jieba)
		}
	}
	t.Logf("%d lines", len(records))
}

// Characters at the ends of classes, and marks in numbers, as jieba's regular expressions have them.
func TestClasses(t *testing.T) {
	for r, want := range map[rune]bool{firstHan - 1: false, firstHan: true, lastHan: true, lastHan + 1: false} {
		if isHan(r) != want || inBlock(r) != want {
			t.Errorf("%U: %v, %v", r, isHan(r), inBlock(r))
		}
	}
	for _, r := range "/0189:@AZ[`az{é٣" {
		digit := strings.ContainsRune("0189", r)
		if isDigit(r) != digit || isAlnum(r) != (digit || strings.ContainsRune("AZaz", r)) {
			t.Errorf("%U: %v, %v", r, isAlnum(r), isDigit(r))
		}
	}
	for text, want := range map[string]string{"3.a": "3|.|a", "3.5%": "3.5%", "3.5.1": "3.5|.|1", "a%%b": "a%|%|b",
		"1.": "1|.", ".5": ".|5", "-3": "-|3", "x_y#": "x|_|y|#", "9%.5": "9%|.|5", "": "", "a.5b": "a.5|b", "\r\n\r": "\r\n|\r", "中\u9fd6": "中|\u9fd6"} {
		if got := strings.Join(words(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestLongText(t *testing.T) {
	for _, unit := range []string{"我们在图书馆", "a", "龘", "甲9", " ", "\xff"} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		if got := strings.Join(words(text), ""); got != text {
			t.Errorf("%q, many times: the words do not make up the text", unit)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	segmenttest.ConcurrentUse(t, Segmenter{}, "小林美雪与欧阳修远在杭州西湖边的龙井茶室见面")
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{"", "我们", "C++语言3.5%", "\r\n\t 中\u3000", "\xe4\xbd", "好\xff人", "\uFFFD中", "𠀀é1.a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := words(text)
		if strings.Join(got, "") != text || slices.Contains(got, "") {
			t.Errorf("%q gives %q", text, got)
		}
	})
}
