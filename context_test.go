package crosstalk

import (
	"slices"
	"testing"
)

func TestCarriedRequest(t *testing.T) {
	text, turn := Carried{Text: "I keep bees."}, Carried{User: "What do I keep?", Assistant: "Bees."}
	const prompt = "Where is Paris?"
	type messages = []Message
	for _, c := range []struct {
		carrier Carrier
		of      Carried
		chat    messages
		whole   string
	}{
		{Example, turn, messages{{"system", "Be brief."}, {"user", "Q: What do I keep?\nA: Bees.\n\nQ: Answer: Where is Paris?\nA:"}},
			"Q: What do I keep?\nA: Bees.\n\nQ: Where is Paris?\nA:"},
		{System, text, messages{{"system", "Be brief.\n\nI keep bees."}, {"user", "Answer: Where is Paris?"}},
			"I keep bees.\n\nQ: Where is Paris?\nA:"},
		{Note, text, messages{{"system", "Be brief.\n\n<memory>\nI keep bees.\n</memory>"}, {"user", "Answer: Where is Paris?"}},
			"<memory>\nI keep bees.\n</memory>\n\nQ: Where is Paris?\nA:"},
		{Passage, text, messages{{"system", "Be brief."}, {"user", "<document>\nI keep bees.\n</document>\n\nAnswer: Where is Paris?"}},
			"<document>\nI keep bees.\n</document>\n\nQ: Where is Paris?\nA:"},
		{Turn, turn, messages{{"system", "Be brief."}, {"user", "What do I keep?"}, {"assistant", "Bees."}, {"user", "Answer: Where is Paris?"}},
			"Q: What do I keep?\nA: Bees.\n\nQ: Where is Paris?\nA:"},
	} {
		for _, api := range []API{Chat, Responses} {
			p := PromptConfig{API: api, Prefix: "Answer: ", System: "Be brief."}
			if got := p.CarriedRequest(c.carrier, c.of, prompt, 3); !slices.Equal(got.Messages, c.chat) || got.Prompt != "" ||
				got.Sample != 3 || got.API != api {
				t.Errorf("%s, %s: %+v\nwant %+v", c.carrier, api, got, c.chat)
			}
		}
		p := PromptConfig{API: Completions, Prefix: "Answer: "}
		if got := p.CarriedRequest(c.carrier, c.of, prompt, 3); got.Prompt != "Answer: "+c.whole || got.Messages != nil ||
			got.Sample != 3 {
			t.Errorf("%s: %+v\nwant %s", c.carrier, got, c.whole)
		}
	}
	bare := PromptConfig{API: Chat}
	if got := bare.CarriedRequest(System, text, prompt, 0).Messages; !slices.Equal(got, messages{{"system", "I keep bees."}, {"user", prompt}}) {
		t.Errorf("without a system message: %+v", got)
	}
}
