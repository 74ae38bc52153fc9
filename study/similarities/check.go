package similarities

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"crosstalk/hub"
	"crosstalk/measure/encoder"
	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/bertscore"
	"crosstalk/measure/similarity/gloss"
)

// Sentences are two with different meanings, to try models with.
var Sentences = [2]string{"His favourite food is fresh bread with butter.", "The train to the mountains was late."}

// Check loads a model of this machine and compares Sentences. name is gloss, or as
// ParseModel reads it; a model of no kind is used for sentence vectors. The rows, names
// and texts for people, give the model's properties, the code that runs it and the time
// it takes; they are there also with the error that its weights are wrong. Nothing is
// fetched.
func Check(ctx context.Context, name string) (rows [][2]string, err error) {
	started := time.Now()
	c := checked{self: 1}
	if err := c.load(name); err != nil {
		return nil, err
	}
	loaded := time.Now()
	scores, err := c.Scores(ctx, []similarity.Pair{{A: Sentences[0], B: Sentences[0]}, {A: Sentences[0], B: Sentences[1]}})
	if err != nil {
		return nil, err
	}
	took := time.Since(loaded)
	c.say("similarity", "%s", c.Name())
	c.say("time", "%v to load, %v to compare two sentences", loaded.Sub(started).Round(time.Millisecond), took.Round(10*time.Microsecond))
	c.say("scores", "%.4f a sentence with itself, %.4f with another", scores[0], scores[1])
	if !(math.Abs(scores[0]-c.self) < 1e-3) || math.IsNaN(scores[1]) {
		return c.rows, fmt.Errorf("%s: a sentence scores %v with itself; expected %v: the weights are wrong", name, scores[0], c.self)
	}
	return c.rows, nil
}

// checked is a similarity, and the rows about it.
type checked struct {
	similarity.Similarity
	self float64 // score of a text with itself
	rows [][2]string
}

func (c *checked) say(what, format string, args ...any) {
	c.rows = append(c.rows, [2]string{what, fmt.Sprintf(format, args...)})
}

// load opens the similarity with this name.
func (c *checked) load(name string) (err error) {
	if name == "gloss" {
		c.say("model", "word vectors from WordNet 3.0, embedded")
		c.self = 1.2 // the sum of the weights of its three parts
		c.Similarity, err = openGloss("", nil, nil)
		return err
	}
	m, err := ParseModel(name)
	if err != nil {
		return err
	}
	dir, commit, err := m.Find()
	if err != nil {
		return err
	}
	c.say("model", "%s", m.Name)
	if commit != "" {
		c.say("commit", "%s", commit)
	}
	c.say("folder", "%s", dir)
	if m.Kind == "bertscore" {
		s, err := loadBERTScore(m)
		if err != nil {
			return err
		}
		c.Similarity = s
		c.sayEncoder(s.Config(), s.MaxTokens())
		c.say("compares", "token vectors of layer %d", s.Layer())
		return nil
	}
	s, err := loadSBERT(m)
	if err != nil {
		return err
	}
	c.Similarity = s
	c.sayEncoder(s.Config(), s.MaxTokens())
	c.say("pooling", "%s", strings.Join(s.Pooling(), ", "))
	return nil
}

func (c *checked) sayEncoder(e encoder.Config, most int) {
	kernels := encoder.Kernels()
	c.say("encoder", "%s, %d layers, %d wide, at most %d tokens", e.Type, e.Layers, e.Hidden, most)
	c.say("kernel", "%s", kernels[len(kernels)-1])
}

// ParseModel reads the name of a model with or without its kind: KIND, which is the
// kind's usual model, KIND:MODEL or MODEL.
func ParseModel(name string) (HubModel, error) {
	kind, model, colon := strings.Cut(name, ":")
	switch {
	case kind == "bertscore" && model == "":
		model = bertscore.ModelFor("en")
	case kind == "sbert" && model == "":
		model = DefaultSBERT
	case kind == "bertscore" || kind == "sbert":
	case colon && !hub.IsPath(name):
		return HubModel{}, fmt.Errorf("%q: expected bertscore:MODEL, sbert:MODEL or the name of a model on the Hugging Face Hub", name)
	default:
		kind, model = "", name
	}
	return parseHubModel(kind, model)
}

// KnownModel is a model that a kind of similarity uses unless another one is named: which
// kind, for what, and its name.
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
