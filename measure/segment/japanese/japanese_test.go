package japanese

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"crosstalk/internal/testing/segmenttest"
	"crosstalk/internal/testing/shared"
	"crosstalk/measure/pytext"
	"crosstalk/measure/segment"
)

func words(text string) []string { return segment.Words(Segmenter{}, text) }

// TestVectors compares with what MeCab made of our own lines.
func TestVectors(t *testing.T) {
	segmenttest.Vectors(t, Segmenter{}, "testdata/wakati.jsonl", 300)
}

// TestGolden compares with MeCab on lines of recorded answers.
func TestGolden(t *testing.T) {
	type record struct {
		Line   string
		Unidic []string
	}
	records := shared.Lines[record](t, "lcb/golden/ja_tokens.jsonl.gz")
	for _, r := range records {
		if got := words(r.Line); !slices.Equal(got, r.Unidic) {
			t.Errorf("%q:\n got %q\nwant %q", r.Line, got, r.Unidic)
		}
	}
	t.Logf("%d lines", len(records))
}

// bare is the text without white space.
func bare(text string) string { return strings.Join(strings.FieldsFunc(text, pytext.IsSpace), "") }

func TestLongText(t *testing.T) {
	for _, unit := range []string{"図書館で本を読みました。", "a", "カ", "9", " ", "\xff", "\uFFFD", "日本 "} {
		text := strings.Repeat(unit, 1<<15/len(unit))
		if got := strings.Join(words(text), ""); got != bare(text) {
			t.Errorf("%q, many times: the words do not make up the text", unit)
		}
	}
}

// A long text is cut after the last sentence or white space that fits, else between characters.
func TestChunk(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	for _, c := range []struct {
		text string
		want int
	}{
		{a(maxChunk), maxChunk},
		{a(maxChunk + 1), maxChunk},
		{a(10) + "。" + a(maxChunk), 13},
		{a(2) + "。" + a(5) + "\u3000" + a(maxChunk), 13},
		{a(7) + " " + a(maxChunk), 8},
		{a(maxChunk-3) + "。b", maxChunk},
		{a(4) + " " + a(maxChunk-7) + "。b", 5}, // the full stop does not fit
		{a(maxChunk-1) + "éa", maxChunk - 1},
		{a(maxChunk-3) + "𠀀a", maxChunk - 3},
		{strings.Repeat("\x80", maxChunk+9), maxChunk},
	} {
		if got := chunk(c.text); got != c.want {
			t.Errorf("%.12q... of %d bytes: %d, want %d", c.text, len(c.text), got, c.want)
		}
	}
}

// A byte that is not UTF-8 is no character; the one that stands for such bytes is.
func TestDecode(t *testing.T) {
	for text, want := range map[string]struct {
		r    rune
		size int
	}{"\xff本": {0, 1}, "\uFFFD本": {0xFFFD, 3}, "本": {'本', 3}, "\xe6\x9c": {0, 1}} {
		if r, size := decode(text); r != want.r || size != want.size {
			t.Errorf("%q: %U of %d bytes", text, r, size)
		}
	}
}

// Unknown words have up to 25 characters of one kind, or as many as the category of the kind allows.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		unit string
		n    int
		want []int // characters of each word
	}{
		{"9", 3, []int{1, 1, 1}}, {"9", 25, []int{25}}, {"9", 26, []int{1, 25}}, {"9", 27, []int{1, 1, 25}},
		{"ー", 3, []int{1, 1, 1}}, {"ヮ", 25, []int{25}}, {"ヮ", 26, []int{2, 24}}, {"Я", 2, []int{2}},
		{"Я", 26, []int{1, 25}}, {"ァ", 3, []int{3}}, {"ァ", 2, []int{1, 1}},
		{"ﾜ", 3, []int{3}}, {"!", 24, []int{24}}, {"𠀀", 3, []int{3}}, {"ぁ", 4, []int{1, 1, 1, 1}},
	} {
		var got []int
		for _, word := range words(strings.Repeat(c.unit, c.n)) {
			got = append(got, utf8.RuneCountInString(word))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d of %s: %v, want %v", c.n, c.unit, got, c.want)
		}
	}
}

// Words without weights of their own in one block have none in the other, so rows look at one block only.
func TestCommonWords(t *testing.T) {
	for i, k := range unidic().kinds {
		if k.row[wordGrammar] == 0 && k.row[wordWord] != 0 {
			t.Errorf("kind %d has weights in the last block alone", i)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	segmenttest.ConcurrentUse(t, Segmenter{}, "図書館で借りた本を、夕方までに3冊読みました。")
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{"", "日本語の文。", "ab12・é", "\r\n \u3000x", "\xe6\x97", "本\xff人", "\uFFFD本\uFFFD\uFFFDa", "𠀀\x00カ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := words(text)
		if strings.Join(got, "") != bare(text) || slices.Contains(got, "") {
			t.Errorf("%q gives %q", text, got)
		}
	})
}
