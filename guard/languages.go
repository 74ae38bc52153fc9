package guard

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/langid/words"
)

// Languages returns the languages that can be judged, as ISO 639 codes. For those without a model of words, lines are
// judged, and words by their script alone.
func Languages() []string { return slices.Clone(languages()) }

var languages = sync.OnceValue(func() []string {
	all := embedded.Identifier().Labels()
	for _, g := range words.Groups {
		all = append(all, g.Languages...)
	}
	slices.Sort(all)
	return slices.Compact(all)
})

// label returns the code of a language that can be judged, or of the same language: "no" for "nb".
func (k Checker) label(code string) (label string, ok bool) {
	if label, ok = langid.LabelOf(code, languages()); ok {
		return label, true
	}
	if more, has := k.Identifier.(interface{ Labels() []string }); has {
		return langid.LabelOf(code, more.Labels())
	}
	return "", false
}

// named lists how a language names others: code and beginnings of words, in lower case.
var named = map[string]string{
	"ar": "ar عربي de ألماني en نجليزي es سباني fr فرنسي hi هندي id ندونيسي it يطالي ja ياباني ko كوري pt برتغالي ru روسي tr تركي vi فيتنامي zh صيني",
	"de": "ar arabisch de deutsch en englisch es spanisch fr französisch hi hindi id indonesisch it italienisch ja japanisch ko koreanisch pt portugiesisch ru russisch tr türkisch vi vietnamesisch zh chinesisch uk ukrainisch",
	"en": "ar arabic de german en english es spanish fr french hi hindi id indonesian it italian ja japanese ko korean pt portuguese ru russian tr turkish vi vietnamese zh chinese uk ukrainian",
	"es": "ar árabe de alem en inglés es español fr francés hi hindi id indonesi it italian ja japon ko corean pt portug ru rus tr turc vi vietnam zh chin uk ucrani",
	"fr": "ar arabe de allemand en anglais es espagnol fr français hi hindi id indonésien it italien ja japonais ko coréen pt portugais ru russe tr turc vi vietnamien zh chinois uk ukrainien",
	"hi": "ar अरबी de जर्मन en अंग्रेज es स्पैनिश fr फ़्रेंच fr फ्रेंच fr फ़्रांसीसी hi हिंदी id इंडोनेशिया it इतालवी ja जापानी ko कोरिया pt पुर्तगाली ru रूसी tr तुर्की vi वियतनामी zh चीनी uk यूक्रेनी",
	"id": "ar arab de jerman en inggris es spanyol fr prancis hi hindi id indonesia it italia ja jepang ko korea pt portugis ru rusia tr turki vi vietnam zh mandarin zh tionghoa uk ukraina",
	"it": "ar arab de tedesc en ingles es spagnol fr frances hi hindi id indonesian it italian ja giappones ko corean pt portoghes ru russ tr turc vi vietnamit zh cines uk ucrain",
	"ja": "ar アラビア語 de ドイツ語 en 英語 es スペイン語 fr フランス語 hi ヒンディー語 id インドネシア語 it イタリア語 ja 日本語 ko 韓国語 pt ポルトガル語 ru ロシア語 tr トルコ語 vi ベトナム語 zh 中国語 uk ウクライナ語",
	"ko": "ar 아랍어 de 독일어 en 영어 es 스페인어 fr 프랑스어 hi 힌디어 id 인도네시아어 it 이탈리아어 ja 일본어 ko 한국어 pt 포르투갈어 ru 러시아어 tr 튀르키예어 tr 터키어 vi 베트남어 zh 중국어 zh 한자 uk 우크라이나어",
	"pt": "ar árabe de alem en inglês en inglesa es espanhol es castelhan fr franc hi hindi id indonési it italian ja japon ko corean pt portugu ru russ tr turc vi vietnam zh chin uk ucrani",
	"ru": "ar арабск de немецк de по-немецки en английск en англ es испанск fr французск hi хинди id индонезийск it итальянск ja японск ko корейск pt португальск ru русск tr турецк vi вьетнамск zh китайск uk украинск bg болгарск",
	"tr": "ar arapça de almanca en ingilizce es ispanyolca fr fransızca hi hintçe id endonezce id endonezya it italyanca ja japonca ko korece pt portekizce ru rusça tr türkçe vi vietnamca zh çince uk ukraynaca",
	"vi": "ar ả rập de tiếng đức en tiếng anh es tây ban nha fr tiếng pháp hi hindi id indonesia it tiếng ý ja tiếng nhật ko tiếng hàn pt bồ đào nha ru tiếng nga tr thổ nhĩ kỳ vi tiếng việt zh tiếng trung zh tiếng hoa",
	"zh": "ar 阿拉伯 de 德语 de 德文 en 英语 en 英文 es 西班牙语 es 西文 fr 法语 fr 法文 hi 印地语 id 印尼语 id 印度尼西亚语 it 意大利语 it 意大利文 ja 日语 ja 日文 ko 韩语 ko 韩文 pt 葡萄牙语 pt 葡文 ru 俄语 ru 俄文 tr 土耳其语 vi 越南语 en 英語 de 德語 fr 法語 ja 日語 ko 韓語 ko 韓文 ru 俄語 es 西班牙語",
}

