package guard

import (
	"archive/zip"
	"encoding/csv"
	"os"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/testing/shared"
	"crosstalk/measure/langid"
)

// user tells the language of messages with the embedded identifier.
func user(messages ...string) string { return Checker{}.UserLanguage(messages...) }

// said reads testdata/user/messages.txt: messages by language and kind.
func said(t *testing.T) map[string]map[string][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/user/messages.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string][]string{}
	for line := range strings.Lines(string(data)) {
		head, texts, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(line, "#") {
			continue
		}
		language, kind, two := strings.Cut(head, " ")
		if !ok || !two {
			t.Fatalf("expected LANGUAGE KIND: text | text, found %q", line)
		}
		if all[language] == nil {
			all[language] = map[string][]string{}
		}
		for text := range strings.SplitSeq(texts, " | ") {
			all[language][kind] = append(all[language][kind], strings.ReplaceAll(text, `\n`, "\n"))
		}
	}
	return all
}

// Answers in the user's language are hardly ever called wrong, and ordinary questions are judged. Every second message
// was not looked at while the rule was made.
func TestUserLanguageRates(t *testing.T) {
	type rate struct{ n, judged, wrong int }
	for half, seen := range []string{"seen", "unseen"} {
		rates := map[string]*rate{}
		for language, kinds := range said(t) {
			for kind, messages := range kinds {
				if kind == "answer" {
					continue
				}
				if rates[kind] == nil {
					rates[kind] = &rate{}
				}
				for i, m := range messages {
					if i%2 != half {
						continue
					}
					r := rates[kind]
					r.n++
					m, asked, _ := strings.Cut(m, " => ")
					response, err := Request{Text: kinds["answer"][0], Language: User, Prompt: m}.Check(Checker{})
					if err != nil {
						t.Fatal(err)
					}
					if response.Expected != "" {
						r.judged++
					}
					if kind == "request" {
						if tag := response.Expected; tag != "" && tag != asked {
							r.wrong++
							t.Logf("%s %q: expected %s", language, m, tag)
						}
					} else if response.Verdict == Wrong {
						r.wrong++
						t.Logf("%s %s %q: expected %s", language, kind, m, response.Expected)
					}
				}
			}
		}
		for kind, r := range rates {
			t.Logf("%s %s: %d, judged %d, right answers called wrong %d", seen, kind, r.n, r.judged, r.wrong)
		}
		short, question := rates["short"], rates["question"]
		if short.n < 250 || 100*short.wrong > 2*short.n {
			t.Errorf("%s short messages: %d of %d right answers are called wrong", seen, short.wrong, short.n)
		}
		if question.n < 140 || 100*question.judged < 97*question.n || 100*question.wrong > 3*question.n {
			t.Errorf("%s questions: %d of %d are judged, %d wrongly", seen, question.judged, question.n, question.wrong)
		}
		if r := rates["mixed"]; r.n < 15 || r.judged > 0 {
			t.Errorf("%s messages in two languages: %d of %d are judged", seen, r.judged, r.n)
		}
		if r := rates["request"]; r.n < 60 || 100*r.judged < 50*r.n || 100*r.wrong > 2*r.n {
			t.Errorf("%s requests: %d of %d are understood, %d wrongly", seen, r.judged, r.n, r.wrong)
		}
	}
}

