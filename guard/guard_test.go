package guard

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"crosstalk/measure/prose"
)

// spans lists what Check finds as "language kind[text]", and what is excused as "{excuse}[text]".
func spans(t *testing.T, text, tag string) (Judgement, string) {
	t.Helper()
	j, err := Check(text, tag)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range j.Spans {
		if s.Excuse != "" {
			all = append(all, fmt.Sprintf("{%s}[%s]", s.Excuse, text[s.Start:s.End]))
			continue
		}
		all = append(all, fmt.Sprintf("%s %s[%s]", s.Language, s.Kind, text[s.Start:s.End]))
	}
	return j, strings.Join(all, " ")
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		tag, text string
		verdict   Verdict
		want      string
	}{
		// Whole texts and lines.
		{"de", "Ihre Bestellung ist unterwegs und kommt morgen an.", Right, ""},
		{"it", "Your order is on its way and arrives tomorrow.", Wrong, "en line[Your order is on its way and arrives tomorrow.]"},
		{"es", "O seu pedido já foi enviado e chega amanhã de manhã.", Wrong, "pt line[O seu pedido já foi enviado e chega amanhã de manhã.]"},
		{"de", "Uw bestelling is onderweg en komt morgen bij u aan.", Wrong, "nl line[Uw bestelling is onderweg en komt morgen bij u aan.]"},
		{"nl", "Uw bestelling is onderweg en komt morgen bij u aan.", Right, ""},
		{"nb-NO", "Bestillingen din er på vei og kommer i morgen.", Right, ""},
		{"nl", "Your order is on its way and arrives tomorrow.", Wrong, "en line[Your order is on its way and arrives tomorrow.]"},
		{"fr", "Voici la liste :\n\n- Du pain frais\n- A pound of butter\n- Des œufs", Wrong, "en line[A pound of butter]"},
		{"hi", "नमस्ते, आप कैसे हैं?", Right, ""},
		// Short ones.
		{"fr", "Merci beaucoup !", Right, ""},
		{"ru", "Sure.", Wrong, "en line[Sure.]"},
		{"ru", " \nSure.\n", Wrong, "en line[Sure.]"},
		{"vi", "Hotel.", CannotTell, ""},
		{"tr", "Thank you!", Wrong, "en line[Thank you!]"},
		{"de", "Hotel", CannotTell, ""},
		{"de", "", CannotTell, ""},
		{"de", "https://example.com 12 kg 🎉", CannotTell, ""},
		{"ru", "```\nprint(\"hello world\")\n```", CannotTell, ""},
		// Words.
		{"fr", "Le rapport est presque fini, however il manque les chiffres.", Wrong, "en word[however]"},
		{"ja", "この資料は already 送りました。", Wrong, "en word[already]"},
		{"de", "Der Techniker kommt завтра um acht.", Wrong, "ru word[завтра]"},
		{"tr", "Bu konu bizim için gerçekten wichtig bir konu.", Wrong, "de word[wichtig]"},
		{"ru", "Мы купили свежие verduras на рынке.", Wrong, "es word[verduras]"},
		{"ko", "제주도는 비가 자주 와서 it's a good idea to pack a jacket 챙기세요.", Wrong, "en word[it's a good idea to pack a jacket]"},
		{"ar", "الطقس يتغير كثيرا it's a good idea to pack a jacket معك.", Wrong, "en word[it's a good idea to pack a jacket]"},
		// Excused.
		{"ru", "Нажмите «Check for updates» и подождите немного.", Right, "{quote}[Check for updates]"},
		{"hi", "मेनू में **Reset password** चुनें और आगे बढ़ें।", Right, "{quote}[Reset password]"},
		{"ar", "يعمل هذا التطبيق على أجهزة Samsung Galaxy بدون مشاكل.", Right, ""},
		{"id", "Silakan login dulu, lalu cek menu promo dan pilih fitur chat.", Right, ""},
		{"en", "The author's name is 村上春樹 in Japanese, as you know.", Right, "{mention}[村上春樹]"},
		{"ru", "Этот стиль называют кролем (freestyle), он самый быстрый.", Right, "{gloss}[freestyle]"},
		{"en", "The sign says, line by line:\n\n- 禁止吸烟: No smoking\n- 出口: The way out", Right, "{gloss}[禁止吸烟] {gloss}[出口]"},
		{"it", "«Your order is on its way and arrives tomorrow.»", Wrong, "en line[Your order is on its way and arrives tomorrow.]"},
		{"de", "Auf dem Schild steht:\n\nNo trespassing beyond this point\n\nMan darf also nicht weitergehen.", Right, "{quote}[No trespassing beyond this point]"},
		{"de", "Gehen Sie zu Settings > Privacy and security und schalten Sie das aus.", Right, "{name}[Privacy and security]"},
		{"ko", "화면에 Permission denied가 뜨면 다시 시도하세요.", Right, "{name}[Permission denied]"},
		{"pt", "O pedido de habeas corpus foi negado por falta de fumus boni iuris.", Right, "{loan}[fumus boni iuris]"},
		{"tr", "Filmler:\n\n- Lord of the Rings\n- Casa Batlló\n- Brexit", Right, "{name}[Lord of the Rings] {name}[Casa Batlló] {name}[Brexit]"},
		{"es", "Le adjunto el presupuesto.\n\nJavier Ortega\nSenior Sales Manager\nNorthbridge Consulting Ltd.", Right,
			"{name}[Senior Sales Manager] {name}[Northbridge Consulting Ltd.]"},
		{"ru", "Тимлид смотрит pull request, deploy и merge по пятницам.", Right, "{loan}[pull request, deploy] {loan}[merge]"},
		// Languages that only the identifier supports.
		{"hi", "माफ करा, सध्या ही सेवा उपलब्ध नाही.", Wrong, "mr line[करा, सध्या ही सेवा उपलब्ध नाही.]"},
		{"id", "Maaf, perkhidmatan ini tidak tersedia buat masa sekarang.", Wrong, "ms line[Maaf, perkhidmatan ini tidak tersedia buat masa sekarang.]"},
		{"id", "Kami menyarankan Lord of the Rings untuk permulaan yang baik.", Right, "{name}[Lord of the Rings]"},
		// A few words suffice where the identifier is sure, and names do not make it sure.
		{"de", "De winkel is op zondag gesloten.", Wrong, "nl line[De winkel is op zondag gesloten.]"},
		{"tr", "Zəhmət olmasa bizimlə əlaqə saxlayın.", Wrong, "az line[Zəhmət olmasa bizimlə əlaqə saxlayın.]"},
		{"hi", "तुमची ऑर्डर उद्या पोहोचेल.", Wrong, "mr line[तुमची ऑर्डर उद्या पोहोचेल.]"},
		{"hi", "नेल्सन मंडेला ने कहा।", Right, ""},
		{"id", "Isteri saya sedang menunggu di rumah, katanya isteri itu baik.", Wrong, "ms line[Isteri saya sedang menunggu di rumah, katanya isteri itu baik.]"},
		{"id", "Sila kelima Pancasila dibahas di halaman ini.", Right, ""},
		{"id", "Produksi kilang minyak itu naik tahun lalu.", Right, ""},
		// Not excused: function words, also where they are rare.
		{"es", "La piscina abre a las diez, although los domingos cierra antes.", Wrong, "en word[although]"},
		{"ko", "이 약은 하루에 두 번 before 식사하고 드세요.", Wrong, "en word[before]"},
		{"ja", "請稍候片刻。", Wrong, "zh-Hant word[請稍候片刻。]"},
		// Not excused: a line after a colon, and labels with what they are about.
		{"de", "Hier ist die Antwort:\n\nYour order is on its way and arrives tomorrow.\n\nBitte melden Sie sich bei Fragen.", Wrong,
			"en line[Your order is on its way and arrives tomorrow.]"},
		{"de", "Hier sind die Angaben:\n\n- Antwort: Your order is on its way and arrives tomorrow.\n- Hinweis: You can still change the address until then.", Wrong,
			"en line[Your order is on its way and arrives tomorrow.] en line[You can still change the address until then.]"},
		{"es", "Sure! Here you go.", Wrong, "en line[Sure! Here you go.]"},
		{"it", "Il telefono è carico. Cependant, lo schermo resta spento.", Wrong, "fr word[Cependant]"},
		// A capital at the start of a sentence makes no name of a word that one language alone has.
		{"de", "Furthermore, der Akku hält zwei Tage.", Wrong, "en word[Furthermore]"},
		{"pt", "Ayrıca, a bateria dura dois dias.", Wrong, "tr word[Ayrıca]"},
		{"ko", "Toutefois, 배터리는 이틀 동안 지속됩니다.", Wrong, "fr word[Toutefois]"},
		{"ru", "Allerdings аккумулятора хватает на два дня.", Wrong, "de word[Allerdings]"},
		{"ru", "Bosch выпускает аккумуляторы на два дня.", Right, ""},
		{"de", "Gianluca, der Akku hält zwei Tage.", Right, ""},
		{"fr", "Voici l'adresse à recopier :\n\n山田 花子 様\n京都市中京区1-2\n\nÉcrivez le nom du pays en français.", Right,
			"{quote}[山田 花子 様] {quote}[京都市中京区1-2]"},
		{"id", "Isi nombor dan tarikh pada halaman ini sekarang.", Wrong, "ms line[Isi nombor dan tarikh pada halaman ini sekarang.]"},
		// The scripts of Chinese.
		{"zh-TW", "请将商品连同发票一起寄回。", Wrong, "zh-Hans line[请将商品连同发票一起寄回。]"},
		{"zh-Hans", "請將商品連同發票一起寄回。", Wrong, "zh-Hant line[請將商品連同發票一起寄回。]"},
		{"zh-TW", "请将商品 please 连同发票一起寄回。", Wrong, "zh-Hans line[请将商品 please 连同发票一起寄回。]"},
		{"zh-CN", "请将商品连同发票一起寄回。", Right, ""},
		{"zh", "請將商品連同發票一起寄回。", Right, ""},
		// Characters of traditional text that simplified text has as well, for another one or for none.
		{"zh-TW", "用乾布擦拭鏡面後，請將器材置於陰涼處，以免著色。", Right, ""},
		{"zh-Hant", "想更瞭解本活動的規則，請參閱附件，或於下班前來電。", Right, ""},
		{"zh-HK", "我們藉此徵求各位的意見，並於下月公佈結果。", Right, ""},
		{"zh", "這本著作收錄於第三冊，由圖書館徵集而來。", Right, ""},
		{"en", "The notice says 將於明天公佈 and nothing else.", Wrong, "zh-Hant word[將於明天公佈]"},
		// Words in the other script, and Cantonese.
		{"zh-TW", "我們昨天在店裡购买设备之後就回家了。", Wrong, "zh-Hans word[购买设备之]"},
		{"zh-CN", "我们昨天在这个城市里的商店里購買設備之后就马上回家了，这样没问题。", Wrong, "zh-Hant word[店里購買設備之后]"},
		{"zh-TW", "他說「购买设备」之後就回家了，大家都很高興。", Right, ""},
		{"zh-TW", "我們昨天在店裡购東西之後就回家了。", Right, "{doubt}[购]"},
		{"zh-HK", "佢哋琴日去咗邊度食飯，我都唔知喎。", CannotTell, ""},
		{"zh-HK", "他們昨天去了哪裡吃飯，我也不知道。", Right, ""},
		{"en", "佢哋琴日去咗邊度食飯，我都唔知喎。", Wrong, "zh-Hant line[佢哋琴日去咗邊度食飯，我都唔知喎。]"},
		{"zh-TW", "請將商品寄回，ありがとうございます。", Wrong, "ja word[ありがとうございます]"},
		// Serbian in both scripts, which are one language with Croatian to the identifier if they are Latin.
		{"sr", "Vaša porudžbina je poslata juče i stiže sutra pre podne.", Right, ""},
		{"sr", "Ваша поруџбина је послата јуче и стиже сутра пре подне.", Right, ""},
		{"sr-RS", "Račun možete da preuzmete u prodavnici.\n\nРачун можете да преузмете у продавници, сваког радног дана до осам.", Right, ""},
		{"sr-ME", "Račun možete da preuzmete u prodavnici, svakog radnog dana do osam.\n\nРачун можете да преузмете.", Right, ""},
		{"sr-Latn", "Račun možete da preuzmete u prodavnici.", Right, ""},
		{"sr-Latn", "Рачун можете да преузмете у продавници.", Wrong, "sr-Cyrl line[Рачун можете да преузмете у продавници.]"},
		{"sr-Cyrl", "Račun možete da preuzmete u prodavnici.", Wrong, "sr-Latn line[Račun možete da preuzmete u prodavnici.]"},
		{"sr-Cyrl", "Рачун можете да преузмете у продавници.", Right, ""},
		{"sr-Latn", "Račun možete da preuzmete u prodavnici.\n\nPlease bring your passport and the receipt.", Wrong, "en line[Please bring your passport and the receipt.]"},
		{"sr", "Die Rechnung erhalten Sie morgen im Geschäft.", Wrong, "de line[Die Rechnung erhalten Sie morgen im Geschäft.]"},
		{"sr", "Рачун можете да преузмете in the store у продавници.", Wrong, "en word[in the store]"},
		{"sr-Latn", "Hvala!", Right, ""},
		{"hr", "Račun možete da preuzmete u prodavnici.", Right, ""},
		{"hr", "Рачун можете да преузмете у продавници.", Wrong, "sr line[Рачун можете да преузмете у продавници.]"},
		{"ja", "请将商品连同发票一起寄回。", Wrong, "zh-Hans line[请将商品连同发票一起寄回。]"},
		{"zh-TW", "您的訂位已經確認。请提前三天通知我们。期待您的光臨，請準時到場，當天請攜帶證件。", Wrong, "zh-Hans word[请提前三天通知我们。]"},
		{"zh-CN", "您的預訂，请提前三天通知我们。", Wrong, "zh-Hant word[您的預訂]"},
		{"ja", "ログインできません。请等待三十分钟后再试。それでも入れない場合はご連絡ください。", Wrong, "zh-Hans word[请等待三十分钟后再试。]"},
		{"ja", "お客様の您的订单は確認されました。", Wrong, "zh-Hans word[您的订单]"},
		// English sentences in Latin script, without a model of the expected language's words.
		{"pl", "Wniosek o kartę został zatwierdzony. You can pick it up at any branch. Proszę zabrać dowód.", Wrong, "en word[You can pick it up at any branch]"},
		{"nl", "De monteur komt woensdag. Please keep this message for your records. Tot dan.", Wrong, "en word[Please keep this message for your records]"},
		{"pl", "Kampania startuje w poniedziałek. Po tygodniu sprawdzimy konwersje i poprawimy landing page.", Right, "{loan}[landing page]"},
		{"nl", "Klik op de link in de mail. De browser start opnieuw en de update is klaar.", Right, ""},
		{"nl", "De actie loopt tot zondag. Smart living! Bestel vandaag nog op tijd.", Right, ""},
		// Dishes, joined terms, and terms beside code.
		{"ru", "В Трастевере попробуйте cacio e pepe и carciofi alla romana, они очень вкусные и стоят недорого, а вечером обязательно погуляйте по набережной и посмотрите на старый мост.", Right,
			"{name}[cacio e pepe] {name}[carciofi alla romana]"},
		{"ru", "В Трастевере попробуйте carciofi alla romana, они очень вкусные, а вечером обязательно погуляйте по набережной.", Wrong,
			"it word[carciofi alla romana]"},
		{"it", "Il testo deve essere breve, con una call to action chiara.", Right, "{loan}[call to action]"},
		{"fr", "Ajoutez un tote bag et vous aurez un look casual chic. Retours gratuits en click and collect.", Right,
			"{loan}[tote bag] {loan}[look casual] {loan}[click and collect]"},
		{"en", "## Rückgabe und Erstattung\n\nSend the item back within thirty days and we refund it.", Wrong, "de line[Rückgabe und Erstattung]"},
		{"de", "Ohne das Wort meldet die Konsole SyntaxError: await is only valid in async functions. Danach endet das Programm.", Right, ""},
		{"tr", "Kayıt olmak için proof of address belgesini yükleyin.", Wrong, "en word[proof of address]"},
		{"ko", "짝수만 고르려면 list comprehension을 쓰세요.\n\n```\n[n for n in a]\n```", Right, "{loan}[list comprehension]"},
		{"ko", "짝수만 고르려면 list comprehension을 쓰세요.", Wrong, "en word[list comprehension]"},
		// Of a line in two scripts, the identifier would name a third language.
		{"ar", "تم شحن طلبك اليوم. Ihre Bestellung wurde verschickt und kommt morgen an.", Wrong, "de word[Ihre Bestellung wurde verschickt und kommt morgen an]"},
		{"ar", "تم شحن طلبك اليوم. Спасибо за покупку и до скорой встречи.", Wrong, "ru word[Спасибо за покупку и до скорой встречи]"},
		// Thoughts of a model.
		{"fr", "<think>\nThe user wants to know when the order arrives.\n</think>\n\nVotre commande arrive demain.", Right, ""},
		{"fr", "<think>The user asks about an order.</think>Your order arrives tomorrow.", Wrong, "en line[Your order arrives tomorrow.]"},
		{"fr", "The user wants to know when the order arrives.\n</think>\n\nVotre commande arrive demain.", Right, ""},
		{"fr", "<think>\nThe user wants to know", CannotTell, ""},
		// HTML on one line.
		{"fr", "<p>Votre commande a été expédiée hier et arrive demain.</p>", Right, ""},
		{"fr", "<p>Bonjour,</p><p>Your order has been shipped and arrives tomorrow.</p>", Wrong, "en line[Your order has been shipped and arrives tomorrow.]"},
		{"fr", "Your order has been shipped and arrives tomorrow.<br>", Wrong, "en line[Your order has been shipped and arrives tomorrow.]"},
		// One English word alone, of those that English alone has.
		{"de", "Das Zimmer ist ruhig und sehr comfortable eingerichtet, mit Blick auf den Garten.", Wrong, "en word[comfortable]"},
		{"tr", "Uygulama üzerinden harcamalarınızı easily manage edebilirsiniz.", Wrong, "en word[easily manage]"},
		{"ar", "الفرق بين make وdo في الإنجليزية: الفعل do يعني يفعل.", Right, "{mention}[make] {mention}[do] {mention}[do]"},
		// Function words that another language alone has.
		{"ru", "Оплата прошла, защото банк подтвердил перевод сегодня утром.", Wrong, "bg word[защото]"},
		{"ar", "المتجر مغلق يوم الجمعة ولی الطلبات عبر الموقع متاحة.", Wrong, "fa word[ولی]"},
		// Cells, and a name's beginning as a value.
		{"de", "| Tag | Übung |\n|---|---|\n| Mo | Kniebeugen |\n| Mi | Rudern |", Right, "{name}[Mi]"},
		{"ar", "| اللون | السعر |\n|---|---|\n| Graphite | 40 ريال |", Right, "{name}[Graphite]"},
		{"fr", "Nom : Van den Berghe", Right, "{name}[Van den]"},
		{"zh-CN", "入住须知：\n\n- Quiet hours start at 11 p.m.\n- 退房时间为中午十二点", Wrong, "en line[Quiet hours start at 11 p.m.]"},
		// Regions are not judged.
		{"pt-BR", "Telefone-nos já e bloqueamos o cartão no telemóvel.", Right, ""},
	} {
		j, got := spans(t, c.text, c.tag)
		if j.Verdict != c.verdict || got != c.want {
			t.Errorf("%s: %q\n got %s %s\nwant %s %s", c.tag, c.text, j.Verdict, got, c.verdict, c.want)
		}
		if j.P < 0.5 || j.P > 1 || j.Verdict == CannotTell && j.P != 0.5 {
			t.Errorf("%s: %q: p %v", c.tag, c.text, j.P)
		}
	}
}