// malay lists words, in lower case, that Malay has and Indonesian does not, or writes otherwise; malayRather lists those
// that Indonesian has as well, but seldom or with another meaning.
var (
	malay = lists(`akaun aktiviti bahagian baharu bahawa bandaraya basikal baucar berbeza berikutan bersetuju borang butang
	cawangan cikgu cuba cukai dihantar dijangka disember diskaun ditubuhkan e-mel ejen emel encik fesyen
	filem iaitu ianya insurans isnin isteri jawapan jenama jenayah julai jumaat jurulatih kad kakitangan
	kaunter kecederaan kemaskini kempen kerana kerosakan kes kesihatan ketuhar kewangan khamis komuniti
	kualiti mahu membaiki menyemak menyiasat mesej mesyuarat minit muzik nombor ogos pangsapuri parlimen
	parti pasaraya pautan peguam pelabur pelaburan pelakon pelancongan pemberita pengeluar pengerusi
	penghantaran pengundi peratus perisian perkhidmatan pesakit poskod projek purata rosak saintis sentiasa
	siasatan skrin soalan sokongan stesen sukan suspek syarikat teksi televisyen tempahan tentera tetingkap
	trafik ubat universiti walaubagaimanapun yuran`)
	malayRather = lists(`amaran awak berkenaan bilik darjah doktor hantar hospital jambatan kekunci kemahiran kilang kolej
	maklumat manakala menghantar mengikut notis percuma perniagaan puan sahaja sebarang sekiranya selepas
	semak sila tarikh telefon tempoh tetapan wang`)
)

// hindi lists words that few Hindi sentences do without, and that Marathi and Nepali write otherwise or seldom.
var hindi = lists("और का की के को द्वारा नहीं ने में से है हैं")

// A naming is a language and the beginning of a word for it.
type naming struct{ language, stem string }

// namings is the table named, parsed.
var namings = sync.OnceValue(func() map[string][]naming {
	all := map[string][]naming{}
	for base, text := range named {
		var list []naming
		for _, field := range strings.Fields(text) {
			last := len(list) - 1
			switch {
			case len(field) == 2 && field[0] < 0x80:
				list = append(list, naming{language: field})
			case list[last].stem == "":
				list[last].stem = field
			default:
				list[last].stem += " " + field
			}
		}
		all[base] = list
	}
	return all
})

// names reports whether text, in the language base, names one of the languages.
func names(base, text string, languages ...string) bool {
	text = strings.ToLower(text)
	for _, n := range namings()[base] {
		if slices.Contains(languages, n.language) && strings.Contains(text, n.stem) {
			return true
		}
	}
	return false
}

// writing lists how a language speaks of scripts, letters and spelling: beginnings of words, in lower case.
var writing = map[string]string{
	"ar": "أبجدي بالكتابة بالخط لاتيني لاتينية باللاتينية",
	"de": "schriftzeichen alphabet kanji kyrillisch lateinisch transkri translit umschrift schreibweise",
	"en": "alphabet cyrillic kanji hangul hanja transliterat romani romaji pinyin spelled spelling",
	"es": "alfabeto cirílic transcri translit grafía ideograma kanji",
	"fr": "alphabet cyrilli idéogramme transcri translit graphie kanji",
	"hi": "लिपि वर्णमाला लिप्यंतर",
	"id": "aksara abjad alfabet transliterasi ejaan kanji",
	"it": "alfabeto cirillic ideogramm trascri traslitter grafia kanji",
	"ja": "表記 ローマ字 漢字 簡体字 繁体字 キリル ハングル ピンイン",
	"ko": "한자 표기 로마자 키릴 병음 간체 번체",
	"pt": "alfabeto cirílic transcri translit grafia ideograma kanji",
	"ru": "иероглиф алфавит письменност транскрип транслит кирилли пишется",
	"tr": "alfabe kiril transkripsiyon yazılır",
	"vi": "hán phiên alphabet",
	"zh": "假名 拼音 汉字 漢字 转写 轉寫 西里尔 西里爾 谚文 諺文 韩文 日文",
}

