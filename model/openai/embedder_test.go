package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"crosstalk"
)

type asker func(crosstalk.Request) (crosstalk.Answer, error)

func (a asker) Ask(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) { return a(req) }

// numbered answers each text with its number and the size of its request.
func numbered(req crosstalk.Request) (crosstalk.Answer, error) {
	type one struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var list []one
	for i, text := range req.Input {
		var n float32
		fmt.Sscan(text, &n)
		list = append(list, one{i, []float32{n, float32(len(req.Input))}})
	}
	raw, _ := json.Marshal(map[string]any{"data": list})
	return crosstalk.Answer{Status: crosstalk.Text, Raw: raw}, nil
}

// Texts are asked for in requests of 64, and each gets its own vector.
func TestEmbed(t *testing.T) {
	for _, n := range []int{0, 1, 64, 65, 130} {
		var texts []string
		for i := range n {
			texts = append(texts, fmt.Sprint(i))
		}
		e := NewEmbedder("p:m", asker(func(req crosstalk.Request) (crosstalk.Answer, error) {
			if req.API != crosstalk.Embeddings {
				t.Errorf("%+v", req)
			}
			return numbered(req)
		}))
		got, err := e.Embed(t.Context(), texts)
		if err != nil || len(got) != n || e.Name() != "p:m" {
			t.Fatalf("%d vectors, %v", len(got), err)
		}
		for i, v := range got {
			if v[0] != float32(i) || v[1] != float32(min(64, n-i/64*64)) {
				t.Errorf("text %d of %d: %v", i, n, v)
			}
		}
	}
}

// No figure rests on the texts that happened to succeed.
func TestEmbedFails(t *testing.T) {
	down := errors.New("down")
	for want, a := range map[string]asker{
		"down": func(crosstalk.Request) (crosstalk.Answer, error) { return crosstalk.Answer{}, down },
		"p:m gave no vectors: later": func(crosstalk.Request) (crosstalk.Answer, error) {
			return crosstalk.Answer{Status: crosstalk.Failed, Reason: "later"}, nil
		},
		"p:m: the journalled response has 0 embeddings; expected 2": func(crosstalk.Request) (crosstalk.Answer, error) {
			return crosstalk.Answer{Status: crosstalk.Text, Raw: []byte("{}")}, nil
		},
	} {
		if got, err := NewEmbedder("p:m", a).Embed(t.Context(), []string{"1", "2"}); got != nil || err == nil || err.Error() != want {
			t.Errorf("%v, %v; want %s", got, err, want)
		}
	}
	odd := asker(func(req crosstalk.Request) (crosstalk.Answer, error) {
		if len(req.Input) == 1 {
			return crosstalk.Answer{Status: crosstalk.Text, Raw: []byte(`{"data":[{"index":0,"embedding":[1]}]}`)}, nil
		}
		return numbered(req)
	})
	texts := strings.Fields(strings.Repeat("7 ", 65))
	want := `p:m: text "7" has a vector of 1 dimensions, and another text one of 2`
	if _, err := NewEmbedder("p:m", odd).Embed(t.Context(), texts); err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}
