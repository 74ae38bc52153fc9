package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/gloss/lexicon"
	"crosstalk/internal/gloss/vectorfile"
)

// A WordNet of four synsets, in its own formats: dogs bark, cats do not.
func tiny() map[string][]byte {
	return map[string][]byte{
		"data.noun": []byte("  1 a licence  \n" +
			"00000010 05 n 02 dog 0 Domestic_dog 1 002 @ 00000030 n 0000 + 00000040 v 0101 | an animal that barks; \"the dog barked all night\"; \"mad dogs\"\n" +
			"00000020 05 n 01 cat 0 001 @ 00000030 n 0000 | a furry animal\n" +
			"00000030 03 n 01 animal 0 002 ~ 00000010 n 0000 ~ 00000020 n 0000 | something living\n"),
		"data.verb":  []byte("00000040 39 v 01 bark a 000 01 + 02 00 | make the noise of a dog\n"),
		"data.adj":   []byte("00000050 00 s 01 furry(p) 0 001 & 00000050 a 0000 | covered with fur\n"),
		"index.noun": []byte("dog n 1 2 @ + 1 1 00000010\ndomestic_dog n 1 1 @ 1 0 00000010\ncat n 1 1 @ 1 1 00000020\nanimal n 1 1 ~ 1 1 00000030\n"),
		"index.verb": []byte("bark v 1 0 1 0 00000040\n"),
		"index.adj":  []byte("furry a 1 1 & 1 0 00000050\n"),
		"cntlist.rev": []byte("dog%1:05:00:: 1 42\nbark%2:39:10:: 1 3\nfurry%5:00:00:hairy:00 1 2\n" +
			"furry%5:00:00:shaggy:00 1 1\n"),
		"noun.exc": []byte("doggen dog\ndogz dog\ndogz nothing dog\n"),
	}
}

func TestParseWordNet(t *testing.T) {
	w, err := parseWordNet(tiny())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(w.synsets); n != 5 {
		t.Fatalf("%d synsets", n)
	}
	dog := w.synsets[0]
	if got := strings.Join(dog.words, " "); got != "dog domestic_dog" {
		t.Errorf("words %q", got)
	}
	if dog.definition != "an animal that barks" || dog.examples != `the dog barked all night" ; mad dogs"` {
		t.Errorf("definition %q, examples %q", dog.definition, dog.examples)
	}
	if len(dog.pointers) != 2 || dog.pointers[0].target != 2 || dog.pointers[1].target != 3 || dog.pointers[1].symbol != "+" {
		t.Errorf("pointers %+v", dog.pointers)
	}
	for lemma, count := range map[string]int{"dog": 42, "bark": 3, "furry": 3, "cat": 0} {
		id, ok := w.lexicon.Find(lemma)
		if !ok || w.count(id) != count {
			t.Errorf("%s: %v, count %d, expected %d", lemma, ok, w.count(id), count)
		}
	}
	if got := w.lexicon.Lemmas(nil, "doggen"); len(got) != 1 || w.lexicon.Lemma(got[0]) != "dog" {
		t.Errorf("doggen: %v", got)
	}
}

func TestParseErrors(t *testing.T) {
	for _, x := range []struct{ file, old, new, want string }{
		{"data.noun", "00000030 n 0000 + ", "00000031 n 0000 + ", "data.noun:2: pointer to 00000031 of data.noun, where no synset is"},
		{"data.noun", "05 n 01 cat", "05 q 01 cat", `data.noun:3: synset type "q"`},
		{"data.noun", "n 01 cat", "n zz cat", `data.noun:3: "zz" where a number of base 16 is expected`},
		{"data.noun", "000 01 + 02 00", "099", ""},
		{"data.verb", "a 000 01", "a 999 01", "data.verb:1: "},
		{"index.noun", "1 1 00000020", "1 1 00000021", `index.noun:3: "cat" has a sense that no synset lists`},
		{"index.noun", "cat n 1", "cow n 1", `index.noun:3: "cow" has a sense that no synset lists`},
		{"cntlist.rev", "1 42", "1 many", `cntlist.rev:1: "many" where a number`},
		{"cntlist.rev", "%1:05:00:: 1 42", "", "cntlist.rev:1: no sense key"},
		{"noun.exc", "doggen dog", "doggen", "noun.exc:1: no base"},
	} {
		files := tiny()
		files[x.file] = []byte(strings.Replace(string(files[x.file]), x.old, x.new, 1))
		_, err := parseWordNet(files)
		if x.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("error %v, expected %q", err, x.want)
		}
	}
}

func TestReadWordNetRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := readWordNet(dir); err == nil || !strings.Contains(err.Error(), "wordnet-base") {
		t.Errorf("empty folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, sums[0].name), []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readWordNet(dir); err == nil || !strings.Contains(err.Error(), "expected "+sums[0].sum) {
		t.Errorf("other file: %v", err)
	}
}

func TestGlosses(t *testing.T) {
	w, err := parseWordNet(tiny())
	if err != nil {
		t.Fatal(err)
	}
	bags, occurrences := w.glosses()
	weight := func(synset int, lemma string) float64 {
		id, _ := w.lexicon.Find(lemma)
		for _, x := range bags[synset] {
			if x.lemma == id {
				return x.weight
			}
		}
		return 0
	}
	for _, x := range []struct {
		synset int
		lemma  string
		want   float64
	}{
		{0, "animal", 1}, {0, "bark", 1 + exampleWeight}, {0, "dog", 0}, // its own word
		{1, "furry", 1}, {1, "animal", 1}, {2, "dog", 0}, {3, "dog", 1},
	} {
		if got := weight(x.synset, x.lemma); got != x.want {
			t.Errorf("synset %d, %s: %v, expected %v", x.synset, x.lemma, got, x.want)
		}
	}
	if id, _ := w.lexicon.Find("animal"); occurrences[id] != 2 {
		t.Errorf("animal occurs in %d glosses", occurrences[id])
	}
}

// Glosses are read without folding: a contraction is a word, an accented letter none.
func TestAddText(t *testing.T) {
	l := lexicon.New([]string{"it", "it_girl", "naive", "ve"}, make([]lexicon.Set, 4))
	weights := map[int32]float64{}
	addText(weights, l, "It's na\u00efve; the it girl", 1)
	if len(weights) != 2 || weights[0] != 1 || weights[3] != 1 {
		t.Errorf("weights %v, expected 1 for it and for ve", weights)
	}
}

func TestGraphAndWalk(t *testing.T) {
	w, err := parseWordNet(tiny())
	if err != nil {
		t.Fatal(err)
	}
	words := w.lexicon.Len()
	g := w.graph(make([]bag, len(w.synsets)), make([]int, words)) // glosses left out
	id := func(lemma string) int32 {
		i, _ := w.lexicon.Find(lemma)
		return i
	}
	weight := func(from, to int) float64 {
		for _, e := range g.row(from) {
			if int(e.column) == to {
				return e.value
			}
		}
		return 0
	}
	near := func(what string, got, want float64) {
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, expected %v", what, got, want)
		}
	}
	near("word to its only sense", weight(int(id("dog")), words), 1-mentionMass)
	near("synset to one of two words", weight(words, int(id("domestic_dog"))), lemmaMass/2)
	near("hypernym", weight(words, words+2), relationMass*1.0/2.5)
	near("derivation", weight(words, words+3), relationMass*1.5/2.5)

	visits := walk(g, []int32{id("domestic_dog"), id("cat")}, words)
	visit := func(row int, lemma string) float64 {
		for _, e := range visits.row(row) {
			if e.column == id(lemma) {
				return e.value
			}
		}
		return 0
	}
	// From cat and back: through its synset; twice so; or through the synset of animals, of whose two hyponyms cat is
	// one.
	once := (1 - mentionMass) * lemmaMass
	far := (1 - mentionMass) * relationMass * relationMass / 2 * lemmaMass
	near("cat to cat", visit(1, "cat"), walkStart+math.Pow(walkDecay, 2)*once+math.Pow(walkDecay, 4)*(once*once+far))
	if a, b := visit(0, "dog"), visit(0, "cat"); !(a > b && b > 0) {
		t.Errorf("from domestic_dog: dog %v, cat %v", a, b)
	}
}

func TestInformation(t *testing.T) {
	for n, want := range map[int]float64{0: math.Log(500) - 1, 98: math.Log(10) - 1, 998: 0} {
		if got := information(n, 1000); math.Abs(got-want) > 1e-14 {
			t.Errorf("in %d of 1000 glosses: %v, expected %v", n, got, want)
		}
	}
}

