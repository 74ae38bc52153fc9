package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Characters on both sides of each bound.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		name string
		is   func(rune) bool
		in   string
		out  string
	}{
		{"Chinese", isChinese, "\u4e00\u9fff\u3400\u4dbf\U00020000\U0002a6df\U0002a700\U0002b81f\U0002b920\U0002ceaf\uf900\ufaff\U0002f800\U0002fa1f",
			"\u4dff\ua000\u33ff\u4dc0\U0001ffff\U0002a6e0\U0002a6ff\U0002b820\U0002b91f\U0002ceb0\uf8ff\ufb00\U0002f7ff\U0002fa20aあ"},
		{"a control", isControl, "\x00\x1f\x7f\u00ad\u200b\ue000\ufeff", "\t\n\ra \u00a0é"},
		{"punctuation", isPunctuation, "!/:@[`{~«。—'", " \x7f09AZaz\x00é中€"},
		{"of a word", isWord, "a_9é中\u0301\u203f", " -.€½"},
	} {
		for _, r := range c.in {
			if !c.is(r) {
				t.Errorf("%q is not %s", r, c.name)
			}
		}
		for _, r := range c.out {
			if c.is(r) {
				t.Errorf("%q is %s", r, c.name)
			}
		}
	}
	for text, kind := range map[rune]int{' ': 0, '\n': 0, 'a': 1, 'é': 1, '7': 2, '½': 2, '.': 3, '\u0301': 3} {
		if got := gpt2Kind(text); got != kind {
			t.Errorf("%q is of kind %d; want %d", text, got, kind)
		}
	}
	if got := lower("İΣÀ"); got != "i\u0307σà" {
		t.Errorf("%q", got)
	}
}

// Words as GPT-2 splits them, visible and not.
func TestByteLevel(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "I'm he'll we'd've's're't": "I|'m| he|'ll| we|'d|'ve|'s|'re|'t", "'x": "'|x", "a b": "a| b", "a  b": "a| | b",
		"a \n": "a| \n", "a \n b": "a| \n| b", "x12,, y": "x|12|,,| y", " ": " ", "  ": "  ", "\u00a0é 7": "\u00a0|é| 7", "a\t\tb": "a|\t|\t|b",
	} {
		var words []string
		for rest := text; rest != ""; {
			n := gpt2Word(rest)
			words, rest = append(words, rest[:n]), rest[n:]
		}
		if got := strings.Join(words, "|"); got != want {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
	for _, c := range []struct {
		b    byteLevel
		text string
		want []string
	}{
		{byteLevel{true, true}, "a é", []string{"Ġa", "ĠÃ©"}}, {byteLevel{true, true}, " a", []string{"Ġa"}},
		{byteLevel{false, true}, "a b", []string{"a", "Ġb"}}, {byteLevel{true, false}, "a b", []string{"ĠaĠb"}}, {byteLevel{true, true}, "", nil},
	} {
		if got := c.b.apply(c.text, nil); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q; want %q", c, got, c.want)
		}
	}
	seen := map[rune]bool{}
	for b, r := range visible {
		seen[r] = true
		if plain := b > ' ' && b < 0x7f || b > 0xa0 && b != 0xad; plain != (r == rune(b)) {
			t.Errorf("byte %#x is %q", b, r)
		}
	}
	if len(seen) != 256 || visible[' '] != 'Ġ' || visible[0xad] != 'Ń' {
		t.Errorf("%d characters, %q, %q", len(seen), visible[' '], visible[0xad])
	}
}

