package guard

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// alarms lists the alarms of a text that arrives word by word, as "language kind[text]@words": the number of words that
// had arrived.
func alarms(t *testing.T, tag, text string) (list []string) {
	t.Helper()
	s, err := Checker{}.Stream(tag)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for piece := range strings.SplitAfterSeq(text, " ") {
		n++
		for _, a := range s.Write(piece) {
			list = append(list, fmt.Sprintf("%s %s[%s]@%d", a.Language, a.Kind, text[a.Start:a.End], n))
		}
	}
	want, _ := Check(text, tag)
	if got := s.Close(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q: %+v, want %+v", text, got, want)
	}
	return list
}

func TestStream(t *testing.T) {
	const german = "Ihre Bestellung ist unterwegs und kommt morgen an."
	const english = "Your order is on its way and arrives tomorrow."
	for _, c := range []struct{ name, text, want string }{
		{"right", german + "\n" + german, ""},
		{"wrong from the start", english, "en line[Your order is on its]@5"},
		{"a wrong line", german + "\n\n" + english + "\n", "en line[Your order is on its way and]@14"},
		{"a word", "Ihre Bestellung ist unterwegs, however, und kommt morgen mit der Post an.", "en word[however]@7"},
		{"a word at a line's end", "Ihre Bestellung kommt завтра\nund " + german, "ru word[завтра]@4"},
		{"code", "Geben Sie ein:\n```\nmake the build and run all of the tests now\n```\n" + german, ""},
		{"code that is not complete", german + "\n```\nmake the build and run all of the tests now\nand then", ""},
		{"behind code", "```\nx\n```\n" + english, "en line[Your order is on its]@5"},
		{"a quotation", "Es erscheint die Meldung „the file could not be found on this machine“, dann warten Sie.", ""},
		{"a sentence in a line", german + " " + english + " " + german, "en word[Your order is on its way and arrives]@16"},
		{"a sentence in brackets", german + " (" + english + ") " + german, ""},
		{"a sentence behind brackets", "Ihre Bestellung (Nr. 12) ist „unterwegs“ und kommt morgen an. " + english, "en word[Your order is on its way and arrives]@18"},
		{"a list", "Das sind die Schritte:\n* " + english + "\n", "en line[Your order is on its way and arrives]@12"},
		{"in brackets", "Der Leerlauf (the engine runs but does not move the car) kostet Sprit.", ""},
		{"thoughts", "<think>\n" + english + "\n```\n" + english + "\n</think>\n\n" + german, ""},
		{"thoughts before a wrong line", "<think>" + english + "</think> " + german + "\n\n" + english + "\n", "en line[Your order is on its way and]@23"},
		{"thoughts that do not end", "<think>\n" + english, ""},
		{"thoughts of a channel", "<|channel|>analysis<|message|>" + english + "<|end|><|start|>assistant<|channel|>final<|message|>" + english, "en line[Your order is on its]@13"},
		{"no thoughts", "<p>" + english + " " + english, "en line[Your order is on its way and arrives tomorrow. Your order is on]@13"},
		{"a line that begins with a mark", "ីភាសាខ្មែរ ភាសា ភាសា ភាសា ភាសា ភាសា ភាសា\n" + german, "km line[ភាសាខ្មែរ ភាសា ភាសា ភាសា ភាសា]@5"},
		{"an announced line", "Die Meldung lautet:\nThe file could not be found on this machine\n" + german, ""},
	} {
		if got := strings.Join(alarms(t, "de", c.text), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if _, err := (Checker{}).Stream("tlh"); err == nil {
		t.Error("a stream in a language that cannot be judged")
	}
}

// However a text arrives, alarms are in order, within it, and never about the same bytes twice; long texts are judged
// in pieces.
func FuzzStream(f *testing.F) {
	f.Add("de", "Ihre Bestellung ist unterwegs.\nYour order is on its way, and it arrives tomorrow.\n```\nx", uint8(3))
	f.Add("zh-TW", strings.Repeat("请将商品连同发票一起寄回。", 60), uint8(7))
	f.Add("de", "<think>It is\n```\n</think>\n\nYour order is on its way, and it arrives tomorrow.", uint8(1))
	f.Add("fr", strings.Repeat("word and ", 700)+"\n"+strings.Repeat("- le mot\n", 400), uint8(200))
	for i, s := range mixtures {
		f.Add("en", s, uint8(i))
	}
	f.Fuzz(func(t *testing.T, tag, text string, size uint8) {
		if tag == "" || len(text) > 20_000 { // Check takes no empty tag
			return
		}
		s, err := Checker{}.Stream(tag)
		if err != nil {
			return
		}
		at, step := 0, int(size)%97+3
		for i := 0; i < len(text); i += step {
			end := min(len(text), i+step)
			for _, a := range s.Write(text[i:end]) {
				if a.Start < at || a.End <= a.Start || a.End > end {
					t.Fatalf("%+v after %d, of %d bytes", a, at, end)
				}
				at = a.End
			}
		}
		j := s.Close()
		if got, _ := Check(text, tag); !reflect.DeepEqual(got, j) {
			t.Errorf("%+v, want %+v", j, got)
		}
		disjoint(t, text, j)
	})
}

// However long a text is and whatever it has between its words, what is looked at again stays as short. So the work for
// a text twice as long is twice as much, by the bytes that it allocates.
func TestStreamIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and much text")
	}
	pieces := map[string]struct{ tag, first, piece string }{
		"a script without spaces":     {"zh", "", "今天天气很好，我们去公园散步吧。"},
		"without sentences":           {"zh", "", "今天天气很好我们去公园"},
		"another script":              {"de", "", "今天天气很好我们去公园"},
		"Thai":                        {"th", "", "นี่คือประโยค"},
		"a character at a time":       {"ja", "", "気"},
		"no spaces":                   {"de", "", "abcdefgh"},
		"words":                       {"de", "", "Das ist ein Satz. "},
		"lines":                       {"de", "", "- Haus\n"},
		"quotation marks":             {"de", "", "\"a "},
		"emphasis":                    {"de", "", "*a "},
		"foreign words behind a mark": {"de", "(", "This is a sentence. "},
		"thoughts":                    {"de", "<think>\n", "a > b and </think "},
		"ends of thoughts":            {"de", "<think>\n", "x</think>x "},
		"nothing but ends":            {"de", "<think>\n", "</think>"},
		"blanks":                      {"de", "", "    "},
	}
	for name, c := range pieces {
		piece := strings.Repeat(c.piece, max(1, 40/len(c.piece)*min(1, len(c.piece)/4))) // a single character is not repeated
		work := func(n int) int {
			s, err := Checker{}.Stream(c.tag)
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s.Write(c.first)
			for s.text.Len() < n {
				s.Write(piece)
				if s.looked-s.from > longestWindow {
					t.Fatalf("%s: after %d bytes, %d were looked at again", name, s.looked, s.looked-s.from)
				}
			}
			runtime.ReadMemStats(&after)
			return int(after.TotalAlloc - before.TotalAlloc)
		}
		if short, long := work(4<<10), work(10<<10); long > 4*short+1<<20 {
			t.Errorf("%s: %d bytes for 4 KiB, %d for 10", name, short, long)
		}
	}
}

