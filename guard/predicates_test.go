package guard

import (
	"crosstalk"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"crosstalk/internal/testing/golden"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

// oddTexts have words that may be names, terms, quotations or translations.
var oddTexts = [][2]string{
	{"de", "Bank of America und das Van den Berghe: Museum in 12 Main Street, New York, sind Permission denied geöffnet."},
	{"de", "Wählen Sie Settings > Display > Night Light, dann File → Save as, oder gehen Sie zu Tools."},
	{"de", "Die Meldung lautet „Permission denied on this machine“. Cependant, das Wort „however“ steht im Englischen oft vorn."},
	{"de", "Wir essen pain au chocolat, crème brûlée, coq au vin und salade niçoise in der rue de la paix bei uns daheim."},
	{"de", "Das Meeting war ein check-in mit Feedback, ein call to action per se, quid pro quo, in vitro, know-how (das Wissen)."},
	{"de", "Sure. Das ist truly wirklich good, and basically nothing more; Toutefois, wir gehen online shopping now."},
	{"de", "Der Hund (the dog) und die Katze (\"the cat that sleeps all day\") heißen auf Englisch dog und cat, im Spanischen gato."},
	{"de", "- Hund: dog\n- Katze: cat\n- Maus – mouse\n- Vogel = bird\n- das große Haus: the big house\n- rot\n"},
	{"de", "# The Big Picture\n\n| Name | Mi |\n|---|---|\n| The Great House | Mo |\n| Hotel | 12 |\n\nBest Western Hotel,\nJohn Smith\n12 Main Street\n"},
	{"de", "Wir lernen heute `make all` und dann `go test`, \"the build\", *the tests*, https://example.com/the/file und the end."},
	{"fr", "Le mot « weekend » vient de l'anglais, and that is all there is, comme le dit John Smith: No Pain No Gain."},
	{"fr", "Bonjour John,\nVoici la lettre :\nDear Sir, we are happy to see you\nCordialement\nJean Dupont\n"},
	{"es", "El Dr. John Smith dijo: the show must go on, y luego Nueva York, San Francisco, Los Angeles y por ejemplo however."},
	{"tr", "Danimarkaca değil, İngilizce: hello world demek merhaba dünya demektir, and so on, ama the kullanılmaz."},
	{"ja", "今日はsmart phoneのapplicationを使って、東京駅で会議室管理者をします。中国語では「你好吗」と言います。这个问题是什么。"},
	{"ja", "国際連合教育科学文化機関は有名です。我们明天去公园散步吧。这些东西很贵！Google ChromeでGmailをopenする。"},
	{"ko", "한자로는 漢字라고 씁니다. 中国语言文字 그리고 meeting은 회의입니다, however 우리는 check-in을 합니다."},
	{"ko", "영어로 hello는 안녕입니다. Seoul Station에서 만나요. 簡體字와 繁體 그리고 东西가 있습니다."},
	{"zh", "我们明天去公园，then we will eat 冰淇淋。英语说 hello。「这是一本书」和 iPhone 手机，ありがとう。"},
	{"zh-TW", "我們明天去公園散步吧。这个问题很难。請问您的發票在哪里？他说国语。後面裡面。"},
	{"zh-Hans", "我们明天去公园散步吧。這個問題很難。请問您的发票在哪裡？他說國語。后面里面。"},
	{"hi", "यह meeting बहुत important है और office में however काम होता है। हम online payment करते हैं।"},
	{"id", "Saya pergi ke pasar kerana ingin membeli roti, however harga naik, dan basikal saya rosak semasa cuti."},
	{"ru", "Слово «hello» по-английски значит привет, а update the system значит обновить; Windows Update, the end."},
	{"sr", "Danas idemo na pijacu sa decom. Сутра идемо на пијацу са децом, and then we go home."},
	{"en", "The mot juste is le mot, and das Auto (the car) is not el coche; per se, vis-à-vis, raison d'être, schadenfreude."},
	{"en", "He said: c'est la vie. In French, merci means thanks. Café de Flore, Rue de Rivoli 12, 75001 Paris. Und nun weiter."},
	{"ar", "كلمة hello تعني مرحبا، و update the system تعني حدث النظام. اسم الشركة Bank of America."},
	{"th", "คำว่า hello แปลว่าสวัสดี และ update the system แปลว่าอัปเดตระบบ"},
	{"ka", "დღეს კარგი ამინდია და ჩვენ პარკში მივდივართ, and then we will go home together."},
	{"ka", "დღეს კარგი"},
	{"nl", "Wij gaan morgen met de kinderen naar de markt, und dann gehen wir nach Hause, want het is laat."},
	{"no", "Vi går på markedet i morgen, och sedan går vi hem tillsammans med barnen, for vi trenger brød."},
	{"uk", "Завтра ми йдемо на ринок, потому что нам нужен хлеб и молоко, а потім додому."},
	{"mr", "आम्ही उद्या मुलांसोबत बाजारात जाणार आहोत, क्योंकि हमें रोटी और दूध चाहिए पूरे हफ्ते के लिए।"},
	{"no", "I morgen drar vi til byen med barna. Vi trenger brød. I morgen går vi på markedet med børnene «до свидания мой " +
		"друг» fordi vi mangler brød, mælk og friske grøntsager til hele ugen."},
	{"de", "Der system und die company sind gut. Das water ist im house, die family in der school, das money im business. " +
		"Die power der group, die party im service, das market im center. Ein project, ein team, ein game, ein video."},
	{"fr", "Le system et la company sont bons. Le water est dans la house, la family à la school, le money dans le business. " +
		"La power du group, la party au service, un project, un team, un game, un video, un people, un world, une life."},
	{"gl", "Mañá imos ao mercado cos nenos, porque necesitamos pan, leche y verduras frescas para toda la semana."},
}

// TestPredicates evaluates every predicate at each place and each few words of oddTexts, and compares with
// testdata/predicates.txt how often it holds, and one byte of a hash of the places.
func TestPredicates(t *testing.T) {
	var sheet strings.Builder
	for _, x := range oddTexts {
		k := Checker{}
		want, err := k.expect(x[0])
		if err != nil {
			t.Fatal(err)
		}
		c := newCheck(k.identifier(), x[1], want)
		c.threshold, c.prompt = crosstalk.Warn, "what is the dog, however?"
		fmt.Fprintf(&sheet, "%s %.40q\n ", x[0], x[1])
		p := predicates{sheet: &sheet}
		all := c.analysis.Words(math.Inf(-1))
		for i := range all {
			for n := 1; n <= 13 && i+n <= len(all); n++ {
				p.ofRun(c, all[i:i+n])
			}
			p.note("own", fmt.Sprint(i), own(all[i]))
			p.note("leads", fmt.Sprint(i), leads(all[i]))
		}
		p.write("places")
		for at := 0; at <= len(c.text); at++ {
			if at == len(c.text) || utf8.RuneStart(c.text[at]) {
				p.ofPlace(c, at)
			}
		}
		p.write("blocks")
		for i, b := range c.blocks {
			p.ofBlock(c, i, b)
		}
		p.write("whole")
		for _, kind := range []prose.Kind{prose.Code, prose.Quote, prose.Label, prose.Markup} {
			p.note("has", string(kind), c.has(kind))
		}
		p.note("borrows", "", c.borrows())
		p.note("few", "", c.fewLetters())
		p.note("ends", "", c.endsSentence())
		p.note("pairs", fmt.Sprint(c.pairs()), len(c.pairs()) > 0)
		p.note("foreign", fmt.Sprint(c.foreign()), true)
		p.note("quoted", fmt.Sprint(c.quoted()), true)
		p.note("latin", "", c.mostlyLatin(c.blocks))
		p.note("sentences", fmt.Sprint(c.sentences()), true)
		c.prompt = ""
		c.judge()
		j := c.result()
		p.note("judged", fmt.Sprint(summary(j), details(j), j.Judged, j.NotJudged, j.Count(Line), j.Count(Word)), true)
		p.write("")
		c.analysis.Free()
	}
	golden.Check(t, "testdata/predicates.txt", sheet.String())
}

// predicates counts where each predicate holds, and hashes the places.
type predicates struct {
	sheet *strings.Builder
	names []string
	count map[string]int
	where map[string]string
}

func (p *predicates) note(name, where string, is bool) {
	if p.count == nil {
		p.count, p.where = map[string]int{}, map[string]string{}
	}
	if _, known := p.where[name]; !known {
		p.names = append(p.names, name)
		p.where[name] = ""
	}
	if is {
		p.count[name]++
		p.where[name] += where + " "
	}
}

func (p *predicates) write(next string) {
	for _, name := range p.names {
		if n := p.count[name]; n > 0 {
			fmt.Fprintf(p.sheet, " %s %d:%x", name, n, sha256.Sum256([]byte(p.where[name])))
			text := p.sheet.String() // two digits of the hash
			p.sheet.Reset()
			p.sheet.WriteString(text[:len(text)-62])
		}
	}
	p.names, p.count, p.where = nil, nil, nil
	p.sheet.WriteByte('\n')
	if next != "" {
		fmt.Fprintf(p.sheet, "  %s:", next)
	}
}

func (p *predicates) ofRun(c *check, all []words.Word) {
	start, end := all[0].Start, all[len(all)-1].End
	at := fmt.Sprint(start, "-", end)
	shared := c.shared(all)
	p.note("shared", fmt.Sprint(at, shared[0].Start, shared[len(shared)-1].End), len(shared) < len(all))
	for _, language := range []string{mostIn(all), "zh", "en"} {
		r := run{words: all, start: start, end: end, text: c.text[start:end], language: language, odds: all[0].LogOdds}
		for _, rule := range rules {
			p.note(rule.name, at+language, rule.applies(c, r))
		}
		p.note("termlike", at, c.termlike(r))
		p.note("joins", at, c.joins(r))
		p.note("dish", at+language, c.dish(r))
		p.note("longest", fmt.Sprint(at, c.longest(r)), c.longest(r) < len(all))
		p.note("doubtful", at+language, r.doubtful())
		p.note("confirmed", at+c.confirmed(prose.Span{Start: start, End: end}, language), true)
		r.excuse = Loan
		p.note("alone", at+language, c.alone(r))
		r.unnamed()
		p.note("unnamed", fmt.Sprint(at, r.start, r.end), r.start > start || r.end < end)
	}
	text := c.text[start:end]
	p.note("capitals", at, capitals(text))
	p.note("all capitals", at, allCapitals(text))
	p.note("spoken", at, spoken(text))
	p.note("speaks", at, speaks(all))
	p.note("heads", at, c.heads(all, 1+len(all)/2))
	if len(all) == 2 {
		p.note("adjacent", at, c.adjacent(all[0], all[1]))
	}
	from, to := c.trim(start, end)
	p.note("trim", fmt.Sprint(at, from, to), from > start || to < end)
}

func (p *predicates) ofPlace(c *check, at int) {
	where := fmt.Sprint(at)
	p.note("starts", where, c.starts(at))
	p.note("ends", where, c.ends(at))
	p.note("comma", where, c.comma(at))
	p.note("before", where+c.before(at), c.before(at) != "")
	p.note("line", fmt.Sprint(c.line(at)), true)
	p.note("below", where, c.below(at))
	_, paired := c.paired(at)
	p.note("paired", where, paired)
	p.note("masked", fmt.Sprint(at, c.maskFrom(at)), c.maskFrom(at) > 0)
	p.note("particled", where, particled(c.want.base, c.text[at:]))
	p.note("sentence", fmt.Sprint(at, c.sentenceEnd(at, len(c.text))), true)
	p.note("break", fmt.Sprint(at, breakAt(c.text[at:])), true)
	p.note("words", fmt.Sprint(at, Words(c.text[:at])), true)
	p.note("quotes", where, quotes(c.want.base, c.text[:at]))
	p.note("of language", where, metalinguistic(c.want.base, c.text[at:]))
}

func (p *predicates) ofBlock(c *check, i int, b prose.Span) {
	where := fmt.Sprint(i)
	p.note("trim", fmt.Sprint(c.trim(b.Start, b.End)), true)
	p.note("plain", where+c.plain(b), true)
	p.note("masked", where, c.mostlyMasked([]prose.Span{b}))
	p.note("abbreviated", where, c.abbreviated(b))
	p.note("short", where, c.short(b))
	p.note("rare", where, c.rare(b))
	for _, language := range []string{"en", "fr"} {
		p.note("named "+language, where+string(c.named(b, language)), c.named(b, language) != "")
		p.note("announced "+language, where+string(c.announced(b, language)), c.announced(b, language) != "")
		p.note("headed "+language, where, c.headed(c.series[i], i, language))
	}
	p.note("adjoins", where, i > 0 && c.adjoins(i))
	u := c.weigh(c.blocks[i : i+1])
	p.note("weighed", fmt.Sprintf("%s %s %s %.3f", where, u.state, u.evidence.Language, u.evidence.LogRatio), true)
}

// TestMessages compares what messages of users ask for with testdata/asked.txt.
func TestMessages(t *testing.T) {
	var sheet strings.Builder
	messages := []string{"", "English please", "auf Englisch bitte", "Answer in French.", "Please translate this to German: good day",
		"How do you write that in Polish?", "Übersetze das ins Türkische!", "Danca", "danca bilmem", "Bunu Dancaya çevir", "Türkçe cevap ver",
		"antworte auf deutsch. answer in german", "translate to Chinese", "answer in Chinese please, in short sentences", "用英语回答", "英語で答えて",
		"请用法文写一封信", "日本語で", "한국어로 대답해", "تحدث بالعربية", "اكتب بالفرنسية", "ענה בעברית", "והעברית", "كالعربية مثلا", "العربية", "in Klingon please", "Write in English and in French",
		"write in english. write in english", "Réponds en anglais", "En español, por favor", "traduci in italiano: hello", "по-русски, пожалуйста",
		"Переведи на английский", "Ich spreche Deutsch und du sprichst Englisch", "denglisch ist komisch", "frenchfries", "हिंदी में जवाब दो", "ตอบเป็นภาษาไทย",
		"odpowiedz po polsku", "Odpověz česky", "answer in serbian", "antwoord in het Nederlands", "Svara på svenska", strings.Repeat("a", 2*longMessage) + " answer in French",
		"answer in French " + strings.Repeat("é", longMessage) + " now", "Guten Tag", "Guten Tag, wie geht es", "good morning to you", "你好", "你好吗，朋友们",
		"這個問題很難回答嗎", "Hola, ¿qué tal estás hoy?"}
	for _, m := range messages {
		fmt.Fprintf(&sheet, "%.40q %d letters, %d bytes, %q;", m, letters(m), len(bothEnds(m)), Checker{}.languageOf(m))
		for _, said := range []string{"", "en", "de", "tr"} {
			for _, brief := range []bool{false, true} {
				fmt.Fprintf(&sheet, " %s %v %q %q", said, brief, asksFor(m, said, brief), commanded(m, said, brief))
			}
		}
		fmt.Fprintf(&sheet, "; %v, %q alone, %q after German, %q before English\n", commands(m), user(m),
			user("Guten Tag, wie geht es dir heute denn so?", m), user(m, "Well, tell me what you think about that."))
	}
	for _, r := range []string{
		`{}`, `[]`, `{"text":5}`, `{"text":"a"}`, `{"language":"de"}`, `{"text":"a","language":"de","id":7}`, `{"text":"a","language":"user"}`,
		`{"text":"a","language":"user","prompt":"Guten Morgen, wie geht es dir?"}`, `{"text":"a","messages":"x"}`, `{"text":"a","messages":[{"role":1}]}`,
		`{"text":"however","language":"user","messages":[{"role":"user","content":[{"text":"Was heißt however auf Deutsch?"},{"type":"image"}]}]}`,
		`{"text":"a","language":"user","messages":[{"role":"user","content":""}]}`, `{"text":"a","language":"user","messages":[{"role":"user","content":[{}]}]}`,
		`{"text":"Bonjour à tous","language":"user","messages":[{"role":"system","content":"Answer in French."},{"role":"user","content":"Guten Morgen, wie geht es dir?"}]}`,
		`{"text":"Bonjour à tous","language":"user","messages":[{"role":"developer","content":"Be short."},{"role":"system","content":"Answer in French."},{"role":"user","content":"Antworte auf Spanisch."}]}`,
		`{"text":"hello","language":"user","messages":[{"role":"assistant","content":"Answer in French."},{"role":"user","content":"x"}],"prompt":"Guten Morgen, wie geht es dir?"}`,
	} {
		for _, language := range []string{"", "fr"} {
			got, err := ParseRequest([]byte(r), language)
			_, late := ParseStream([]byte(r), language)
			fmt.Fprintf(&sheet, "%s or %q: %q %v; %v", r, language, got.Language, err, late)
			if err == nil {
				answer, err := got.Check(Checker{})
				fmt.Fprintf(&sheet, "; by %q: %s %v", answer.Expected, summary(answer.Judgement), err)
			}
			sheet.WriteByte('\n')
		}
	}
	for _, tag := range []string{"", "user", "und", "de", "de-AT", "zz", "x", "zh_TW", "nn", "bs", "sr-Latn", strings.Repeat("a", 100), strings.Repeat("a", 101)} {
		_, err := Checker{}.Check("Das ist ein Haus.", tag)
		s, streams := Checker{}.Stream(tag)
		fmt.Fprintf(&sheet, "%.30q: %.200v; %.200v; %.200v", tag, err, streams, Checker{}.CheckLanguage(tag))
		if streams == nil {
			fmt.Fprint(&sheet, "; ", s.Write("This is a house, and that is all there is to see here.\n"), s.Close().Verdict)
		}
		sheet.WriteByte('\n')
	}
	for _, text := range []string{"", "kerana", "kerana kerana", "basikal", "kerana basikal", "saya kerana anda", "ialah", "boleh ialah wang",
		"Saya tidak tahu kerana apa", "rumah", "sebab-sebab", "polis", "hospital polis"} {
		fmt.Fprintf(&sheet, "%q is Malay: %v\n", text, malayOrNot(text))
	}
	golden.Check(t, "testdata/asked.txt", sheet.String())
}

// TestMarks compares the marks that are open after each prefix of a line, and what a stream still looks at, with
// testdata/marks.txt.
func TestMarks(t *testing.T) {
	var sheet strings.Builder
	for _, line := range []string{`a "b c" d`, "a „b“ «c» d", "* item *b c* d", "a **b** *c d", "a `b` ``c d`` e", "(a (b) c) d)", "（日本）「語」『a』b", "\t* a* b",
		"日本語 の 文", "a)b (c"} {
		for _, before := range []string{"", "eins\n"} {
			all := before + line
			s := Stream{line: len(before)}
			fmt.Fprintf(&sheet, "%q:", all)
			for end := len(before) + 1; end <= len(all); end++ {
				if end < len(all) && !utf8.RuneStart(all[end]) {
					continue
				}
				m := s.marksUntil(all, end)
				fmt.Fprintf(&sheet, " %v%d", m.open(), m.words())
			}
			s.from = len(all) - len(all)/3
			for s.from < len(all) && !utf8.RuneStart(all[s.from]) {
				s.from++
			}
			fmt.Fprintf(&sheet, "; from %d: %v", s.from, s.marksUntil(all, len(all)))
			fmt.Fprintf(&sheet, " marked %d\n", s.marked)
		}
	}
	for _, x := range [][2]string{{"short lines", strings.Repeat("Das ist ein Haus.\n", 120)},
		{"one line", strings.Repeat("Das ist ein Haus. ", 260)}, {"no spaces", strings.Repeat("abc", 1200)},
		{"signs", strings.Repeat("ังั", 600) + "ก"}, {"Chinese", strings.Repeat("今天天气很好我们去公园", 120)},
		{"long lines", strings.Repeat(strings.Repeat("Haus ", 60)+"\n", 12)}} {
		s, err := Checker{}.Stream("de")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sheet, "%s:", x[0])
		for i := 0; i < len(x[1]); i += 97 {
			s.Write(x[1][i:min(len(x[1]), i+97)])
			fmt.Fprintf(&sheet, " %d %d", s.from, s.next)
			if s.torn {
				sheet.WriteByte('t')
			}
		}
		sheet.WriteByte('\n')
	}
	golden.Check(t, "testdata/marks.txt", sheet.String())
}

// An overlap is at least one byte. Each language with a model of words can be judged.
func TestOverlapping(t *testing.T) {
	spans := []Span{{Start: 2, End: 4}, {Start: 4, End: 7}, {Start: 9, End: 10}}
	for part, want := range map[[2]int]string{{0, 2}: "[]", {0, 3}: "[2]", {3, 4}: "[2]", {4, 5}: "[4]", {3, 5}: "[2 4]", {7, 9}: "[]", {6, 10}: "[4 9]",
		{10, 12}: "[]"} {
		starts := []int{}
		for _, s := range overlapping(spans, part[0], part[1]) {
			starts = append(starts, s.Start)
		}
		if got := fmt.Sprint(starts); got != want {
			t.Errorf("%v: %s, want %s", part, got, want)
		}
	}
	list := Languages()
	if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Errorf("%q", list)
	}
	for _, g := range words.Groups {
		for _, l := range g.Languages {
			if _, known := slices.BinarySearch(list, l); !known {
				t.Errorf("%s cannot be judged", l)
			}
		}
	}
}
