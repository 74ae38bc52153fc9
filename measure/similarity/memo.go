package similarity

import (
	"context"
	"sync"
)

// Memo returns a similarity that scores each distinct pair once and remembers
// it, for measurements that compare the same texts over and over. Memory grows
// with the distinct pairs.
func Memo(s Similarity) Similarity { return &memo{Similarity: s, scores: map[Pair]float64{}} }

type memo struct {
	Similarity
	mu     sync.RWMutex
	scores map[Pair]float64
}

func (m *memo) Scores(ctx context.Context, pairs []Pair) ([]float64, error) {
	scores := make([]float64, len(pairs))
	var missing []Pair
	var places []int
	m.mu.RLock()
	for i, p := range pairs {
		score, known := m.scores[p]
		if scores[i] = score; !known {
			missing, places = append(missing, p), append(places, i)
		}
	}
	m.mu.RUnlock()
	if len(missing) == 0 {
		return scores, nil
	}
	found, err := m.Similarity.Scores(ctx, missing)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, p := range missing {
		m.scores[p] = found[i]
		scores[places[i]] = found[i]
	}
	return scores, nil
}
