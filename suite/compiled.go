package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"path"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A compiled suite is what Parse makes of an embedded file, as a compressed gob
// behind the SHA-256 of that file: reading YAML takes thirty times as long, and
// JSON three times. One that is missing or of another text than the embedded file
// is not used. To compile the suites after a change:
//
//	go test ./suite -run TestCompiled -update

// compiledExt is the end of the names of compiled suites.
const compiledExt = ".gob.zst"

// compile returns the compiled form of a suite that was parsed from text.
func compile(s *Suite, text []byte) ([]byte, error) {
	var content bytes.Buffer
	if err := gob.NewEncoder(&content).Encode(s); err != nil {
		return nil, err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return encoder.EncodeAll(content.Bytes(), sum[:]), nil
}

// compiled returns the embedded suite of that name if it is compiled from text.
func compiled(name string, text []byte) (*Suite, bool) {
	content, err := data.ReadFile(path.Join("compiled", name+compiledExt))
	sum := sha256.Sum256(text)
	content, current := bytes.CutPrefix(content, sum[:])
	if err != nil || !current {
		return nil, false
	}
	if content, err = decoder().DecodeAll(content, nil); err != nil {
		return nil, false
	}
	s := &Suite{}
	return s, gob.NewDecoder(bytes.NewReader(content)).Decode(s) == nil
}

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		panic("zstd: " + err.Error()) // the options are wrong
	}
	return d
})
