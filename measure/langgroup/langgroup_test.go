package langgroup

import (
	"strings"
	"testing"

	"crosstalk/internal/lexicon"
	"crosstalk/measure/langid/embedded"

	"golang.org/x/text/language"
)

func TestOf(t *testing.T) {
	for tag, want := range map[string]Groups{
		"fr": {IndoEuropean, "Latn"}, "pt-BR": {IndoEuropean, "Latn"}, "hi": {IndoEuropean, "Deva"}, "ru": {IndoEuropean, "Cyrl"},
		"fa": {IndoEuropean, "Arab"}, "ar": {"Afro-Asiatic", "Arab"}, "id": {"Austronesian", "Latn"}, "vi": {"Austroasiatic", "Latn"},
		"tr": {"Turkic", "Latn"}, "ja": {"Japonic", "Jpan"}, "ko": {"Koreanic", "Kore"}, "eu": {"Basque", "Latn"},
		"zh": {"Sino-Tibetan", "Hans"}, "zh-TW": {"Sino-Tibetan", "Hant"}, "zh-Hant": {"Sino-Tibetan", "Hant"}, "yue": {"Sino-Tibetan", "Hant"},
		"sr": {IndoEuropean, "Cyrl"}, "sr-Latn": {IndoEuropean, "Latn"}, "sh": {IndoEuropean, "Latn"},
		"iw": {"Afro-Asiatic", "Hebr"}, "deu": {IndoEuropean, "Latn"}, "PT-br": {IndoEuropean, "Latn"}, " de ": {IndoEuropean, "Latn"},
		"": {Undetermined, Undetermined}, "und": {Undetermined, Undetermined}, "und-Latn": {Undetermined, Undetermined},
		"klingon!": {Undetermined, Undetermined}, "xx": {Undetermined, Undetermined}, "French": {IndoEuropean, "Latn"},
		"zh-en": {Undetermined, Undetermined},
		"wbp":   {Undetermined, "Latn"}, // Warlpiri: known to CLDR, not to the table
	} {
		if got := Of(tag); got != want {
			t.Errorf("Of(%q) = %v, expected %v", tag, got, want)
		}
	}
}

// lid176 are the labels of fastText's lid.176, without eml: ISO 639 retired that
// code in 2009, and no tag with it is valid.
const lid176 = `af als am an ar arz as ast av az azb ba bar bcl be bg bh bn bo bpy br bs bxr ca cbk ce ceb ckb co cs cv cy da de
	diq dsb dty dv el en eo es et eu fa fi fr frr fy ga gd gl gn gom gu gv he hi hif hr hsb ht hu hy ia id ie ilo io is it ja
	jbo jv ka kk km kn ko krc ku kv kw ky la lb lez li lmo lo lrc lt lv mai mg mhr min mk ml mn mr mrj ms mt mwl my myv mzn nah
	nap nds ne new nl nn no oc or os pa pam pfl pl pms pnb ps pt qu rm ro ru rue sa sah sc scn sco sd sh si sk sl so sq sr su sv
	sw ta te tg th tk tl tr tt tyv ug uk ur uz vec vep vi vls vo wa war wuu xal xmf yi yo yue zh`

func TestEveryIdentifiedLanguageHasGroups(t *testing.T) {
	labels := append(strings.Fields(lid176), embedded.Identifier().Labels()...)
	if len(labels) != 250 {
		t.Fatalf("%d languages", len(labels))
	}
	for _, l := range labels {
		if g := Of(l); g.Family == Undetermined || g.Script == Undetermined {
			t.Errorf("%s has the groups %v", l, g)
		}
	}
}

func TestTwoLetterCodes(t *testing.T) {
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			code := string([]rune{a, b})
			if _, err := language.ParseBase(code); err == nil && Of(code).Family == Undetermined {
				t.Errorf("%s has no family", code)
			}
		}
	}
}

func TestEachLanguageInOneFamily(t *testing.T) {
	of := map[string]string{}
	for family, codes := range lexicon.Parse(families) {
		for _, code := range strings.Fields(codes) {
			if of[code] != "" {
				t.Errorf("%s is in %s and %s", code, of[code], family)
			}
			of[code] = family
			if _, err := language.ParseBase(code); err != nil {
				t.Errorf("%s of %s: %v", code, family, err)
			}
		}
	}
}
