package words

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/internal/testing/golden"
	"crosstalk/measure/prose"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestReplies compares what the words of replies of assistants say with testdata/replies.txt: for each reply the
// evidence of its text, its foreign words, and a byte of a hash of everything else; then the same where another
// language is expected, and with words of another reply. Log odds are compared to three digits. Read what differs and
// write it with -update.
func TestReplies(t *testing.T) {
	files, err := filepath.Glob("../../../guard/testdata/replies/*.txt")
	if err != nil || files == nil {
		t.Fatal("no replies", err)
	}
	type reply struct{ name, tag, text string }
	var replies []reply
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range txtar.Parse(data).Files {
			tag, _, _ := strings.Cut(f.Name, " ")
			base, _, _ := strings.Cut(tag, "-")
			replies = append(replies, reply{fmt.Sprint(filepath.Base(file), " ", i+1), base, strings.TrimRight(string(f.Data), "\n")})
		}
	}
	market, err := os.ReadFile("../../../guard/testdata/market.txt") // a sentence in each language, in two halves
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(market)) {
		tag, sentence, _ := strings.Cut(strings.TrimSpace(line), "|")
		base, _, _ := strings.Cut(tag, "-")
		replies = append(replies, reply{"market " + tag, base, strings.ReplaceAll(sentence, "|", " ")})
	}
	evidence := func(e Evidence) string {
		return fmt.Sprintf("%d/%d %s %.2f", e.Known, e.Words, e.Language, e.LogRatio)
	}
	all := func(h hash.Hash, text, language string, mask ...prose.Span) {
		a := Analyse(text, language, mask)
		defer a.Free()
		for _, w := range a.Words(-12) {
			fmt.Fprintf(h, "%d-%d %s %.2f %t %t %t %t %t %.3g %.3g %.3g\n", w.Start, w.End, w.Language, w.LogOdds, w.Name,
				w.Listed, w.Foreign, w.Loan, w.Native, w.Share, w.English, w.Own)
		}
		fmt.Fprintln(h, a.Borrowed(), a.Count(0, len(text)), a.Own(0, len(text), 2), a.Own(len(text)/3, len(text)/2, -1))
		fmt.Fprintln(h, evidence(a.Weigh(prose.Span{End: len(text)})),
			evidence(a.Weigh(prose.Span{End: len(text) / 4}, prose.Span{Start: len(text) / 2, End: len(text)})))
		for at := 0; at < len(text); at += 1 + len(text)/5 {
			from, to := a.Foreign(at, len(text), -1)
			fmt.Fprintln(h, a.Suspect(at, len(text), 1), a.Suspect(0, at, 3))
			other := []string{"en", "es", "da", "uk", "fa", "mr"}[(at+len(text))%6]
			fmt.Fprintf(h, "%.2f ", a.Ratio(other, prose.Span{Start: at, End: len(text)}))
			w, ok := a.At(at)
			fmt.Fprintf(h, "%d %d %t {%d %d} %s\n", from, to, ok, w.Start, w.End, w.Language)
		}
	}
	tags := []string{"en", "de", "fr", "es", "it", "pt", "tr", "id", "vi", "ru", "ar", "hi", "ja", "ko", "zh", "nl", "uk", "fa", "th", "mr"}
	var got strings.Builder
	for i, r := range replies {
		a := Analyse(r.text, r.tag, nil)
		fmt.Fprintf(&got, "%s %s:", r.name, evidence(a.Weigh(prose.Span{End: len(r.text)})))
		for _, w := range a.Words(Threshold) {
			fmt.Fprintf(&got, " %s[%s]", w.Language, r.text[w.Start:w.End])
		}
		a.Free()
		other := replies[(i*7+45)%len(replies)]
		h := sha256.New()
		all(h, r.text, r.tag)
		fmt.Fprintf(&got, " %x", h.Sum(nil)[:1])
		h.Reset()
		all(h, r.text, tags[i%len(tags)])
		all(h, r.text, other.tag)
		fmt.Fprintf(&got, " %x", h.Sum(nil)[:1])
		h.Reset()
		half := strings.LastIndexByte(r.text[:len(r.text)/2], ' ') + 1
		all(h, r.text[:half]+" "+other.text+" "+r.text[half:], r.tag,
			prose.Span{Start: 3, End: 9}, prose.Span{Start: half + 5, End: half + 8},
			prose.Span{Start: len(r.text) / 2, End: len(r.text)})
		all(h, strings.ToUpper(r.text[:half])+strings.Join(strings.Fields(other.text), "-")+"'"+r.text[half:], r.tag)
		fmt.Fprintf(&got, " %x\n", h.Sum(nil)[:1])
	}
	golden.Check(t, "testdata/replies.txt", got.String())
}
