package similarities

import (
	"fmt"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/nearest"
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

// kinds are the kinds of similarities: how each is named, and how it is opened with what follows the colon.
var kinds = []struct {
	name, usage string
	open        func(of string, language Language, env *Env) (similarity.Similarity, error)
}{
	{"gloss", "gloss", openGloss},
	{"bertscore", "bertscore[:MODEL]", openBERTScore},
	{"sbert", "sbert[:MODEL]", openSBERT},
	{"exec", "exec:COMMAND", func(command string, _ Language, env *Env) (similarity.Similarity, error) {
		s, err := exec.New(command, env.programs())
		return cachedScores(s, env), err
	}},
}

// batchPairs is how many pairs are scored in a call at most: an encoder sorts them by length; memory is bounded.
const batchPairs = 16384

// cachedScores caches a similarity's scores: its vectors would need a hundred times the space.
func cachedScores(s similarity.Similarity, env *Env) similarity.Similarity {
	return similarity.Batch(similarity.Cached(s, env), batchPairs)
}

// cachedVectors compares an embedder's vectors and caches them.
func cachedVectors(e embedding.Embedder, env *Env) similarity.Similarity {
	return similarity.Batch(embedding.New(e, env), batchPairs)
}

// Usage lists what Open accepts.
func Usage() string {
	usage := ""
	for _, k := range kinds {
		usage += k.usage + ", "
	}
	return usage + "or the embeddings of a provider, such as openai:text-embedding-3-large"
}

// Names are the kinds of similarity.
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

// OpenAll opens the similarities with these names, each once in an environment.
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

// Open opens a similarity by name: KIND, KIND:MODEL or, for a provider's embeddings, PROVIDER:MODEL, with @URL
// behind it for a server elsewhere. It validates the name, its files and its key; it sends no request and computes
// nothing. It calls language only if the name needs it.
func (e *Env) Open(name string, language Language) (similarity.Similarity, error) {
	kind, of, _ := strings.Cut(name, ":")
	for _, k := range kinds {
		if k.name == kind {
			s, err := k.open(of, language, e)
			if err != nil {
				return nil, err // s may be an interface over nil
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

// openBERTScore opens the model named, or the usual one for the language.
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