// What a judgement says it judged is true of the text, and the manual's table says it of each language.
func TestJudged(t *testing.T) {
	for _, c := range []struct {
		tag, text, language string
		want                Level
	}{
		{"de", "Danke.", "de", ByWords},
		{"zh-TW", "請稍候片刻。", "zh-Hant", ByWords},
		{"ko", "네, 알겠습니다.", "ko", ByScript},
		{"hi", "ठीक है।", "hi", ByWords},
		{"nl", "Uw bestelling komt morgen aan.", "nl", ByWords},
		{"nl", "Пока.", "ru", ByWords},
		{"sr", "Račun možete da preuzmete u prodavnici.", "sr-Latn", ByWords},
		{"sr", "Рачун можете да преузмете у продавници.", "sr", ByWords},
		{"nl", "12 kg", "", ""},
		{"de", "`ls`", "", ""},
	} {
		if j, _ := spans(t, c.text, c.tag); j.Judged != c.want || j.Language != c.language {
			t.Errorf("%s %q: judged %q, language %q; want %q, %q", c.tag, c.text, j.Judged, j.Language, c.want, c.language)
		}
	}
	page, err := os.ReadFile("../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	by := map[Level][]string{}
	for _, l := range Languages() {
		level := (&check{want: expected{base: l}, asked: true}).level()
		by[level] = append(by[level], l)
	}
	by[ByLines] = append(by[ByLines], "languages that only a model of `--lid` knows")
	for _, level := range []Level{ByWords, ByScript, ByLines} {
		row := regexp.MustCompile("(?m)^\\| `" + string(level) + "` \\|.*\\| (.*) \\|$").FindSubmatch(page)
		if want := strings.Join(by[level], " "); row == nil || string(row[1]) != want {
			t.Errorf("docs/check.md, %s: %s\nwant %s", level, row, want)
		}
	}
}

func TestBadTags(t *testing.T) {
	for tag, want := range map[string]string{
		"":    `unknown language ""`,
		"??":  `unknown language "??"`,
		"und": `unknown language "und"`,
		"tlh": `language "tlh" cannot be judged; expected one of: `,
	} {
		if _, err := Check("text", tag); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", tag, err, want)
		}
	}
	for _, tag := range []string{"pt_BR", "zh-hant-HK", "EN", "nb-NO", "fil"} {
		if _, err := Check("text", tag); err != nil {
			t.Errorf("%q: %v", tag, err)
		}
	}
}

