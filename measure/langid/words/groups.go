package words

import "unicode"

// A Group is the languages that the model tells apart within a script, or, of Chinese and Japanese, within two.
type Group struct {
	Name      string
	Scripts   []*unicode.RangeTable
	Languages []string // ISO 639-1
}

// Groups lists the groups in the order of the model's file. The languages of the Language Confusion Benchmark come
// first in each.
var Groups = []Group{
	{"latin", []*unicode.RangeTable{unicode.Latin}, []string{"de", "en", "es", "fr", "id", "it", "pt", "tr", "vi"}},
	{"cyrillic", []*unicode.RangeTable{unicode.Cyrillic}, []string{"ru", "uk", "bg"}},
	{"arabic", []*unicode.RangeTable{unicode.Arabic}, []string{"ar", "fa", "ur"}},
	{"han", []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana}, []string{"ja", "zh"}},
}
