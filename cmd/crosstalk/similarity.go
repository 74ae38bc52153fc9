package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/hub"
	"crosstalk/measure/encoder"
	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/bertscore"
	"crosstalk/measure/similarity/embedding"
	"crosstalk/measure/similarity/exec"
	"crosstalk/measure/similarity/gloss"
	"crosstalk/measure/similarity/sbert"
	"crosstalk/model"
	"crosstalk/model/embedder"
	"crosstalk/recorded"
	"crosstalk/suite"
)

// languageOf returns the language of what is compared, for similarities that
// have a model for each.
type languageOf func() (string, error)

// surroundings are what a similarity may need of the measurement it serves.
type surroundings struct {
	ask  func(crosstalk.Model) crosstalk.Asker // an endpoint's embeddings are asked for as answers are
	keep similarity.Cache                     // what was computed before
}

// opened is a similarity that is ready but for its surroundings: whatever can
// be wrong with its name, files or key has been found before a run is begun.
type opened func(surroundings) similarity.Similarity

// similarityKind is what --similarity takes before the colon.
type similarityKind struct {
	name  string
	usage string
	open  func(model string, language languageOf) (opened, error)
}

var similarityKinds = []similarityKind{
	{"gloss", "gloss", openGloss},
	{"bertscore", "bertscore[:MODEL]", func(model string, language languageOf) (opened, error) {
		s, err := openBERTScore(model, language)
		return keptScores(s), err
	}},
	{"sbert", "sbert[:MODEL]", func(model string, _ languageOf) (opened, error) {
		s, err := openSBERT(model)
		return keptVectors(sentences{s}), err
	}},
	{"exec", "exec:COMMAND", func(command string, _ languageOf) (opened, error) {
		s, err := exec.New(command, 0)
		return keptScores(s), err
	}},
}

// batchPairs is how many pairs are scored in one call at most: enough for an
// encoder to sort by length, few enough to bound memory.
const batchPairs = 16384

// keptScores keeps a similarity's scores: its vectors would take a hundred
// times the room.
func keptScores(s similarity.Similarity) opened {
	return func(r surroundings) similarity.Similarity {
		return similarity.Batch(similarity.Cached(s, r.keep), batchPairs)
	}
}

// keptVectors compares an embedder's vectors and keeps them.
func keptVectors(e embedding.Embedder) opened {
	return func(r surroundings) similarity.Similarity {
		return similarity.Batch(embedding.New(e, r.keep), batchPairs)
	}
}

// similarityUsage lists what --similarity takes.
func similarityUsage() string {
	var usages []string
	for _, k := range similarityKinds {
		usages = append(usages, k.usage)
	}
	return strings.Join(usages, ", ") + ", or the embeddings of a provider, such as openai:text-embedding-3-large"
}

// openSimilarities opens what the names stand for, each once.
func openSimilarities(names []string, language languageOf) ([]opened, error) {
	var list []opened
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		o, err := openSimilarity(name, language)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--similarity names nothing: choose %s", similarityUsage())
	}
	return list, nil
}

func openSimilarity(name string, language languageOf) (opened, error) {
	kind, of, _ := strings.Cut(name, ":")
	if i := slices.IndexFunc(similarityKinds, func(k similarityKind) bool { return k.name == kind }); i >= 0 {
		return similarityKinds[i].open(of, language)
	}
	if of == "" || !slices.ContainsFunc(model.Presets(), func(p model.Preset) bool { return p.Name == kind }) {
		return nil, fmt.Errorf("there is no similarity %q: choose %s", name, similarityUsage())
	}
	return openEmbeddings(name)
}

// openEmbeddings opens PROVIDER:MODEL or, for a server elsewhere,
// PROVIDER:MODEL@URL.
func openEmbeddings(name string) (opened, error) {
	o := model.Options{API: crosstalk.Embeddings}
	if i := strings.Index(name, "@http"); i > 0 {
		name, o.BaseURL = name[:i], name[i+1:]
	}
	m, err := model.Open(name, o)
	if err != nil {
		return nil, err
	}
	return func(r surroundings) similarity.Similarity {
		return keptVectors(embedder.New(m.Identity().String(), r.ask(m)))(r)
	}, nil
}

// sentences makes an embedder of a sentence encoder.
type sentences struct{ *sbert.Scorer }

// Embed implements embedding.Embedder.
func (s sentences) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	err := s.Encode(ctx, texts, func(i int, v []float32) { vectors[i] = v })
	return vectors, err
}

// place gives similarities their surroundings, each once.
func place(list []opened, r surroundings) []similarity.Similarity {
	var placed []similarity.Similarity
	for _, o := range list {
		s := o(r)
		if !slices.ContainsFunc(placed, func(p similarity.Similarity) bool { return p.Name() == s.Name() }) {
			placed = append(placed, s)
		}
	}
	return placed
}

// alone are the surroundings of a measurement without a run directory.
func alone() surroundings {
	session := ask.NewSession(&ask.Memory{}, ask.Options{})
	return surroundings{session.For, similarity.NewMemoryCache(128 << 20)}
}

