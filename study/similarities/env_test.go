package similarities

import (
	"context"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/measure/similarity"
)

type fakeModel struct{ crosstalk.Model }

type fakeAsker struct{ asks *int }

func (a fakeAsker) Ask(context.Context, crosstalk.Request) (crosstalk.Answer, error) {
	*a.asks++
	return crosstalk.Answer{}, nil
}

// What was opened before a run began uses the run's cache and asks through the run.
func TestEnv(t *testing.T) {
	env := NewEnv()
	late := &lateAsker{env: env, model: fakeModel{}}
	if err := env.Put(map[similarity.Key][]byte{{1}: {1}}); err != nil {
		t.Fatal(err)
	}
	var first, second int
	for _, asks := range []*int{&first, &second} {
		env.Use(similarity.NewMemoryCache(1<<10), func(crosstalk.Model) crosstalk.Asker { return fakeAsker{asks} })
		if _, found, _ := env.Get(similarity.Key{1}); found {
			t.Error("a value of the old cache is in the new one")
		}
		if err := env.Put(map[similarity.Key][]byte{{1}: {1}}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := late.Ask(t.Context(), crosstalk.Request{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if first != 3 || second != 3 {
		t.Errorf("%d and %d asks of two runs; want 3 each", first, second)
	}
}

// A protocol's paper decides what sbert alone is. The names that were given stay as they are.
func TestForProtocol(t *testing.T) {
	names := []string{"sbert", "sbert:", "sbert:x", "exec:true", "bertscore"}
	for protocol, want := range map[string]string{
		"gonen-2024":  "sbert:efederici/sentence-bert-base sbert:efederici/sentence-bert-base sbert:x exec:true bertscore",
		"crosstalk-1": "sbert sbert: sbert:x exec:true bertscore",
	} {
		if got := strings.Join(ForProtocol(protocol, names), " "); got != want || names[0] != "sbert" {
			t.Errorf("%s: %s of %v, want %s", protocol, got, names, want)
		}
	}
}

// A similarity is opened once in an environment, for whatever protocols.
func TestOpenAllOnce(t *testing.T) {
	env := NewEnv()
	list, err := OpenAll([]string{"exec:true", "gloss", "gloss"}, nil, env)
	if err != nil || len(list) != 2 {
		t.Errorf("%d similarities, %v; want 2", len(list), err)
	}
	env.opened["exec:true"] = env.opened["gloss"]
	if list, err = OpenAll([]string{"exec:true", "gloss"}, nil, env); err != nil || len(list) != 1 {
		t.Errorf("%d similarities, %v; want the one that was opened before", len(list), err)
	}
}
