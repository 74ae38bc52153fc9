// Package free decides whether two free answers to a question mean the same: by their text, by the number they
// give, by a similarity, or by asking the model itself.
package free

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/read"
	"crosstalk/measure/similarity"

	"golang.org/x/text/unicode/norm"
)

// Text compares answers as texts, whatever their case, their punctuation at
// either end, their white space, and their spelling of one character (NFKC).
type Text struct{}

func (Text) Name() string { return "text" }

func (Text) Same(_ context.Context, _ crosstalk.Asker, _, a, b string) (consistency.Verdict, []crosstalk.Key, error) {
	return consistency.VerdictOf(normalised(a) == normalised(b)), nil, nil
}

func normalised(text string) string {
	text = strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(text))), " ")
	return strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && r != '-' && r != '%' || r == '`'
	})
}

// Number compares answers by the one number that each gives, in digits or in
// words: 5, "five", "5 times", "fünf". Answers that give no number or
// several are compared as texts.
type Number struct{}

func (Number) Name() string { return "number" }

func (Number) Same(
	ctx context.Context, ask crosstalk.Asker, question, a, b string,
) (consistency.Verdict, []crosstalk.Key, error) {
	x, okX := Only(a)
	y, okY := Only(b)
	if !okX || !okY {
		return Text{}.Same(ctx, ask, question, a, b)
	}
	return consistency.VerdictOf(x == y), nil, nil
}

// Similar treats answers whose similarity is Threshold or more as the same.
// Where it is undefined there is no verdict.
type Similar struct {
	Similarity similarity.Similarity
	Threshold  float64
}

func (s Similar) Name() string { return fmt.Sprintf("%s>=%g", s.Similarity.Name(), s.Threshold) }

func (s Similar) Same(
	ctx context.Context, _ crosstalk.Asker, _, a, b string,
) (consistency.Verdict, []crosstalk.Key, error) {
	scores, err := s.Similarity.Scores(ctx, []similarity.Pair{{A: a, B: b}})
	if err != nil {
		return consistency.Unknown, nil, err
	}
	if score := crosstalk.Value(scores[0]); score.Defined() {
		return consistency.VerdictOf(scores[0] >= s.Threshold), nil, nil
	}
	return consistency.Unknown, nil, nil
}

// Asked asks the model itself whether two answers mean the same.
type Asked struct{ Prompting crosstalk.PromptConfig }

func (Asked) Name() string { return "model" }

const askedPrompt = "Two people were asked the same question, each in a language of their own. " +
	"Do their answers mean the same? It does not matter whether they are right. " +
	"Reply with \"yes\" or \"no\" only.\n\nQuestion: %s\n\nFirst answer: %s\n\nSecond answer: %s"

// Same asks about texts that are not equal.
func (c Asked) Same(
	ctx context.Context, ask crosstalk.Asker, question, a, b string,
) (consistency.Verdict, []crosstalk.Key, error) {
	if normalised(a) == normalised(b) {
		return consistency.Yes, nil, nil
	}
	if ask == nil {
		return consistency.Unknown, nil, fmt.Errorf("recorded answers cannot be compared by a model; " +
			"expected text, number, or a similarity with its threshold")
	}
	answer, err := ask.Ask(ctx, c.Prompting.Request(fmt.Sprintf(askedPrompt, question, a, b), 0))
	if err != nil || answer.Status != crosstalk.Text {
		return consistency.Unknown, nil, err
	}
	asked := []crosstalk.Key{answer.Key}
	switch read.Crosstalk1(answer.Text, []string{"yes", "no"}).Label {
	case "yes":
		return consistency.Yes, asked, nil
	case "no":
		return consistency.No, asked, nil
	}
	return consistency.Unknown, asked, nil
}
