package similarities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"crosstalk/internal/hub"
	"crosstalk/internal/lazyregexp"
	"crosstalk/measure/encoder"
	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/bertscore"
	"crosstalk/measure/similarity/gloss"
	"crosstalk/measure/similarity/sbert"
)

// The models of Smilga (2025) and of Gonen et al. (2024). Their figures are not comparable.
const (
	DefaultSBERT = "sentence-transformers/all-MiniLM-L6-v2"
	gonenSBERT   = "efederici/sentence-bert-base"
)

// ForProtocol returns the names, with "sbert" alone replaced by the model of the protocol's paper.
func ForProtocol(protocol string, names []string) []string {
	names = slices.Clone(names)
	for i, name := range names {
		if kind, model, _ := strings.Cut(name, ":"); protocol == "gonen-2024" && kind == "sbert" && model == "" {
			names[i] = "sbert:" + gonenSBERT
		}
	}
	return names
}

// HubModel is a model as named on the command line: NAME, NAME@REVISION or the path of a folder, and for bertscore
// optionally followed by a layer, NAME/L5, as in signatures.
type HubModel struct {
	Kind     string // "bertscore", "sbert"; "" if not given
	given    string // the name as given
	Name     string // its full name
	Revision string // "": main
	layer    int    // 0: the recommended one
}

// ParseModel parses the name of a model: KIND for the kind's usual model, KIND:MODEL or MODEL.
func ParseModel(name string) (HubModel, error) {
	kind, model, colon := strings.Cut(name, ":")
	switch {
	case kind == "bertscore":
		model = cmp.Or(model, bertscore.ModelFor("en"))
	case kind == "sbert":
		model = cmp.Or(model, DefaultSBERT)
	case colon && !hub.IsPath(name):
		return HubModel{}, fmt.Errorf("%q: expected bertscore:MODEL, sbert:MODEL or the name of a model "+
			"on the Hugging Face Hub", name)
	default:
		kind, model = "", name
	}
	return parseHubModel(kind, model)
}

var layerSuffix = lazyregexp.New(`/L([0-9]{1,4})$`)

// parseHubModel parses the name of a model; kind is the similarity's, or "". It looks nothing up.
func parseHubModel(kind, name string) (HubModel, error) {
	m := HubModel{Kind: kind, Name: name}
	if suffix := layerSuffix().FindStringSubmatch(name); suffix != nil && kind == "bertscore" {
		m.Name = strings.TrimSuffix(name, suffix[0])
		m.layer, _ = strconv.Atoi(suffix[1])
		m.layer = cmp.Or(m.layer, bertscore.Embeddings)
	}
	m.given = m.Name
	if hub.IsPath(m.Name) {
		return m, nil
	}
	var found bool
	if m.given, m.Revision, found = strings.Cut(m.Name, "@"); found && m.Revision == "" {
		return m, fmt.Errorf("%q: expected a revision after @", name)
	}
	m.Name = hub.Canonical(m.given)
	return m, nil
}

// String returns the name without the layer, in a form that can be parsed again.
func (m HubModel) String() string {
	s := m.given
	if m.Kind != "" {
		s = m.Kind + ":" + s
	}
	if m.Revision != "" {
		s += "@" + m.Revision
	}
	return s
}

// Find returns the model's folder, and its commit, "" for a local folder. It fetches nothing.
func (m HubModel) Find() (dir, commit string, err error) {
	var decisive []string
	if m.Kind != "bertscore" {
		decisive = []string{"modules.json"} // it determines the kind of sentence vector
	}
	dir, commit, err = hub.Find(m.Name, m.Revision, decisive...)
	var missing *hub.MissingError
	if errors.As(err, &missing) && missing.Revision != "" {
		err = fmt.Errorf("the model of %s is not on this machine. Fetch it with:\n  crosstalk models pull %s\n%w", m, m, err)
	}
	return dir, commit, err
}

// scorer is a similarity based on an encoder.
type scorer interface {
	similarity.Similarity
	Config() encoder.Config
	MaxTokens() int
}

// load loads the model for token vectors or, unless its kind is bertscore, for sentence vectors. A local folder is
// named by its content. For token vectors, a layer must be given or recommended.
func (m HubModel) load() (scorer, error) {
	dir, commit, err := m.Find()
	if err != nil {
		return nil, err
	}
	name := m.Name
	if commit == "" {
		name = ""
	}
	if m.Kind != "bertscore" {
		return sbert.Load(dir, sbert.Options{Model: name, Revision: commit})
	}
	if name == "" {
		if name, commit, err = encoder.Identity(dir); err != nil {
			return nil, err
		}
	}
	if _, known := bertscore.Layer(name); !known && m.layer == 0 {
		return nil, fmt.Errorf("bertscore: no layer is recommended for %s; name one, such as %s/L8 for the eighth",
			m.given, m)
	}
	return bertscore.Load(dir, bertscore.Options{Model: name, Revision: commit, Layer: m.layer})
}

