package words

import "unicode"

// A Group is languages of a script, or, of Chinese and Japanese, of two. The model tells them apart, and from those of
// other groups of the script.
type Group struct {
	Name      string
	Scripts   []*unicode.RangeTable
	Languages []string // labels of fastText's lid.176, ISO 639-1 mostly
}

// Groups lists the groups in the order of the model's file, grouped by script. The first has the script's most
// frequent languages: what is known of a word in most languages is that of these.
var Groups = []Group{
	{"latin", []*unicode.RangeTable{unicode.Latin}, []string{"de", "en", "es", "fr", "id", "it", "pt", "tr", "vi"}},
	{"north", []*unicode.RangeTable{unicode.Latin}, []string{"nl", "da", "no", "sv", "fi", "is", "af", "et"}},
	{"east", []*unicode.RangeTable{unicode.Latin}, []string{"pl", "cs", "sk", "sl", "hr", "hu", "ro", "lt", "lv"}},
	{"south", []*unicode.RangeTable{unicode.Latin}, []string{"ca", "gl", "eu", "sq", "eo", "cy", "ga", "ast", "oc"}},
	{"far", []*unicode.RangeTable{unicode.Latin}, []string{"ms", "tl", "sw", "az", "uz", "br", "gd"}},
	{"cyrillic", []*unicode.RangeTable{unicode.Cyrillic}, []string{"ru", "uk", "bg"}},
	{"balkan", []*unicode.RangeTable{unicode.Cyrillic}, []string{"mk", "sr", "be", "kk"}},
	{"arabic", []*unicode.RangeTable{unicode.Arabic}, []string{"ar", "fa", "ur"}},
	{"han", []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}, []string{"ja", "zh"}},
	{"indic", []*unicode.RangeTable{unicode.Devanagari}, []string{"hi", "mr", "ne"}},
}
