// Package similarities opens similarities by name (--similarity): gloss, encoders, programs, endpoints' embeddings.
package similarities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/internal/nearest"
	"crosstalk/measure/langid"
	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/bertscore"
	"crosstalk/measure/similarity/embedding"
	"crosstalk/measure/similarity/exec"
	"crosstalk/measure/similarity/gloss"
	"crosstalk/measure/similarity/sbert"
	"crosstalk/model"
	"crosstalk/model/openai"
)

// Language returns the language of the texts, for similarities that have a model for each.
type Language func() (string, error)

// kinds are the kinds of similarities, each with its syntax and the function that opens the part after the colon.
var kinds = []struct {
	name, usage string
	open        func(of string, language Language, env *Env) (similarity.Similarity, error)
}{
	{"gloss", "gloss", openGloss},
	{"bertscore", "bertscore[:MODEL]", openBERTScore},
	{"sbert", "sbert[:MODEL]", openSBERT},
	{"exec", "exec:COMMAND", func(command string, _ Language, env *Env) (similarity.Similarity, error) {
		o := exec.Options{Hide: slices.Clone(env.hide), Show: env.show}
		for _, p := range model.Presets() {
			o.Hide = append(o.Hide, p.KeyVar)
		}
		s, err := exec.New(command, o)
		return cachedScores(s, env), err
	}},
}

// batchPairs is the most pairs scored in a call: an encoder sorts them by length, and memory must be bounded.
const batchPairs = 16384

// cachedScores caches a similarity's scores, because its vectors would need a hundred times the space.
func cachedScores(s similarity.Similarity, env *Env) similarity.Similarity {
	return similarity.Batch(similarity.Cached(s, env), batchPairs)
}

// cachedVectors returns a similarity that compares an embedder's vectors and caches them.
func cachedVectors(e embedding.Embedder, env *Env) similarity.Similarity {
	return similarity.Batch(embedding.New(e, env), batchPairs)
}

// Usage lists the names that Open accepts.
func Usage() string {
	usage := ""
	for _, k := range kinds {
		usage += k.usage + ", "
	}
	return usage + "or the embeddings of a provider, such as openai:text-embedding-3-large"
}

// Names returns the kinds of similarity.
func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Open opens a similarity for English texts by name: KIND or KIND:MODEL, such as gloss or sbert. See Env.Open.
func Open(name string) (similarity.Similarity, error) {
	return NewEnv().Open(name, func() (string, error) { return "en", nil })
}