// metalinguistic reports whether text, in the language base, speaks of a language or of writing.
func metalinguistic(base, text string) bool {
	return begins(base, writing[base], strings.ToLower(text)) || names(base, text, others(benchmark, base)...)
}

// others returns the languages but one.
func others(languages []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(languages), func(l string) bool { return l == one })
}

var benchmark = strings.Fields("ar de en es fr hi id it ja ko pt ru tr vi zh uk")

// quoting lists beginnings of words, in lower case, with which a language announces what somebody says or writes, or an
// address.
var quoting = map[string]string{
	"ar": "تقول يقول قال كتب رسالة النص نص عبارة جملة مثال خطأ اقتباس مثل الأصل أغنية عنوان ظهر يظهر تظهر ظهور شاشة",
	"de": "sagt sagte schreib schrieb steht lautet heißt nachricht meldung fehler text zitat satz spruch beispiel sprichwort original liedzeile titel zeigt anzeig erschein bildschirm warnung adresse anschrift",
	"en": "say said writ wrote read messag error quot text sentence phrase example proverb saying original lyric titl show display appear screen address",
	"es": "dice dijo escrib mensaje error texto cita frase oración ejemplo refrán proverbio original letra título muestr aparec pantalla aviso indica dirección domicilio",
	"fr": "dit disait écri message erreur texte cit phrase exemple proverbe original parole titre affich apparaî écran avertissement adresse",
	"hi": "कह लिख संदेश त्रुटि पाठ वाक्य उद्धरण उदाहरण कहावत मूल शीर्षक दिख स्क्रीन पता पते",
	"id": "kata berkata tulis pesan kesalahan galat teks kutip kalimat frasa contoh peribahasa asli lirik judul berbunyi muncul layar tampil peringatan alamat",
	"it": "dice disse scri messaggio errore testo cit frase esempio proverbio original titolo compare appare mostra schermo avviso indirizzo",
	"ja": "言 書 メッセージ エラー 文 引用 例 ことわざ 原 歌詞 題 と表示 画面 出る 出た 警告 住所 宛",
	"ko": "말 쓰 메시지 오류 문장 인용 예 속담 원문 가사 제목 표시 화면 나오 나타 뜨 뜹 주소",
	"pt": "diz disse escrev mensagem erro texto cit frase oração exemplo provérbio ditado original letra título mostr aparec ecrã tela aviso exib endereço morada",
	"ru": "говор сказа пиш напис сообщени ошибк текст цитат фраз предложени пример пословиц оригинал назван экран появ предупрежден адрес",
	"tr": "diyor dedi yaz mesaj hata metin metni alıntı cümle örne atasöz özgün başlık ekran uyarı görün adres",
	"vi": "nói viết tin nhắn thông báo lỗi văn bản trích câu ví dụ tục ngữ nguyên văn tiêu đề hiện báo màn hình địa chỉ",
	"zh": "说 說 写 寫 道 消息 错误 錯誤 文 引用 句 例 谚语 諺語 原 歌词 歌詞 标题 標題 显示 顯示 提示 出现 出現 屏幕 螢幕 跳出 地址",
}

// quotes reports whether text, in the language base, announces a quotation.
func quotes(base, text string) bool { return begins(base, quoting[base], strings.ToLower(text)) }

// begins reports whether a word of text, which is in the language base, begins with one of the stems.
func begins(base, stems, text string) bool {
	spaced := base != "ja" && base != "zh" && base != "ko"
	for stem := range strings.FieldsSeq(stems) {
		for rest := text; ; {
			at := strings.Index(rest, stem)
			if at < 0 {
				break
			}
			before, _ := utf8.DecodeLastRuneInString(rest[:at])
			if !spaced || !unicode.IsLetter(before) {
				return true
			}
			rest = rest[at+len(stem):]
		}
	}
	return false
}
