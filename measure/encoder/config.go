package encoder

import (
	"cmp"
	"encoding/json"
	"fmt"

	"crosstalk/measure/encoder/internal/kernel"
)

// Config describes a model; all sizes are positive.
type Config struct {
	Type         string  `json:"model_type"`              // "bert", "distilbert", "roberta", "xlm-roberta", "camembert"
	Layers       int     `json:"num_hidden_layers"`       // transformer blocks
	Hidden       int     `json:"hidden_size"`             // values of a hidden state
	Heads        int     `json:"num_attention_heads"`     // attention heads; divides Hidden
	Intermediate int     `json:"intermediate_size"`       // values inside the feed-forward network
	Vocab        int     `json:"vocab_size"`              // token ids are 0 to Vocab-1
	Positions    int     `json:"max_position_embeddings"` // rows of the position table; see MaxTokens
	Types        int     `json:"type_vocab_size"`         // rows of the token type table; 0 for DistilBERT
	Pad          int     `json:"-"`                       // id of the padding token, from which RoBERTa counts positions
	Epsilon      float32 `json:"layer_norm_eps"`
	Activation   string  `json:"hidden_act"` // "gelu", "gelu_new" or "relu"
}

// MaxTokens is the length of the longest sequence that the model has positions for, special tokens included.
func (c *Config) MaxTokens() int {
	if c.roberta() {
		return c.Positions - c.Pad - 1
	}
	return c.Positions
}

// roberta reports whether positions are counted from the padding id.
func (c *Config) roberta() bool {
	return c.Type == "roberta" || c.Type == "xlm-roberta" || c.Type == "camembert"
}

// parseConfig reads a config.json.
func parseConfig(b []byte) (Config, error) {
	var f struct {
		Config
		PadID     *int   `json:"pad_token_id"`
		Embedding string `json:"position_embedding_type"`
		Decoder   bool   `json:"is_decoder"`

		DistilLayers       int    `json:"n_layers"`
		DistilHidden       int    `json:"dim"`
		DistilHeads        int    `json:"n_heads"`
		DistilIntermediate int    `json:"hidden_dim"`
		DistilActivation   string `json:"activation"`
	}
	f.Types, f.Epsilon = 2, 1e-12
	if err := json.Unmarshal(b, &f); err != nil {
		return Config{}, err
	}
	c := f.Config
	switch c.Activation = cmp.Or(c.Activation, "gelu"); {
	case c.Type == "distilbert": // no token types, and the epsilon is fixed
		c.Layers, c.Hidden, c.Heads, c.Intermediate = f.DistilLayers, f.DistilHidden, f.DistilHeads, f.DistilIntermediate
		c.Types, c.Epsilon, c.Activation = 0, 1e-12, cmp.Or(f.DistilActivation, "gelu")
	case c.roberta():
		c.Pad = 1
	case c.Type != "bert":
		return c, fmt.Errorf("model_type %q is not supported, "+
			"expected bert, distilbert, roberta, xlm-roberta or camembert", c.Type)
	}
	if f.PadID != nil {
		c.Pad = *f.PadID
	}
	if c.Activation == "gelu_pytorch_tanh" {
		c.Activation = "gelu_new" // the same function
	}
	return c, c.check(f.Embedding, f.Decoder)
}

// check refuses what the forward pass cannot do.
func (c *Config) check(embedding string, decoder bool) error {
	switch {
	case decoder:
		return fmt.Errorf("is_decoder is true, expected an encoder")
	case embedding != "" && embedding != "absolute":
		return fmt.Errorf("position_embedding_type %q is not supported, expected absolute", embedding)
	case c.Activation != "gelu" && c.Activation != "gelu_new" && c.Activation != "relu":
		return fmt.Errorf("activation %q is not supported, expected gelu, gelu_new or relu", c.Activation)
	case c.Layers < 1 || c.Vocab < 1 || c.Intermediate < kernel.Lanes:
		return fmt.Errorf("%d layers, %d tokens and %d intermediate values, expected at least 1, 1 and %d",
			c.Layers, c.Vocab, c.Intermediate, kernel.Lanes)
	case c.Heads < 1 || c.Hidden%c.Heads != 0 || c.Hidden/c.Heads < kernel.Lanes:
		return fmt.Errorf("hidden size %d with %d heads, expected at least %d values for each head and no rest",
			c.Hidden, c.Heads, kernel.Lanes)
	case c.Types < 0 || c.Pad < 0 || c.Pad >= c.Vocab || c.Epsilon < 0:
		return fmt.Errorf("type_vocab_size %d, pad_token_id %d, layer_norm_eps %v are out of range",
			c.Types, c.Pad, c.Epsilon)
	case c.MaxTokens() < 1:
		return fmt.Errorf("max_position_embeddings %d leaves no position for a token", c.Positions)
	}
	return nil
}
