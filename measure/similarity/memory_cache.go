package similarity

import "sync"

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
