package prose

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"crosstalk/internal/testing/golden"
)

// pieces are what texts are made of: whatever begins, ends or is part of something that is masked.
var pieces = append(strings.Split("```|~~~|**|__|*|_|`|$|$$|\\(|\\)|\\[|\\]|\\alpha|http://|www.|.com|.de/|@|#|<b>|</b>|<|>|- |* |1. |12) |a) |> |# |###### |"+
	"####### |[ ] |[x] |— |• |\"|'|’|‘|“|”|„|«|»|「|」|é|ß|日|年|二|三百|α|βγ|=|±|×|²|√|😀|❤|kg| km/h|%|°C|git|git status|npm install|sin|x|word|Word|"+
	"camelCase|snake_case|file.txt|/usr/bin|~/x|./a/b|--option|-x|3|12|0x1f|1,5|KeyError: |ValueException: |2024-01-01 10:00:00|ERROR|12:30 INFO |"+
	"import |from |def |const |#include <|SELECT * |at java.|{|}|[|]|(|)|;|:|：|,|.|!|?|---|===|+|/|&|~|retries: 5|name:|\"key\": |ls -l|$ ls|a b c d e|"+
	"ー|ك|٣|ก|\u00a0|\u3000|\r|\t|<<|-|ü ", "|"), "|", " ", " ", "\n", "\n", "\n\n")

// The documents of many texts, in sums: a change of any rule changes one. The first text of a sum tells which it is of.
func TestSums(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var sheet strings.Builder
	for range 100 {
		sum, first := fnv.New64a(), ""
		for range 150 {
			var text strings.Builder
			for range 1 + random.IntN(14) {
				switch piece := pieces[random.IntN(len(pieces))]; random.IntN(40) {
				case 0: // as long as what ends a search for a closing mark
					text.WriteString(strings.Repeat("y", []int{36, 56, 116, 196, 296, 396}[random.IntN(6)]+random.IntN(8)))
				case 1:
					text.WriteString(strings.Repeat("z ", random.IntN(14)))
				default:
					text.WriteString(piece)
				}
			}
			if first == "" {
				first = text.String()
			}
			fmt.Fprintf(sum, "%v\n", Parse(text.String()))
		}
		fmt.Fprintf(&sheet, "%016x %.60q\n", sum.Sum64(), first)
	}
	golden.Check(t, "testdata/sums.txt", sheet.String())
}
