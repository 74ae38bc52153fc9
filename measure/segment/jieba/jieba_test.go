package jieba

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"crosstalk/internal/shared"
	"crosstalk/measure/segment"
)

func words(text string) []string { return segment.Words(Segmenter{}, text) }

// TestVectors compares with what jieba itself made of our own lines.
func TestVectors(t *testing.T) {
	f, err := os.Open("testdata/lcut.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var line string
		var want []string
		if err := json.Unmarshal(lines.Bytes(), &[]any{&line, &want}); err != nil {
			t.Fatal(err)
		}
		if got := words(line); !slices.Equal(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", line, got, want)
		}
		n++
	}
	if n < 100 {
		t.Errorf("%d lines, want at least 100", n)
	}
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

func TestLongText(t *testing.T) {
	for _, unit := range []string{"我们在图书馆", "a", "龘", "甲9", " ", "\xff"} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		if got := strings.Join(words(text), ""); got != text {
			t.Errorf("%q, many times: the words do not make up the text", unit)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	const text = "小林美雪与欧阳修远在杭州西湖边的龙井茶室见面"
	want := words(text)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if got := words(text); !slices.Equal(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	group.Wait()
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
