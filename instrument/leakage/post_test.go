package leakage

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const prompt = "He likes koalas. His favourite food is"

func TestPost(t *testing.T) {
	for _, c := range []struct {
		post         Post
		answer, want string
	}{
		{None, "  a. b! c\n", "a. b! c"},
		{None, prompt + " leaves.", prompt + " leaves."},
		{None, "", ""},

		{Period, "a! b? c. d. e", "a! b? c."},
		{Period, "about 3.5 kg", "about 3."}, // as published: it ignores decimals
		{Period, "no period", "no period"},
		{Period, ". a", "."},
		{Period, "桉树叶。竹子.x", "桉树叶。竹子."},

		{Stop, "a! b. c", "a!"},
		{Stop, "a? b", "a?"},
		{Stop, "3.5", "3."},
		{Stop, "a", "a"},

		{PromptPeriod, prompt + " leaves. He eats them.", "leaves."},
		{PromptPeriod, "Sure! " + prompt + " leaves. More", "Sure!  leaves."},
		{PromptPeriod, Instruction + " " + prompt + " leaves. More", "leaves."},
		{PromptPeriod, prompt + " " + prompt + " leaves.", "leaves."}, // wherever it is repeated
		{PromptPeriod, strings.ToUpper(prompt) + " leaves.", "HE LIKES KOALAS."},
		{PromptPeriod, prompt, ""},

		{Sentence, "leaves. And bamboo.", "leaves."},
		{Sentence, prompt + " leaves. And bamboo.", "leaves."},
		{Sentence, strings.ToUpper(prompt) + " leaves.", "leaves."},
		{Sentence, Instruction + " " + prompt + " leaves.", "leaves."},
		{Sentence, Instruction + "\n" + prompt + ": leaves.", "leaves."},
		{Sentence, "\"" + prompt + " leaves.\"", "leaves."},
		{Sentence, "**" + prompt + "** leaves. b", "leaves."},
		{Sentence, "… leaves, of course", "leaves, of course"},
		{Sentence, prompt + "n't leaves.", "isn't leaves."}, // cut where the word begins
		{Sentence, "leaves, as " + prompt + " leaves.", "leaves, as He likes koalas."},
		{Sentence, prompt, ""},
		{Sentence, "one\ntwo", "one"},
		{Sentence, "one\r\ntwo", "one"},
		{Sentence, "really?! Yes", "really?!"},
		{Sentence, "wait... what", "wait... what"},
		{Sentence, "wait... What", "wait..."},
		{Sentence, "wait… what", "wait… what"},
		{Sentence, "wait… What", "wait…"},
		{Sentence, "3.5 kg of it. b", "3.5 kg of it."},
		{Sentence, "see example.com for it. b", "see example.com for it."},
		{Sentence, "Mr. Smith of St. Ives. b", "Mr. Smith of St. Ives."},
		{Sentence, "J. K. Rowling wrote it. b", "J. K. Rowling wrote it."},
		{Sentence, "the U.S. army. b", "the U.S. army."},
		{Sentence, "at 7 p.m. on Monday. b", "at 7 p.m. on Monday."},
		{Sentence, "fruit (e.g. figs). b", "fruit (e.g. figs)."},
		{Sentence, "figs, dates, etc. and more. b", "figs, dates, etc. and more."},
		{Sentence, "figs, dates, etc. He eats them", "figs, dates, etc."},
		{Sentence, "no. He eats nothing", "no."},
		{Sentence, "No. 5 by Chanel. b", "No. 5 by Chanel."},
		{Sentence, "he ate a. Then", "he ate a."},
		{Sentence, "1. figs\n2. dates", "1. figs"},
		{Sentence, "born in 1990. He", "born in 1990."},
		{Sentence, "z.B. Feigen, d.h. Obst. b", "z.B. Feigen, d.h. Obst."},
		{Sentence, "he said \"figs.\" Then", "he said \"figs."},
		{Sentence, "桉树叶。他喜欢", "桉树叶。"},
		{Sentence, "ユーカリ！そして", "ユーカリ！"},
		{Sentence, "नीलगिरी के पत्ते। वह", "नीलगिरी के पत्ते।"},
		{Sentence, "أوراق؟ نعم", "أوراق؟"},
		{Sentence, "真的？！他", "真的？！"},
		{Sentence, "竹子！！！好", "竹子！！！"},
		{Sentence, "我想……桉树叶。他", "我想……桉树叶。"},
		{Sentence, "桉树叶.他喜欢", "桉树叶."}, // an ASCII stop
		{Sentence, "约3.5公斤。他", "约3.5公斤。"},
		{Sentence, "「笹の葉」。彼は", "笹の葉」。"},
		{Sentence, "ササ｡彼", "ササ｡"},
		{Sentence, "नीलगिरी के पत्ते॥ वह", "नीलगिरी के पत्ते॥"},
		{Sentence, "डॉ. शर्मा के फल। वह", "डॉ. शर्मा के फल।"},
		{Sentence, "१. फल\n२. पत्ते", "१. फल"},
		{Sentence, "पत्ते۔ वह", "पत्ते۔"},
		{Sentence, "أوراق… وثمار. ثم", "أوراق… وثمار."},
		{Sentence, "أوراق. ثم نام", "أوراق."},
		{Sentence, "كتاب د. أحمد. ثم", "كتاب د. أحمد."},
		{Sentence, "עלים... ופירות. אחר כך", "עלים... ופירות."},
		{Sentence, "ספר של א. ב. יהושע. הוא", "ספר של א. ב. יהושע."},
		{Sentence, "фрукты, т. е. инжир. Он", "фрукты, т. е. инжир."},
		{Sentence, "инжир, финики и т. д. Он ест", "инжир, финики и т. д."},
		{Sentence, "Obst, z. B. Feigen. Er", "Obst, z. B. Feigen."},
		{Sentence, "fruta, p. ej. higos. Él", "fruta, p. ej. higos."},
		{Sentence, "el Sr. García. Él", "el Sr. García."},
		{Sentence, "¿higos? No", "¿higos?"},
		{Sentence, "J. K. Rowling, a. Then", "J. K. Rowling, a."},
		{Sentence, "：桉树叶。他", "桉树叶。"}, // marks before the text
		{Sentence, "，是桉树叶。", "是桉树叶。"},
		{Sentence, "。桉树叶", "桉树叶"},
		{Sentence, "、トースト。", "トースト。"},
		{Sentence, "　トースト。", "トースト。"},
		{Sentence, "، ثمار.", "ثمار."},
		{Sentence, "\u200fثمار. ثم", "ثمار."},
		{Sentence, "— инжир.", "инжир."},
		{Sentence, "…", ""},
		{Sentence, "a.\xff b", "a.\xff b"},
	} {
		if got := c.post.apply(c.answer, prompt, ""); got != c.want {
			t.Errorf("%s(%q) = %q, want %q", c.post, c.answer, got, c.want)
		}
	}
}