// Sentences are two sentences with different meanings, to try models on.
var Sentences = [2]string{"His favourite food is fresh bread with butter.", "The train to the mountains was late."}

// Check loads a model that is on this machine and compares Sentences. name is gloss or a name for ParseModel; a model
// without a kind is used for sentence vectors. The rows, pairs of a name and a text to show, contain the model's
// properties, the code that runs it and the time it needs. They are also returned with an error about wrong weights.
// Check fetches nothing.
func Check(ctx context.Context, name string) (rows [][2]string, err error) {
	say := func(what, format string, args ...any) {
		rows = append(rows, [2]string{what, fmt.Sprintf(format, args...)})
	}
	started := time.Now()
	var s similarity.Similarity
	self := 1.0 // score of a text with itself
	if name == "gloss" {
		say("model", "word vectors from WordNet 3.0, embedded")
		self = 1.2 // the sum of the weights of its three parts
		s, err = openGloss("", nil, nil)
	} else {
		s, err = loadChecked(name, say)
	}
	if err != nil {
		return nil, err
	}
	loaded := time.Now()
	scores, err := s.Scores(ctx, []similarity.Pair{{A: Sentences[0], B: Sentences[0]}, {A: Sentences[0], B: Sentences[1]}})
	if err != nil {
		return nil, err
	}
	took := time.Since(loaded)
	say("similarity", "%s", s.Name())
	say("time", "%v to load, %v to compare two sentences",
		loaded.Sub(started).Round(time.Millisecond), took.Round(10*time.Microsecond))
	say("scores", "%.4f a sentence with itself, %.4f with another", scores[0], scores[1])
	if !(math.Abs(scores[0]-self) < 1e-3) || math.IsNaN(scores[1]) {
		return rows, fmt.Errorf("%s: a sentence scores %v with itself; expected %v: the weights are wrong",
			name, scores[0], self)
	}
	return rows, nil
}

func loadChecked(name string, say func(what, format string, args ...any)) (similarity.Similarity, error) {
	m, err := ParseModel(name)
	if err != nil {
		return nil, err
	}
	dir, commit, err := m.Find()
	if err != nil {
		return nil, err
	}
	say("model", "%s", m.Name)
	if commit != "" {
		say("commit", "%s", commit)
	}
	say("folder", "%s", dir)
	s, err := m.load()
	if err != nil {
		return nil, err
	}
	e, kernels := s.Config(), encoder.Kernels()
	say("encoder", "%s, %d layers, %d wide, at most %d tokens", e.Type, e.Layers, e.Hidden, s.MaxTokens())
	say("kernel", "%s", kernels[len(kernels)-1])
	switch s := s.(type) {
	case *bertscore.Scorer:
		say("compares", "token vectors of layer %d", s.Layer())
	case *sbert.Scorer:
		say("pooling", "%s", strings.Join(s.Pooling(), ", "))
	}
	return s, nil
}

// KnownModel is a model that a kind of similarity uses by default: the kind, the purpose and the name.
type KnownModel struct{ Kind, For, Name string }

// KnownModels lists all of them. That of gloss is part of the program.
func KnownModels() []KnownModel {
	return []KnownModel{
		{"gloss", "en, by default", fmt.Sprintf("gloss@%d", gloss.Version)},
		{"bertscore", "en", hub.Canonical(bertscore.ModelFor("en"))},
		{"bertscore", "zh", hub.Canonical(bertscore.ModelFor("zh"))},
		{"bertscore", "other languages", hub.Canonical(bertscore.ModelFor(""))},
		{"sbert", "en", DefaultSBERT},
		{"sbert", "en, protocol gonen-2024", gonenSBERT},
	}
}

// InCache returns the commit of the cached model, "no" if it is not cached, or "embedded".
func (k KnownModel) InCache() (string, error) {
	if k.Kind == "gloss" {
		return "embedded", nil
	}
	m, err := parseHubModel(k.Kind, k.Name)
	if err != nil {
		return "", err
	}
	_, commit, err := m.Find()
	if errors.As(err, new(*hub.MissingError)) {
		return "no", nil
	}
	return commit, err
}
