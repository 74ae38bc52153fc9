package japanese

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"crosstalk/measure/internal/golden"
	"crosstalk/measure/segment"
	"crosstalk/measure/wordlist"
)

func words(text string) []string { return segment.Words(Segmenter{}, text) }

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":               "",
		" \t\u3000":      "",
		"すもももももももものうち":   "すもも|も|もも|も|もも|の|うち",
		"2024年5月":        "2|0|2|4|年|5|月",
		"１２時":            "１|２|時",
		"リンゴ・バナナ・ゾルボ":    "リンゴ|・|バナナ|・|ゾルボ",
		"ゾルボ・メルダ":        "ゾルボ|・|メルダ",
		"私はcrosstalkが好き": "私|は|crosstalk|が|好き",
		"東京 大阪":          "東京|大阪",
		"東京\u3000大阪":     "東京|大阪",
	} {
		if got := strings.Join(words(text), "|"); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

type record struct {
	Line           string
	Unidic, Ipadic []string
}

// TestGolden compares the decisions that hang on the words with those of MeCab
// and UniDic: whether a line has five words, and whether one is English.
func TestGolden(t *testing.T) {
	english, err := wordlist.Read(golden.Open(t, "data/lcb/words"))
	if err != nil {
		t.Fatal(err)
	}
	var same, ipa, five, word int
	records := golden.Lines[record](t, "data/lcb/golden/ja_tokens.jsonl.gz")
	for _, r := range records {
		got := words(r.Line)
		same += one(slices.Equal(got, r.Unidic))
		ipa += one(slices.Equal(got, units(r.Ipadic)))
		five += one(len(got) >= 5 == (len(r.Unidic) >= 5))
		word += one(slices.ContainsFunc(got, english.Contains) == slices.ContainsFunc(r.Unidic, english.Contains))
	}
	n := len(records)
	t.Logf("of %d lines: words as MeCab with UniDic %d, with IPA %d; five words or not %d; English words or not %d",
		n, same, ipa, five, word)
	for _, agreement := range []struct {
		what string
		got  int
		want float64
	}{
		{"words as MeCab with IPA", ipa, 0.985},
		{"five words or not", five, 0.97},
		{"English words or not", word, 0.985},
	} {
		if float64(agreement.got) < agreement.want*float64(n) {
			t.Errorf("%s: the same for %d of %d lines, want a share of %g", agreement.what, agreement.got, n, agreement.want)
		}
	}
}

func units(words []string) []string {
	var all []string
	for _, w := range words {
		all = appendUnits(all, w)
	}
	return all
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// bare is the text without white space.
func bare(text string) string { return strings.Join(strings.FieldsFunc(text, segment.IsSpace), "") }

func TestLongText(t *testing.T) {
	for _, unit := range []string{"図書館で本を読みました。", "a", "カ", "9", " ", "\xff", "\uFFFD", "日本 "} {
		text := strings.Repeat(unit, 1<<15/len(unit))
		if got := strings.Join(words(text), ""); got != bare(text) {
			t.Errorf("%q, many times: the words do not make up the text", unit)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	const text = "図書館で借りた本を、夕方までに3冊読みました。"
	want := words(text)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if got := words(text); !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	group.Wait()
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
