package words

import (
	"testing"

	"crosstalk/measure/langid/words/levels"
)

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		levels.Tables(file[idBytes:])
	}
}

func BenchmarkAnalyse(b *testing.B) {
	const text = "Yesterday I bought fresh bread and cheese at the market near our house, weil es dort billig ist, and then walked home."
	for b.Loop() {
		Analyse(text, "en", nil)
	}
}
