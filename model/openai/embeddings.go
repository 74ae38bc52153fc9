package openai

import (
	"encoding/json"
	"fmt"

	"crosstalk"
	"crosstalk/model/endpoint"
)

type embeddings struct {
	Model string `json:"model"`
	Data  []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
	Usage struct {
		PromptTokens endpoint.Count `json:"prompt_tokens"`
	} `json:"usage"`
}

// readEmbeddings checks that body has n vectors. They stay in the raw body, where Vectors finds them.
func readEmbeddings(body []byte, n int) (crosstalk.Answer, error) {
	if _, err := Vectors(body, n); err != nil {
		return crosstalk.Answer{}, err
	}
	var e embeddings
	if err := json.Unmarshal(body, &e); err != nil {
		return crosstalk.Answer{}, err
	}
	return crosstalk.Answer{Status: crosstalk.Text, Reason: "stop", Model: e.Model,
		Usage: crosstalk.Usage{Prompt: int(e.Usage.PromptTokens)}}, nil
}

// Vectors reads the vectors of an embeddings response, in the order of its n
// inputs. They have the same number of dimensions.
func Vectors(body []byte, n int) ([][]float32, error) {
	var e embeddings
	if err := json.Unmarshal(body, &e); err != nil {
		return nil, err
	}
	if len(e.Data) != n {
		return nil, fmt.Errorf("has %d embeddings; expected %d", len(e.Data), n)
	}
	vectors := make([][]float32, n)
	for _, d := range e.Data {
		switch {
		case d.Index < 0 || d.Index >= n || vectors[d.Index] != nil:
			return nil, fmt.Errorf("has an embedding with index %d; expected each of 0 to %d once", d.Index, n-1)
		case len(d.Embedding) == 0:
			return nil, fmt.Errorf("has an embedding without values")
		case len(d.Embedding) != len(e.Data[0].Embedding):
			return nil, fmt.Errorf("has embeddings of %d and of %d dimensions", len(e.Data[0].Embedding), len(d.Embedding))
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}