// Splitters and normalizers, from their settings to their parts.
func TestParts(t *testing.T) {
	for _, c := range []struct{ settings, text, want string }{
		{`{"type":"Metaspace","replacement":"▁"}`, "a b", "▁a|▁b"},
		{`{"type":"Metaspace","replacement":"▁"}`, "▁a", "▁a"},
		{`{"type":"Metaspace","replacement":"▁","add_prefix_space":false}`, "a b", "a|▁b"},
		{`{"type":"Metaspace","replacement":"▁","prepend_scheme":"never"}`, "a b", "a|▁b"},
		{`{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","add_prefix_space":false}`, "a b", "▁a|▁b"},
		{`{"type":"Metaspace","replacement":"▁","split":false}`, "a b", "▁a▁b"},
		{`{"type":"Metaspace","replacement":"▁"}`, "  a", "▁|▁a"},
		{`{"type":"WhitespaceSplit"}`, " a,b  c ", "a,b|c"},
		{`{"type":"BertPreTokenizer"}`, " a,b  c. ", "a|,|b|c|."},
		{`{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Metaspace","replacement":"_"}]}`, "a b", "_a|_b"},
		{`null`, "a b", "a b"},
		{`{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}`, "a b", "aĠb"},
	} {
		split, err := parseSplitter([]byte(c.settings))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(split([]string{c.text}), "|"); got != c.want {
			t.Errorf("%s: %q; want %q", c.settings, got, c.want)
		}
	}
	for _, c := range []struct{ settings, text, want string }{
		{`{"type":"NFC"}`, "e\u0301ﬁ", "éﬁ"}, {`{"type":"NFD"}`, "é", "e\u0301"}, {`{"type":"NFKC"}`, "ﬁe\u0301", "fié"},
		{`{"type":"NFKD"}`, "éﬁ", "e\u0301fi"}, {`{"type":"Lowercase"}`, "AÉ", "aé"}, {`{"type":"StripAccents"}`, "e\u0301\u0903", "e"},
		{`{"type":"Strip","strip_left":true}`, " a ", "a "}, {`{"type":"Strip","strip_right":true}`, " a ", " a"}, {`{"type":"Strip"}`, " a ", " a "},
		{`{"type":"Replace","pattern":{"String":"."},"content":"$1"}`, "a.b", "a$1b"},
		{`{"type":"Replace","pattern":{"Regex":" {2,}"},"content":"$1"}`, "a  b c", "a$1b c"},
		{`{"type":"Sequence","normalizers":[{"type":"Lowercase"},{"type":"Strip","strip_left":true,"strip_right":true}]}`, " A ", "a"},
		{`null`, "A", "A"}, {``, "A", "A"},
		{`{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"lowercase":true}`, "É\t中\u200bÀ", "e  中 a"},
		{`{"type":"BertNormalizer","clean_text":false,"handle_chinese_chars":false,"lowercase":true,"strip_accents":false}`, "É\t中", "é\t中"},
		{`{"type":"BertNormalizer","clean_text":true,"lowercase":false,"strip_accents":true}`, "É\u00a0x", "E x"},
	} {
		normalize, err := parseNormalizer([]byte(c.settings), config{})
		if err != nil {
			t.Fatal(err)
		}
		if got := normalize(c.text); got != c.want {
			t.Errorf("%s: %q; want %q", c.settings, got, c.want)
		}
	}
	if _, err := parseNormalizer([]byte(`{"type":"Replace"}`), config{}); err == nil || err.Error() != "normalizer: Replace without a pattern" {
		t.Error(err)
	}
	for text, want := range map[string]string{`"a b"`: "[a b]", `["c","d"]`: "[c d]", `"a"`: `merge "a", expected two symbols`} {
		var p pair
		err := json.Unmarshal([]byte(text), &p)
		got := fmt.Sprint(p)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Tokens that were added are cut out as their settings say.
func TestAdded(t *testing.T) {
	tokens := []addedToken{{ID: 1, Content: "<x>"}, {ID: 2, Content: "<xy>"}, {ID: 3, Content: "w", SingleWord: true},
		{ID: 4, Content: "<l>", LStrip: true}, {ID: 5, Content: "<r>", RStrip: true}}
	sortAdded(tokens)
	if tokens[0].ID != 2 {
		t.Errorf("%+v", tokens)
	}
	for text, want := range map[string]string{
		"": "", "a": "a", "<x>": "1", "a<x>b": "a|1|b", "<x><x>": "1|1", "<xy><x": "2|<x", "w": "3", "aw": "aw", "wa": "wa", "a w b": "a |3| b",
		"w_": "w_", "-w-": "-|3|-", "a  <l> b": "a|4| b", "a <r>  b": "a |5|b", "<r> <l>": "5|4", "<x> <l>": "1|4", "<r>  ": "5",
	} {
		var parts []string
		whole := splitAdded(text, tokens, func(part string, id int32, added bool) bool {
			if added {
				part = fmt.Sprint(id)
			}
			parts = append(parts, part)
			return true
		})
		if got := strings.Join(parts, "|"); got != want || !whole {
			t.Errorf("%q: %q, %v; want %q", text, got, whole, want)
		}
	}
	for stop := range 3 {
		n := 0
		whole := splitAdded("a<x>b", tokens, func(string, int32, bool) bool { n++; return n <= stop })
		if n != stop+1 || whole {
			t.Errorf("stopped after %d of %d", n, stop)
		}
	}
}

// Words become pieces as each model learnt it.
func TestPieces(t *testing.T) {
	w := &wordPiece{vocab: map[string]int32{"a": 1, "ab": 2, "##b": 3, "##bc": 4, "é": 5}, unknown: 9, prefix: "##", maxChars: 4}
	for word, want := range map[string]string{"a": "[7 1]", "ab": "[7 2]", "abb": "[7 2 3]", "abbc": "[7 2 4]", "abx": "[7 9]", "x": "[7 9]",
		"é": "[7 5]", "abbb": "[7 2 3 3]", "abbbb": "[7 9]", "": "[7]", "éb": "[7 5 3]"} {
		if got := fmt.Sprint(w.encode([]int32{7}, word)); got != want {
			t.Errorf("%q: %s; want %s", word, got, want)
		}
	}
	b, err := newBPE(map[string]int32{"a": 1, "b": 2, "c": 3, "ab": 4, "bc": 5, "abc": 6, "aa": 7}, []pair{{"b", "c"}, {"a", "b"}, {"a", "bc"}, {"a", "a"}})
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{"abc": "[6]", "ab": "[4]", "aab": "[1 4]", "aaa": "[7 1]", "axb": "[4]", "cab": "[3 4]", "": "[]", "bcbc": "[5 5]",
		"aaaa": "[7 7]"} {
		if got := fmt.Sprint(b.encode(nil, word)); got != want {
			t.Errorf("%q: %s; want %s", word, got, want)
		}
	}
	u, err := newUnigram([]scored{{"<unk>", 0}, {"a", -1}, {"b", -1}, {"ab", -1.5}, {"abc", -9}, {"é", -2}, {"", 5}, {"b", -3}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{"a": "[1]", "ab": "[3]", "abb": "[3 7]", "aba": "[3 1]", "abc": "[4]", "xyz": "[0]", "axb": "[1 0 7]",
		"é": "[5]", "xé": "[0 5]", "": "[]", "éx": "[5 0]"} {
		if got := fmt.Sprint(u.encode([]int32{}, word)); got != want {
			t.Errorf("%q: %s; want %s", word, got, want)
		}
	}
	if u.penalty != -19 {
		t.Errorf("an unknown character costs %v", u.penalty)
	}
	if _, err := newUnigram([]scored{{"a", 0}}, -1); err == nil {
		t.Error("unk_id -1 was taken")
	}
}

// The ids around a text are where the processor puts them, and a limit keeps them.
func TestAround(t *testing.T) {
	vocab := `"pre_tokenizer":{"type":"WhitespaceSplit"},"model":{"type":"WordPiece","unk_token":"u","vocab":{"u":0,"a":1,"b":2}}`
	for processor, want := range map[string]string{
		`null`:                 "[1 2 0] [1] [1 2]",
		`{"type":"ByteLevel"}`: "[1 2 0] [1] [1 2]",
		`{"type":"BertProcessing","cls":["c",7],"sep":["s",8]}`:    "[7 1 2 0 8] [7 8] [7 8]",
		`{"type":"RobertaProcessing","cls":["c",7],"sep":["s",0]}`: "[7 1 2 0 0] [7 0] [7 0]",
		`{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x"}},{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"y"}}],
			"special_tokens":{"x":{"ids":[5,6]},"y":{"ids":[9]}}}`: "[5 6 1 2 0 9] [5 6 9] [5 6 9]",
	} {
		tok, err := parse([]byte(`{"post_processor":`+processor+`,`+vocab+`}`), config{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(tok.Encode("a b x", 0), tok.Encode("a b x", 1), tok.Encode("a b x", 2)); got != want {
			t.Errorf("%s: %s; want %s", processor, got, want)
		}
	}
	tok, err := parse([]byte(`{"added_tokens":[{"id":4,"content":"<m>"},{"id":5,"content":"Q","normalized":true},{"id":6,"content":""}],
		"normalizer":{"type":"Lowercase"},`+vocab+`}`), config{})
	if err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]string{0: "[1 4 5 2]", 1: "[1]", 2: "[1 4]", 3: "[1 4 5]", 4: "[1 4 5 2]"} {
		if got := fmt.Sprint(tok.Encode("A <m> q B", most)); got != want {
			t.Errorf("at most %d: %s; want %s", most, got, want)
		}
	}
}
