// Package similarities opens similarities by name, as in --similarity: an embedded
// one, an encoder, a program, or the embeddings of an endpoint.
package similarities

import (
	"context"
	"slices"
	"sync"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/exec"
	"crosstalk/model"
)

// Env is the environment of similarities: a cache of computed values, and an asker
// for the embeddings of endpoints. It starts with a cache in memory and requests
// that are not saved; Use sets a run's. Safe for concurrent use.
type Env struct {
	mu     sync.Mutex
	cache  similarity.Cache
	ask    func(crosstalk.Model) crosstalk.Asker
	askers map[*lateAsker]crosstalk.Asker // made by ask

	opened map[string]similarity.Similarity // by OpenAll

	hide, show []string // environment variables; see Programs
}

// Programs chooses what programs (exec:) see of the environment: neither the keys of
// providers, nor the variables in hide, nor others with the names of secrets, except
// those in show. Call it before Open.
func (e *Env) Programs(hide, show []string) { e.hide, e.show = hide, show }

func (e *Env) programs() exec.Options {
	o := exec.Options{Hide: slices.Clone(e.hide), Show: e.show}
	for _, p := range model.Presets() {
		o.Hide = append(o.Hide, p.KeyVar)
	}
	return o
}

// memoryBytes bounds the cache of a measurement without a run directory.
const memoryBytes = 128 << 20

// NewEnv returns the environment of a measurement without a run directory.
func NewEnv() *Env {
	e := &Env{opened: map[string]similarity.Similarity{}}
	e.Use(similarity.NewMemoryCache(memoryBytes), ask.NewSession(&ask.Memory{}, ask.Options{}).For)
	return e
}

// Use sets the cache and the asker of the similarities from now on.
func (e *Env) Use(cache similarity.Cache, ask func(crosstalk.Model) crosstalk.Asker) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cache, e.ask, e.askers = cache, ask, map[*lateAsker]crosstalk.Asker{}
}

func (e *Env) current() similarity.Cache {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cache
}

// Get implements similarity.Cache.
func (e *Env) Get(k similarity.Key) ([]byte, bool, error) { return e.current().Get(k) }

// Put implements similarity.Cache.
func (e *Env) Put(values map[similarity.Key][]byte) error { return e.current().Put(values) }

// lateAsker asks through the environment's current asker.
type lateAsker struct {
	env   *Env
	model crosstalk.Model
}

// Ask implements crosstalk.Asker.
func (a *lateAsker) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	return a.env.askerOf(a).Ask(ctx, req)
}

func (e *Env) askerOf(a *lateAsker) crosstalk.Asker {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.askers[a] == nil {
		e.askers[a] = e.ask(a.model)
	}
	return e.askers[a]
}