// A system message that asks for a language decides, unless the user asks for another. What the user wrote is excused.
func TestConversation(t *testing.T) {
	system := func(rules string, messages ...string) []Message {
		all := []Message{{Role: "system", Content: Content(rules)}}
		for _, m := range messages {
			all = append(all, Message{Role: "user", Content: Content(m)})
		}
		return all
	}
	const question = "Wo kann ich meine Lieferadresse ändern?"
	for _, c := range []struct {
		want     string
		messages []Message
	}{
		{"de", system("You are a friendly assistant of a shop.", question)},
		{"en", system("You are a friendly assistant. Always answer in English.", question)},
		{"fr", system("Always answer in English.", "Réponds en français s'il te plaît, c'est pour ma mère")},
		{"", system("Answer in English or in Spanish.", question)},
		{"", system("The texts in Spanish are on the second page.", question)},
		{"it", system("Rispondi sempre in italiano.", "ok")},
	} {
		if got := (Request{Language: User, Messages: c.messages}).Tag(Checker{}); got != c.want {
			t.Errorf("%q: %q, want %q", c.messages, got, c.want)
		}
	}
	if got := (Request{Language: User}).Tag(Checker{}); got != "" {
		t.Errorf("no message of the user: %q", got)
	}
	if got := (Request{Language: User, Messages: system("Always answer in English.")}).Tag(Checker{}); got != "en" {
		t.Errorf("a system message alone: %q", got)
	}
	const answer = "Das Wort lautet auf Deutsch trotzdem, und because furthermore kommt auch vor."
	for prompt, want := range map[string]Verdict{
		"Bitte erkläre mir, wie man Because Furthermore richtig verwendet.": Right,
		"Bitte erkläre mir, wie man diese beiden Wörter verwendet.":         Wrong,
	} {
		r, err := Request{Text: answer, Language: User, Prompt: prompt}.Check(Checker{})
		if err != nil || r.Verdict != want || r.Expected != "de" {
			t.Errorf("%s: %+v, %v; want %s", prompt, r, err, want)
		}
	}
	r, err := Request{Text: answer, Language: "de", Prompt: "Because furthermore"}.Check(Checker{})
	if err != nil || r.Verdict != Wrong {
		t.Errorf("a given language: %+v, %v", r, err)
	}
}

func TestUserLanguage(t *testing.T) {
	const (
		german  = "Wann kommt meine Bestellung an?"
		english = "Where can I change my delivery address?"
	)
	oks := func(n int) []string { return slices.Repeat([]string{"ok"}, n) }
	pasted := strings.Repeat("Die Bestellung kommt morgen früh an. ", 200)
	for _, c := range []struct {
		want     string
		messages []string
	}{
		{"", nil},
		{"", []string{""}},
		// What the last message plainly asks for.
		{"fr", []string{"Please answer in French. What is the capital of Peru?"}},
		{"de", []string{"Translate to German: Good morning, everyone"}},
		{"en", []string{german, "auf Englisch bitte"}},
		{"", []string{"Translate to German: Good morning, everyone", "ok thanks"}},
		{"", []string{"How do you write that in Polish?"}},
		{"", []string{"Write it in Spanish and in Italian"}},
		{"", []string{"Write it in Spanish. Then reply in Italian."}},
		{"", []string{"My teacher writes poems. In Spanish they sound better."}},
		{"", []string{"Please answer in Yoruba."}},
		{"de", []string{german}},
		{"fr", []string{"À quelle heure ouvre le magasin ?"}},
		{"de", []string{"```go\nfor i := range n {}\n```\nWas ist das genau?"}},
		{"", []string{"```go\nWas ist das genau?\n```"}},
		{"de", []string{`"Wann kommt meine Bestellung an?"`}},
		{"zh-Hant", []string{"請問發票要怎麼開？"}},
		{"zh-Hans", []string{"我的订单什么时候发货？"}},
		{"zh", []string{"你今天早上几点到家？"}},

		// Ten letters tell a language; four of Korean count as twelve.
		{"de", []string{"Was ist dies?"}},
		{"", []string{"Was ist das?"}},
		{"sv", []string{"jag förstår"}},
		{"", []string{"jag förstå"}},
		{"no", []string{"Hva er klokka nå?"}},
		{"ko", []string{"괜찮아요"}},
		{"", []string{"아니요"}},
		{"", []string{"https://shop.example/bestellung/wann"}},

		// Words that two languages have tell neither, and two languages none.
		{"", []string{"cancelar pedido"}},
		{"", []string{"注文取消"}},
		{"", []string{"What does 감사합니다 mean?"}},
		{"", []string{german + " " + english}},
		{"en", []string{`What does "Schadenfreude" mean?`}},

		// The last message that tells a language decides, unless a later one is in another.
		{"en", []string{german, english}},
		{"de", []string{german, "ok"}},
		{"de", []string{german, "", "super"}},
		{"", []string{german, "네"}},
		{"", []string{german, "да"}},
		{"", []string{german, "What does 감사합니다 mean?"}},
		{"de", append([]string{german}, oks(19)...)},
		{"", append([]string{german}, oks(20)...)},

		// A request for another language holds on; one for the user's own changes nothing.
		{"fr", []string{"Please answer in French. " + english}},
		{"", []string{"Please answer in French.", english}},
		{"en", slices.Concat([]string{"Please answer in French."}, oks(19), []string{english})},
		{"", slices.Concat([]string{"Please answer in French."}, oks(18), []string{english})},
		{"", []string{german, "English"}},
		{"", []string{"注文した商品はいつ届きますか？", "これ英語ある？"}},
		{"ja", []string{"注文した商品はいつ届きますか？", "これ安い？"}},
		{"de", []string{"Antworte bitte auf Deutsch. " + german}},
		{"en", []string{"English please", english}},
		{"", []string{"请用繁体中文回答我的问题"}},
		{"", []string{"Translate: der Hund von nebenan"}},
		{"en", []string{"Which German president was born in Poland?"}},
		{"en", []string{"How can I polish my cover letter for this job?"}},
		{"pt", []string{"Como a capoeira mistura luta, dança e música?"}}, // Danca is Danish in Turkish
		{"fr", []string{"Où est la lettre que je vous ai envoyée ?"}},     // lett is Latvian in Hungarian
		{"", []string{"Dancaya çevirir misin?"}},

		// A brief message asks by naming a language.
		{"", []string{english, "Spanish omelette cake"}},
		{"en", []string{english, "Spanish omelette cakes"}},

		// Of a long message, both ends are read.
		{"", []string{english + "\n" + pasted}},
		{"", []string{english + "\n" + strings.Repeat(pasted, 4)}},
		{"fr", []string{strings.Repeat(english+"\n", 1000) + "Please answer in French."}},
		{"", []string{strings.Repeat(english+"\n", 200) + pasted + strings.Repeat(english+"\n", 190)}},
		{"en", []string{strings.Repeat(english+"\n", 210) + pasted + strings.Repeat(english+"\n", 210)}},
	} {
		if got := user(c.messages...); got != c.want {
			shown := strings.Join(c.messages, "|")
			t.Errorf("%.120q (%d messages): %q, want %q", shown, len(c.messages), got, c.want)
		}
	}
}

