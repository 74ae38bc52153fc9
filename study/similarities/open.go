package similarities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/nearest"
	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/embedding"
	"crosstalk/measure/similarity/exec"
	"crosstalk/measure/similarity/gloss"
	"crosstalk/measure/similarity/sbert"
	"crosstalk/model"
	"crosstalk/model/embedder"
)

// Language returns the language of what is compared, for similarities that
// have a model for each.
type Language func() (string, error)

// kind is what names a similarity before the colon.
type kind struct {
	name  string
	usage string
	open  func(model string, language Language, env *Env) (similarity.Similarity, error)
}

var kinds = []kind{
	{"gloss", "gloss", openGloss},
	{"bertscore", "bertscore[:MODEL]", func(model string, language Language, env *Env) (similarity.Similarity, error) {
		s, err := openBERTScore(model, language)
		return cachedScores(s, env), err
	}},
	{"sbert", "sbert[:MODEL]", func(model string, _ Language, env *Env) (similarity.Similarity, error) {
		s, err := openSBERT(model)
		return cachedVectors(sentences{s}, env), err
	}},
	{"exec", "exec:COMMAND", func(command string, _ Language, env *Env) (similarity.Similarity, error) {
		s, err := exec.New(command, env.programs())
		return cachedScores(s, env), err
	}},
}

// batchPairs is how many pairs are scored in one call at most: enough for an
// encoder to sort by length, few enough to bound memory.
const batchPairs = 16384

// cachedScores caches a similarity's scores: its vectors would take a hundred
// times the room.
func cachedScores(s similarity.Similarity, env *Env) similarity.Similarity {
	return similarity.Batch(similarity.Cached(s, env), batchPairs)
}

// cachedVectors compares an embedder's vectors and caches them.
func cachedVectors(e embedding.Embedder, env *Env) similarity.Similarity {
	return similarity.Batch(embedding.New(e, env), batchPairs)
}

// Usage lists what Open takes.
func Usage() string {
	var usages []string
	for _, k := range kinds {
		usages = append(usages, k.usage)
	}
	return strings.Join(usages, ", ") + ", or the embeddings of a provider, such as openai:text-embedding-3-large"
}

// Names are the kinds of similarity.
func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// OpenAll opens the similarities with these names, each once in an environment.
func OpenAll(names []string, language Language, env *Env) (list []similarity.Similarity, err error) {
	for _, name := range names {
		s := env.opened[name]
		if s == nil {
			if s, err = Open(name, language, env); err != nil {
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

// Open opens a similarity by name: KIND or KIND:MODEL. It validates the name, its
// files and its key; it sends no request and computes nothing. It calls language
// only if the name needs it.
func Open(name string, language Language, env *Env) (similarity.Similarity, error) {
	kindName, of, _ := strings.Cut(name, ":")
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == kindName }); i >= 0 {
		s, err := kinds[i].open(of, language, env)
		if err != nil {
			return nil, err // s may be an interface over nil
		}
		return s, nil
	}
	if of == "" || !slices.ContainsFunc(model.Presets(), func(p model.Preset) bool { return p.Name == kindName }) {
		return nil, fmt.Errorf("unknown similarity %q; %schoose one of: %s", name, nearest.Question(kindName, Names()), Usage())
	}
	return openEmbeddings(name, env)
}

// openEmbeddings opens PROVIDER:MODEL or, for a server elsewhere,
// PROVIDER:MODEL@URL.
func openEmbeddings(name string, env *Env) (similarity.Similarity, error) {
	o := model.Options{API: crosstalk.Embeddings}
	if i := strings.Index(name, "@http"); i > 0 {
		name, o.BaseURL = name[:i], name[i+1:]
	}
	m, err := model.Open(name, o)
	if err != nil {
		return nil, err
	}
	return cachedVectors(embedder.New(m.Identity().String(), &lateAsker{env: env, model: m}), env), nil
}

// sentences makes an embedder of a sentence encoder.
type sentences struct{ *sbert.Scorer }

// Embed implements embedding.Embedder.
func (s sentences) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	err := s.Encode(ctx, texts, func(i int, v []float32) { vectors[i] = v })
	return vectors, err
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
