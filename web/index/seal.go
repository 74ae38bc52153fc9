package index

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"
)

// seal signs a stamp with a key of this user. A run from somebody else may include
// an index with false figures: an index that was not made here is not used.
func seal(cache, stamp string) string {
	mac := hmac.New(sha256.New, keyIn(cache))
	mac.Write([]byte(stamp))
	return hex.EncodeToString(mac.Sum(nil))
}

var (
	keyLock sync.Mutex
	keys    = map[string][]byte{} // by directory; of this process where none can be kept
)

// keyIn returns the key in a directory, and creates it if there is none.
func keyIn(cache string) []byte {
	keyLock.Lock()
	defer keyLock.Unlock()
	if key := keys[cache]; key != nil {
		return key
	}
	path := filepath.Join(cache, "key")
	key, err := os.ReadFile(path)
	if err != nil || len(key) != sha256.Size {
		key = make([]byte, sha256.Size)
		rand.Read(key)
		if os.MkdirAll(cache, 0o700) == nil {
			os.WriteFile(path, key, 0o600) // if it cannot be kept, indexes are made anew next time
		}
	}
	keys[cache] = key
	return key
}