func TestRequest(t *testing.T) {
	for data, want := range map[string]string{
		`{"text":"a","language":"de"}`:   "",
		`{"text":"","language":"de"}`:    "",
		`{"language":"de"}`:              `expected a field "text"`,
		`{"text":"a"}`:                   `expected a field "language"`,
		`{"text":"a","language":"user"}`: `"language" is "user": expected a "prompt"`,
		`{"text":"a","language":"user","messages":[{"role":"assistant","content":"x"}]}`: `"language" is "user"`,
		`{"text":1,"language":"de"}`: `expected a JSON object such as {"text":"...","language":"ko"}: the field "text" is of the type number`,
		`[]`:                         `expected a JSON object such as {"text":"...","language":"ko"}: found a JSON array`,
		`{"text":"a","language":"user","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`: "",
		`{"text":"a","language":"user","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`:       `"language" is "user"`,
		`{"text":"a","language":"user","messages":[{"role":"user","content":5}]}`:                            `the field "content" is of the type number`,
	} {
		_, err := ParseRequest([]byte(data), "")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", data, err, want)
		}
	}
	r, err := ParseRequest([]byte(`{"id":7,"text":"Das ist ein kurzer Satz.","language":"user","prompt":"12345"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	response, err := r.Check(Checker{})
	if err != nil || response.Verdict != CannotTell {
		t.Errorf("an unknown language of the user: %+v, %v", response, err)
	}
	if data, _ := json.Marshal(response); !strings.Contains(string(data), `"id":7,"verdict":"cannot_tell"`) || !strings.Contains(string(data), `"spans":[]`) {
		t.Errorf("%s", data)
	}
}

// mixtures are texts in which marks and thoughts are where they do not belong.
var mixtures = []string{"ីភាសាខ្មែរ", "ីភាសា\nីភាសាខ្មែរ និង English ីភាសា", "ְשלום بالعربية ՀայերենִQ ךְ", "َمرحبا ِשָ Բարեւ, ๅไทย", "- ំខ្មែរ\n- ាweb\n\n> ី“ភាសា”",
	"```\n<think>It is</think>\n``` fine", "> <think>a</think> b", "`<think>` Das ist </think> gut `x`", "<think>`a</think>` b", "|<think>|a|\n|</think>|b|",
	"**ឬ <thought>ី</thought>** q", "{\"a\": \"<think>It is</think>\"}", "你好您的订单ます。請稍候 the order 很快 <think>", "请将商品。Please hold ֿthe line，請將商品連同"}

// disjoint fails the test unless the spans and the masked parts are in order, do not overlap, lie in the text and cut
// no
// character, and p is one.
func disjoint(t *testing.T, text string, j Judgement) {
	t.Helper()
	at := 0
	for _, s := range j.Spans {
		if s.Start < at || s.End <= s.Start || s.End > len(text) || s.P < 0 || s.P > 1 || cuts(text, s.Start) ||
			cuts(text, s.End) {
			t.Fatalf("%q: span %+v of %+v", text, s, j)
		}
		at = s.End
	}
	at = 0
	for _, m := range j.Masked {
		if m.Start < at || m.End <= m.Start || m.End > len(text) || cuts(text, m.Start) || cuts(text, m.End) {
			t.Fatalf("%q: mask %+v of %+v", text, m, j)
		}
		at = m.End
	}
	if slices.ContainsFunc(j.Spans, func(s Span) bool { return s.Excuse == "" }) != (j.Verdict == Wrong) || j.P < 0 ||
		j.P > 1 ||
		(j.Judged == "") != (j.Units == 0 && len(j.Spans) == 0) {
		t.Fatalf("%q: %+v", text, j)
	}
	j.Marked(text)
}

// cuts reports whether a byte is inside a character.
func cuts(text string, at int) bool {
	return utf8.ValidString(text) && at < len(text) && !utf8.RuneStart(text[at])
}

func TestDisjoint(t *testing.T) {
	for _, c := range []struct{ tag, text, want string }{
		{"en", "ីភាសាខ្មែរ", "km line[ីភាសាខ្មែរ]"},
		{"en", "The menu is here.\nីភាសាខ្មែរ\nThank you very much for waiting.", "km line[ីភាសាខ្មែរ]"},
		{"km", "ីភាសាខ្មែរ", ""},
		{"nl", "De winkel in de stad is vandaag open tot zes uur. You can открыть the door at nine. Wij zien u graag terug.", "en word[You can] ru word[открыть] en word[the door at nine]"},
	} {
		j, got := spans(t, c.text, c.tag)
		if disjoint(t, c.text, j); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.tag, c.text, got, c.want)
		}
	}
	w, l := Span{2, 8, "en", Word, 0.9, 0.6, ""}, Span{4, 9, "fr", Line, 0.8, 0.7, ""}
	excused := func(s Span, start, end int) Span { return Span{start, end, s.Language, s.Kind, s.P, s.Risk, Name} }
	for _, c := range []struct{ spans, excused, want, excuses []Span }{
		{[]Span{w, {8, 9, "en", Word, 0.7, 0.6, ""}}, nil, []Span{w, {8, 9, "en", Word, 0.7, 0.6, ""}}, nil},
		{[]Span{l, w}, nil, []Span{{2, 9, "fr", Line, 0.9, 0.7, ""}}, nil},
		{[]Span{w}, []Span{excused(l, 4, 9)}, nil, []Span{{2, 9, "fr", Line, 0.9, 0.7, Name}}},
		{[]Span{w}, []Span{excused(l, 1, 5)}, nil, []Span{{1, 8, "fr", Line, 0.9, 0.7, Name}}},
		{[]Span{l}, []Span{excused(w, 1, 5)}, []Span{{1, 9, "fr", Line, 0.9, 0.7, ""}}, nil},
		{[]Span{w}, []Span{excused(w, 1, 3), excused(w, 7, 12), excused(w, 12, 13)}, []Span{{1, 12, "en", Word, 0.9, 0.6, ""}},
			[]Span{excused(w, 12, 13)}},
		{[]Span{{2, 20, "de", Word, 0.85, 0.6, ""}, w, {10, 12, "es", Word, 0.8, 0.6, ""}}, nil,
			[]Span{{2, 20, "de", Word, 0.9, 0.6, ""}}, nil},
	} {
		got := check{spans: slices.Clone(c.spans), excused: slices.Clone(c.excused)}
		if got.disjoint(); !slices.Equal(got.spans, c.want) || !slices.Equal(got.excused, c.excuses) {
			t.Errorf("%v, %v: %v, %v; want %v, %v", c.spans, c.excused, got.spans, got.excused, c.want, c.excuses)
		}
	}
	for text, want := range map[string][]prose.Span{
		"```\n<think>It is</think>\nx\n```\nDas ist gut.":           {{Start: 0, End: 30, Kind: prose.Code}},
		"<think>It is\n```\nx</think> Das ist gut, `ls`":            {{Start: 0, End: 26, Kind: Thought}, {Start: 40, End: 44, Kind: prose.Code}},
		"> Das <think>It is</think> ist ein gutes Wort.\n\nDas ist": {{Start: 0, End: 2, Kind: prose.Markup}, {Start: 2, End: 46, Kind: prose.Quote}},
	} {
		if j, _ := spans(t, text, "de"); !slices.Equal(j.Masked, want) {
			t.Errorf("%q: %v, want %v", text, j.Masked, want)
		}
	}
	for _, text := range mixtures {
		for _, tag := range []string{"en", "de", "km", "he", "ja", "zh-TW", "sr", "nl"} {
			for _, k := range []Checker{{}, {Threshold: 0.001}} {
				j, err := k.Check(text, tag)
				if err != nil {
					t.Fatal(err)
				}
				disjoint(t, text, j)
			}
		}
	}
	overlapping := Judgement{Spans: []Span{{Start: 0, End: 6, Language: "km"}, {Start: 3, End: 6, Language: "km"},
		{Start: 6, End: 7, Language: "fr"}}}
	if got := overlapping.Marked("abcdefgh"); got != "[km: abcdef][fr: g]h\n" {
		t.Errorf("%q", got)
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range mixtures {
		f.Add(s, "en")
		f.Add(s, "sr")
	}
	for _, s := range []string{"Das ist (in English: this) **bold** \"q\"", "| a | b |\n- c: d\n- e: f", "村上 zh \xff", "<p>Hallo,</p><p>it is fine.</p>", "It is fine.<br>", "<think>It is</think> fine.", "It is\n</think>\nfine <think>\nx"} {
		f.Add(s, "de")
		f.Add(s, "zh-TW")
	}
	f.Fuzz(func(t *testing.T, text, tag string) {
		j, err := Check(text, tag)
		if err != nil {
			return
		}
		disjoint(t, text, j)
		j, _ = Checker{Threshold: 0.001}.Check(text, tag)
		disjoint(t, text, j)
	})
}

// An answer of about 500 tokens.
func BenchmarkCheck(b *testing.B) {
	text := strings.Repeat("Ihre Bestellung ist unterwegs und kommt morgen an. Bitte halten Sie Ihren Ausweis bereit, however, falls niemand da ist.\n\n", 16)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Check(text, "de"); err != nil {
			b.Fatal(err)
		}
	}
}
