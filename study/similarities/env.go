// Package similarities opens similarities by name (--similarity): gloss, encoders, programs, endpoints' embeddings.
package similarities

import (
	"context"
	"slices"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/exec"
	"crosstalk/model"
)

// Env is the environment of similarities: a cache of computed values, and an asker for embeddings of endpoints. At
// first the cache is in memory and requests are not saved; Use sets a run's. Safe for concurrent use after that.
type Env struct {
	similarity.Cache
	ask        func(crosstalk.Model) crosstalk.Asker
	opened     map[string]similarity.Similarity // by OpenAll
	hide, show []string                         // environment variables; see Programs
}

// Programs chooses what programs (exec:) see of the environment: neither the keys of providers, nor the variables
// in hide, nor others with the names of secrets, except those in show. Call it before Open.
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

// Use sets the cache and the asker of the similarities from now on. Nothing is being compared meanwhile.
func (e *Env) Use(cache similarity.Cache, ask func(crosstalk.Model) crosstalk.Asker) {
	e.Cache, e.ask = cache, ask
}

type lateAsker struct {
	env   *Env
	model crosstalk.Model
}

func (a *lateAsker) Ask(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	return a.env.ask(a.model).Ask(ctx, req)
}