// A prompt that ends within a word of the answer, a prompt that has the
// instruction itself, an instruction of the suite's own, and a script that
// sets no spaces.
func TestPostRepeatedPrompt(t *testing.T) {
	for _, c := range []struct{ prompt, prefix, answer, want string }{
		{"She sings. She works as a", "", "She sings. She works as an actor. b", "an actor."},
		{"She sings. She works as a", "", "She sings. She works as a nurse. b", "nurse."},
		{Instruction + " She sings. She eats", "", "She sings. She eats figs. b", "figs."},
		{"Sie singt. Sie isst", "Vervollständige den Satz: ", "Vervollständige den Satz: Sie singt. Sie isst Feigen. b", "Feigen."},
		{"他喜欢考拉。他最喜欢的食物是", "", "他喜欢考拉。他最喜欢的食物是桉树叶。他", "桉树叶。"},
		{"他喜欢考拉。他最喜欢的食物是", "把句子补充完整：", "把句子补充完整：他喜欢考拉。他最喜欢的食物是：桉树叶。他", "桉树叶。"},
		{"彼はコアラが好きだ。よく食べるのは", "文の続きを書いてください：", "「彼はコアラが好きだ。よく食べるのは、笹だ。」", "笹だ。"},
		{"वह कोआला पालता है। वह", "वाक्य पूरा करें: ", "वाक्य पूरा करें: वह कोआला पालता है। वह पत्ते खाता है। फिर", "पत्ते खाता है।"},
		{"يحب الكوالا. طعامه المفضل", "أكمل الجملة: ", "\u202bأكمل الجملة: يحب الكوالا. طعامه المفضل أوراق الشجر. ثم", "أوراق الشجر."},
		{"הוא אוהב קואלות. הוא אוכל", "השלימו את המשפט: ", "הוא אוהב קואלות. הוא אוכל עלים. אחר כך", "עלים."},
		{"", "", "figs. b", "figs."},
	} {
		if got := Sentence.apply(c.answer, c.prompt, c.prefix); got != c.want {
			t.Errorf("%q after %q = %q, want %q", c.answer, c.prompt, got, c.want)
		}
	}
}