// guessing is an identifier that always has one guess.
type guessing struct{ langid.Guess }

func (guessing) Name() string                   { return "guessing" }
func (g guessing) Identify(string) langid.Guess { return g.Guess }
func (g guessing) with(p float32) Checker       { g.Probability = p; return Checker{Identifier: g} }

func TestUserLanguageIdentifier(t *testing.T) {
	german := guessing{langid.Guess{Language: "de"}}
	const text = "Wann kommt meine Bestellung an?"
	if got := german.with(0.5).UserLanguage(text); got != "de" {
		t.Errorf("probability 0.5: %q, want de", got)
	}
	if got := german.with(0.499).UserLanguage(text); got != "" {
		t.Errorf("probability 0.499: %q, want none", got)
	}
	danish := guessing{langid.Guess{Language: "da"}}
	for p, want := range map[float32]string{0.9: "da", 0.899: ""} {
		if got := danish.with(p).UserLanguage("Hvad er klokken?"); got != want {
			t.Errorf("a short message in a language with a short list, probability %g: %q, want %q", p, got, want)
		}
	}
	if got := danish.with(0.5).UserLanguage("Hvad er klokken nu?"); got != "da" {
		t.Errorf("a longer message, probability 0.5: %q, want da", got)
	}
	if got := danish.with(1).UserLanguage("Где мой большой заказ?"); got != "" {
		t.Errorf("a wrong guess without a model of words: %q, want none", got)
	}
	if got := german.with(1).UserLanguage("cancelar pedido"); got != "" {
		t.Errorf("a short message with a model of words: %q, want none", got)
	}
	if got := german.with(1).UserLanguage("Where is my order, please?"); got != "" {
		t.Errorf("a wrong guess: %q, want none", got)
	}
	strict := Checker{Threshold: 0.001}
	if got := strict.UserLanguage("Почему этот стиль называют кролем (freestyle)?"); got != "ru" {
		t.Errorf("with a gloss, strict: %q, want ru", got)
	}
	strange := guessing{langid.Guess{Language: "tlh"}} // Check has no such language
	if got := strange.with(1).UserLanguage("nuqneH, qaStaH nuq jay'"); got != "tlh" {
		t.Errorf("a language of the identifier alone: %q, want tlh", got)
	}
}

