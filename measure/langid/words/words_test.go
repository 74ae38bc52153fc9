package words

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"crosstalk/measure/prose"
)

// found returns the foreign words of a text as "language:word".
func found(text, language string, mask ...prose.Span) string {
	var all []string
	for _, w := range Analyse(text, language, mask).Words(Threshold) {
		all = append(all, w.Language+":"+text[w.Start:w.End])
	}
	return strings.Join(all, " ")
}

func TestWords(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		// Another script.
		{"de", "Der Techniker kommt завтра um acht.", "ru:завтра"},
		{"ru", "Счёт will be paid завтра утром.", "en:will en:be en:paid"},
		{"ko", "내일 already 도착합니다.", "en:already"},
		{"en", "Please read it วันนี้ and answer.", "th:วันนี้"},
		// The same script.
		{"fr", "Vissez les deux montants zuerst avant la suite.", "de:zuerst"},
		{"id", "Saya pikir however rumah itu besar sekali.", "en:however"},
		{"pt", "Eu gosto muito de você pero não posso ir.", "es:pero"},
		{"tr", "Bugün hava çok güzel because güneş açıyor.", "en:because"},
		{"es", "Unfortunately, el tren llegó tarde.", "en:Unfortunately"},
		{"es", "Anderson llegó tarde a la estación.", ""},
		{"fr", "Nous avons vu le match de Eintracht Frankfurt Frauen hier soir.", ""},
		{"ru", "Мы вернулись поздно, але квитки були дорогі, потом легли спать.", "uk:але uk:квитки uk:були uk:дорогі"},
		// A letter alone may be a word, or the name of a thing.
		{"it", "Sono opzioni sempre date à più popolari per molte famiglie.", "fr:date fr:à"},
		{"tr", "Müşterilerinizi central é bir görünüm sağlar.", "pt:central pt:é"},
		{"it", "Il valore di y è maggiore del valore di z.", ""},
		{"es", "La vocal ɛ no existe en nuestra lengua.", ""},
		// Function words are hardly borrowed, and a word of both languages before one is of the run.
		{"it", "Abbiamo comprato il pane motivo de questa mattina.", "pt:motivo es:de"},
		{"it", "Ieri sera caso de siamo andati al mercato.", "es:caso es:de"},
		// A word longer than any.
		{"de", "Gestern kam завтра " + strings.Repeat("qxzj", 200) + " an.", "ru:завтра"},
		// Characters.
		{"ja", "この件については我们已经处理しました。", "zh:我 zh:们 zh:已 zh:经 zh:处 zh:理"},
		{"zh", "我昨天买了しんぶん给他看。", "ja:し ja:ん ja:ぶ ja:ん"},
		// Nothing.
		{"de", "Gestern habe ich auf dem Markt frisches Brot gekauft.", ""},
		{"tr", "Sonuç 9'un iki katıdır ve 10'un üstündedir.", ""},
		{"tr", "Evlerimizden birinin anahtarını masada unutmuşsunuz galiba.", ""},
		{"ja", "東京都庁の展望室は入場無料です。", ""},
		{"es", "María García vive en New York desde hace diez años.", ""},
		{"ar", "يمكنك ربط سماعات AirPods بهاتف Samsung بسهولة.", ""},
		// Languages with shorter lists, and relatives.
		{"nl", "Ik heb gisteren завтра the bread gekocht.", "ru:завтра en:the en:bread"},
		{"pl", "Jutro rano jedziemy because of the weather do Krakowa.", "en:because en:of en:the en:weather en:do"},
		{"sv", "Vi åker till stugan imorgon because vädret är fint.", "en:because"},
		{"cs", "Zítra ráno pojedeme vlakem do Brna a večer se vrátíme.", ""},
		{"es", "El chico compró un cotxe amb els seus diners ayer.", "ca:un ca:cotxe ca:amb ca:els ca:seus ca:diners"},
		{"hi", "मुझे आज बाज़ार जाना है म्हणून मी लवकर निघालो था।", "mr:म्हणून mr:मी mr:लवकर mr:निघालो"},
		{"hi", "आज मौसम बहुत अच्छा है और हम सब बाहर जा रहे हैं।", ""},
		{"mk", "Утре одиме на пазар because времето е убаво.", "en:because"},
		// Without a model of words only scripts are judged.
		{"yo", "Ik heb gisteren завтра the bread gekocht.", "ru:завтра"},
		{"de", "", ""},
		{"de", "\xff\xfe 12 %", ""},
	} {
		if got := found(c.text, c.language); got != c.want {
			t.Errorf("%s: %q\n got %q\nwant %q", c.language, c.text, got, c.want)
		}
	}
}

