package thoughts

import (
	"strings"
	"testing"
	"unicode"
)

var texts = []struct{ name, text, answer, reasoning string }{
	{"nothing", "", "", ""},
	{"no thoughts", " pizza.\n", " pizza.\n", ""},
	{"a block", "<think>\nhe likes it\n</think>\n\npizza.", "pizza.", "he likes it"},
	{"an empty block", "<think>\n\n</think>\n\npizza.", "pizza.", ""},
	{"white space before", "\n <think>hm</think>pizza", "\n pizza", "hm"},
	{"thinking", "<thinking>hm</thinking> pizza", "pizza", "hm"},
	{"reasoning", "<reasoning>hm</reasoning>pizza", "pizza", "hm"},
	{"Seed-OSS", "<seed:think>hm</seed:think>pizza", "pizza", "hm"},
	{"Magistral", "[THINK]hm[/THINK]pizza", "pizza", "hm"},
	{"Kimi", "◁think▷hm◁/think▷pizza", "pizza", "hm"},
	{"two blocks", "<think>a</think>one\n<think>b</think>\ntwo", "one\n\ntwo", "a\n\nb"},
	{"two blocks in a row", "<think>a</think>\n<think>b</think>\ntwo", "two", "a\n\nb"},
	{"text before", "Sure.\n<think>\nhm\n</think>\npizza", "Sure.\n\npizza", "hm"},
	{"a sentence before", "Sure. <think>hm</think> pizza", "Sure.  pizza", "hm"},
	{"blocks in each other", "<think>a\n<think>b</think>\nc</think>d", "d", "a\n<think>b</think>\nc"},
	{"a thought of the tag", "<think>I begin with\n<think> and end.</think>pizza", "pizza", "I begin with\n<think> and end."},
	{"a thought of its end", "<think>I write \"</think>\" last.</think>pizza", "pizza", "I write \"</think>\" last."},
	{"another tag in the block", "<think>a</thinking>b</think>c", "c", "a</thinking>b"},
	{"cut off", "<think>\nOkay, the user", "", "Okay, the user"},
	{"cut off after the tag", "<think>", "", ""},
	{"cut off after text", "Sure.\n<think>\nOkay", "Sure.\n", "Okay"},
	{"a lone end", "Koalas eat eucalyptus.\n</think>\n\npizza.", "pizza.", "Koalas eat eucalyptus."},
	{"a lone end after a sentence", "Koalas eat eucalyptus.</think>pizza.", "pizza.", "Koalas eat eucalyptus."},
	{"a lone end first", "</think>\n\npizza", "pizza", ""},
	{"a lone end last", "Okay</think>", "", "Okay"},
	{"a second end", "<think>a</think>pizza\n</think>\nand more", "pizza\n\nand more", "a"},
	{"code before a lone end", "```\nx\n```\nso.\n</think>\nanswer", "answer", "```\nx\n```\nso."},

	{"indented", "     <think>hm</think>pizza", "     pizza", "hm"},
	{"two blocks on a line", "<think>a</think> <think>b</think>pizza", "pizza", "a\n\nb"},
	{"another tag before a block", "Sure. <thought> is a tag.\n<think>hm</think>pizza", "Sure. <thought> is a tag.\npizza", "hm"},
	{"a quotation after the end", "<think>hm</think>“Pizza”, he said.", "“Pizza”, he said.", "hm"},
	{"a quotation before the end", "<think>He said “no”</think>pizza", "pizza", "He said “no”"},
	{"between code blocks", "```\na\n```\n<think>hm</think>\n```\nb\n```\npizza", "```\na\n```\n\n```\nb\n```\npizza", "hm"},
	{"behind a code block", "```\nx\n```</think>\npizza", "pizza", "```\nx\n```"},
	{"a lone backtick before", "It`s. <think>hm</think> pizza", "It`s.  pizza", "hm"},
	{"code before and after", "Use `x`. <think>hm</think> `y` pizza", "Use `x`.  `y` pizza", "hm"},

	{"a sentence in backticks", "Write `x. <think>b</think>` and go.", "Write `x. <think>b</think>` and go.", ""},
	{"a mention", "The <think> tag begins it and the </think> tag ends it.", "The <think> tag begins it and the </think> tag ends it.", ""},
	{"in backticks", "Write `<think>` first.\n`</think>` ends it.", "Write `<think>` first.\n`</think>` ends it.", ""},
	{"in longer backticks", "Write. `a <think> b`, `</think> c`", "Write. `a <think> b`, `</think> c`", ""},
	{"in quotes", "Use:\n\"<think>\" and “</think>”", "Use:\n\"<think>\" and “</think>”", ""},
	{"in a code block", "Like this:\n```xml\n<think>\nhm\n</think>\n```\nDone.", "Like this:\n```xml\n<think>\nhm\n</think>\n```\nDone.", ""},
	{"in indented code", "Like this:\n\n    <think>\n    hm\n    </think> x\n", "Like this:\n\n    <think>\n    hm\n    </think> x\n", ""},
	{"in a quotation", "> <think>\n> hm </think> x", "> <think>\n> hm </think> x", ""},
	{"escaped", "Write. \\<think>x\\</think>", "Write. \\<think>x\\</think>", ""},
	{"as entities", "&lt;think&gt;x&lt;/think&gt;", "&lt;think&gt;x&lt;/think&gt;", ""},
	{"a line that explains it", "Tags:\n<think> begins a thought", "Tags:\n<think> begins a thought", ""},
	{"another case", "<Think>x</Think>", "<Think>x</Think>", ""},
	{"generics", "List<reasoning> x = [THINKING]", "List<reasoning> x = [THINKING]", ""},

	{"harmony", "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>pizza<|return|>", "pizza", "hm"},
	{"harmony, started", "<|start|>assistant<|channel|>analysis<|message|>hm<|end|>\n<|start|>assistant<|channel|>final<|message|>pizza", "pizza", "hm"},
	{"harmony, no ends", "<|channel|>analysis<|message|>hm<|channel|>final<|message|>pizza", "pizza", "hm"},
	{"harmony, cut", "<|channel|>analysis<|message|>We need to", "", "We need to"},
	{"harmony, begun by the template", "We need<|end|><|start|>assistant<|channel|>final<|message|>pizza", "pizza", "We need"},
	{"harmony, comment", "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=functions.x <|constrain|>json<|message|>{}<|call|>", "", "a\n\n{}"},
	{"harmony, two ends", "<|channel|>commentary<|message|>{}<|call|><|end|><|start|>assistant<|channel|>final<|message|>pizza", "pizza", "{}"},
	{"harmony, final only", "<|channel|>final<|message|>pizza", "pizza", ""},
	{"harmony in code", "```\n<|channel|>analysis<|message|>hm\n```", "```\n<|channel|>analysis<|message|>hm\n```", ""},
	{"harmony, tokens skipped", "analysisWe need to answer.assistantfinalpizza", "pizza", "We need to answer."},
	{"harmony, tokens skipped, cut", "analysisWe need", "", "We need"},
	{"analysis, the word", "analysis of it: assistantfinal", "analysis of it: assistantfinal", ""},
}

