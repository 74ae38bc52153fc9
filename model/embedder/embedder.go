// Package embedder asks an embeddings endpoint for vectors, as any model is asked: journalled, retried, within limits.
package embedder

import (
	"context"
	"fmt"

	"crosstalk"
	"crosstalk/model/openai"

	"golang.org/x/sync/errgroup"
)

// Batch is how many texts go into one request.
const Batch = 64

// Embedder is an embedding.Embedder over a model that speaks OpenAI's embeddings API.
type Embedder struct {
	name string
	ask  crosstalk.Asker
}

// New returns the embedder with this name that asks ask, an Asker of a model whose API is crosstalk.Embeddings.
func New(name string, ask crosstalk.Asker) *Embedder { return &Embedder{name, ask} }

// Name implements embedding.Embedder.
func (e *Embedder) Name() string { return e.name }

// Embed implements embedding.Embedder. A request that fails is an error: figures must not rest on the others.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	group, ctx := errgroup.WithContext(ctx)
	for from := 0; from < len(texts); from += Batch {
		input := texts[from:min(from+Batch, len(texts))]
		group.Go(func() error {
			answer, err := e.ask.Ask(ctx, crosstalk.Request{API: crosstalk.Embeddings, Input: input})
			if err != nil {
				return err
			}
			if answer.Status != crosstalk.Text {
				return fmt.Errorf("%s gave no vectors: %s", e.name, answer.Reason)
			}
			made, err := openai.Vectors(answer.Raw, len(input))
			if err != nil {
				return fmt.Errorf("%s: the journalled response %w", e.name, err)
			}
			copy(vectors[from:], made)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, v := range vectors {
		if len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("%s: text %q has a vector of %d dimensions, and another text one of %d", e.name, texts[i],
				len(v), len(vectors[0]))
		}
	}
	return vectors, nil
}