// A synset's gloss words share glossMass by weight and information, and a lemma's glosses its mentionMass.
func TestGlossEdges(t *testing.T) {
	w, err := parseWordNet(tiny())
	if err != nil {
		t.Fatal(err)
	}
	words := w.lexicon.Len()
	w.synsets = append(w.synsets, make([]synset, 995)...) // so that words tell something
	bags := make([]bag, len(w.synsets))
	bags[0], bags[1] = bag{{0, 1}, {1, 2}}, bag{{1, 1}}
	occurrences := make([]int, words)
	occurrences[1] = 98
	g := w.graph(bags, occurrences)
	total := information(0, 1000) + 2*information(98, 1000)
	for _, x := range []struct {
		from, to int
		want     float64
	}{
		{words, 0, glossMass * information(0, 1000) / total},
		{words, 1, glossMass * 2 * information(98, 1000) / total},
		{words + 1, 1, glossMass},
		{0, words, mentionMass},
		{1, words + 1, mentionMass / (1 + 2*information(98, 1000)/total)},
	} {
		got := 0.0
		for _, e := range g.row(x.from) {
			if int(e.column) == x.to {
				got = e.value
			}
		}
		for _, s := range w.senses[min(x.from, words-1)] { // a sense adds to a mention of the same synset
			if x.from < words && words+int(s.synset) == x.to {
				got -= 1 - mentionMass
			}
		}
		if math.Abs(got-x.want) > 1e-12 {
			t.Errorf("from %d to %d: %v, expected %v", x.from, x.to, got, x.want)
		}
	}
}

func TestPPMI(t *testing.T) {
	// Ten rows: all visit column 0, which tells nothing; column 1 is visited by too few; row 9 prefers column 2.
	rows := make([][]entry, contextMin)
	for i := range rows {
		rows[i] = []entry{{0, 8}, {2, 1}}
	}
	rows[0] = append(rows[0], entry{1, 1})
	rows[9][1].value = 8
	m := ppmi(newSparse(rows, 3))
	if m.columns != 2 {
		t.Fatalf("%d columns, expected 2", m.columns)
	}
	p0, p1, p2 := 8./10+8*8./9+0.5, 1./10, 1./10+8./9+0.5
	smooth := func(x float64) float64 { return math.Pow(x, contextPower) }
	want := math.Log(0.5) - math.Log(smooth(p2)/(smooth(p0)+smooth(p1)+smooth(p2)))
	row := m.row(9)
	if len(row) != 1 || row[0].column != 1 || math.Abs(row[0].value-want) > 1e-12 {
		t.Errorf("row 9: %v, expected %v in column 1", row, want)
	}
}

func TestDerivedFrom(t *testing.T) {
	for word, want := range map[string][]string{
		"happily": {"happi", "happy", "happile"}, "basically": {"basical", "basicay", "basicalle", "basic"},
		"laziness": {"lazy"}, "kindness": {"kind"}, "organise": {"organize"}, "well-known": {"wellknown", "well_known"},
		"ly": nil, "dog": nil,
	} {
		if got := derivedFrom(word); !slices.Equal(got, want) {
			t.Errorf("derivedFrom(%q) = %q, expected %q", word, got, want)
		}
	}
}

func TestQuantise(t *testing.T) {
	d := normal(3, vectorfile.Dim, 1)
	d.RawRowView(1)[0], d.RawRowView(1)[1] = 100, -100
	codes := quantise(d)
	code := func(row, i int) int {
		return int(codes[row*vectorfile.Stride+i/2]>>(4*(i%2))&15) - vectorfile.Zero
	}
	if code(1, 0) != 7 || code(1, 1) != -7 {
		t.Errorf("beyond the range: %d, %d", code(1, 0), code(1, 1))
	}
	for i, x := range d.RawRowView(0) { // of deviation 1
		if want := max(-7, min(7, x/(2.6/7))); math.Abs(float64(code(0, i))-want) > 1.2 {
			t.Errorf("%v has code %d, expected about %.1f", x, code(0, i), want)
		}
	}
}

func TestFile(t *testing.T) {
	w, err := parseWordNet(tiny())
	if err != nil {
		t.Fatal(err)
	}
	_, occurrences := w.glosses()
	dog, _ := w.lexicon.Find("dog")
	f := w.file([]int32{dog}, occurrences)
	if !slices.Equal(f.Lemmas, []string{"dog"}) || f.POS[0] != lexicon.Of(lexicon.Noun) {
		t.Errorf("lemmas %q, parts of speech %v", f.Lemmas, f.POS)
	}
	if want := uint8(math.Round(16 * math.Log2(1+1+21))); f.Frequency[0] != want { // one gloss, half of 42
		t.Errorf("frequency %d, expected %d", f.Frequency[0], want)
	}
	if len(f.Exceptions) != 2 || f.Exceptions[0].Form != "doggen" {
		t.Errorf("exceptions %+v", f.Exceptions)
	}
}