// Requests that name the language of the answer, in the languages that have a model of words and in others.
func TestAsksFor(t *testing.T) {
	for message, want := range map[string]string{
		"Could you write the letter in French?":              "fr",
		"Write it in  FRENCH, please":                        "fr",
		"Please use Dutch for the answer to this":            "nl",
		"Could you write it in Frenchtown, please?":          "",
		"Is the Spanish version as good as the Polish?":      "",
		"Schreib mir den Brief ins Französische um":          "fr",
		"Schreib mir den Brief bitte auf Suaheli":            "sw",
		"Peux-tu écrire la lettre en allemand, maintenant ?": "de",
		"Escribe la carta entera en ingles, por favor":       "en",
		"Scrivimi questa lettera in giapponese, per favore":  "ja",
		"Escreva esta carta inteira em alemao, por favor":    "de",
		"Bu mektubu bana İngilizce olarak yazar mısın":       "en",
		"Viết lá thư này bằng tiếng Anh giúp tôi nhé":        "en",
		"Напиши это письмо целиком по-английски, прошу":      "en",
		"Напиши мені цього листа цілком англійською мовою":   "en",
		"Напиши ми това писмо изцяло на английски език":      "en",
		"اكتب لي هذه الرسالة كلها بالانجليزي من فضلك":        "en",
		"این نامه را برای من کامل به انگلیسی بنویس":          "en",
		"یہ پورا خط میرے لیے انگریزی میں لکھ دیں":            "en",
		"この手紙を全部英語で書いていただけますか":                               "en",
		"请帮我把这封信全部用德文写出来好吗":                                  "de",
		"請幫我把這封信全部用德語寫出來好嗎":                                  "de",
		"이 편지를 처음부터 끝까지 영어로 써 주시겠어요":                         "en",
		"यह पूरा पत्र मेरे लिए अंग्रेजी में लिख दीजिए":       "en",
		"Napisz mi ten list w całości po angielsku":          "en",
		"Kan du skriva hela det här brevet på engelska?":     "en",
		"Schrijf deze brief voor mij in het Duits op":        "de",
		"Tulis surat ini semuanya dalam bahasa Inggris ya":   "en",
	} {
		said := Checker{}.languageOf(message)
		if got := strings.Join(asksFor(message, said, false), " "); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}

// Published prompts, at which nobody looked while the rule was made: those in one language are told, and most that ask
// for an answer in another are understood.
func TestUserLanguageOfBenchmark(t *testing.T) {
	if testing.Short() {
		t.Skip("checks figures")
	}
	archive, err := zip.OpenReader(shared.File(t, "lcb/test_sets.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	told, wrong, all := map[string]int{}, map[string]int{}, map[string]int{}
	for _, f := range archive.File {
		if !strings.HasSuffix(f.Name, ".csv") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(r).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		task := strings.Split(f.Name, "/")[1]
		language := slices.Index(rows[0], "language")
		for _, row := range rows[1:] {
			all[task]++
			if tag := user(row[0]); tag != "" {
				told[task]++
				if !strings.HasPrefix(tag, row[language]) {
					wrong[task]++
				}
			}
		}
	}
	t.Logf("told %v, wrongly %v, of %v", told, wrong, all)
	const mono, cross = "monolingual", "crosslingual"
	if all[mono] != 2400 || 100*told[mono] < 98*all[mono] || 1000*wrong[mono] > 5*all[mono] {
		t.Errorf("of %d prompts in one language, %d are told, %d wrongly", all[mono], told[mono], wrong[mono])
	}
	if all[cross] != 4186 || 100*told[cross] < 70*all[cross] || 100*wrong[cross] > all[cross] {
		t.Errorf("of %d prompts that ask for another language, %d are understood, %d wrongly", all[cross], told[cross], wrong[cross])
	}
}
