package prose

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// masks lists the masked parts of a text.
func masks(text string) string {
	var all []string
	for _, m := range Parse(text).Masks {
		all = append(all, fmt.Sprintf("%s[%s]", m.Kind, text[m.Start:m.End]))
	}
	return strings.Join(all, " ")
}

func TestMasks(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Just a sentence, and it's fine.", ""},
		{"", ""},
		// Code.
		{"Run `go test ./...` now.", "code[`go test ./...`]"},
		{"Use ``a ` b`` here.", "code[``a ` b``]"},
		{"Try:\n```sh\nls -l\n```\nDone.", "code[```sh\nls -l\n```]"},
		{"Try:\n```sh\nls -l", "code[```sh\nls -l]"},
		{"pip install requests", "code[pip install requests]"},
		{"Make a list of all files.", ""},
		{"make a cake", ""},
		{"Zuerst npm install ausführen, dann git push.", "code[npm install] code[git push]"},
		{"Die Tools npm, pip und git", ""},
		{"cd /tmp/build", "code[cd /tmp/build]"},
		{"x = f(1);", "code[x = f(1);]"},
		{"<input type=\"text\" value=\"a b c d e\">", "code[<input type=\"text\" value=\"a b c d e\">]"},
		{"<!-- the navigation of the page -->", "code[<!-- the navigation of the page -->]"},
		{"<button>Save changes</button>", "code[<button>Save changes</button>]"},
		{"<p>Hello,</p><p>it is on its way.</p>", "markup[<p>] markup[</p><p>] markup[</p>]"},
		{"<p>注文済み</p>", "markup[<p>] markup[</p>]"},
		{"2024-05-01 10:00:01 ERROR no such file", "code[2024-05-01 10:00:01 ERROR no such file]"},
		{"[2024-05-01 10:00:01] WARN disk is almost full", "code[[2024-05-01 10:00:01] WARN disk is almost full]"},
		{"name: nightly\nretries: 5\ndone: a line of prose with more words", "code[name: nightly] code[retries: 5]"},
		{"note: only one", ""},
		{"sudo apt update", "code[sudo apt update]"},
		{"Es kommt SyntaxError: await is only valid here. Danach nichts.", "code[SyntaxError: await is only valid here]"},
		{"Mit KeyError: name kommt größer", "code[KeyError: name kommt]"},
		{"Ein KeyError ist ein Error: nichts weiter.", ""},
		{"Byl to 16letý chlapec s 3G網路.", "number[16letý] number[3G]"},
		{"2024-05-01 was a holiday here", "number[2024-05-01]"},
		{"{\n  \"note\": \"bonjour à tous\",\n  \"n\": 3\n}", "code[\"note\":] code[\"n\":] number[3]"},
		{"Open src/main.go and read it.", "code[src/main.go]"},
		{"See ~/notes/todo.txt or report.pdf.", "code[~/notes/todo.txt] code[report.pdf]"},
		{"Pass --verbose to max_tokens.", "code[--verbose] code[max_tokens]"},
		// Addresses.
		{"See https://example.org/a?b=c#d.", "address[https://example.org/a?b=c#d]"},
		{"Write to ann@example.org, please.", "address[ann@example.org]"},
		{"Visit www.example.org or example.com/x.", "address[www.example.org] address[example.com/x]"},
		{"Share #SummerSale with @crosstalk.", "address[#SummerSale] address[@crosstalk]"},
		{"One sentence.Another one", ""},
		// Numbers.
		{"It weighs 3,5 kg and costs 1.250,00 EUR.", "number[3,5 kg] number[1.250,00 EUR]"},
		{"At 90 km/h for 5 minutes.", "number[90 km/h] number[5]"},
		{"Order INV-2024/17 of the B2B shop.", "number[INV-2024/17] number[B2B]"},
		{"It rose by 12%.", "number[12%]"},
		{"九月十五日午後一時に一つ", "number[九月十五日]"},
		// Mathematics and symbols.
		{"Since E = mc² and λ is small", "math[E] math[=] math[mc] math[λ]"},
		{"The sum $a_1 + b$ or \\(x\\) or \\alpha.", "math[$a_1 + b$] math[\\(x\\)] math[\\alpha]"},
		{"It costs $5 or $6.", "number[5] number[6]"},
		{"Well done 🎉", "emoji[🎉]"},
		// Markup.
		{"## Title\n- one\n2) two\n> said", "markup[## ] markup[- ] markup[2) ] markup[> ] quote[said]"},
		{"| a | b |\n|---|---|\n| c | d |", "markup[|] markup[|] markup[|] markup[|---|---|] markup[|] markup[|] markup[|]"},
		{"A <b>word</b> and 3 < 4", "markup[<b>] markup[</b>] number[3] number[4]"},
		// Quotations and labels.
		{`He said "guten Tag" twice.`, "quote[guten Tag]"},
		{"Das Buch „Der Prozess“ und «La peste»", "quote[Der Prozess] quote[La peste]"},
		{"「borrow」と『lend』", "quote[borrow] quote[lend]"},
		{"It's the dogs' bowl, 'so to speak', I'd say.", "quote[so to speak]"},
		{"영화 'La La Land'를 보세요", "quote[La La Land]"},
		{"An inch is 1\" here", "number[1]"},
		{"Wähle **Save as** im Menü.", "label[Save as]"},
		{"**Save as**: der Befehl", ""},
		{"**Overview**", ""},
		{"2 * 3 * 4", "number[2] number[3] number[4]"},
		{"\xff\xfe`\xff`", "code[`\xff`]"},
	} {
		if got := masks(c.text); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestBlocks(t *testing.T) {
	const text = "# One\n\nTwo three.\n* four\n1. five\n| six | seven |\n**Eight**\n---\n```\nnine\n```"
	want := "heading[One] paragraph[Two three.] item[four] item[five] cell[six] cell[seven] heading[**Eight**]"
	var all []string
	for _, b := range Parse(text).Blocks {
		all = append(all, fmt.Sprintf("%s[%s]", b.Kind, text[b.Start:b.End]))
	}
	if got := strings.Join(all, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What is plain is a letter, mark or digit, and neither quotes nor is a symbol.
func TestPlain(t *testing.T) {
	for r := rune(0); r < 0x20000; r++ {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		if isPlain(r) && (!letter || closings[r] != "" || isEmoji(r) || isMath(r) || isNumeral(r) ||
			unicode.Is(unicode.Greek, r)) {
			t.Errorf("%q", r)
		}
	}
}

// Blocks and masks are within the text, in order, without overlaps, and do not cut characters.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"# a\n- b `c` \"d\" **e f** g", "|a|b|\n|-|-|\n```\nx", "λ = 5 µm $x$ <b> http://a.b/c '", "{\n\"a\": \"b\"\n}\r\n\xff„é“"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := Parse(text)
		at := 0
		for _, m := range d.Masks {
			if m.Start < at || m.End <= m.Start || m.End > len(text) || m.Kind == "" {
				t.Fatalf("mask %+v after %d", m, at)
			}
			at = m.End
			if utf8.ValidString(text) && !utf8.ValidString(text[m.Start:m.End]) {
				t.Fatalf("mask %+v cuts a character", m)
			}
		}
		at = 0
		for _, b := range d.Blocks {
			if b.Start < at || b.End < b.Start || b.End > len(text) {
				t.Fatalf("block %+v after %d", b, at)
			}
			at = b.End
		}
	})
}