// The program has room for 10 MB of words.
func TestSize(t *testing.T) {
	if len(file) >= 10_000_000 {
		t.Errorf("words.bin has %d bytes, expected fewer than 10,000,000", len(file))
	}
}

// What follows a hyphen in a name is a name, and letters of two scripts in one word say nothing of either, unless the
// Latin ones do not look like Cyrillic ones.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		text string
		want []form
	}{
		{"e Kim Jong-un ha", []form{letter, capital, capital, capital, plain}},
		{"un check-un", []form{plain, plain, plain}},
		{"Lukeʼas sakė", []form{first, plain}},
		{"и Kубa је", []form{letter, silent, silent, silent, plain}}, // K and a are Latin
		{"дa је je", []form{silent, silent, plain, plain}},
		{"дa ћe сe je war", []form{silent, silent, silent, silent, silent, silent, silent, plain}},
		{"кодwar је", []form{plain, plain, plain}},
	} {
		var got []form
		for _, token := range tokenize(nil, c.text, "lt", nil) {
			got = append(got, token.form)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.text, got, c.want)
		}
	}
}

// Ratio weighs against one language, also one that Weigh never names.
func TestRatio(t *testing.T) {
	const text = "Ek het gister nuwe skoene gekoop want dit reën môre."
	whole := prose.Span{End: len(text)}
	a := Analyse(text, "af", nil)
	dutch, english := a.Ratio("nl", whole), a.Ratio("en", whole)
	if dutch > 0 || english > dutch || a.Ratio("ko", whole) > english || a.Ratio("nl") != 0 {
		t.Errorf("Dutch %g, English %g, Korean %g", dutch, english, a.Ratio("ko", whole))
	}
	if e := a.Weigh(whole); e.Language == "nl" || e.LogRatio > 0 {
		t.Errorf("%+v", e)
	}
	const other = "Ik heb gisteren nieuwe schoenen gekocht, want het regent morgen."
	if x := Analyse(other, "af", nil).Ratio("nl", prose.Span{End: len(other)}); x < 5 {
		t.Errorf("Dutch in Afrikaans: %g", x)
	}
}

// The file begins with what identifies it, and so does its name.
func TestName(t *testing.T) {
	sum := sha256.Sum256(file[idBytes:])
	if id := sum[:idBytes]; string(file[:idBytes]) != string(id) || Name() != fmt.Sprintf("words@%x", id) {
		t.Errorf("%s: the file begins with %x, expected %x", Name(), file[:idBytes], id)
	}
}

func TestMask(t *testing.T) {
	const text = "Klicke auf open settings und dann auf weiter."
	at := strings.Index(text, "open")
	if got := found(text, "de"); got != "en:open en:settings" {
		t.Errorf("without a mask: %q", got)
	}
	if got := found(text, "de", prose.Span{Start: at, End: at + len("open settings")}); got != "" {
		t.Errorf("masked: %q", got)
	}
}

func TestWeigh(t *testing.T) {
	const text = "Hier ist die Liste.\nTwo months for free"
	a := Analyse(text, "de", nil)
	at := strings.Index(text, "Two")
	if e := a.Weigh(prose.Span{Start: 0, End: at}); e.LogRatio > -3 || e.Words < 3 || e.Known < 2 {
		t.Errorf("German: %+v", e)
	}
	if e := a.Weigh(prose.Span{Start: at, End: len(text)}); e.LogRatio < 5 || e.Language != "en" || e.Words != 4 {
		t.Errorf("English: %+v", e)
	}
	if e := a.Weigh(); e != (Evidence{}) {
		t.Errorf("nothing: %+v", e)
	}
	if e := Analyse("मुझे घर जाना है", "hi", nil).Weigh(prose.Span{Start: 0, End: 100}); e.LogRatio > -20 || e.Language != "ne" {
		t.Errorf("Hindi: %+v", e)
	}
}

