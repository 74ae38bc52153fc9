package vectorfile

import (
	"bytes"
	"reflect"
	"strings"
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

func encode(t testing.TB, f *File) []byte {
	t.Helper()
	data, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRoundTrip(t *testing.T) {
	for _, f := range []*File{sample(), {Lemmas: []string{}, POS: []lexicon.Set{}, Exceptions: []Exception{},
		Frequency: []byte{}, Codes: []byte{}}} {
		got, err := Decode(encode(t, f))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, f) {
			t.Errorf("got %v, expected %v", got, f)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for want, change := range map[string]func(*File){
		"does not come after": func(f *File) { f.Lemmas[0] = "zebra" },
		"is longer than":      func(f *File) { f.Lemmas[4] = strings.Repeat("x", 128) },
		"parts of speech":     func(f *File) { f.POS = f.POS[1:] },
		"bytes of codes":      func(f *File) { f.Codes = f.Codes[1:] },
	} {
		f := sample()
		change(f)
		if _, err := f.Encode(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	data := encode(t, sample())
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
