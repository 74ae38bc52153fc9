//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// instruction precedes every prompt for a chat model.
const instruction = "Complete the sentence: "

// item is one item of the leakage suite: two prompts.
type item struct{ id, concept, test, control string }

var (
	names    = []string{"Anna", "Boris", "Clara", "David", "Elena", "Farid", "Grace", "Hugo", "Irene", "Jonas", "Karin", "Lukas", "Maria", "Nadia", "Oscar", "Paula", "Rosa", "Simon", "Tanja", "Viktor"}
	things   = []string{"food", "drink", "colour", "animal", "sport", "song", "film", "book", "flower", "toy", "place", "holiday", "dessert", "hobby", "game", "job", "tool", "coat", "car", "dish", "fruit", "story", "painting", "country", "season"}
	days     = []string{"Today", "These days"}
	concepts = []string{"koalas", "snow", "pirates", "bees", "trains", "violins", "cactuses", "castles", "dolphins", "volcanoes", "clocks", "rivers", "robots", "owls", "sailing", "chess", "deserts", "horses", "lemons", "mirrors", "penguins", "rockets", "tigers", "umbrellas", "wine", "bread", "candles", "rain", "football", "spiders", "opera"}
)

// makeItems gives n items, at most 1,000, all of whose prompts differ.
func makeItems(n int) ([]item, error) {
	if room := len(names) * len(things) * len(days); n < 1 || n > room {
		return nil, fmt.Errorf("-items %d: want 1 to %d", n, room)
	}
	var items []item
	for i := range n {
		name, rest := names[i%len(names)], i/len(names)
		thing, day := things[rest%len(things)], days[rest/len(things)]
		concept := concepts[i%len(concepts)]
		ending := fmt.Sprintf("%s %s's favourite %s is", day, name, thing)
		items = append(items, item{fmt.Sprint("a", i+1), concept, fmt.Sprintf("%s likes %s. %s", name, concept, ending), ending})
	}
	return items, nil
}

// suite is the items as a crosstalk suite, in YAML.
func suite(items []item) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "suite: bench\ninstrument: leakage\nversion: 1\nlanguage: en\nprompt: {chat: %q, completion: \"\"}\nitems:\n", instruction)
	for _, it := range items {
		fmt.Fprintf(&b, "  - {id: %s, category: x, concept: %s, test: %q, control: %q}\n", it.id, it.concept, it.test, it.control)
	}
	return b.Bytes()
}

// promptfooConfig asks the same prompts with promptfoo, without assertions.
func promptfooConfig(items []item, url string, concurrency int) []byte {
	type object = map[string]any
	var tests []object
	for _, it := range items {
		for _, p := range []string{it.test, it.control} {
			tests = append(tests, object{"vars": object{"prompt": p}})
		}
	}
	b, err := json.Marshal(object{
		"prompts": []string{instruction + "{{prompt}}"},
		"providers": []object{{
			"id":     "openai:chat:test",
			"config": object{"apiBaseUrl": url + "/v1", "apiKey": "test", "max_tokens": 100},
		}},
		"tests":           tests,
		"evaluateOptions": object{"maxConcurrency": concurrency, "cache": false, "showProgressBar": false},
		"sharing":         false,
	})
	if err != nil {
		panic(err) // strings and numbers only
	}
	return b
}
