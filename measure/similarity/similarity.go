// Package similarity is the interface between measures that compare texts and the implementations below it.
package similarity

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"
	"time"
)

// Pair is two texts to compare. For leakage A is the concept and B the answer; measures that are not symmetric take A
// as the candidate and B as the reference (Gonen et al. 2024).
type Pair struct {
	A, B   string
	Source string // the original of A and B, for scorers of translations such as COMET; otherwise empty
}

// Similarity scores how close two texts are in meaning. Scores of different similarities are not comparable.
type Similarity interface {
	// Name identifies the similarity, its model and its version in signatures: "gloss@1".
	Name() string
	// Scores returns one score per pair, higher for closer texts, and NaN if the score is undefined, as for a text
	// without any known word, or an empty one (but BERTScore gives it 0). The range depends on the similarity. Equal
	// pairs get equal scores, to the last bit. An error (a broken file, a server that fails) means no score at all.
	// Safe for concurrent use.
	Scores(ctx context.Context, pairs []Pair) ([]float64, error)
}

// Func builds a Similarity from a function that scores one pair; ok is false if the score is undefined.
func Func(name string, score func(a, b string) (score float64, ok bool)) Similarity {
	return function{name, score}
}

type function struct {
	name  string
	score func(a, b string) (float64, bool)
}

func (f function) Name() string { return f.name }

func (f function) Scores(_ context.Context, pairs []Pair) ([]float64, error) {
	scores := make([]float64, len(pairs))
	for i, p := range pairs {
		var ok bool
		if scores[i], ok = f.score(p.A, p.B); !ok {
			scores[i] = math.NaN()
		}
	}
	return scores, nil
}

// Batch returns a similarity that combines the pairs of concurrent callers into one call of s, with at most size pairs
// (more if a single caller has more). Encoders and servers are faster with many texts.
func Batch(s Similarity, size int) Similarity { return &batch{Similarity: s, size: size} }

// gather is how long the first caller waits for others: enough for concurrent ones, too short to be noticed.
const gather = 2 * time.Millisecond

type batch struct {
	Similarity
	size    int
	mu      sync.Mutex
	waiting []*call
	working bool
}

type call struct {
	pairs  []Pair
	scores []float64
	err    error
	done   chan struct{}
}

func (b *batch) Scores(ctx context.Context, pairs []Pair) ([]float64, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	c := &call{pairs: pairs, done: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, c)
	lead := !b.working
	b.working = true
	b.mu.Unlock()
	if lead {
		// The work continues if this caller gives up, because others wait for it.
		go b.work(context.WithoutCancel(ctx))
	}
	select {
	case <-c.done:
		return c.scores, c.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (b *batch) work(ctx context.Context) {
	time.Sleep(gather)
	for {
		calls := b.take()
		if calls == nil {
			return
		}
		var pairs []Pair
		for _, c := range calls {
			pairs = append(pairs, c.pairs...)
		}
		scores, err := b.Similarity.Scores(ctx, pairs)
		for _, c := range calls {
			if c.err = err; err == nil {
				c.scores, scores = scores[:len(c.pairs):len(c.pairs)], scores[len(c.pairs):]
			}
			close(c.done)
		}
	}
}

func (b *batch) take() []*call {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, pairs := 0, 0
	for n < len(b.waiting) && (n == 0 || pairs+len(b.waiting[n].pairs) <= b.size) {
		pairs += len(b.waiting[n].pairs)
		n++
	}
	if n == 0 {
		b.working = false
		return nil
	}
	calls := b.waiting[:n:n]
	b.waiting = append([]*call(nil), b.waiting[n:]...)
	return calls
}

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