// What is looked at again may begin within a word or sentence. Nothing that it begins with raises an alarm; what comes
// later does.
func TestStreamTorn(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and much text")
	}
	const chinese, japanese = "今天天气很好，我们去公园散步吧。", "今日はいい天気ですね。"
	var replies strings.Builder
	for _, r := range readReplies(t) {
		if r.tag == "zh-CN" && !r.confused {
			replies.WriteString(strings.NewReplacer(" ", "", "\n", "", "。", "", "！", "", "？", "").Replace(r.text))
		}
	}
	for _, c := range []struct{ name, tag, text, want string }{
		{"Chinese", "zh", strings.Repeat(chinese, 200), ""},
		{"Chinese with English names", "zh-CN", replies.String(), ""},
		{"Chinese without sentences", "zh-Hans", strings.Repeat("今天天气很好我们去公园", 400), ""},
		{"Japanese", "ja", strings.Repeat(japanese, 200), ""},
		{"Thai", "th", strings.Repeat("นี่คือประโยค", 300), ""},
		{"an address", "de", "Die Datei liegt unter https://shop.example/" + strings.Repeat("the/order/is/on/its/way/", 200) + "\nund das ist alles.", ""},
		{"English after Chinese", "zh", strings.Repeat(chinese, 100) + " Your order is on its way and arrives tomorrow, so please wait.\n", "en"},
		{"English after much Chinese without sentences", "zh", strings.Repeat("今天天气很好我们去公园", 300) + "。Your order is on its way and arrives tomorrow, so please wait.\n", "en"},
	} {
		var got string
		s, err := Checker{}.Stream(c.tag)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(c.text); i += 12 {
			for _, a := range s.Write(c.text[i:min(len(c.text), i+12)]) {
				got = a.Language
			}
		}
		if got != c.want {
			t.Errorf("%s: an alarm in %q, want %q", c.name, got, c.want)
		}
	}
}
