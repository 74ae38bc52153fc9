package gloss

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"crosstalk/internal/gloss/vectorfile"
)

func open(t testing.TB) *Vectors {
	t.Helper()
	v, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEmbeddedFile(t *testing.T) {
	if n := len(embedded); n >= 8_000_000 {
		t.Errorf("%d bytes, expected less than 8 MB", n)
	}
	if n := open(t).lexicon.Len(); n != 64_000 {
		t.Errorf("%d lemmas, expected 64,000", n)
	}
	if again := open(t); again != open(t) {
		t.Error("Load decodes again")
	}
}

func TestCorruptFile(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty":     nil,
		"truncated": embedded[:len(embedded)-1],
		"changed":   append(bytes.Clone(embedded[:len(embedded)-1]), embedded[len(embedded)-1]^1),
	} {
		if _, err := decode(data); err == nil || !strings.HasPrefix(err.Error(), "gloss: vector file: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Related and neutral texts for a concept.
var ourTriples = [][3]string{
	{"teacher", "The school.", "The harbour."},
	{"doctor", "a hospital", "a bakery"},
	{"winter", "snow and ice", "pineapples"},
	{"fisherman", "a boat on the lake", "a tractor in the barn"},
	{"baker", "bread and cakes", "nails and screws"},
	{"pianist", "She plays Mozart.", "She plays tennis."},
	{"the library", "novels", "hammers"},
	{"bees", "honey", "gravel"},
	{"soldier", "the army", "the orchestra"},
	{"red", "crimson", "Tuesday"},
	{"Paris", "France", "Brazil"},
	{"guitar", "a musician", "a plumber"},
	{"telescope", "stars and planets", "shirts and trousers"},
	{"carpenter", "wooden chairs", "rainy weather"},
	{"lemon", "sour", "metallic"},
	{"knife", "cutting vegetables", "reading poetry"},
	{"volcano", "lava", "butter"},
	{"violin", "an orchestra", "a garage"},
	{"pirate", "a ship", "a desk"},
	{"wheat", "flour", "gasoline"},
}

func TestOurTriples(t *testing.T) {
	if got, notScored := share(t, open(t), ourTriples); got < 0.9 || notScored > 0 {
		t.Errorf("%.2f of %d triples ordered rightly, %d not scored", got, len(ourTriples), notScored)
	}
}

func TestSymmetryAndRange(t *testing.T) {
	v := open(t)
	texts := []string{"yellow", "Yellow.", "an apple", "New York", "the ice cream man’s old lorry", "crème brûlée", "xqzzt apple"}
	for _, x := range ourTriples {
		texts = append(texts, x[:]...)
	}
	for _, a := range texts {
		self, ok := v.Similarity(a, a)
		if !ok || math.Abs(self-1.2) > 1e-9 {
			t.Errorf("%q with itself: %v, %v", a, self, ok)
		}
		for _, b := range texts {
			ab, ok := v.Similarity(a, b)
			ba, _ := v.Similarity(b, a)
			if !ok || ab != ba {
				t.Errorf("%q, %q: %v one way, %v the other", a, b, ab, ba)
			}
			if ab < -1 || ab > self+1e-12 {
				t.Errorf("%q, %q: %v", a, b, ab)
			}
		}
	}
}

func TestSameReadingTies(t *testing.T) {
	v := open(t)
	for _, pair := range [][2]string{{"an apple", "An apple."}, {"crème", "CREME"}, {"it’s a dog", "it's  a dog!"}} {
		for _, concept := range []string{"fruit", "the kitchen", "Paris"} {
			x, _ := v.Similarity(concept, pair[0])
			y, _ := v.Similarity(concept, pair[1])
			if x != y {
				t.Errorf("%s: %q %v, %q %v", concept, pair[0], x, pair[1], y)
			}
		}
	}
}

func TestNotScored(t *testing.T) {
	v := open(t)
	for _, text := range []string{"", " ", "...", "it is", "Don't!", "日本語", "qzx", "\xff\xfe"} {
		for _, other := range []string{"apple", text} {
			if score, ok := v.Similarity(text, other); ok || score != 0 {
				t.Errorf("%q, %q: %v, %v", text, other, score, ok)
			}
			if _, ok := v.Similarity(other, text); ok {
				t.Errorf("%q, %q: scored", other, text)
			}
		}
	}
}

func TestLemmas(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"The koalas.":            "koala",
		"He ran to the churches": "run church",
		"It’s my children’s":     "child",
		"credit cards":           "credit_card credit cards",
		"livingroom, wellknown":  "living_room well-known",
		"fire-truck":             "fire truck",
		"gloominess":             "gloomy",
		"customise and polarise": "customize polarize",
		"glamourous":             "glamour",
		"giraffe-zebra":          "giraffe zebra",
		"dragonhouse":            "dragon house",
		"xqzzt of 日本":            "-",
		"Down\u2019s syndrome":   "syndrome", // no entry starts with a stop word
		"the Statue of Liberty":  "statue_of_liberty statue liberty",
	} {
		var got []string
		for _, lemma := range open(t).Lemmas(text) {
			got = append(got, cmp.Or(lemma, "-"))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("Lemmas(%q)\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestRareLemmasWeighMore(t *testing.T) {
	items := open(t).prepare("city giraffe").items
	if len(items) != 2 || items[0].weight >= items[1].weight || items[0].weight <= 0 || items[1].weight > 1 {
		t.Errorf("%+v", items)
	}
}

func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	row := func(fill func() int) []byte {
		b := make([]byte, vectorfile.Stride)
		for i := range b {
			b[i] = byte(fill() | fill()<<4)
		}
		return b
	}
	for range 100 {
		a, b := row(func() int { return r.IntN(16) }), row(func() int { return r.IntN(16) })
		want := 0
		for i := range a {
			want += int(a[i]&15)*int(b[i]&15) + int(a[i]>>4)*int(b[i]>>4)
		}
		if got := dot(a, b); got != want {
			t.Fatalf("dot = %d, expected %d", got, want)
		}
	}
	full := row(func() int { return 15 })
	if got, want := dot(full, full), 225*vectorfile.Dim; got != want {
		t.Errorf("of the largest codes: %d, expected %d", got, want)
	}
}

// The cosine of single words, worked out from their decoded vectors.
func TestCosine(t *testing.T) {
	v := open(t)
	vector := func(lemma string) (x [vectorfile.Dim]float64) {
		id, ok := v.lexicon.Find(lemma)
		if !ok {
			t.Fatalf("no vector for %q", lemma)
		}
		addRow(&x, v.row(id), 1)
		return x
	}
	a, b := vector("tiger"), vector("jungle")
	ab, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	cosine, alignment := v.compare(v.prepare("tiger"), v.prepare("jungle"))
	if want := ab / math.Sqrt(aa*bb); math.Abs(cosine-want) > 1e-12 || math.Abs(alignment-want) > 1e-12 {
		t.Errorf("cosine %v and alignment %v, expected %v", cosine, alignment, want)
	}
}

func TestTrigrams(t *testing.T) {
	for _, x := range []struct {
		a, b string
		want float64
	}{
		{"cat", "cat", 1},
		{"cat", "dog", 0},
		{"cat", "cats", 2 / math.Sqrt(3*4)},            // _ca cat; of _ca cat at_ and _ca cat ats ts_
		{"a a", "a", 2 / math.Sqrt(5)},                 // _a_ twice, a_a; _a_
		{" --cat'  ", "cat", 1},                        // edges
		{"b cat", "cat b", 4. / 5},                     // _b_ _ca cat at_ b_c; _ca cat at_ t_b _b_
		{"", "cat", 0}, {"", "", 0}, {"zzz", "zzz", 1}, // the largest code
	} {
		if got := newTrigrams(x.a).cosine(newTrigrams(x.b)); math.Abs(got-x.want) > 1e-15 {
			t.Errorf("%q, %q: %v, expected %v", x.a, x.b, got, x.want)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	v := open(t)
	want, _ := v.Similarity("a sailor", "the sea 7")
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 1000 {
				v.Similarity("a sailor", fmt.Sprintf("the sea %d", i*(g+1)))
				if got, _ := v.Similarity("a sailor", "the sea 7"); got != want {
					t.Errorf("%v, expected %v", got, want)
					return
				}
			}
		})
	}
	wait.Wait()
}

func TestCacheIsBounded(t *testing.T) {
	var c cache
	for i := range 5 * generation {
		c.put(fmt.Sprint(i), &text{})
		if c.get("0") == nil {
			t.Fatalf("a text in use is gone after %d others", i)
		}
	}
	if n := len(c.young) + len(c.old); n > 2*generation {
		t.Errorf("%d texts", n)
	}
	if c.get("1") != nil {
		t.Error("a text not used is kept")
	}
	long := strings.Repeat("x", maxCached+1)
	if c.put(long, &text{}); c.get(long) != nil {
		t.Error("a long text is kept")
	}
}

func TestAllocations(t *testing.T) {
	v := open(t)
	const a, b = "a sailor", "He saw three ships on the stormy sea."
	if n := testing.AllocsPerRun(100, func() { v.Similarity(a, b) }); n != 0 {
		t.Errorf("%v allocations for known texts", n)
	}
	if n := testing.AllocsPerRun(100, func() { v.prepare(b) }); n > 12 {
		t.Errorf("%v allocations for a new text", n)
	}
}

func FuzzSimilarity(f *testing.F) {
	for _, x := range ourTriples[:4] {
		f.Add(x[0], x[1])
	}
	f.Add("", "\x00\xff")
	f.Add("it’s rock 'n' roll's", "well-known-"+strings.Repeat("a-'", 40))
	f.Add(strings.Repeat("dragonhouse", 9), strings.Repeat("unhappiness", 7))
	f.Fuzz(func(t *testing.T, a, b string) {
		v := open(t)
		ab, ok := v.Similarity(a, b)
		ba, okToo := v.Similarity(b, a)
		if ab != ba || ok != okToo || !(ab >= -1 && ab <= 1.2+1e-9) {
			t.Errorf("%q, %q: %v %v, the other way %v %v", a, b, ab, ok, ba, okToo)
		}
		scored := false
		for _, l := range v.Lemmas(a) {
			scored = scored || l != ""
		}
		if _, ok := v.Similarity(a, "apple"); ok != scored {
			t.Errorf("%q: scored %v, lemmas %+v", a, ok, v.Lemmas(a))
		}
	})
}

// Only long texts wait for their turn.
func TestLongTextsTakeTurns(t *testing.T) {
	v := open(t)
	text := strings.Repeat("honey ", long/6+1)
	for range cap(longOnes) {
		longOnes <- struct{}{}
	}
	turn(long)()
	if _, ok := v.Similarity("bees", "honey"); !ok {
		t.Error("a short text is not scored")
	}
	compared := make(chan struct{})
	go func() {
		defer close(compared)
		v.Similarity("bees", text)
	}()
	for range 4 { // as long as the comparison would take, and longer
		v.compare(v.prepare("bees"), v.prepare(text))
	}
	select {
	case <-compared:
		t.Error("a long text did not wait")
	default:
	}
	for range cap(longOnes) {
		<-longOnes
	}
	<-compared
	for range cap(longOnes) + 1 {
		turn(long + 1)()
	}
}
