package guard

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"
	"testing"

	"crosstalk/internal/testing/golden"
)

// summary describes a judgement in a line.
func summary(j Judgement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %.4f %s %s %d/%d", j.Verdict, j.P, j.Language, j.Judged, j.Unclear, j.Units)
	for _, s := range j.Spans {
		fmt.Fprintf(&b, " %d-%d:%s:%s:%.2f", s.Start, s.End, s.Language, s.Kind, s.P)
		if s.Excuse != "" {
			fmt.Fprintf(&b, ":%s", s.Excuse)
		}
	}
	return b.String()
}

// details are the rest of it: what was not judged, and what of each part.
func details(j Judgement) string {
	var b strings.Builder
	for _, m := range j.Masked {
		fmt.Fprintf(&b, "%d-%d %s ", m.Start, m.End, m.Kind)
	}
	for _, p := range j.Parts {
		fmt.Fprintf(&b, "%s %s %.4f", p.Verdict, p.Language, p.P)
		for _, l := range p.Lines {
			fmt.Fprintf(&b, " %d-%d", l.Start, l.End)
		}
	}
	fmt.Fprintf(&b, "%d %d %d %s", j.Mix.Words, j.Mix.Own, j.Mix.Switches, j.Mix.First)
	return b.String()
}

// TestJudgements compares the judgement of each reply, and that of the reply changed in several ways (a byte of
// a hash each), with those of testdata/judgements.txt. A change of the rules may change them: read which and
// write them with -update.
func TestJudgements(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and much text")
	}
	replies := readReplies(t)
	judged := func(k Checker, text, tag string) Judgement {
		t.Helper()
		j, err := k.Check(text, tag)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	var got strings.Builder
	for i, r := range replies {
		j := judged(Checker{}, r.text, r.tag)
		fmt.Fprintf(&got, "%s: %s", r.name, summary(j))
		digest := func(write func(hash.Hash)) {
			h := sha256.New()
			write(h)
			fmt.Fprintf(&got, " %x", h.Sum(nil)[:1])
		}
		also := func(h hash.Hash, k Checker, text, tag string) {
			j := judged(k, text, tag)
			fmt.Fprintln(h, summary(j), details(j))
		}
		digest(func(h hash.Hash) { fmt.Fprintln(h, details(j)) })
		other := replies[(i*7+45)%len(replies)]
		digest(func(h hash.Hash) { // its sentences and lines, which are short
			for line := range strings.SplitSeq(r.text, "\n") {
				for s := range strings.SplitAfterSeq(line, ". ") {
					also(h, Checker{}, s, r.tag)
				}
			}
		})
		digest(func(h hash.Hash) { // another reply before or after it, or as an item, heading or cell
			line, _, _ := strings.Cut(other.text, "\n")
			for _, form := range []string{"%s\n\n%s", "%s\n\n- %s\n- Hotel\n", "%s\n\n| %s | Mi |\n", "# %[2]s\n\n%[1]s", "%s\n%s"} {
				also(h, Checker{}, fmt.Sprintf(form, r.text, line), r.tag)
			}
		})
		digest(func(h hash.Hash) { also(h, Checker{Threshold: 0.001}, r.text, r.tag) })
		digest(func(h hash.Hash) { also(h, Checker{}, r.text, other.tag) })
		digest(func(h hash.Hash) { // a few words of another reply in its middle
			words, at := strings.Fields(other.text), strings.LastIndexByte(r.text[:len(r.text)/2], ' ')+1
			for n := range 6 {
				also(h, Checker{}, r.text[:at]+strings.Join(words[:min(len(words), 1+n)], " ")+" "+r.text[at:], r.tag)
			}
		})
		digest(func(h hash.Hash) { // as it is generated, and as the message of a user
			stream, err := Checker{}.Stream(r.tag)
			if err != nil {
				t.Fatal(err)
			}
			rest := r.text
			if i%3 == 0 {
				rest += "\n\n" + other.text
			}
			for rest != "" {
				n := min(len(rest), 1+len(rest)%37)
				for _, s := range stream.Write(rest[:n]) {
					fmt.Fprintln(h, len(rest), s.Start, s.End, s.Language, s.Kind, s.P)
				}
				rest = rest[n:]
			}
			fmt.Fprintln(h, summary(stream.Close()))
			line, _, _ := strings.Cut(r.text, "\n")
			fmt.Fprintln(h, Checker{}.UserLanguage(r.text), Checker{}.UserLanguage(other.text, line),
				Checker{}.UserLanguage(r.text[:min(len(r.text), 20)]))
		})
		got.WriteByte('\n')
	}
	golden.Check(t, "testdata/judgements.txt", got.String())
}