// A line in another language but for a word at each end.
func TestForeign(t *testing.T) {
	const text = "Ecco che nhận được hỗ trợ từ chính phủ trong alimentare."
	a := Analyse(text, "it", nil)
	if start, end := a.Foreign(0, len(text), -1); text[start:end] != "nhận được hỗ trợ từ chính phủ trong" {
		t.Errorf("%q", text[start:end])
	}
	for _, whole := range []string{"nhận được hỗ trợ.", "Ecco che alimentare.", ""} {
		if start, end := Analyse(whole, "it", nil).Foreign(0, len(whole), -1); start != 0 || end != len(whole) {
			t.Errorf("%q: %d to %d", whole, start, end)
		}
	}
}

func TestFrequent(t *testing.T) {
	for language, want := range map[string]string{"de": "de en es fr id it pt tr vi", "nl": "de en es fr id it pt tr vi",
		"be": "ru uk bg", "ur": "ar fa ur", "zh": "ja zh", "mr": "hi mr ne", "ko": "", "th": ""} {
		if got := strings.Join(Frequent(language), " "); got != want {
			t.Errorf("%s: %q, want %q", language, got, want)
		}
	}
}

// A part is suspect if one of its words is.
func TestSuspect(t *testing.T) {
	const text = "Jeg skal reise med tåget i morgon kveld."
	a := Analyse(text, "no", nil)
	lowest, highest := 100.0, -100.0
	for _, w := range a.Words(-100) {
		lowest, highest = min(lowest, w.LogOdds), max(highest, w.LogOdds)
		if !a.Suspect(w.Start, w.End, w.LogOdds-1e-9) || a.Suspect(w.Start, w.End, w.LogOdds+1e-9) {
			t.Errorf("%s: not suspect at its own %g alone", text[w.Start:w.End], w.LogOdds)
		}
	}
	if lowest == highest || !a.Suspect(0, len(text), highest-1e-9) || a.Suspect(0, len(text), highest+1e-9) ||
		a.Suspect(5, 5, -100) {
		t.Errorf("the sentence is not as suspect as its worst word, %g", highest)
	}
}

func FuzzAnalyse(f *testing.F) {
	for _, s := range []string{"Straße ’s mal'aise", "中文と日本語 mixed ₂ x\u0301", "\xff\xfe\n\n"} {
		f.Add(s, "de", 1, 3)
		f.Add(s, "ja", 0, 2)
		f.Add(s, "nl", 2, 9)
	}
	f.Fuzz(func(t *testing.T, text, language string, from, to int) {
		if from < 0 || to < from || to > len(text) {
			return
		}
		last := 0
		for _, w := range Analyse(text, language, []prose.Span{{Start: from, End: to}}).Words(-100) {
			if w.Start < last || w.End <= w.Start || w.End > len(text) || w.Start < to && from < w.End {
				t.Fatalf("word at %d to %d after %d, masked %d to %d", w.Start, w.End, last, from, to)
			}
			last = w.End
		}
	})
}

// In Chinese, traditional text says what the same text in simplified characters does, wherever in a word one is that
// may be either.
func TestEitherForm(t *testing.T) {
	zh := func(text string, simplify bool) (ratios []float64) {
		tokens := tokenize(nil, text, "zh", nil)
		cells := make([]cell, len(tokens))
		characters(tokens, cells, simplify)
		for _, c := range cells {
			ratios = append(ratios, c.characters[1])
		}
		return ratios
	}
	for traditional, simplified := range map[string]string{"由於天氣": "由于天气", "位於城市中心於是": "位于城市中心于是", "明瞭": "明了", "徵求意見": "征求意见"} {
		if got, want := zh(traditional, true), zh(simplified, false); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v as of %s", traditional, got, want, simplified)
		}
	}
	if got, want := zh("著名", true), zh("著名", false); got[0]*got[1] < 0.99*want[0]*want[1] { // as it is: 着名 is no word
		t.Errorf("著名: %v, want at least %v", got, want)
	}
}

// Chinese text counts as simplified if more than four in five distinctive characters are simplified ones.
func TestMostlySimplified(t *testing.T) {
	for text, want := range map[string]bool{"": false, "一": false, "们": true, "們": false, "们们们们們": false, "们们们们们們": true} {
		if got := mostlySimplified(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// The share of a word is unknown for a language without a model.
func TestOwnShare(t *testing.T) {
	for language, want := range map[string]bool{"en": true, "de": false, "yo": false, "ru": false} {
		if w, ok := Analyse("the", language, nil).At(0); !ok || (w.Own > 0) != want || w.English == 0 {
			t.Errorf("%s: %+v", language, w)
		}
	}
}
