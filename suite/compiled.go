package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"path"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A compiled suite is what Parse makes of an embedded file, as compressed JSON
// behind the SHA-256 of that file: reading YAML takes ten times as long. One
// that is missing or of another text than the embedded file is not used. To
// compile the suites after a change:
//
//	go test ./suite -run TestCompiled -update

// compile returns the compiled form of a suite that was parsed from text.
func compile(s *Suite, text []byte) ([]byte, error) {
	content, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return encoder.EncodeAll(content, sum[:]), nil
}

// compiled returns the embedded suite of that name if it is compiled from text.
func compiled(name string, text []byte) (*Suite, bool) {
	content, err := data.ReadFile(path.Join("compiled", name+".json.zst"))
	sum := sha256.Sum256(text)
	content, current := bytes.CutPrefix(content, sum[:])
	if err != nil || !current {
		return nil, false
	}
	if content, err = decoder().DecodeAll(content, nil); err != nil {
		return nil, false
	}
	s := &Suite{}
	return s, json.Unmarshal(content, s) == nil
}

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		panic("zstd: " + err.Error()) // the options are wrong
	}
	return d
})
