package embedded

import (
	"bytes"
	"testing"

	"crosstalk/measure/langid/fasttext"
)

func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fasttext.Read(bytes.NewReader(model), int64(len(model)), "embedded"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIdentify(b *testing.B) {
	m := Identifier()
	for b.Loop() {
		m.Identify("Yesterday I bought fresh bread and cheese at the market near our house")
	}
}
