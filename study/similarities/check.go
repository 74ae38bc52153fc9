package similarities

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"crosstalk/internal/hub"
	"crosstalk/measure/encoder"
	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/bertscore"
	"crosstalk/measure/similarity/gloss"
	"crosstalk/measure/similarity/sbert"
)

// Sentences are two with different meanings, to try models with.
var Sentences = [2]string{"His favourite food is fresh bread with butter.", "The train to the mountains was late."}

// Check loads a model of this machine and compares Sentences. name is gloss, or as ParseModel reads it; a model of
// no kind is used for sentence vectors. The rows, names and texts for people, give the model's properties, the code
// that runs it and the time it needs; they come also with the error that its weights are wrong. Nothing is fetched.
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

// KnownModel is a model that a kind of similarity uses unless another is named: which kind, for what, and its name.
type KnownModel struct{ Kind, For, Name string }

// KnownModels are all of them. That of gloss is a part of the program.
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

// InCache is the model's commit in the cache, "no" if it is not there, or "embedded".
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
