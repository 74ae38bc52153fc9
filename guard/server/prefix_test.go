package server

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"
)

// cut cuts a text into pieces of about the size that models send: a word, or two characters of scripts without
// spaces.
func cut(text string) (all []string) {
	start, n := 0, 0
	for i, r := range text {
		unspaced := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
		if i > start && (unicode.IsSpace(r) || unspaced && n >= 2) {
			all = append(all, text[start:i])
			start, n = i, 0
		}
		n++
	}
	return append(all, text[start:])
}

// A clean reply that LiteLLM sends after every five pieces is hardly more often blocked at some moment than as a whole
// one; a confused one is blocked as often.
func TestPrefixesOfReplies(t *testing.T) {
	files, err := filepath.Glob("../testdata/replies/*.txt")
	if err != nil || files == nil {
		t.Fatal("no replies", err)
	}
	var clean, whole, some, confused, missed, missedWhole, calls int
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(Options{Block: true})
		for i, f := range txtar.Parse(data).Files {
			tag, kind, _ := strings.Cut(f.Name, " ")
			text := strings.TrimRight(string(f.Data), "\n")
			for _, mark := range []string{"⟦", "⟧"} {
				text = strings.ReplaceAll(text, mark, "\x00"+mark)
			}
			var b strings.Builder
			for _, part := range strings.Split(text, "\x00") {
				switch {
				case strings.HasPrefix(part, "⟦"):
					_, words, _ := strings.Cut(part, "|")
					b.WriteString(words)
				default:
					b.WriteString(strings.TrimPrefix(part, "⟧"))
				}
			}
			text = b.String()
			blocked := func(call, text string) bool {
				return strings.Contains(sendsIn(t, s, tag, call, text), "BLOCKED")
			}
			all := blocked(fmt.Sprint("whole", i), text)
			moment := false
			list := cut(text)
			for n := 5; n < len(list) && !moment; n += 5 {
				calls++
				moment = blocked(fmt.Sprint(i), strings.Join(list[:n], ""))
			}
			moment = moment || blocked(fmt.Sprint(i), text) // the stream has ended
			if strings.HasPrefix(kind, "confused ") {
				confused++
				if !moment {
					missed++
				}
				if !all {
					missedWhole++
				}
				continue
			}
			clean++
			if all {
				whole++
			}
			if moment {
				some++
			}
		}
	}
	t.Logf("%d clean: %d blocked as a whole, %d at some moment; %d confused: %d missed as a whole, %d as a stream; %d calls",
		clean, whole, some, confused, missedWhole, missed, calls)
	if clean != 816 || 5*some > 6*whole || missed > missedWhole {
		t.Error("expected 816 clean replies, at most a fifth more of them blocked as a stream, and none missed more")
	}
}