// OpenAll opens the similarities with these names, each once per environment.
func OpenAll(names []string, language Language, env *Env) (list []similarity.Similarity, err error) {
	for _, name := range names {
		s := env.opened[name]
		if s == nil {
			if s, err = env.Open(name, language); err != nil {
				return nil, err
			}
			env.opened[name] = s
		}
		if !slices.ContainsFunc(list, func(other similarity.Similarity) bool { return other.Name() == s.Name() }) {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return nil, crosstalk.BadOption("similarity", " is empty; choose one of: %s", Usage())
	}
	return list, nil
}

// Open opens a similarity by name: KIND, KIND:MODEL or, for a provider's embeddings, PROVIDER:MODEL, optionally
// followed by @URL for another server. It validates the name, its files and its key, but sends no request and
// computes nothing. It calls language only if the name needs it.
func (e *Env) Open(name string, language Language) (similarity.Similarity, error) {
	kind, of, _ := strings.Cut(name, ":")
	for _, k := range kinds {
		if k.name == kind {
			s, err := k.open(of, language, e)
			if err != nil {
				return nil, err // s may be a nil pointer in an interface
			}
			return s, nil
		}
	}
	if of == "" || !slices.ContainsFunc(model.Presets(), func(p model.Preset) bool { return p.Name == kind }) {
		return nil, fmt.Errorf("unknown similarity %q; %schoose one of: %s", name, nearest.Question(kind, Names()), Usage())
	}
	o := model.Options{API: crosstalk.Embeddings}
	if i := strings.Index(name, "@http"); i > 0 {
		name, o.BaseURL = name[:i], name[i+1:]
	}
	m, err := model.Open(name, o)
	if err != nil {
		return nil, err
	}
	return cachedVectors(openai.NewEmbedder(m.Identity().String(), &lateAsker{env: e, model: m}), e), nil
}

func openGloss(model string, _ Language, _ *Env) (similarity.Similarity, error) {
	if model != "" {
		return nil, fmt.Errorf("gloss has no models; expected gloss without %q", model)
	}
	v, err := gloss.Load()
	if err != nil {
		return nil, err
	}
	return similarity.Func(fmt.Sprintf("gloss@%d", gloss.Version), v.Similarity), nil
}

// openBERTScore opens the named model, or the usual one for the language.
func openBERTScore(name string, language Language, env *Env) (similarity.Similarity, error) {
	if name == "" {
		of, err := language()
		if err != nil {
			return nil, fmt.Errorf("bertscore: %w", err)
		}
		name = bertscore.ModelFor(of)
	}
	m, err := parseHubModel("bertscore", name)
	if err != nil {
		return nil, err
	}
	s, err := m.load()
	return cachedScores(s, env), err
}

func openSBERT(name string, _ Language, env *Env) (similarity.Similarity, error) {
	m, err := ParseModel("sbert:" + name)
	if err != nil {
		return nil, err
	}
	s, err := m.load()
	if err != nil {
		return nil, err
	}
	return cachedVectors(s.(*sbert.Scorer), env), nil
}

// Env is the environment of similarities: a cache of computed values, and an asker for embeddings from endpoints. At
// first the cache is in memory and requests are not saved; Use sets the run's. Safe for concurrent use after
// that.
type Env struct {
	similarity.Cache
	ask        func(crosstalk.Model) crosstalk.Asker
	opened     map[string]similarity.Similarity // by OpenAll
	hide, show []string                         // environment variables; see Programs
}

// Programs chooses which environment variables programs (exec:) see: not the keys of providers, the variables in
// hide, or others with names of secrets, except those in show. Call it before Open.
func (e *Env) Programs(hide, show []string) { e.hide, e.show = hide, show }

// NewEnv returns the environment of a measurement without a run directory.
func NewEnv() *Env {
	e := &Env{opened: map[string]similarity.Similarity{}}
	e.Use(similarity.NewMemoryCache(128<<20), ask.NewSession(&ask.Memory{}, ask.Options{}).For)
	return e
}

// Use sets the cache and the asker of the similarities. It must not be called during a comparison.
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

// CheckGloss refuses gloss, which only has English words, for a suite without English items, and names the command
// that fetches a suitable model. names are similarities as for Open; languages are the BCP 47 tags of the suite's
// items, English if there are none.
func CheckGloss(names []string, suite string, languages []string) error {
	english := func(language string) bool { return primary(language) == "en" }
	if !slices.Contains(names, "gloss") || len(languages) == 0 || slices.ContainsFunc(languages, english) {
		return nil
	}
	one := primary(languages[0])
	if slices.ContainsFunc(languages, func(l string) bool { return primary(l) != one }) {
		one = "" // the model for all languages, which has to be given
	}
	model, name := "bertscore:"+bertscore.ModelFor(one), "bertscore"
	if one == "" {
		name = model
	}
	return fmt.Errorf("gloss compares English only, and the suite %s is in %s. Fetch a model for it with:\n"+
		"  crosstalk models pull %s\n"+
		"Then repeat the command with --similarity %s, or use a provider's embeddings: "+
		"--similarity openai:text-embedding-3-large", suite, strings.Join(languages, ", "), model, name)
}

// primary returns the language of a tag, without script and region, in lower case.
func primary(tag string) string {
	code, _ := langid.Canonical(tag)
	return code
}

// CommonLanguage returns the only language of these tags, without its region, and English if there are no tags.
func CommonLanguage(tags []string) (string, error) {
	var languages []string
	for _, tag := range tags {
		if language := primary(tag); language != "" && !slices.Contains(languages, language) {
			languages = append(languages, language)
		}
	}
	switch len(languages) {
	case 0:
		return "en", nil
	case 1:
		return languages[0], nil
	}
	slices.Sort(languages)
	return "", fmt.Errorf("the items are in several languages (%s): "+
		"name one model for all, such as bertscore:bert-base-multilingual-cased", strings.Join(languages, ", "))
}