func openGloss(model string, _ languageOf) (opened, error) {
	if model != "" {
		return nil, fmt.Errorf("gloss has no models, and so no %q", model)
	}
	v, err := gloss.Load()
	if err != nil {
		return nil, err
	}
	s := similarity.Func(fmt.Sprintf("gloss@%d", gloss.Version), v.Similarity)
	return func(surroundings) similarity.Similarity { return s }, nil
}

// openBERTScore opens the model named, or that for the language.
func openBERTScore(name string, language languageOf) (*bertscore.Scorer, error) {
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
	return openBERTScoreModel(m)
}

func openBERTScoreModel(m hubModel) (*bertscore.Scorer, error) {
	dir, commit, err := m.find()
	name := m.name
	if err == nil && commit == "" {
		name, commit, err = encoder.Identity(dir)
	}
	if err != nil {
		return nil, err
	}
	if _, known := bertscore.Layer(name); !known && m.layer == 0 {
		return nil, fmt.Errorf("bertscore: no layer is recommended for %s: name one, such as %s/L8 for the eighth", m.given, m)
	}
	return bertscore.Load(dir, bertscore.Options{Model: name, Revision: commit, Layer: m.layer})
}

// defaultSBERT is the model of the published figures (Smilga 2025).
const defaultSBERT = "sentence-transformers/all-MiniLM-L6-v2"

func openSBERT(name string) (*sbert.Scorer, error) {
	if name == "" {
		name = defaultSBERT
	}
	m, err := parseHubModel("sbert", name)
	if err != nil {
		return nil, err
	}
	return openSBERTModel(m)
}

func openSBERTModel(m hubModel) (*sbert.Scorer, error) {
	dir, commit, err := m.find()
	if err != nil {
		return nil, err
	}
	o := sbert.Options{Model: m.name, Revision: commit}
	if commit == "" { // a folder, which is named by what is in it
		o = sbert.Options{}
	}
	return sbert.Load(dir, o)
}

// hubModel is a model as it is named on the command line: NAME, NAME@REVISION
// or the path of a folder, and for bertscore a layer behind it, NAME/L5, as in
// signatures.
type hubModel struct {
	kind     string // "bertscore", "sbert"; "" if not said
	given    string // the name as it was given
	name     string // its full name
	revision string // "": main
	layer    int    // 0: the recommended one
}

var layerSuffix = regexp.MustCompile(`/L([0-9]{1,4})$`)

func parseHubModel(kind, name string) (hubModel, error) {
	m := hubModel{kind: kind, name: name}
	if suffix := layerSuffix.FindStringSubmatch(name); suffix != nil && kind == "bertscore" {
		m.name = strings.TrimSuffix(name, suffix[0])
		if m.layer, _ = strconv.Atoi(suffix[1]); m.layer == 0 {
			m.layer = bertscore.Embeddings
		}
	}
	m.given = m.name
	if hub.IsPath(m.name) {
		return m, nil
	}
	var found bool
	if m.given, m.revision, found = strings.Cut(m.name, "@"); found && m.revision == "" {
		return m, fmt.Errorf("%q: expected a revision after @", name)
	}
	m.name = hub.Canonical(m.given)
	return m, nil
}

// String is the name without the layer, as it can be given again.
func (m hubModel) String() string {
	s := m.given
	if m.kind != "" {
		s = m.kind + ":" + s
	}
	if m.revision != "" {
		s += "@" + m.revision
	}
	return s
}

// find returns where the model is, and its commit, "" for a folder. Nothing is
// fetched.
func (m hubModel) find() (dir, commit string, err error) {
	var decisive []string
	if m.kind != "bertscore" {
		decisive = []string{"modules.json"} // says how a sentence vector is made
	}
	dir, commit, err = hub.Find(m.name, m.revision, decisive...)
	var missing *hub.MissingError
	if errors.As(err, &missing) && missing.Revision != "" {
		err = fmt.Errorf("the model of %s is not here. Fetch it with:\n  crosstalk models pull %s\n%w", m, m, err)
	}
	return dir, commit, err
}

func suiteLanguage(s *suite.Suite) languageOf {
	return func() (string, error) {
		return commonLanguage(func(yield func(crosstalk.Item, error) bool) {
			for _, item := range s.Items {
				if !yield(item, nil) {
					return
				}
			}
		})
	}
}

func recordedLanguage(files []string) languageOf {
	return func() (string, error) {
		return commonLanguage(func(yield func(crosstalk.Item, error) bool) {
			for _, file := range files {
				for row, err := range recorded.ReadLeakage(file) {
					if !yield(row.Item, err) {
						return
					}
				}
			}
		})
	}
}

// commonLanguage returns the one language of items, without its region, and
// English if they do not say.
func commonLanguage(items iter.Seq2[crosstalk.Item, error]) (string, error) {
	var languages []string
	for item, err := range items {
		if err != nil {
			return "", err
		}
		language, _, _ := strings.Cut(item.Labels["language"], "-")
		if language = strings.ToLower(language); language != "" && !slices.Contains(languages, language) {
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
	return "", fmt.Errorf("the items are in several languages (%s): name one model for all, such as bertscore:bert-base-multilingual-cased", strings.Join(languages, ", "))
}
