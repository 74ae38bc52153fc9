package similarities_test

import (
	"context"
	"fmt"

	"crosstalk/instrument/leakage"
	"crosstalk/study/similarities"
)

// Score one pair: is the answer to the prompt that mentions music closer to it?
func Example() {
	sim, err := similarities.Open("gloss")
	if err != nil {
		panic(err)
	}
	o, err := leakage.Score(context.Background(), sim, "music", "He plays the violin.", "He drives a taxi.")
	fmt.Println(o.Value, o.Finding, err)
	// Output: 1 leaked <nil>
}