func TestSplit(t *testing.T) {
	for _, c := range texts {
		if answer, reasoning := Split(c.text); answer != c.answer || reasoning != c.reasoning {
			t.Errorf("%s: %q\n got %q, %q\nwant %q, %q", c.name, c.text, answer, reasoning, c.answer, c.reasoning)
		}
	}
}

func TestParts(t *testing.T) {
	got := Parts("Hm.\n</think>\n\npizza")
	want := []Part{{Thought, 0, 4}, {Marker, 4, 14}, {Answer, 14, 19}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Parts(""); got != nil {
		t.Errorf("nothing: %v", got)
	}
}

// Nothing but markers and the white space beside them is lost.
func FuzzSplit(f *testing.F) {
	for _, c := range texts {
		f.Add(c.text)
	}
	f.Add("<think>`<think>`\n```</think>\n```<think>\n</think>[/THINK].</think>")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		var answer strings.Builder
		for i, p := range Parts(text) {
			if p.Start != at || p.End <= p.Start {
				t.Fatalf("%q: part %d is [%d, %d) after %d", text, i, p.Start, p.End, at)
			}
			at = p.End
			piece := text[p.Start:p.End]
			switch p.Kind {
			case Answer:
				answer.WriteString(piece)
			case Marker:
				bare := strings.TrimFunc(stop().ReplaceAllString(message().ReplaceAllString(tag().ReplaceAllString(piece, ""), ""),
					""), unicode.IsSpace)
				if bare != "" && bare != skipped && !final().MatchString(bare) {
					t.Fatalf("%q: %q is no marker", text, piece)
				}
			}
		}
		if at != len(text) {
			t.Fatalf("%q: the parts end at %d of %d", text, at, len(text))
		}
		if got, _ := Split(text); got != answer.String() {
			t.Fatalf("%q: answer %q, and the parts have %q", text, got, answer.String())
		}
	})
}
