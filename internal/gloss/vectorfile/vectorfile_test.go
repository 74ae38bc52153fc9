package vectorfile

import (
	"bytes"
	"os"
	"reflect"
	"testing"

	"crosstalk/internal/gloss/lexicon"
)

func sample() *File {
	f := &File{
		Lemmas:    []string{"ice", "ice_cream", "ice_cream_cone", "supercalifragilistic", "supercalifragilisticexpialidocious"},
		POS:       []lexicon.Set{1, 3, 15, 0, 8},
		Frequency: []uint8{0, 1, 255, 4, 5},
		Exceptions: []Exception{
			{lexicon.Noun, "ices", []int32{0}}, {lexicon.Verb, "iced", []int32{4, 0}}, {lexicon.Adverb, "icier", []int32{}},
		},
	}
	for i := range len(f.Lemmas) * Stride {
		f.Codes = append(f.Codes, byte(i*7))
	}
	return f
}

// encoded is the sample as the builder writes it, whose tests read it too.
func encoded(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/sample.bin")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecode(t *testing.T) {
	none := []byte("gloss/1\n\x69\xdf\x22\x65\x00\x00\x00\x00\x00\x00\x00\x00")
	for _, c := range []struct {
		data []byte
		want *File
	}{{encoded(t), sample()}, {none, &File{Lemmas: []string{}, POS: []lexicon.Set{}, Exceptions: []Exception{},
		Frequency: []byte{}, Codes: []byte{}}}} {
		if got, err := Decode(c.data); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %v, %v; expected %v", got, err, c.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	data := encoded(t)
	for n := range data {
		if _, err := Decode(data[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are accepted", n, len(data))
		}
		broken := bytes.Clone(data)
		broken[n] ^= 0x10
		if _, err := Decode(broken); err == nil {
			t.Fatalf("accepted with byte %d changed", n)
		}
	}
	if _, err := Decode(append(bytes.Clone(data), 0)); err == nil {
		t.Error("accepted with a byte more")
	}
}
