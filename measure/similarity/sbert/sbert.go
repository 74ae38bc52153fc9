// Package sbert compares texts by the cosine of their sentence vectors (Reimers and Gurevych 2019, Sentence-BERT), from
// Hugging Face directories that the library sentence-transformers wrote: modules.json, the pooling's config.json and
// sentence_bert_config.json. Without modules.json, it is a plain encoder with mean pooling, as for that library.
package sbert

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk/measure/encoder"
	"crosstalk/measure/encoder/tokenizer"
	"crosstalk/measure/similarity"
	"crosstalk/measure/similarity/embedding"
)

// Options of a scorer; the zero value reads everything from the directory.
type Options struct {
	Model    string // name at Hugging Face, for the signature
	Revision string // commit, for the signature
}

// Scorer computes and compares sentence vectors. It is safe for concurrent use.
type Scorer struct {
	text *encoder.Text
	layout
	name string
}

var _ embedding.Embedder = (*Scorer)(nil)

// Load reads the model in dir.
func Load(dir string, o Options) (*Scorer, error) {
	l, err := readLayout(dir)
	if err != nil {
		return nil, err
	}
	if o.Model, o.Revision, err = encoder.Named(l.transformer, o.Model, o.Revision); err != nil {
		return nil, err
	}
	text, err := encoder.LoadText(l.transformer)
	if err != nil {
		return nil, err
	}
	if l.most == 0 {
		l.most = text.MaxLength()
	}
	return &Scorer{text, l, fmt.Sprintf("sbert:%s@%s", o.Model, o.Revision)}, nil
}

// Name identifies model and revision: "sbert:all-MiniLM-L6-v2@c9745ed...".
func (s *Scorer) Name() string { return s.name }

// Config is the configuration of the encoder.
func (s *Scorer) Config() encoder.Config { return s.text.Config }

// MaxTokens is the maximum number of ids per text, including special tokens.
func (s *Scorer) MaxTokens() int { return s.text.Limit(s.most) }

// Pooling describes how token vectors become one vector: the modes of the pooling's configuration, such as
// "mean_tokens", and finally "normalized" if it is.
func (s *Scorer) Pooling() []string {
	if s.normalize {
		return append(slices.Clone(s.modes), "normalized")
	}
	return s.modes
}

// Embed returns the sentence vector of each text.
func (s *Scorer) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, texts := make([][]float32, len(texts)), slices.Clone(texts)
	for i, text := range texts {
		if texts[i] = s.prompt + text; s.lower {
			texts[i] = strings.ToLower(texts[i])
		}
	}
	err := s.text.Encode(ctx, texts, s.text.Layers, s.most, func(i int, _ []int32, hidden []float32) {
		for _, pool := range s.pooling {
			vectors[i] = append(vectors[i], pool(hidden, s.text.Hidden)...)
		}
		if s.normalize {
			encoder.Normalize(vectors[i])
		}
	})
	return vectors, err
}

// Scores returns the cosine of each pair, NaN for an empty text.
func (s *Scorer) Scores(ctx context.Context, pairs []similarity.Pair) ([]float64, error) {
	return embedding.New(s, nil).Scores(ctx, pairs)
}

// layout is the content of a directory's configuration files.
type layout struct {
	transformer string // directory of the encoder
	pooling     []pool // results are concatenated
	modes       []string
	normalize   bool
	lower       bool // the text is lower-cased first
	most        int  // maximum ids per text, 0 if not stated
	prompt      string
}

// pool computes one vector from hidden states, rows of the given width.
type pool func(hidden []float32, width int) []float32

func readLayout(dir string) (layout, error) {
	l := layout{transformer: dir, pooling: []pool{encoder.Mean}, modes: []string{"mean_tokens"}}
	var modules []struct{ Path, Type string }
	path := filepath.Join(dir, "modules.json")
	if found, err := tokenizer.ReadJSON(path, &modules); err != nil {
		return l, err
	} else if found {
		for _, m := range modules {
			if m.Path != "" && !filepath.IsLocal(m.Path) {
				return l, fmt.Errorf("%s: path %q points outside the directory", path, m.Path)
			}
			at := filepath.Join(dir, m.Path)
			switch m.Type[strings.LastIndexByte(m.Type, '.')+1:] {
			case "Transformer":
				l.transformer = at
			case "Pooling":
				if l.pooling, l.modes, err = readPooling(filepath.Join(at, "config.json")); err != nil {
					return l, err
				}
			case "Normalize":
				l.normalize = true
			default:
				return l, fmt.Errorf("%s: module %q is not supported; expected Transformer, Pooling or Normalize", path, m.Type)
			}
		}
	}
	if err := l.readTransformer(); err != nil {
		return l, err
	}
	var c struct {
		Prompts map[string]string `json:"prompts"`
		Default *string           `json:"default_prompt_name"`
	}
	if _, err := tokenizer.ReadJSON(filepath.Join(dir, "config_sentence_transformers.json"), &c); err != nil {
		return l, err
	}
	if c.Default != nil {
		l.prompt = c.Prompts[*c.Default]
	}
	return l, nil
}

// readTransformer reads the length limit, which overrides the tokenizer's.
func (l *layout) readTransformer() error {
	for _, kind := range []string{"bert", "roberta", "distilbert", "camembert", "xlm-roberta"} {
		var c struct {
			Most  *int `json:"max_seq_length"`
			Lower bool `json:"do_lower_case"`
		}
		path := filepath.Join(l.transformer, "sentence_"+kind+"_config.json")
		found, err := tokenizer.ReadJSON(path, &c)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		l.lower = c.Lower
		if c.Most != nil {
			if l.most = *c.Most; l.most < 2 {
				return fmt.Errorf("%s: max_seq_length %d leaves no room for the special tokens", path, l.most)
			}
		}
		break
	}
	return nil
}

// modes are the supported pooling modes, in the order in which their results are concatenated.
var modes = []struct {
	key string
	pool
}{
	{"pooling_mode_cls_token", func(hidden []float32, width int) []float32 { return slices.Clone(hidden[:width]) }},
	{"pooling_mode_max_tokens", largest},
	{"pooling_mode_mean_tokens", encoder.Mean},
	{"pooling_mode_mean_sqrt_len_tokens", func(hidden []float32, width int) []float32 {
		v := encoder.Mean(hidden, width)
		scale := float32(math.Sqrt(float64(len(hidden) / width)))
		for i := range v {
			v[i] *= scale
		}
		return v
	}},
}

func largest(hidden []float32, width int) []float32 {
	v := slices.Clone(hidden[:width])
	for row := hidden[width:]; len(row) > 0; row = row[width:] {
		for i := range v {
			v[i] = max(v[i], row[i])
		}
	}
	return v
}

func readPooling(path string) (pools []pool, names []string, err error) {
	var c map[string]any
	if found, err := tokenizer.ReadJSON(path, &c); err != nil {
		return nil, nil, err
	} else if !found {
		return nil, nil, fmt.Errorf("%s: missing", path)
	}
	for _, m := range modes {
		if c[m.key] == true {
			pools, names = append(pools, m.pool), append(names, strings.TrimPrefix(m.key, "pooling_mode_"))
		}
		delete(c, m.key)
	}
	for key, on := range c {
		if strings.HasPrefix(key, "pooling_mode_") && on == true {
			return nil, nil, fmt.Errorf("%s: %s is not supported", path, key)
		}
	}
	if pools == nil {
		return nil, nil, fmt.Errorf("%s: no pooling mode is enabled", path)
	}
	return pools, names, nil
}
