package confusion

import (
	"testing"

	"crosstalk"
)

// The presets never change: figures of old and new runs are compared.
func TestPresets(t *testing.T) {
	const asked = `"Temperature":0.3,"TopP":0.75,"MaxTokens":100,"Samples":1}`
	want := `[{"Name":"crosstalk-1","Prose":true,"MinWords":0,"Threshold":0.5,"Kana":false,"Latin":"","AllAnswers":false,"EmptyIsOne":false,` + asked +
		`,{"Name":"lcb-paper","MinWords":5,"Threshold":0.3,"Kana":false,"Latin":"wpr","AllAnswers":true,"EmptyIsOne":false,"PerToken":true,` + asked +
		`,{"Name":"lcb-script","MinWords":5,"Threshold":0.3,"Kana":false,"Latin":"off","AllAnswers":false,"EmptyIsOne":true,"PerToken":true,` + asked + `]`
	if got := string(crosstalk.Canonical(Protocols)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
