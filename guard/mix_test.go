package guard

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// A line with one change of language has one switch, and as many words of each language as it has, at any share.
func TestMixOfOneLine(t *testing.T) {
	const n = 40
	english := strings.Fields("The user wants to know how the old bridge over the river was built and why it had to be closed for several " +
		"months last year before the town could open it again with a great party for all the people")
	for language, text := range map[string]string{
		"fr": "Le pont a été construit par des ouvriers de la région qui avaient travaillé pendant plusieurs années sans beaucoup " +
			"de moyens et avec une grande patience parce que la rivière était très forte au printemps et les pierres lourdes",
		"de": "Die Brücke wurde von Arbeitern aus der Gegend gebaut die mehrere Jahre lang ohne viel Geld aber mit großer Geduld " +
			"gearbeitet haben weil der Fluss im Frühling sehr stark war und die Steine von weit her mit müden Pferden kamen",
		"ru": "Мост был построен рабочими из этой области которые несколько лет трудились без больших денег но с большим терпением " +
			"потому что река весной была очень сильной и камни приходилось привозить издалека на усталых лошадях чего никто не любил",
	} {
		for _, own := range []int{4, 6, 8, 12, 20, 32, 36} {
			first, second := strings.Join(english[:n-own], " "), strings.Join(strings.Fields(text)[:own], " ")
			for _, text := range []string{first + ". " + second + ".", second + ". " + first + "."} {
				j, err := Check(text, language)
				share := float64(j.Mix.Own) / float64(j.Mix.Words)
				if err != nil || j.Mix.Switches != 1 || len(j.Runs) != 1 || math.Abs(share-float64(own)/n) > 0.03 ||
					own < 12 && j.Mix.FirstOwn || own > 30 && !j.Mix.FirstOwn {
					t.Errorf("%s, %d of %d words: %+v, runs at %v, %v: %s", language, own, n, j.Mix, j.Runs, err, text)
				}
			}
		}
	}
}

// Words that both languages have, or that tell nothing, neither part a run nor are left out of it at the end of a line.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           string // where runs begin; words of the mix, own words, switches, language of the first line
	}{
		{"de", "Okay, so the user wants to know how it was built. So let me think about this first. Okay, so it was built long ago. " +
			"Die Brücke wurde vor langer Zeit gebaut.", "[Okay, so t] 32 7 1 en"},
		{"de", "Die Brücke wurde vor langer Zeit gebaut. Okay, so the user wants to know how it was built. So let me think about this first.",
			"[so the use] 25 9 1 en"},
		{"de", "Wir treffen uns morgen um acht, the train will be late, und dann fahren wir zusammen los, because it is nice there, wie immer.",
			"[the train  because it] 24 14 4 de"},
		{"zh", "这座桥是很久以前由当地工人建造的，后来 called the library 被关闭了几个月。", "[called the] 28 25 2 zh"},
		{"ru", "Мост был построен давно, because it is nice there, и потом его снова открыли.", "[because it] 14 9 2 ru"},
		{"ru", "Мост был построен давно, because it is nice there. Nous sommes arrivés hier soir. И потом его снова открыли.",
			"[because it Nous somme] 18 8 3 ru"},
		{"de", "Die Brücke wurde vor langer Zeit von Arbeitern gebaut, and then the train will be late again, okay so.",
			"[and then t] 19 9 1 en"},
		{"ms", "Cuaca hari ini sangat baik потому что kami pergi ke pantai dengan keluarga потому что dan makan bersama.",
			"[потом потом] 18 14 4 ms"},
		{"ja", "In Japanese, the desert is known for its heat and its cold nights.", "[In Japanes] 13 0 0 en"},
		{"de", "In a world of heat the desert is known for its cold nights.", "[In a world] 13 0 0 en"},
		{"ja", "Al-Shadow, al-khalaq. This is a very important word for all of us.", "[Al-Shadow,] 13 0 0 en"},
	} {
		j, err := Check(c.text, c.language)
		if err != nil {
			t.Fatal(err)
		}
		var begins []string
		for _, at := range j.Runs {
			begins = append(begins, c.text[at:at+10])
		}
		got := fmt.Sprintf("%s %d %d %d %s", begins, j.Mix.Words, j.Mix.Own, j.Mix.Switches, j.Mix.First)
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.language, c.text, got, c.want)
		}
	}
}
