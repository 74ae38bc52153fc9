package translation

import (
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/pytext"
)

// rewriteZh is sacreBLEU's zh tokenizer: Chinese characters stand alone and the rest is cut as 13a cuts it, but without
// 13a's handling of SGML and without its outer spaces.
func (r *rewriter) rewriteZh(line string) []byte {
	line = pytext.TrimSpace(line)
	r.a = r.a[:0]
	from := 0
	for i, n := 0, 1; i < len(line); i += n {
		alone := apart[line[i]]
		if n = 1; line[i] >= utf8.RuneSelf {
			var c rune
			c, n = utf8.DecodeRuneInString(line[i:])
			alone = isChinese(c)
		}
		if alone {
			r.a = append(append(r.a, line[from:i]...), ' ')
			r.a = append(append(r.a, line[i:i+n]...), ' ')
			from = i + n
		}
	}
	r.a = append(r.a, line[from:]...)
	return r.punctuate()
}

func isChinese(c rune) bool {
	return 0x4E00 <= c && c <= 0x9FBB || c > 0x2000 && unicode.Is(chinese, c)
}

// chinese contains the characters that sacreBLEU's zh tokenizer treats as Chinese, faults included. Its table is meant
// to contain CJK extension B, U+20000 to U+2A6D6, and the supplement, U+2F800 to U+2FA1D, but writes them with
// four-digit escapes: "\u20000" is U+2000 and the digit 0. Compared as strings, a single character falls between these
// bounds from U+2001 to U+2A6D and from U+2F81 to U+2FA1, while no character of the extensions does. So dashes, curly
// quotes, arrows and mathematical symbols count as Chinese, and rare ideographs do not. The figures that sacreBLEU
// gives for Chinese include this fault.
var chinese = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x2001, Hi: 0x2A6D, Stride: 1}, // meant: CJK extension B
	{Lo: 0x2E80, Hi: 0x2EFF, Stride: 1}, // radicals supplement
	{Lo: 0x2F00, Hi: 0x2FDF, Stride: 1}, // Kangxi radicals
	{Lo: 0x2FF0, Hi: 0x2FFF, Stride: 1}, // ideographic description
	{Lo: 0x3000, Hi: 0x303F, Stride: 1}, // CJK punctuation
	{Lo: 0x3100, Hi: 0x312F, Stride: 1}, // Bopomofo
	{Lo: 0x31A0, Hi: 0x31BF, Stride: 1}, // Bopomofo extended
	{Lo: 0x31C0, Hi: 0x31EF, Stride: 1}, // strokes
	{Lo: 0x3200, Hi: 0x33FF, Stride: 1}, // enclosed and compatibility
	{Lo: 0x3400, Hi: 0x4DB5, Stride: 1}, // extension A
	{Lo: 0x4E00, Hi: 0x9FBB, Stride: 1}, // unified ideographs
	{Lo: 0xF900, Hi: 0xFA2D, Stride: 1}, // compatibility ideographs
	{Lo: 0xFA30, Hi: 0xFA6A, Stride: 1},
	{Lo: 0xFA70, Hi: 0xFAD9, Stride: 1},
	{Lo: 0xFE10, Hi: 0xFE1F, Stride: 1}, // vertical forms
	{Lo: 0xFE30, Hi: 0xFE4F, Stride: 1},
	{Lo: 0xFF00, Hi: 0xFFEF, Stride: 1}, // full and half width
}}