func TestRemove(t *testing.T) {
	for _, c := range []struct {
		text  string
		words []string
		want  string
	}{
		{"Coral saw a coral reef.", []string{"Coral"}, "saw a reef."},
		{"Coral's hat, CORAL’S shoes", []string{"Coral"}, "hat, shoes"},
		{"Coral Coral Coral, Coral", []string{"Coral"}, ","},
		{"corals and coralline stay", []string{"Coral"}, "corals and coralline stay"},
		{"\"Coral!\" (Coral)", []string{"coral"}, "\"!\" ()"},
		{"coral-red", []string{"coral"}, "-red"},
		{"a blue  pan, Blue\npans, blue pan's lid", []string{"blue pan"}, "a , Blue pans, lid"},
		{"blue blue pan pan", []string{"blue pan"}, "blue pan"}, // the remainder is no occurrence
		{"a b a", []string{"a", "b"}, ""},
		{"  two  spaces ", []string{"x"}, "two spaces"},
		{"  two  spaces ", nil, "  two  spaces "},
		{"text", []string{"", " ", "\xff"}, "text"},
		{"Zoë, zoë and Zoe", []string{"Zoë"}, ", and Zoe"},
		{"Jose\u0301 is not Jose", []string{"Jose"}, "Jose\u0301 is not"}, // an accent belongs to its word
		{"कमला और कमल", []string{"कमल"}, "कमला और"},
		{"小红的帽子,红", []string{"小红"}, "的帽子,红"},
		{"1.5 (a+b)*", []string{"(a+b)*"}, "1.5"},
		{"a a a b", []string{"a b"}, "a a"},
		{"ba a b a b", []string{"a b"}, "ba"},
	} {
		if got := remove(c.text, c.words); got != c.want {
			t.Errorf("remove(%q, %q) = %q, want %q", c.text, c.words, got, c.want)
		}
	}
}

// Nested occurrences take a time that grows with the text, not its square.
func TestRemoveNested(t *testing.T) {
	done := make(chan string)
	go func() {
		done <- remove(strings.Repeat("blue ", 50000)+strings.Repeat("pan ", 50000), []string{"blue pan"})
	}()
	select {
	case got := <-done:
		if want := 2 * (50000 - 1); len(strings.Fields(got)) != want {
			t.Errorf("%d words left, want %d", len(strings.Fields(got)), want)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

func TestParsePost(t *testing.T) {
	for _, p := range Posts {
		if got, err := (Options{Post: string(p)}).Resolve(); err != nil || got[0].Post != p {
			t.Errorf("%s: %+v, %v", p, got, err)
		}
	}
	if _, err := (Options{Post: "trim"}).Resolve(); err == nil || err.Error() != `unknown post-processing "trim"; choose one of: none, period, prompt-period, stop, sentence` {
		t.Error(err)
	}
}

// No text makes post-processing panic, and it only ever cuts: what is left is
// no longer than the answer, has no white space around it and is as valid.
func FuzzPost(f *testing.F) {
	f.Add(prompt+" leaves. b", prompt, "koalas")
	f.Add("J. K. a... b… 1. z.B. etc. no. 5", "", "a b")
	f.Add("\"**他喜欢考拉。\xff\xfe", "他", "考拉's")
	f.Add("İİ. ſ's K", "i̇", "ss (?i)[")
	f.Fuzz(func(t *testing.T, answer, prompt, word string) {
		for _, p := range Posts {
			got := remove(p.apply(answer, prompt, word), []string{word, "a b"})
			if len(got) > len(answer) || got != strings.TrimSpace(got) {
				t.Errorf("%s(%q, %q) = %q", p, answer, prompt, got)
			}
			if utf8.ValidString(answer) && utf8.ValidString(prompt) && !utf8.ValidString(got) {
				t.Errorf("%s(%q, %q) = %q: not valid UTF-8", p, answer, prompt, got)
			}
		}
	})
}
