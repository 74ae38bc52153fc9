package similarity

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"
)

// Key identifies a computed value: the hash of its inputs.
type Key [16]byte

// KeyOf is the key for a value that these parts determine.
func KeyOf(parts ...string) Key {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return Key(h.Sum(nil)[:16])
}

// Cache keeps results that are expensive to compute from one measurement to the next. Safe for concurrent use.
type Cache interface {
	Get(Key) (value []byte, found bool, err error)
	Put(map[Key][]byte) error
}

// Cached returns a similarity whose scores are computed once and cached in c.
func Cached(s Similarity, c Cache) Similarity { return cached{s, c} }

type cached struct {
	Similarity
	cache Cache
}

func (s cached) Scores(ctx context.Context, pairs []Pair) ([]float64, error) {
	scores := make([]float64, len(pairs))
	var missing []Pair
	var places []int
	for i, p := range pairs {
		value, found, err := s.cache.Get(s.key(p))
		if err != nil {
			return nil, err
		}
		if found && len(value) == 8 {
			scores[i] = math.Float64frombits(binary.LittleEndian.Uint64(value))
			continue
		}
		missing, places = append(missing, p), append(places, i)
	}
	if len(missing) == 0 {
		return scores, nil
	}
	made, err := s.Similarity.Scores(ctx, missing)
	if err != nil {
		return nil, err
	}
	values := make(map[Key][]byte, len(made))
	for i, score := range made {
		scores[places[i]] = score
		values[s.key(missing[i])] = binary.LittleEndian.AppendUint64(nil, math.Float64bits(score))
	}
	return scores, s.cache.Put(values)
}

func (s cached) key(p Pair) Key {
	if p.Source != "" {
		return KeyOf("score", s.Name(), p.A, p.B, p.Source)
	}
	return KeyOf("score", s.Name(), p.A, p.B)
}

// Bytes writes a vector, little-endian.
func Bytes(v []float32) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, v)
	return b
}

// Floats reads what Bytes wrote.
func Floats(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	binary.Decode(b, binary.LittleEndian, v)
	return v
}

// NewMemoryCache returns a Cache that keeps the last limit bytes of values in memory.
func NewMemoryCache(limit int) Cache { return &memory{limit: limit, values: map[Key][]byte{}} }

type memory struct {
	mu     sync.Mutex
	limit  int
	size   int
	values map[Key][]byte
	order  []Key // in order of arrival
}

func (m *memory) Get(k Key) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, found := m.values[k]
	return v, found, nil
}

func (m *memory) Put(values map[Key][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, v := range values {
		if _, again := m.values[k]; again {
			continue
		}
		m.values[k] = v
		m.order = append(m.order, k)
		m.size += len(v)
	}
	for m.size > m.limit {
		oldest := m.order[0]
		m.order = m.order[1:]
		m.size -= len(m.values[oldest])
		delete(m.values, oldest)
	}
	return nil
}
